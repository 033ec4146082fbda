//! Writes records and snapshots to the disk, beside the tick.
//!
//! The server hands over a record per tick and, when asked, a snapshot; a thread commits them once per interval. A
//! process that is killed loses at most that interval. When the disk refuses a write, keeping pauses: records are
//! dropped, as without those before them they are of no use. The file is opened again every few seconds, a new snapshot
//! is asked for, and keeping resumes with it. What was stored before stays.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Commit, Retention, Snapshot, Store, StoreError, StoredRecord, file_bytes};

/// The interval at which the file may be compacted, and the unused bytes from which that is worth it.
const COMPACT_EVERY: Duration = Duration::from_secs(60 * 60);
const COMPACT_FROM_BYTES: u64 = 32 << 20;

#[derive(Clone, Debug)]
pub struct KeeperSettings {
    /// The interval of commits: a kill loses at most this.
    pub flush_every: Duration,
    /// The interval of snapshots: a start replays at most this.
    pub snapshot_every: Duration,
    /// The interval of retries after a write failed.
    pub retry_every: Duration,
    pub retention: Retention,
    /// The most bytes that wait for the thread; more count as a failed write.
    pub waiting_bytes_max: usize,
}

impl Default for KeeperSettings {
    fn default() -> KeeperSettings {
        KeeperSettings {
            flush_every: Duration::from_secs(1),
            snapshot_every: Duration::from_secs(60),
            retry_every: Duration::from_secs(5),
            retention: Retention::default(),
            waiting_bytes_max: 64 << 20,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeeperStatus {
    /// The reason of a pause; `None` while keeping goes on.
    pub paused: Option<String>,
    /// The last tick that is on the disk.
    pub flushed_tick: Option<u64>,
    /// The number of pauses so far.
    pub pauses: u64,
    /// Bytes that wait to be written.
    pub waiting_bytes: usize,
}

/// Hands records to the thread that writes them. Only `stop` waits for the disk.
pub struct StoreKeeper {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

/// The state that the server and the thread share.
struct Desk {
    settings: KeeperSettings,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    snapshot: Option<Snapshot>,
    records: Vec<StoredRecord>,
    waiting_bytes: usize,
    /// Notes stay through a pause: a ban must not be lost.
    notes: BTreeMap<String, Vec<u8>>,
    /// Whether the newest record does not follow the last stored one.
    has_gap: bool,
    questions: Vec<Question>,
    wants_snapshot: bool,
    wants_flush: bool,
    is_stopping: bool,
    status: KeeperStatus,
}

/// A question for stored ticks.
struct Question {
    from: u64,
    to: u64,
    answer: mpsc::SyncSender<Result<StoredPast, String>>,
}

/// A snapshot and the records that follow it.
#[derive(Clone, Debug, Default)]
pub struct StoredPast {
    /// The oldest and the newest tick that can be replayed.
    pub reach: Option<(u64, u64)>,
    /// The world at or before the first tick that was asked for.
    pub snapshot: Vec<u8>,
    /// The records after the snapshot, up to the last tick that was asked for.
    pub records: Vec<Vec<u8>>,
}

/// The most bytes of records in an answer.
const PAST_BYTES_MAX: usize = 64 << 20;

/// Asks a keeper for stored ticks.
#[derive(Clone)]
pub struct Recaller {
    desk: Arc<Desk>,
}

impl Recaller {
    /// Asks for stored ticks. The thread that writes answers, after it has written everything up to now.
    pub fn recall(&self, from: u64, to: u64) -> mpsc::Receiver<Result<StoredPast, String>> {
        let (answer, answered) = mpsc::sync_channel(1);
        let mut state = self.desk.state();
        state.questions.push(Question { from, to, answer });
        state.wants_flush = true;
        self.desk.changed.notify_all();
        answered
    }
}

impl StoreKeeper {
    pub fn recaller(&self) -> Recaller {
        Recaller { desk: self.desk.clone() }
    }

    /// Starts the thread. It wants a snapshot first.
    pub fn start(store: Store, settings: KeeperSettings) -> StoreKeeper {
        let (folder, lock) = (store.folder.clone(), store.lock.clone());
        let reopen = {
            let folder = folder.clone();
            move || Store::reopen(&folder, lock.clone())
        };
        StoreKeeper::start_with(store, settings, Box::new(reopen))
    }

    /// As `start`, with another way to open the file again.
    fn start_with(store: Store, settings: KeeperSettings, reopen: Reopen) -> StoreKeeper {
        let state = State { wants_snapshot: true, has_gap: true, ..State::default() };
        let desk = Arc::new(Desk { settings, state: Mutex::new(state), changed: Condvar::new() });
        let writer = Writer { folder: store.folder.clone(), desk: desk.clone(), store: Some(store), reopen };
        let thread = thread::Builder::new().name("keeper".to_owned()).spawn(move || writer.run());
        StoreKeeper { desk, thread: Some(thread.expect("a thread can be had at start")) }
    }

    /// Hands over the record of a tick.
    pub fn append(&self, tick: u64, bytes: Vec<u8>) {
        let mut state = self.desk.state();
        if state.has_gap && state.snapshot.is_none() {
            return;
        }
        if state.waiting_bytes + bytes.len() > self.desk.settings.waiting_bytes_max {
            state.let_go("the disk is too slow: more waits to be written than memory should hold".to_owned());
            return;
        }
        state.waiting_bytes += bytes.len();
        state.records.push(StoredRecord { tick, bytes });
    }

    /// Hands over the state after a tick. The records that follow can be replayed from it.
    pub fn snapshot(&self, tick: u64, bytes: Vec<u8>) {
        let stored_at_s = now_s();
        let mut state = self.desk.state();
        state.wants_snapshot = false;
        state.waiting_bytes += bytes.len();
        state.snapshot = Some(Snapshot { tick, stored_at_s, bytes });
    }

    /// Sets a note; no bytes remove it.
    pub fn note(&self, name: &str, bytes: Vec<u8>) {
        self.desk.state().notes.insert(name.to_owned(), bytes);
    }

    /// Whether a snapshot should be handed over.
    pub fn wants_snapshot(&self) -> bool {
        self.desk.state().wants_snapshot
    }

    pub fn status(&self) -> KeeperStatus {
        let state = self.desk.state();
        KeeperStatus { waiting_bytes: state.waiting_bytes, ..state.status.clone() }
    }

    /// Asks for a commit now, without waiting for it.
    pub fn flush(&self) {
        self.desk.state().wants_flush = true;
        self.desk.changed.notify_all();
    }

    /// Writes what is left and stops.
    pub fn stop(mut self) -> Result<(), StoreError> {
        self.end().unwrap_or(Ok(()))
    }

    fn end(&mut self) -> Option<Result<(), StoreError>> {
        let thread = self.thread.take()?;
        self.desk.state().is_stopping = true;
        self.desk.changed.notify_all();
        Some(thread.join().expect("the thread that writes does not panic"))
    }
}

impl Drop for StoreKeeper {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.end() {
            tracing::error!(%error, "the last ticks could not be stored");
        }
    }
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the lock")
    }
}

impl State {
    /// Pauses, and drops what waits.
    fn let_go(&mut self, why: String) {
        self.records = Vec::new();
        self.snapshot = None;
        self.waiting_bytes = 0;
        self.has_gap = true;
        if self.status.paused.is_none() {
            self.status.pauses += 1;
            tracing::error!(why, "keeping pauses: what happens now would be lost by a crash");
        }
        self.status.paused = Some(why);
    }
}

type Reopen = Box<dyn FnMut() -> Result<Store, StoreError> + Send>;

struct Writer {
    folder: PathBuf,
    desk: Arc<Desk>,
    store: Option<Store>,
    reopen: Reopen,
}

impl Writer {
    fn run(mut self) -> Result<(), StoreError> {
        let settings = self.desk.settings.clone();
        let mut asked_at = Instant::now();
        let mut compacted_at: Option<Instant> = None;
        loop {
            if compacted_at.is_none_or(|at| at.elapsed() >= COMPACT_EVERY) {
                compacted_at = Some(Instant::now());
                self.compact();
            }
            let wait = if self.store.is_some() { settings.flush_every } else { settings.retry_every };
            let is_stopping = self.wait(wait);
            let flushed = self.flush();
            self.answer();
            let mut state = self.desk.state();
            if let Err(error) = &flushed {
                state.let_go(error.to_string());
            }
            if is_stopping {
                // What is on the disk is sound, even if the last commit failed.
                return flushed;
            }
            let is_due = asked_at.elapsed() >= settings.snapshot_every && state.status.paused.is_none();
            if is_due || (state.has_gap && self.store.is_some() && state.snapshot.is_none()) {
                state.wants_snapshot = true;
                asked_at = Instant::now();
            }
            metrics::gauge!("kinesphere_store_file_bytes").set(file_bytes(&self.folder) as f64);
        }
    }

    fn answer(&self) {
        let questions = std::mem::take(&mut self.desk.state().questions);
        for Question { from, to, answer } in questions {
            let found = match &self.store {
                Some(store) => recall(store, from, to).map_err(|error| error.to_string()),
                None => Err("the store cannot be read just now".to_owned()),
            };
            // The asker may have gone.
            let _ = answer.try_send(found);
        }
    }

    /// Compacts the file when most of it is unused. Records wait meanwhile, within their bound.
    fn compact(&mut self) {
        let Some(mut store) = self.store.take() else { return };
        let used = store.summary().map_or(u64::MAX, |summary| summary.bytes);
        let is_worth_it = file_bytes(&self.folder) > used.saturating_mul(3).saturating_add(COMPACT_FROM_BYTES);
        match if is_worth_it { store.compact() } else { Ok(()) } {
            Ok(()) => self.store = Some(store),
            Err(error) => tracing::warn!(%error, "the store could not be compacted"),
        }
    }

    /// Sleeps for an interval, or until a flush is wanted; returns whether to stop.
    fn wait(&self, interval: Duration) -> bool {
        let until = Instant::now() + interval;
        let mut state = self.desk.state();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.is_stopping || state.wants_flush || left.is_zero() {
                state.wants_flush = false;
                return state.is_stopping;
            }
            state = self.desk.changed.wait_timeout(state, left).expect("no thread panics while it holds the lock").0;
        }
    }

    /// Commits what waits.
    fn flush(&mut self) -> Result<(), StoreError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => (self.reopen)()?,
        };
        let (batch, had_gap) = {
            let mut state = self.desk.state();
            state.waiting_bytes = 0;
            let notes = state.notes.iter().map(|(name, bytes)| (name.clone(), bytes.clone())).collect();
            let batch = Commit { snapshot: state.snapshot.take(), records: std::mem::take(&mut state.records), notes };
            let had_gap = state.has_gap;
            state.has_gap &= batch.snapshot.is_none();
            (batch, had_gap)
        };
        if batch.is_empty() {
            self.store = Some(store);
            return Ok(());
        }
        let begun = Instant::now();
        // After a failure the store is dropped, as it has to be opened again.
        store.commit(&batch, &self.desk.settings.retention, now_s())?;
        metrics::histogram!("kinesphere_store_flush_seconds").record(begun.elapsed().as_secs_f64());
        self.store = Some(store);

        let mut state = self.desk.state();
        for (name, bytes) in &batch.notes {
            // A note that was changed meanwhile waits for the next commit.
            if state.notes.get(name) == Some(bytes) {
                state.notes.remove(name);
            }
        }
        let newest = batch.records.last().map(|record| record.tick).max(batch.snapshot.as_ref().map(|at| at.tick));
        state.status.flushed_tick = newest.max(state.status.flushed_tick);
        if had_gap && batch.snapshot.is_some() && state.status.paused.take().is_some() {
            tracing::info!("keeping goes on");
        }
        Ok(())
    }
}

fn recall(store: &Store, from: u64, to: u64) -> Result<StoredPast, StoreError> {
    let reach = store.reach()?;
    let from = reach.map_or(from, |(oldest, _)| from.max(oldest));
    let Some(snapshot) = store.snapshot_until(from)? else { return Ok(StoredPast { reach, ..StoredPast::default() }) };
    let (mut records, mut bytes) = (Vec::new(), 0);
    store.records_between(snapshot.tick + 1, to, |record| {
        bytes += record.len();
        records.push(record.to_vec());
        bytes <= PAST_BYTES_MAX
    })?;
    Ok(StoredPast { reach, snapshot: snapshot.bytes, records })
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use redb::StorageBackend;
    use redb::backends::FileBackend;

    use super::*;

    /// A disk that can be full.
    #[derive(Debug)]
    struct Disk {
        file: FileBackend,
        is_full: Arc<AtomicBool>,
    }

    impl Disk {
        fn room(&self) -> io::Result<()> {
            match self.is_full.load(Ordering::SeqCst) {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> io::Result<u64> {
            self.file.len()
        }
        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.file.read(offset, out)
        }
        fn set_len(&self, len: u64) -> io::Result<()> {
            self.room().and_then(|()| self.file.set_len(len))
        }
        fn sync_data(&self) -> io::Result<()> {
            self.room().and_then(|()| self.file.sync_data())
        }
        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.room().and_then(|()| self.file.write(offset, data))
        }
        fn close(&self) -> io::Result<()> {
            self.file.close()
        }
    }

    fn open(folder: &Path, is_full: &Arc<AtomicBool>) -> Result<Store, StoreError> {
        let file = super::super::backend(folder, true)?;
        Store::with_backend(folder, Disk { file, is_full: is_full.clone() }, None)
    }

    fn settings() -> KeeperSettings {
        let soon = Duration::from_millis(2);
        KeeperSettings { flush_every: soon, retry_every: soon, ..KeeperSettings::default() }
    }

    fn until(what: &str, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{what} does not come");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_full_disk_pauses_keeping_and_room_lets_it_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let is_full = Arc::new(AtomicBool::new(false));
        let reopen = {
            let (folder, is_full) = (folder.path().to_owned(), is_full.clone());
            move || open(&folder, &is_full)
        };
        let store = open(folder.path(), &is_full).unwrap();
        let keeper = StoreKeeper::start_with(store, settings(), Box::new(reopen));
        assert!(keeper.wants_snapshot());
        keeper.snapshot(0, b"start".to_vec());
        keeper.append(1, b"one".to_vec());
        until("a flush", || keeper.status().flushed_tick == Some(1));

        is_full.store(true, Ordering::SeqCst);
        let mut tick = 1;
        until("a pause", || {
            tick += 1;
            keeper.append(tick, b"lost".to_vec());
            keeper.status().paused.is_some()
        });
        assert_eq!(keeper.status().flushed_tick, Some(1));
        assert!(!keeper.wants_snapshot(), "it wants a snapshot while the disk is full");
        keeper.note("ban/eve", b"1".to_vec());

        is_full.store(false, Ordering::SeqCst);
        until("the wish for a snapshot", || keeper.wants_snapshot());
        keeper.snapshot(1_000, b"later".to_vec());
        keeper.append(1_001, b"next".to_vec());
        until("the end of the pause", || keeper.status().paused.is_none());
        assert_eq!(keeper.status().pauses, 1);
        keeper.stop().unwrap();

        let mut store = Store::open(folder.path()).unwrap();
        let summary = store.check().unwrap();
        assert_eq!(summary.snapshots, [0, 1_000]);
        assert_eq!(store.newest().unwrap().unwrap().bytes, b"later");
        assert_eq!(store.note("ban/eve").unwrap().unwrap(), b"1");
        let mut records = Vec::new();
        store
            .records_from(0, |tick, bytes| {
                records.push((tick, bytes.to_vec()));
                Ok::<(), StoreError>(())
            })
            .unwrap();
        assert_eq!(records, [(1, b"one".to_vec()), (1_001, b"next".to_vec())]);
    }

    #[test]
    fn what_waits_is_bounded_and_a_stop_writes_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let idle = KeeperSettings { flush_every: Duration::from_secs(600), waiting_bytes_max: 1_000, ..settings() };
        let keeper = StoreKeeper::start(store, idle);
        keeper.append(1, b"nothing to follow".to_vec());
        keeper.snapshot(1, b"start".to_vec());
        for tick in 2..100 {
            keeper.append(tick, vec![0; 100]);
        }
        let paused = keeper.status().paused.expect("ten thousand bytes were handed over");
        assert!(paused.contains("too slow"), "{paused}");
        keeper.snapshot(200, b"again".to_vec());
        keeper.append(201, b"after".to_vec());
        keeper.stop().unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.summary().unwrap().snapshots, [200]);
        assert_eq!(store.summary().unwrap().last_tick, Some(201));
    }
}

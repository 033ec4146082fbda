//! Writes what happens to the disk, beside the tick and never in its way.
//!
//! The server hands over a record per tick and, when asked, a snapshot; a thread commits what has gathered once per
//! interval. A process that is killed loses that interval and no more. When the disk refuses, keeping pauses: records
//! are let go, since without those before them they lead nowhere. The file is opened again every few seconds, a new
//! snapshot is asked for, and with it keeping resumes by itself. Nothing that was stored before is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Batch, Record, Retention, Snapshot, Store, StoreError, file_bytes};

/// How often the file is looked at, and from which size on it is worth it.
const COMPACT_EVERY: Duration = Duration::from_secs(60 * 60);
const COMPACT_FROM_BYTES: u64 = 32 << 20;

/// When things are written.
#[derive(Clone, Debug)]
pub struct KeeperSettings {
    /// What a kill may cost.
    pub flush_every: Duration,
    /// How often a snapshot is asked for: what a start has to play again.
    pub snapshot_every: Duration,
    /// How often a disk that refused is tried again.
    pub retry_every: Duration,
    /// How much of the past stays.
    pub retention: Retention,
    /// Bytes that wait for the thread; beyond them it is as if the disk had refused.
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

/// How keeping goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Why it pauses; none if it does not.
    pub paused: Option<String>,
    /// The last tick that a kill would not undo.
    pub flushed_tick: Option<u64>,
    /// How often it has paused.
    pub pauses: u64,
    /// Bytes that wait to be written.
    pub waiting_bytes: usize,
}

/// Hands records to the thread that writes them. Nothing here waits for the disk, except to stop.
pub struct Keeper {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

/// What the server and the thread share.
struct Desk {
    settings: KeeperSettings,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    snapshot: Option<Snapshot>,
    records: Vec<Record>,
    waiting_bytes: usize,
    /// Notes are kept through a pause: a ban that was not written yet must not be forgotten.
    notes: BTreeMap<String, Vec<u8>>,
    /// The newest record does not follow the last one that was stored.
    has_gap: bool,
    /// Whoever asks for the past, and waits.
    questions: Vec<Question>,
    wants_snapshot: bool,
    wants_flush: bool,
    is_stopping: bool,
    status: Status,
}

/// What is asked of the past.
struct Question {
    from: u64,
    to: u64,
    answer: mpsc::SyncSender<Result<Past, String>>,
}

/// A stretch of the past: where it begins, and what happened from there on.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The oldest and the newest tick that can be played.
    pub reach: Option<(u64, u64)>,
    /// The world at or before the first tick that was asked for.
    pub snapshot: Vec<u8>,
    /// What went into the ticks after that, up to the last that was asked for.
    pub records: Vec<Vec<u8>>,
}

/// The most that one question gets, in bytes.
const PAST_BYTES_MAX: usize = 64 << 20;

/// Asks a keeper for the past.
#[derive(Clone)]
pub struct Recaller {
    desk: Arc<Desk>,
}

impl Recaller {
    /// A stretch of the past. The answer comes from the thread that writes, when it has time; what happened up to now
    /// is written before.
    pub fn recall(&self, from: u64, to: u64) -> mpsc::Receiver<Result<Past, String>> {
        let (answer, answered) = mpsc::sync_channel(1);
        let mut state = self.desk.state();
        state.questions.push(Question { from, to, answer });
        state.wants_flush = true;
        self.desk.changed.notify_all();
        answered
    }
}

impl Keeper {
    /// For whoever wants to see the past.
    pub fn recaller(&self) -> Recaller {
        Recaller { desk: self.desk.clone() }
    }

    /// Begins to keep. The server should hand over a snapshot soon: `wants_snapshot` says so.
    pub fn start(store: Store, settings: KeeperSettings) -> Keeper {
        let (folder, lock) = (store.folder.clone(), store.lock.clone());
        let reopen = {
            let folder = folder.clone();
            move || Store::reopen(&folder, lock.clone())
        };
        Keeper::start_with(store, settings, Box::new(reopen))
    }

    /// As `start`, with another way to open the file again.
    fn start_with(store: Store, settings: KeeperSettings, reopen: Reopen) -> Keeper {
        let state = State { wants_snapshot: true, has_gap: true, ..State::default() };
        let desk = Arc::new(Desk { settings, state: Mutex::new(state), changed: Condvar::new() });
        let writer = Writer { folder: store.folder.clone(), desk: desk.clone(), store: Some(store), reopen };
        let thread = thread::Builder::new().name("keeper".to_owned()).spawn(move || writer.run());
        Keeper { desk, thread: Some(thread.expect("a thread can be had at start")) }
    }

    /// What went into a tick.
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
        state.records.push(Record { tick, bytes });
    }

    /// The state after a tick. Records that follow it can be played again whatever happened before.
    pub fn snapshot(&self, tick: u64, bytes: Vec<u8>) {
        let stored_at_s = now_s();
        let mut state = self.desk.state();
        state.wants_snapshot = false;
        state.waiting_bytes += bytes.len();
        state.snapshot = Some(Snapshot { tick, stored_at_s, bytes });
    }

    /// Notes something under a name; no bytes remove it.
    pub fn note(&self, name: &str, bytes: Vec<u8>) {
        self.desk.state().notes.insert(name.to_owned(), bytes);
    }

    /// Whether a snapshot should be handed over.
    pub fn wants_snapshot(&self) -> bool {
        self.desk.state().wants_snapshot
    }

    /// How it goes.
    pub fn status(&self) -> Status {
        let state = self.desk.state();
        Status { waiting_bytes: state.waiting_bytes, ..state.status.clone() }
    }

    /// Asks for a flush now, without waiting for it.
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

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.end() {
            tracing::error!(%error, "the last ticks could not be stored");
        }
    }
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding the desk")
    }
}

impl State {
    /// Pauses: what waits leads nowhere any more.
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

/// The thread.
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
                // A store that refuses to the end has told so; what it holds is sound.
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

    /// Tells whoever asked what was.
    fn answer(&self) {
        let questions = std::mem::take(&mut self.desk.state().questions);
        for Question { from, to, answer } in questions {
            let found = match &self.store {
                Some(store) => recall(store, from, to).map_err(|error| error.to_string()),
                None => Err("the store cannot be read just now".to_owned()),
            };
            // Whoever asked may have gone.
            let _ = answer.try_send(found);
        }
    }

    /// Gives space back when most of the file is unused. What arrives meanwhile waits, within its bounds.
    fn compact(&mut self) {
        let Some(mut store) = self.store.take() else { return };
        let used = store.summary().map_or(u64::MAX, |summary| summary.bytes);
        let is_worth_it = file_bytes(&self.folder) > used.saturating_mul(3).saturating_add(COMPACT_FROM_BYTES);
        match if is_worth_it { store.compact() } else { Ok(()) } {
            Ok(()) => self.store = Some(store),
            Err(error) => tracing::warn!(%error, "the store could not be compacted"),
        }
    }

    /// Sleeps for an interval, or until asked. Says whether to stop.
    fn wait(&self, interval: Duration) -> bool {
        let until = Instant::now() + interval;
        let mut state = self.desk.state();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.is_stopping || state.wants_flush || left.is_zero() {
                state.wants_flush = false;
                return state.is_stopping;
            }
            state = self.desk.changed.wait_timeout(state, left).expect("nobody panics while holding the desk").0;
        }
    }

    /// Stores what has gathered.
    fn flush(&mut self) -> Result<(), StoreError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => (self.reopen)()?,
        };
        let (batch, had_gap) = {
            let mut state = self.desk.state();
            state.waiting_bytes = 0;
            let notes = state.notes.iter().map(|(name, bytes)| (name.clone(), bytes.clone())).collect();
            let batch = Batch { snapshot: state.snapshot.take(), records: std::mem::take(&mut state.records), notes };
            let had_gap = state.has_gap;
            state.has_gap &= batch.snapshot.is_none();
            (batch, had_gap)
        };
        if batch.is_empty() {
            self.store = Some(store);
            return Ok(());
        }
        let begun = Instant::now();
        // When it fails, the store is dropped: it has to be opened again.
        store.commit(&batch, &self.desk.settings.retention, now_s())?;
        metrics::histogram!("kinesphere_store_flush_seconds").record(begun.elapsed().as_secs_f64());
        self.store = Some(store);

        let mut state = self.desk.state();
        for (name, bytes) in &batch.notes {
            // Unless it was changed meanwhile.
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

fn recall(store: &Store, from: u64, to: u64) -> Result<Past, StoreError> {
    let reach = store.reach()?;
    // What is older than everything is as old as the oldest.
    let from = reach.map_or(from, |(oldest, _)| from.max(oldest));
    let Some(snapshot) = store.snapshot_until(from)? else { return Ok(Past { reach, ..Past::default() }) };
    let (mut records, mut bytes) = (Vec::new(), 0);
    store.records_between(snapshot.tick + 1, to, |record| {
        bytes += record.len();
        records.push(record.to_vec());
        bytes <= PAST_BYTES_MAX
    })?;
    Ok(Past { reach, snapshot: snapshot.bytes, records })
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

    /// A disk that is full when told so.
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
        let keeper = Keeper::start_with(store, settings(), Box::new(reopen));
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
        assert!(!keeper.wants_snapshot(), "there is no use in a snapshot while the disk is full");
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
        let keeper = Keeper::start(store, idle);
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

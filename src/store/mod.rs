//! The store of a world: one file with snapshots and the journal.
//!
//! ```text
//! world.redb
//!   about      "format" -> 1
//!   snapshots  tick -> (seconds since 1970, bytes)
//!   journal    tick -> bytes           one record per tick: its inputs
//!   sizes      tick -> number          bytes of the records from that snapshot to the next
//!   notes      name -> bytes           state that a replay does not give: bans, keys
//! ```
//!
//! A snapshot at tick *t* is the state after *t*; the records after it, in order, lead to the present. Older snapshots
//! stay for a while with their records, so that the past can be replayed; [`Retention`] bounds them by size and by age.
//! All bytes are opaque here.
//!
//! redb never overwrites pages in place: a process that is killed loses at most what it had not committed. [`keeper`]
//! commits at an interval, on a thread of its own, and handles a full disk.

mod backup;
mod damage;
pub mod keeper;
mod lock;
mod retention;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::backends::FileBackend;
use redb::{
    AccessGuard, Database, DatabaseError, Range, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    StorageBackend, TableDefinition,
};
use thiserror::Error;

use damage::{Pages, caught};
use lock::Lock;
pub use retention::Retention;

/// The name of the file within its folder.
pub const FILE: &str = "world.redb";
const FORMAT: u64 = 1;
/// The cache of redb, whose default is a gigabyte.
const CACHE_BYTES: usize = 16 << 20;

const ABOUT: TableDefinition<'_, &str, u64> = TableDefinition::new("about");
const SNAPSHOTS: TableDefinition<'_, u64, (u64, &[u8])> = TableDefinition::new("snapshots");
const JOURNAL: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("journal");
const SIZES: TableDefinition<'_, u64, u64> = TableDefinition::new("sizes");
const NOTES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("notes");

/// An iterator of redb over records of the journal.
type Records = Range<'static, u64, &'static [u8]>;
type RecordBytes = AccessGuard<'static, &'static [u8]>;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the world in {folder} is in use by {holder}", folder = folder.display())]
    InUse { folder: PathBuf, holder: String },
    #[error("cannot use {path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("there is no world in {folder}: {FILE} is missing", folder = folder.display())]
    Missing { folder: PathBuf },
    #[error("{path} is written in format {found}, this version reads {FORMAT}", path = path.display())]
    Format { path: PathBuf, found: u64 },
    #[error("{path} is damaged ({why}); restore a backup, or move the file away to begin anew", path = path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("{path} exists; it is not overwritten", path = path.display())]
    Exists { path: PathBuf },
}

/// The inputs of a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    pub tick: u64,
    pub bytes: Vec<u8>,
}

/// The state after a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub tick: u64,
    /// The time of storing, in seconds since 1970.
    pub stored_at_s: u64,
    pub bytes: Vec<u8>,
}

/// What is stored in one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    pub snapshot: Option<Snapshot>,
    /// In the order of their ticks.
    pub records: Vec<StoredRecord>,
    /// By name; no bytes remove a note.
    pub notes: Vec<(String, Vec<u8>)>,
}

impl Commit {
    pub fn is_empty(&self) -> bool {
        self.snapshot.is_none() && self.records.is_empty() && self.notes.is_empty()
    }
}

/// The contents of a store, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Ticks with a snapshot, oldest first.
    pub snapshots: Vec<u64>,
    /// The number of records.
    pub records: u64,
    /// The ticks of the first and the last record.
    pub first_tick: Option<u64>,
    pub last_tick: Option<u64>,
    /// The bytes of all snapshots and records.
    pub bytes: u64,
    /// Ticks after a snapshot without a record: none in a sound store.
    pub missing: Vec<u64>,
}

/// An open store, which one process at a time can have.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    database: Pages,
    /// Released last, as fields are dropped in order. The keeper shares it to open the file again after a failure.
    lock: Option<Arc<Lock>>,
}

impl Store {
    /// Opens the store in a folder, or makes one.
    pub fn open_or_create(folder: &Path) -> Result<Store, StoreError> {
        fs::create_dir_all(folder).map_err(|error| StoreError::Io { path: folder.to_owned(), error })?;
        Store::open_file(folder, true)
    }

    /// Opens the store in a folder; there must be one.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        if !folder.join(FILE).is_file() {
            return Err(StoreError::Missing { folder: folder.to_owned() });
        }
        Store::open_file(folder, false)
    }

    fn open_file(folder: &Path, may_create: bool) -> Result<Store, StoreError> {
        let lock = Arc::new(Lock::take(folder)?);
        Store::with_backend(folder, backend(folder, may_create)?, Some(lock))
    }

    /// Opens the file anew, as redb requires after a failed write. The lock is held throughout.
    fn reopen(folder: &Path, lock: Option<Arc<Lock>>) -> Result<Store, StoreError> {
        Store::with_backend(folder, backend(folder, false)?, lock)
    }

    /// A store on any storage, to test faults.
    pub(crate) fn with_backend(
        folder: &Path,
        backend: impl StorageBackend,
        lock: Option<Arc<Lock>>,
    ) -> Result<Store, StoreError> {
        let open = || Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(backend).map(Pages::new);
        let database = caught(&folder.join(FILE), open)?.map_err(|error| opened(folder, error))?;
        let store = Store { folder: folder.to_owned(), database, lock };
        store.claim()?;
        Ok(store)
    }

    /// Checks the format of the file, or sets up an empty one.
    fn claim(&self) -> Result<(), StoreError> {
        let work = || -> Result<u64, redb::Error> {
            let write = self.database.begin_write()?;
            let found = {
                let mut about = write.open_table(ABOUT)?;
                let found = about.get("format")?.map(|guard| guard.value());
                if found.is_none() {
                    about.insert("format", FORMAT)?;
                }
                found
            };
            if found.is_some() {
                write.abort()?;
            } else {
                write.open_table(SNAPSHOTS)?;
                write.open_table(JOURNAL)?;
                write.open_table(SIZES)?;
                write.open_table(NOTES)?;
                write.commit()?;
            }
            Ok(found.unwrap_or(FORMAT))
        };
        match self.attempt(work)? {
            FORMAT => Ok(()),
            found => Err(StoreError::Format { path: self.path(), found }),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Stores a commit durably, or nothing of it, and applies the retention.
    pub fn commit(&self, batch: &Commit, retention: &Retention, now_s: u64) -> Result<(), StoreError> {
        let work = || -> Result<(), redb::Error> {
            let write = self.database.begin_write()?;
            {
                let mut snapshots = write.open_table(SNAPSHOTS)?;
                let mut journal = write.open_table(JOURNAL)?;
                let mut sizes = write.open_table(SIZES)?;
                let mut notes = write.open_table(NOTES)?;
                if let Some(snapshot) = &batch.snapshot {
                    snapshots.insert(snapshot.tick, (snapshot.stored_at_s, snapshot.bytes.as_slice()))?;
                }
                for record in &batch.records {
                    let replaced = journal.insert(record.tick, record.bytes.as_slice())?;
                    let replaced = replaced.map_or(0, |bytes| bytes.value().len() as u64);
                    let stretch = snapshots.range(..record.tick)?.next_back().transpose()?;
                    let Some(stretch) = stretch.map(|(tick, _)| tick.value()) else { continue };
                    let size = sizes.get(stretch)?.map_or(0, |size| size.value());
                    sizes.insert(stretch, (size + record.bytes.len() as u64).saturating_sub(replaced))?;
                }
                if batch.snapshot.is_some() {
                    retention.apply(&mut snapshots, &mut journal, &mut sizes, now_s)?;
                }
                for (name, bytes) in &batch.notes {
                    if bytes.is_empty() {
                        notes.remove(name.as_str())?;
                    } else {
                        notes.insert(name.as_str(), bytes.as_slice())?;
                    }
                }
            }
            write.commit()?;
            Ok(())
        };
        self.attempt(work)
    }

    /// The newest snapshot.
    pub fn newest(&self) -> Result<Option<Snapshot>, StoreError> {
        self.snapshot_until(u64::MAX)
    }

    /// The newest snapshot up to a tick.
    pub fn snapshot_until(&self, tick: u64) -> Result<Option<Snapshot>, StoreError> {
        let work = || -> Result<Option<Snapshot>, redb::Error> {
            let table = self.database.begin_read()?.open_table(SNAPSHOTS)?;
            let newest = table.range(..=tick)?.next_back().transpose()?;
            Ok(newest.map(|(tick, value)| {
                let (stored_at_s, bytes) = value.value();
                Snapshot { tick: tick.value(), stored_at_s, bytes: bytes.to_vec() }
            }))
        };
        self.attempt(work)
    }

    /// Calls `visit` for each record from a tick on, up to its first error.
    pub fn records_from<E: From<StoreError>>(
        &self,
        from: u64,
        mut visit: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut records = self.records(from..=u64::MAX)?;
        while let Some((tick, bytes)) = self.next_record(&mut records)? {
            visit(tick, self.attempt(|| Ok(bytes.value()))?)?;
        }
        Ok(())
    }

    /// Calls `visit` for each record of these ticks while it returns true.
    pub fn records_between(&self, from: u64, to: u64, mut visit: impl FnMut(&[u8]) -> bool) -> Result<(), StoreError> {
        if to < from {
            return Ok(());
        }
        let mut records = self.records(from..=to)?;
        while let Some((_, bytes)) = self.next_record(&mut records)? {
            if !visit(self.attempt(|| Ok(bytes.value()))?) {
                break;
            }
        }
        Ok(())
    }

    fn records(&self, ticks: RangeInclusive<u64>) -> Result<Records, StoreError> {
        self.attempt(|| Ok(self.database.begin_read()?.open_table(JOURNAL)?.range(ticks)?))
    }

    /// Reads one record. Visitors run outside of `attempt`, so that their panics are not taken for damage.
    fn next_record(&self, records: &mut Records) -> Result<Option<(u64, RecordBytes)>, StoreError> {
        self.attempt(|| Ok(records.next().transpose()?.map(|(tick, bytes)| (tick.value(), bytes))))
    }

    /// The tick of the oldest snapshot and the newest tick: what lies between can be replayed.
    pub fn reach(&self) -> Result<Option<(u64, u64)>, StoreError> {
        let work = || -> Result<Option<(u64, u64)>, redb::Error> {
            let read = self.database.begin_read()?;
            let (snapshots, journal) = (read.open_table(SNAPSHOTS)?, read.open_table(JOURNAL)?);
            let (Some((oldest, _)), Some((newest, _))) = (snapshots.first()?, snapshots.last()?) else {
                return Ok(None);
            };
            let last = journal.last()?.map_or(0, |(tick, _)| tick.value());
            Ok(Some((oldest.value(), newest.value().max(last))))
        };
        self.attempt(work)
    }

    /// The note of a name.
    pub fn note(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let work = || -> Result<Option<Vec<u8>>, redb::Error> {
            let table = self.database.begin_read()?.open_table(NOTES)?;
            Ok(table.get(name)?.map(|bytes| bytes.value().to_vec()))
        };
        self.attempt(work)
    }

    pub fn summary(&self) -> Result<Summary, StoreError> {
        let work = || -> Result<Summary, redb::Error> {
            let read = self.database.begin_read()?;
            let (snapshots, journal) = (read.open_table(SNAPSHOTS)?, read.open_table(JOURNAL)?);
            let mut summary = Summary { records: journal.len()?, ..Summary::default() };
            for entry in snapshots.iter()? {
                let (tick, value) = entry?;
                summary.snapshots.push(tick.value());
                summary.bytes += value.value().1.len() as u64;
            }
            // Records before the first snapshot are not needed: gaps there do not count.
            let mut expected = summary.snapshots.first().map(|tick| tick + 1);
            for entry in journal.iter()? {
                let (tick, bytes) = entry?;
                let tick = tick.value();
                summary.first_tick.get_or_insert(tick);
                summary.last_tick = Some(tick);
                summary.bytes += bytes.value().len() as u64;
                let Some(next) = expected.filter(|&next| tick >= next) else { continue };
                // A pause on a full disk leaves a gap that the next snapshot closes.
                let resumed = summary.snapshots.iter().rev().find(|&&at| at < tick).map_or(next, |at| next.max(at + 1));
                summary.missing.extend((resumed..tick).take(100));
                expected = Some(tick + 1);
            }
            Ok(summary)
        };
        self.attempt(work)
    }

    /// Reads every page and checks its checksum, and that no record is missing.
    pub fn check(&mut self) -> Result<Summary, StoreError> {
        let path = self.path();
        match caught(&path, || self.database.check_integrity())? {
            Ok(true) => {}
            Ok(false) => {
                return Err(self.damaged("a page is not as it was written; it was repaired as far as possible"));
            }
            Err(error) => return Err(opened(&self.folder, error)),
        }
        let summary = self.summary()?;
        if summary.records > 0 && summary.snapshots.is_empty() {
            return Err(self.damaged("there are records, but no snapshot to start from"));
        }
        match summary.missing.first() {
            Some(tick) => Err(self.damaged(&format!("the record of tick {tick} is missing"))),
            None => Ok(summary),
        }
    }

    /// Returns unused space to the file system.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        let path = self.path();
        let compacted = caught(&path, || self.database.compact())?;
        compacted.map(|_| ()).map_err(|error| StoreError::Damaged { path, why: error.to_string() })
    }

    /// All access to the file goes through this.
    fn attempt<T>(&self, work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        caught(&self.path(), work)?.map_err(|error| self.error(error))
    }

    pub(crate) fn damaged(&self, why: &str) -> StoreError {
        StoreError::Damaged { path: self.path(), why: why.to_owned() }
    }

    fn error(&self, error: redb::Error) -> StoreError {
        let path = self.path();
        match error {
            redb::Error::Io(error) => StoreError::Io { path, error },
            // The first failure closed the database and was reported then.
            redb::Error::PreviousIo => StoreError::Io { path, error: io::Error::other("an earlier write failed") },
            other => StoreError::Damaged { path, why: other.to_string() },
        }
    }
}

fn opened(folder: &Path, error: DatabaseError) -> StoreError {
    let path = folder.join(FILE);
    match error {
        DatabaseError::DatabaseAlreadyOpen => {
            StoreError::InUse { folder: folder.to_owned(), holder: "another process".to_owned() }
        }
        DatabaseError::Storage(redb::StorageError::Io(error)) => match error.kind() {
            // redb reports these for a file of another format.
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                StoreError::Damaged { path, why: error.to_string() }
            }
            _ => StoreError::Io { path, error },
        },
        other => StoreError::Damaged { path, why: other.to_string() },
    }
}

fn backend(folder: &Path, may_create: bool) -> Result<FileBackend, StoreError> {
    let path = folder.join(FILE);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(may_create).truncate(false);
    // It holds the keys that resume sessions.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(|error| StoreError::Io { path, error })?;
    FileBackend::new(file).map_err(|error| opened(folder, error))
}

/// The size of the file.
pub fn file_bytes(folder: &Path) -> u64 {
    File::open(folder.join(FILE)).and_then(|file| file.metadata()).map_or(0, |data| data.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(tick: u64) -> StoredRecord {
        StoredRecord { tick, bytes: tick.to_le_bytes().repeat(10) }
    }

    fn stretch(from: u64, until: u64, stored_at_s: u64) -> Commit {
        let snapshot = Snapshot { tick: from, stored_at_s, bytes: vec![7; 100] };
        Commit { snapshot: Some(snapshot), records: (from + 1..=until).map(record).collect(), notes: Vec::new() }
    }

    #[test]
    fn the_past_is_bounded_by_size_and_by_age_and_the_present_stays() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open_or_create(folder.path()).unwrap();
        // A stretch has 100 bytes of snapshot and 10 records of 80.
        let retention = Retention { bytes_max: 2_800, age_s_max: 1_000 };
        for number in 0..10 {
            store.commit(&stretch(number * 10, number * 10 + 10, number * 100), &retention, number * 100).unwrap();
            let summary = store.check().unwrap();
            assert!(summary.bytes <= 2_800, "{summary:?}");
            assert_eq!(summary.snapshots.last(), Some(&(number * 10)));
        }
        assert_eq!(store.summary().unwrap().snapshots, [70, 80, 90]);
        // Stretches before 90 ended more than a thousand seconds ago.
        store.commit(&stretch(100, 110, 1_900), &retention, 1_901).unwrap();
        assert_eq!(store.summary().unwrap().snapshots, [90, 100]);
        store.commit(&stretch(110, 500, 9_000), &retention, 9_000).unwrap();
        let summary = store.check().unwrap();
        assert_eq!((summary.snapshots, summary.records), (vec![110], 390), "it is too large, but it is the present");
    }

    #[test]
    fn a_second_process_is_refused_with_the_first_ones_number() {
        let folder = tempfile::tempdir().unwrap();
        let first = Store::open_or_create(folder.path()).unwrap();
        let error = Store::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("in use by process {}", std::process::id())), "{error}");
        drop(first);
        Store::open(folder.path()).unwrap();
    }

    #[test]
    fn a_file_of_another_format_is_refused_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let error = Store::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("there is no world in"), "{error}");
        for garbage in [&b"not a store"[..], &[0; 10_000], &[0xff; 100]] {
            fs::write(folder.path().join(FILE), garbage).unwrap();
            let error = Store::open(folder.path()).unwrap_err().to_string();
            assert!(error.contains("world.redb is damaged"), "{error}");
            assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), garbage, "it was changed");
        }
    }

    #[test]
    fn a_missing_record_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open_or_create(folder.path()).unwrap();
        let mut batch = stretch(0, 10, 0);
        batch.records.remove(4);
        store.commit(&batch, &Retention::default(), 0).unwrap();
        let error = store.check().unwrap_err().to_string();
        assert!(error.contains("the record of tick 5 is missing"), "{error}");
    }

    #[test]
    fn a_backup_holds_the_same_and_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("world")).unwrap();
        let retention = Retention::default();
        store.commit(&stretch(0, 10, 5), &retention, 5).unwrap();
        let notes = vec![("ban/eve".to_owned(), b"1".to_vec())];
        store.commit(&Commit { notes, ..stretch(10, 30, 6) }, &retention, 6).unwrap();

        let backup = folder.path().join("backup");
        let summary = store.back_up(&backup).unwrap();
        assert_eq!(summary, store.summary().unwrap());
        let mut copy = Store::open(&backup).unwrap();
        assert_eq!(copy.check().unwrap(), summary);
        assert_eq!(copy.newest().unwrap(), store.newest().unwrap());
        assert_eq!(copy.note("ban/eve").unwrap(), Some(b"1".to_vec()));
        drop(copy);
        let error = store.back_up(&backup).unwrap_err().to_string();
        assert!(error.contains("not overwritten"), "{error}");
    }

    /// Keeps out: a backup was called compact, and was larger than what it was of.
    #[test]
    fn a_backup_takes_little_more_than_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("world")).unwrap();
        for stretch in 0..3 {
            let snapshot = Some(Snapshot { tick: stretch * 1_000, stored_at_s: 0, bytes: vec![7; 20_000] });
            let ticks = stretch * 1_000 + 1..=(stretch + 1) * 1_000;
            let records = ticks.map(|tick| StoredRecord { tick, bytes: vec![1; 100] }).collect();
            let batch = Commit { snapshot, records, notes: Vec::new() };
            store.commit(&batch, &Retention::default(), 0).unwrap();
        }
        let backup = folder.path().join("backup");
        let held = store.back_up(&backup).unwrap().bytes;
        let (of, is) = (file_bytes(store.folder()), file_bytes(&backup));
        assert!(is <= of && is < held + held / 2, "{held} bytes are in a file of {of}, and in a backup of {is}");
    }

    #[cfg(unix)]
    #[test]
    fn other_users_cannot_read_a_world_or_its_backup() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (world, backup) = (folder.path().join("world"), folder.path().join("backup"));
        Store::open_or_create(&world).unwrap().back_up(&backup).unwrap();
        for folder in [world, backup] {
            let mode = fs::metadata(folder.join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "others may read {}", folder.display());
        }
    }
}

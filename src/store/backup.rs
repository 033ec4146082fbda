//! A backup: a copy of a store in another folder, written anew and compacted at the end.

use std::path::Path;

use redb::{ReadableDatabase, ReadableTable};

use super::{Commit, FILE, NOTES, Retention, SNAPSHOTS, Snapshot, Store, StoreError, StoredRecord, Summary};

/// Records are copied in commits of this size, in bytes.
const PIECE: usize = 8 << 20;
const KEEP_ALL: Retention = Retention { bytes_max: u64::MAX, age_s_max: u64::MAX };

impl Store {
    /// Writes a copy into another folder.
    pub fn back_up(&self, folder: &Path) -> Result<Summary, StoreError> {
        let path = folder.join(FILE);
        if path.exists() {
            return Err(StoreError::Exists { path });
        }
        let mut copy = Store::open_or_create(folder)?;
        copy.commit(&Commit { notes: self.notes()?, ..Commit::default() }, &KEEP_ALL, 0)?;
        let mut next = Some(0);
        while let Some(snapshot) = next.map_or(Ok(None), |from| self.snapshot_from(from))? {
            next = snapshot.tick.checked_add(1);
            copy.commit(&Commit { snapshot: Some(snapshot), ..Commit::default() }, &KEEP_ALL, 0)?;
        }
        let (mut records, mut waiting) = (Vec::new(), 0);
        let store = |records: &mut Vec<StoredRecord>| {
            let batch = Commit { records: std::mem::take(records), ..Commit::default() };
            copy.commit(&batch, &KEEP_ALL, 0)
        };
        self.records_from(0, |tick, bytes| {
            waiting += bytes.len();
            records.push(StoredRecord { tick, bytes: bytes.to_vec() });
            if waiting < PIECE {
                return Ok(());
            }
            waiting = 0;
            store(&mut records)
        })?;
        store(&mut records)?;
        copy.compact()?;
        copy.summary()
    }

    pub fn notes(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let work = || -> Result<_, redb::Error> {
            let table = self.database.begin_read()?.open_table(NOTES)?;
            let mut notes = Vec::new();
            for entry in table.iter()? {
                let (name, bytes) = entry?;
                notes.push((name.value().to_owned(), bytes.value().to_vec()));
            }
            Ok(notes)
        };
        self.attempt(work)
    }

    /// The oldest snapshot that is not older than this tick.
    pub fn snapshot_from(&self, tick: u64) -> Result<Option<Snapshot>, StoreError> {
        let work = || -> Result<Option<Snapshot>, redb::Error> {
            let table = self.database.begin_read()?.open_table(SNAPSHOTS)?;
            let oldest = table.range(tick..)?.next().transpose()?;
            Ok(oldest.map(|(tick, value)| {
                let (stored_at_s, bytes) = value.value();
                Snapshot { tick: tick.value(), stored_at_s, bytes: bytes.to_vec() }
            }))
        };
        self.attempt(work)
    }
}

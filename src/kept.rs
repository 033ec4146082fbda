//! Restores a world from its store.

use std::sync::Arc;

use thiserror::Error;
use wire::SessionRecord;
use world::{SnapshotError, Spec, SpecError, World};

use crate::store::{Store, StoreError};

/// The names of notes about sessions begin with this.
const SESSION: &str = "session/";

/// Why a kept world cannot go on.
#[derive(Debug, Error)]
pub enum KeptError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The snapshot is of another world file.
    #[error("the world in {folder} cannot go on: {error}")]
    Snapshot { folder: String, error: SnapshotError },
    /// The journal does not continue the snapshot.
    #[error("the journal in {folder} breaks off: {error}; `kinesphere store check` says more")]
    Journal { folder: String, error: world::journal::ReplayError },
    #[error("no world can be made: {0}")]
    Spec(#[from] SpecError),
}

/// A world and its sessions after the last kept tick.
pub struct KeptWorld {
    pub world: World,
    pub sessions: Vec<SessionRecord>,
}

/// The world in a store, or a new one if the store is empty.
pub fn find(store: &Store, spec: Arc<Spec>) -> Result<KeptWorld, KeptError> {
    let Some(mut world) = restore(store, &spec, u64::MAX)? else {
        return Ok(KeptWorld { world: World::new(spec)?, sessions: Vec::new() });
    };
    replay(store, &mut world, u64::MAX, &mut |_| {})?;
    let notes = store.notes()?;
    let sessions = notes.iter().filter_map(|(name, bytes)| read_session(name, bytes)).collect();
    Ok(KeptWorld { world, sessions })
}

/// The world of the newest snapshot up to a tick.
pub fn restore(store: &Store, spec: &Arc<Spec>, tick: u64) -> Result<Option<World>, KeptError> {
    let Some(snapshot) = store.snapshot_until(tick)? else { return Ok(None) };
    World::restore(spec.clone(), &snapshot.bytes).map(Some).map_err(|error| match error {
        SnapshotError::OtherSpec { .. } | SnapshotError::Spec(_) => {
            KeptError::Snapshot { folder: store.folder().display().to_string(), error }
        }
        damaged => store.damaged(&damaged.to_string()).into(),
    })
}

/// Replays the journal up to a tick. `after` is called after each step.
pub fn replay(store: &Store, world: &mut World, until: u64, after: &mut dyn FnMut(&World)) -> Result<(), KeptError> {
    let folder = store.folder().display().to_string();
    store.records_from(world.tick().number() + 1, |tick, bytes| {
        if tick > until {
            return Ok(());
        }
        let played = world::journal::replay(world, bytes, after);
        played.map(|_| ()).map_err(|error| KeptError::Journal { folder: folder.clone(), error })
    })
}

/// The note of a session: its name, and the key followed by the nickname.
pub fn session_note(record: &SessionRecord) -> (String, Vec<u8>) {
    let bytes = [&record.resume_key[..], record.nickname.as_bytes()].concat();
    (session_name(record.sender), bytes)
}

/// The name of a session's note.
pub fn session_name(sender: u64) -> String {
    format!("{SESSION}{sender}")
}

fn read_session(name: &str, bytes: &[u8]) -> Option<SessionRecord> {
    let sender = name.strip_prefix(SESSION)?.parse().ok()?;
    let (key, nickname) = bytes.split_first_chunk()?;
    Some(SessionRecord { sender, nickname: String::from_utf8(nickname.to_vec()).ok()?, resume_key: *key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_read_as_it_is_noted() {
        let record = SessionRecord { sender: 7, nickname: "Änn".to_owned(), resume_key: [9; 16] };
        let (name, bytes) = session_note(&record);
        assert_eq!(read_session(&name, &bytes), Some(record));
        assert_eq!(read_session("ban/x", &bytes), None);
        assert_eq!(read_session(&name, &bytes[..10]), None);
    }
}

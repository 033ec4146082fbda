//! A disk that forgets what was not flushed: what a server that crashed comes back with.

use std::collections::BTreeMap;
use std::sync::Arc;

use wire::{Record, SessionRecord};
use world::{Spec, StateHash, World, journal};

/// What was persisted.
#[derive(Debug)]
pub struct Store {
    spec: Arc<Spec>,
    snapshot: Vec<u8>,
    journal: Vec<u8>,
    sessions: BTreeMap<u64, SessionRecord>,
    /// Not flushed yet.
    pending: Vec<Record>,
    /// The world's hash when it was last flushed.
    hash: StateHash,
}

impl Store {
    /// Holds a world as it begins.
    pub fn new(world: &World) -> Store {
        let mut store = Store {
            spec: Arc::clone(world.spec()),
            snapshot: Vec::new(),
            journal: Vec::new(),
            sessions: BTreeMap::new(),
            pending: Vec::new(),
            hash: world.hash(),
        };
        world.snapshot(&mut store.snapshot);
        store
    }

    /// Takes in what is to be kept.
    pub fn keep(&mut self, record: Record) {
        self.pending.push(record);
    }

    /// What came so far survives from now on.
    pub fn flush(&mut self, world: &World) {
        for record in self.pending.drain(..) {
            match record {
                Record::Tick(bytes) => self.journal.extend(bytes),
                Record::Session(session) => {
                    self.sessions.insert(session.sender, session);
                }
                Record::Ended { sender } => {
                    self.sessions.remove(&sender);
                }
            }
        }
        self.hash = world.hash();
    }

    /// Begins the journal anew, with the world as it is.
    pub fn compact(&mut self, world: &World) {
        self.flush(world);
        self.journal.clear();
        self.snapshot.clear();
        world.snapshot(&mut self.snapshot);
    }

    /// After a crash: the world and the sessions as they were flushed, or how they differ from that.
    pub fn recover(&mut self) -> Result<(World, Vec<SessionRecord>), String> {
        self.pending.clear();
        let mut world = World::restore(Arc::clone(&self.spec), &self.snapshot).map_err(|error| error.to_string())?;
        let hash = journal::replay(&mut world, &self.journal, &mut |_| {}).map_err(|error| error.to_string())?;
        if hash != self.hash {
            return Err(format!("the world came back as {hash:?} and was {:?}", self.hash));
        }
        Ok((world, self.sessions.values().cloned().collect()))
    }
}

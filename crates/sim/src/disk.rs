//! A disk that forgets what was not flushed: what a server comes back with after a crash.

use std::collections::BTreeMap;
use std::sync::Arc;

use wire::{Record, SessionRecord};
use world::{Spec, StateHash, World, journal};

#[derive(Debug)]
pub struct Disk {
    spec: Arc<Spec>,
    snapshot: Vec<u8>,
    journal: Vec<u8>,
    sessions: BTreeMap<u64, SessionRecord>,
    /// Not flushed yet.
    pending: Vec<Record>,
    /// The world's hash when it was last flushed.
    hash: StateHash,
}

impl Disk {
    /// Holds a world as it begins.
    pub fn new(world: &World) -> Disk {
        let (spec, mut snapshot) = (Arc::clone(world.spec()), Vec::new());
        world.snapshot(&mut snapshot);
        let (journal, sessions, pending) = (Vec::new(), BTreeMap::new(), Vec::new());
        Disk { spec, snapshot, journal, sessions, pending, hash: world.hash() }
    }

    pub fn keep(&mut self, record: Record) {
        self.pending.push(record);
    }

    /// What came so far survives from now on.
    pub fn flush(&mut self, world: &World) {
        for record in self.pending.drain(..) {
            match record {
                Record::Tick(bytes) => self.journal.extend(bytes),
                Record::Session(session) => drop(self.sessions.insert(session.sender, session)),
                Record::Ended { sender } => drop(self.sessions.remove(&sender)),
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

    /// After a crash: the world and the sessions as they were flushed, or how the world differs from that.
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

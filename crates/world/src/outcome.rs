//! The outcome of a tick, which is read after the step.

use space::{NodeId, ObjectId, Tick};

use crate::input::Refusal;

/// Everything that happened in one tick. Lists keep their memory from tick to tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub tick: Tick,
    pub joined: Vec<Joined>,
    pub left: Vec<Left>,
    /// Objects with another pose than before the tick, by rising names, without those that joined.
    pub moved: Vec<ObjectId>,
    pub grabbed: Vec<Held>,
    /// Objects that were let go by request or as their holder left.
    pub released: Vec<Held>,
    /// Contacts that stopped or turned a mover, in the order of settling.
    pub contacts: Vec<Met>,
    /// By sender and sequence.
    pub said: Vec<Said>,
    /// By sender and sequence.
    pub refused: Vec<Refusal>,
    pub work: TickWork,
}

/// A participant entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    pub sender: NodeId,
    pub object: ObjectId,
}

/// A participant left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    pub sender: NodeId,
    /// Its avatar, whose name is never given again.
    pub object: ObjectId,
}

/// An avatar and the object that it holds or held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub carrier: ObjectId,
    pub object: ObjectId,
}

/// A contact of a mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    pub mover: ObjectId,
    /// The obstacle; `None` is the edge of the world.
    pub other: Option<ObjectId>,
}

/// A participant said something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub sender: NodeId,
    pub object: ObjectId,
    pub text: Box<str>,
}

/// Counts of a tick's work: the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickWork {
    /// Objects that wanted to move.
    pub movers: u64,
    /// Pairs of the broad phase.
    pub pairs: u64,
    /// Sweeps in settling.
    pub sweeps: u64,
    /// Narrow-phase tests that bounding spheres decided, as the budget was spent.
    pub by_sphere: u64,
    /// Narrow-phase tests by spheres of a sphere-tree.
    pub by_tree: u64,
    /// Narrow-phase tests by the shapes themselves.
    pub by_shape: u64,
    /// Movers that were left to a later tick.
    pub put_off: u64,
}

impl Outcome {
    pub(crate) fn clear(&mut self, tick: Tick) {
        let Outcome { tick: now, joined, left, moved, grabbed, released, contacts, said, refused, work } = self;
        *now = tick;
        *work = TickWork::default();
        joined.clear();
        left.clear();
        moved.clear();
        grabbed.clear();
        released.clear();
        contacts.clear();
        said.clear();
        refused.clear();
    }
}

//! What a tick brought: read after the step, in a fixed order.

use space::{NodeId, ObjectId, Tick};

use crate::input::Refusal;

/// Everything that happened in one tick. Lists keep their memory from tick to tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Which tick it was.
    pub tick: Tick,
    /// Who entered, by sender.
    pub joined: Vec<Joined>,
    /// Who left, by sender.
    pub left: Vec<Left>,
    /// Objects whose pose is another than before the tick, ascending; those that joined are not among them.
    pub moved: Vec<ObjectId>,
    /// Who took hold of what.
    pub grabbed: Vec<Held>,
    /// Who let go of what, whether by asking, by distance or by leaving.
    pub released: Vec<Held>,
    /// Who was stopped or turned aside by whom, in the order of settling.
    pub contacts: Vec<Met>,
    /// What was said, by sender and sequence.
    pub said: Vec<Said>,
    /// Which inputs were refused, by sender and sequence.
    pub refused: Vec<Refusal>,
    /// What was done, counted rather than timed.
    pub work: TickWork,
}

/// A participant entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Who.
    pub sender: NodeId,
    /// The avatar.
    pub object: ObjectId,
}

/// A participant left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Who.
    pub sender: NodeId,
    /// The avatar that is no more. Its name is never given again.
    pub object: ObjectId,
}

/// An avatar and what it holds or held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The avatar.
    pub carrier: ObjectId,
    /// The object.
    pub object: ObjectId,
}

/// A mover met something on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// Who moved.
    pub mover: ObjectId,
    /// What was in the way; `None` is the edge of the world.
    pub other: Option<ObjectId>,
}

/// Somebody said something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who.
    pub sender: NodeId,
    /// The speaker's avatar.
    pub object: ObjectId,
    /// What.
    pub text: Box<str>,
}

/// What a tick did: the same on every machine, whatever the world remembered from earlier ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickWork {
    /// Objects that wanted to move.
    pub movers: u64,
    /// Pairs whose whole motions could meet.
    pub pairs: u64,
    /// Motions that were tried in settling.
    pub sweeps: u64,
    /// Looks at pairs that need the narrow phase, decided by bounding spheres: there was no time for more.
    pub by_sphere: u64,
    /// The same, by balls of a sphere-tree.
    pub by_tree: u64,
    /// The same, by the shapes themselves.
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

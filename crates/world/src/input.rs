//! What participants ask for, and why they may be refused.

use space::{NodeId, ObjectId, Tick, Vec3};

/// One request of one participant.
///
/// Inputs of a tick may come in any order: the world sorts them by sender and sequence before it looks at them.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Who asks.
    pub sender: NodeId,
    /// Counts the sender's requests; one that is not newer than the last is refused. It starts above zero, and a join
    /// starts it anew.
    pub sequence: u32,
    /// The tick it was made for. A late input is applied in the present tick, never rewritten into the past.
    pub made_for: Tick,
    /// What is asked for.
    pub act: Act,
}

/// What can be asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// To enter the world with an avatar.
    Join {
        /// How the participant wants to be called. The world keeps it; that it is unique is the caller's care.
        name: Box<str>,
        /// Which of the world's avatars, counted from zero.
        avatar: u16,
        /// Where to stand, if not at a spawn place: where one stood before. The nearest free place is taken.
        at: Option<Vec3>,
    },
    /// To leave. What was held is released.
    Leave,
    /// To walk with this velocity, in metres per second, until told otherwise or until the wish grows old. In a world
    /// with gravity the vertical part is ignored; in one without, it is flown.
    Move {
        /// Metres per second.
        velocity: Vec3,
    },
    /// To face this way, in radians about the axis that points up. An upright avatar never collides by turning.
    Turn {
        /// Radians.
        heading: f32,
    },
    /// To jump, from the ground.
    Jump,
    /// To take hold of a movable object within reach: from then on both move as one body.
    Grab {
        /// What to hold.
        object: ObjectId,
    },
    /// To let go.
    Release,
    /// To say something. The world passes it on.
    Say {
        /// What.
        text: Box<str>,
    },
}

/// Why an input was refused. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RefusalReason {
    /// The sender has not joined.
    #[error("the sender has not joined")]
    UnknownSender,
    /// The sender has joined already.
    #[error("the sender has joined already")]
    AlreadyHere,
    /// An old request, or the same one again.
    #[error("sequence is not newer than {last}")]
    OldSequence {
        /// The newest that was seen.
        last: u32,
    },
    /// More requests in one tick than the world looks at.
    #[error("more than {most} inputs in one tick")]
    TooManyInputs {
        /// How many it looks at.
        most: u32,
    },
    /// A number that is none.
    #[error("`{field}` is not finite")]
    NotFinite {
        /// Which.
        field: &'static str,
    },
    /// Faster than the world allows.
    #[error("{speed} m/s is faster than {most} m/s")]
    TooFast {
        /// What was asked for.
        speed: f32,
        /// What is allowed.
        most: f32,
    },
    /// The world has no such avatar.
    #[error("this world has {known} avatars, there is no number {asked}")]
    NoSuchAvatar {
        /// Which was asked for.
        asked: u16,
        /// How many there are.
        known: u16,
    },
    /// The world holds no more avatars.
    #[error("the world is full: {most} avatars")]
    Full {
        /// How many it holds.
        most: u32,
    },
    /// No free place was found near the one asked for, nor near any spawn place.
    #[error("there is no free place to stand")]
    NoRoom,
    /// A name or a text that is too long, or empty.
    #[error("`{field}` has {bytes} bytes, expected 1 to {most}")]
    BadLength {
        /// Which.
        field: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// No such object is in the world, or it cannot be held.
    #[error("there is no such movable object")]
    NotMovable,
    /// Too far away to hold.
    #[error("it is out of reach")]
    OutOfReach,
    /// Somebody else has it.
    #[error("somebody holds it")]
    AlreadyHeld,
    /// The sender holds something already.
    #[error("the sender holds something already")]
    HandsFull,
    /// The sender holds nothing.
    #[error("the sender holds nothing")]
    HandsEmpty,
    /// Nobody jumps in the air, or where nothing pulls down.
    #[error("the sender does not stand on anything")]
    NotStanding,
}

/// An input that was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal {
    /// Whose.
    pub sender: NodeId,
    /// Which.
    pub sequence: u32,
    /// Why.
    pub reason: RefusalReason,
}

//! Requests of participants, and the reasons for which they are refused.

use space::{NodeId, ObjectId, Tick, Vec3};

/// One request of one participant. The inputs of a tick may come in any order: the world sorts them by sender and
/// sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub sender: NodeId,
    /// Counts the sender's inputs; one that is not newer than the last is refused. It starts above zero, and a join
    /// starts it anew.
    pub sequence: u32,
    /// The tick for which it was made. A late input is applied in the present tick.
    pub made_for: Tick,
    pub act: Act,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Enters the world with an avatar.
    Join {
        /// The participant's name. The caller makes sure that it is unique.
        name: Box<str>,
        /// The index of the avatar in the spec.
        avatar: u16,
        /// The wanted place, if not a spawn place. The nearest free place is taken.
        at: Option<Vec3>,
    },
    /// Leaves the world, and releases the object that is held.
    Leave,
    /// Walks with this velocity, in metres per second, until the next wish or until this one is too old. The vertical
    /// part counts in a world without gravity only.
    Move {
        velocity: Vec3,
    },
    /// Turns to this angle about the upright axis, in radians. An upright avatar never collides by turning.
    Turn {
        heading: f32,
    },
    /// Jumps from the ground.
    Jump,
    /// Takes hold of a movable object within reach: from then on both move as one body.
    Grab {
        object: ObjectId,
    },
    Release,
    /// Says a text, which the world passes on.
    Say {
        text: Box<str>,
    },
}

/// Why an input was refused. A refused input changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RefusalReason {
    #[error("the sender has not joined")]
    UnknownSender,
    #[error("the sender has joined already")]
    AlreadyHere,
    #[error("sequence is not newer than {last}")]
    OldSequence { last: u32 },
    #[error("more than {most} inputs in one tick")]
    TooManyInputs { most: u32 },
    #[error("`{field}` is not finite")]
    NotFinite { field: &'static str },
    #[error("{speed} m/s is faster than {most} m/s")]
    TooFast { speed: f32, most: f32 },
    #[error("this world has {known} avatars, there is no number {asked}")]
    NoSuchAvatar { asked: u16, known: u16 },
    #[error("the world is full: {most} avatars")]
    Full { most: u32 },
    /// No free place was found near the one asked for, nor near any spawn place.
    #[error("there is no free place to stand")]
    NoRoom,
    /// A name or a text that is too long, or empty.
    #[error("`{field}` has {bytes} bytes, expected 1 to {most}")]
    BadLength { field: &'static str, bytes: usize, most: usize },
    /// There is no such object, or it cannot be held.
    #[error("there is no such movable object")]
    NotMovable,
    #[error("it is out of reach")]
    OutOfReach,
    #[error("another avatar holds it")]
    AlreadyHeld,
    #[error("the sender holds something already")]
    HandsFull,
    #[error("the sender holds nothing")]
    HandsEmpty,
    /// A jump needs ground.
    #[error("the sender does not stand on anything")]
    NotStanding,
}

/// An input that was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal {
    pub sender: NodeId,
    pub sequence: u32,
    pub reason: RefusalReason,
}

//! What one host tells another about an object's motion, and which of it can be believed.

use space::{DQuat, DVec3, NodeId, ObjectId, Time};

use crate::dead_reckoning::Algorithm;
use crate::trend::Trend;

/// Where an object was and how it moved, at a moment of its owner's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KinematicState {
    /// The moment, in the owner's clock.
    pub stamp: Time,
    /// Position, in metres.
    pub pos: DVec3,
    /// Velocity, in metres per second.
    pub vel: DVec3,
    /// Acceleration, in metres per second squared.
    pub acc: DVec3,
    /// Orientation: turns the body's axes into the world's.
    pub rot: DQuat,
    /// Angular velocity, in radians per second, along the body's axes.
    pub angvel: DVec3,
}

impl KinematicState {
    /// An object that stands still, unturned.
    pub fn at_rest(stamp: Time, pos: DVec3) -> KinematicState {
        let zero = DVec3::ZERO;
        KinematicState { stamp, pos, vel: zero, acc: zero, rot: DQuat::IDENTITY, angvel: zero }
    }

    /// Whether nothing about it changes.
    pub fn is_at_rest(&self) -> bool {
        self.vel == DVec3::ZERO && self.acc == DVec3::ZERO && self.angvel == DVec3::ZERO
    }
}

/// The number of an update. Numbers wrap around; of two, the newer is the one less than half a turn ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence(u32);

impl Sequence {
    /// The sequence number that is sent as `number`.
    pub const fn new(number: u32) -> Sequence {
        Sequence(number)
    }

    /// The number as it is sent.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Sequence {
        Sequence(self.0.wrapping_add(1))
    }

    /// Whether this came after `other`.
    pub const fn is_newer_than(self, other: Sequence) -> bool {
        self.0.wrapping_sub(other.0) as i32 > 0
    }
}

/// What an update says beyond its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// Nothing special.
    pub const NONE: Flags = Flags(0);
    /// Positions before this stamp say nothing about those after it: a bounce.
    pub const DISCONTINUITY: Flags = Flags(1);
    /// The object is somewhere else now; nobody should see it glide there.
    pub const TELEPORT: Flags = Flags(2);
    /// The object stands still.
    pub const AT_REST: Flags = Flags(4);

    /// The flags of these bits. Unknown bits are kept, so that a newer peer's message passes unchanged.
    pub const fn from_bits(bits: u8) -> Flags {
        Flags(bits)
    }

    /// The bits as they are sent.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether all of `other` are set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A message from an object's owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Who moves the object.
    pub owner: NodeId,
    /// Which object.
    pub object: ObjectId,
    /// The update's number.
    pub seq: Sequence,
    /// How to go on from here.
    pub algorithm: Algorithm,
    /// The state to go on from.
    pub state: KinematicState,
    /// How the acceleration goes on, for [`Algorithm::Trend`]; ignored by all others.
    pub trend: Trend,
    /// What else there is to know.
    pub flags: Flags,
}

/// The largest magnitudes that are believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Metres from the origin.
    pub pos: f64,
    /// Metres per second.
    pub vel: f64,
    /// Metres per second squared.
    pub acc: f64,
    /// Radians per second.
    pub angvel: f64,
}

impl Default for Limits {
    /// Anything that moves in a world of [`space::Spheres::LIMIT`], up to the speed of a meteor.
    fn default() -> Limits {
        Limits { pos: 1e9, vel: 1e5, acc: 1e5, angvel: 1e3 }
    }
}

/// A part of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The position.
    Position,
    /// The velocity.
    Velocity,
    /// The acceleration.
    Acceleration,
    /// The orientation.
    Orientation,
    /// The angular velocity.
    AngularVelocity,
    /// How the acceleration goes on.
    Trend,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::Position => "position",
            Field::Velocity => "velocity",
            Field::Acceleration => "acceleration",
            Field::Orientation => "orientation",
            Field::AngularVelocity => "angular velocity",
            Field::Trend => "trend",
        }
    }
}

/// Why a state is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbelievable {
    /// Not a number, or infinite.
    #[error("the {} is not finite", .0.name())]
    NonFinite(Field),
    /// Too large, or, for an orientation, nowhere near length one.
    #[error("the {} is out of range", .0.name())]
    OutOfRange(Field),
}

/// The update with its orientation normalised, or why it is not believed.
pub fn believable(update: &Update, limits: &Limits) -> Result<Update, Unbelievable> {
    let state = &update.state;
    let vectors = [
        (Field::Position, state.pos, limits.pos),
        (Field::Velocity, state.vel, limits.vel),
        (Field::Acceleration, state.acc, limits.acc),
        (Field::AngularVelocity, state.angvel, limits.angvel),
        (Field::Trend, update.trend.before, limits.acc),
    ];
    for (field, vector, _) in vectors {
        if !vector.is_finite() {
            return Err(Unbelievable::NonFinite(field));
        }
    }
    let Trend { first, second, .. } = update.trend;
    for (field, is_finite) in
        [(Field::Orientation, state.rot.is_finite()), (Field::Trend, first.is_finite() && second.is_finite())]
    {
        if !is_finite {
            return Err(Unbelievable::NonFinite(field));
        }
    }
    for (field, vector, limit) in vectors {
        // Component by component first: the square of a huge component would be infinite, and that is no harm.
        if vector.abs().max_element() > limit || vector.length() > limit {
            return Err(Unbelievable::OutOfRange(field));
        }
    }
    if !update.trend.is_stable() {
        return Err(Unbelievable::OutOfRange(Field::Trend));
    }
    let norm = state.rot.length();
    if !(0.5..=2.0).contains(&norm) {
        return Err(Unbelievable::OutOfRange(Field::Orientation));
    }
    let mut believed = *update;
    // A unit quaternion is left as it came: normalising it again would change its last bit.
    if (norm - 1.0).abs() > 1e-15 {
        believed.state.rot = state.rot / norm;
    }
    Ok(believed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap_around() {
        assert!(Sequence::new(0).is_newer_than(Sequence::new(u32::MAX)));
        assert!(!Sequence::new(u32::MAX).is_newer_than(Sequence::new(0)));
        assert!(!Sequence::new(7).is_newer_than(Sequence::new(7)));
        assert_eq!(Sequence::new(u32::MAX).next(), Sequence::new(0));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let object = ObjectId::new(1).unwrap();
        let update = Update {
            owner: NodeId::new(1),
            object,
            seq: Sequence::default(),
            algorithm: Algorithm::Fpw,
            state: KinematicState::at_rest(Time::default(), DVec3::ZERO),
            trend: Trend::default(),
            flags: Flags::NONE,
        };
        let refused = |change: fn(&mut Update)| {
            let mut update = update;
            change(&mut update);
            believable(&update, &Limits::default()).unwrap_err().to_string()
        };
        assert_eq!(refused(|u| u.state.vel.x = f64::NAN), "the velocity is not finite");
        assert_eq!(refused(|u| u.state.pos.y = 1e300), "the position is out of range");
        assert_eq!(refused(|u| u.state.rot = DQuat::from_xyzw(0.0, 0.0, 0.0, 3.0)), "the orientation is out of range");
        assert_eq!(refused(|u| u.trend.first = 2.5), "the trend is out of range");
        assert!(believable(&update, &Limits::default()).is_ok());
    }
}

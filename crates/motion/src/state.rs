//! Updates: what an owner sends about an object's motion, and the check of what arrives.

use space::{DQuat, DVec3, NodeId, ObjectId, Time};

use crate::dead_reckoning::Algorithm;
use crate::trend::Trend;

/// The state of an object at a moment of its owner's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KinematicState {
    /// By the owner's clock.
    pub stamp: Time,
    /// The position, in metres.
    pub pos: DVec3,
    /// The velocity, in metres per second.
    pub vel: DVec3,
    /// The acceleration, in metres per second squared.
    pub acc: DVec3,
    /// The orientation: it rotates the body's axes to the world's.
    pub rot: DQuat,
    /// The angular velocity along the body's axes, in radians per second.
    pub angvel: DVec3,
}

impl KinematicState {
    /// An object at rest, not rotated.
    pub fn at_rest(stamp: Time, pos: DVec3) -> KinematicState {
        let zero = DVec3::ZERO;
        KinematicState { stamp, pos, vel: zero, acc: zero, rot: DQuat::IDENTITY, angvel: zero }
    }

    pub fn is_at_rest(&self) -> bool {
        self.vel == DVec3::ZERO && self.acc == DVec3::ZERO && self.angvel == DVec3::ZERO
    }
}

/// The sequence number of an update. Numbers wrap around: of two, the newer is ahead by less than 2^31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence(u32);

impl Sequence {
    pub const fn new(number: u32) -> Sequence {
        Sequence(number)
    }

    pub const fn number(self) -> u32 {
        self.0
    }

    #[must_use]
    pub const fn next(self) -> Sequence {
        Sequence(self.0.wrapping_add(1))
    }

    pub const fn is_newer_than(self, other: Sequence) -> bool {
        self.0.wrapping_sub(other.0) as i32 > 0
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    pub const NONE: Flags = Flags(0);
    /// Positions before this stamp say nothing about those after it, because of a bounce.
    pub const DISCONTINUITY: Flags = Flags(1);
    /// The object was moved; its display must not be blended.
    pub const TELEPORT: Flags = Flags(2);
    /// The object is at rest.
    pub const AT_REST: Flags = Flags(4);

    /// Flags from their bits; unknown bits are kept.
    pub const fn from_bits(bits: u8) -> Flags {
        Flags(bits)
    }

    pub const fn bits(self) -> u8 {
        self.0
    }

    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A message from an object's owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// The host that moves the object.
    pub owner: NodeId,
    pub object: ObjectId,
    pub seq: Sequence,
    /// The formula that extrapolates `state`.
    pub algorithm: Algorithm,
    pub state: KinematicState,
    /// For [`Algorithm::Trend`]; ignored by others.
    pub trend: Trend,
    pub flags: Flags,
}

/// The largest magnitudes of valid states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateLimits {
    /// In metres from the origin.
    pub pos: f64,
    /// In metres per second.
    pub vel: f64,
    /// In metres per second squared.
    pub acc: f64,
    /// In radians per second.
    pub angvel: f64,
}

impl Default for StateLimits {
    /// The size of a world, [`space::Spheres::LIMIT`], and 100 km/s.
    fn default() -> StateLimits {
        StateLimits { pos: 1e9, vel: 1e5, acc: 1e5, angvel: 1e3 }
    }
}

/// A part of an update, in error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateField {
    Position,
    Velocity,
    Acceleration,
    Orientation,
    AngularVelocity,
    Trend,
}

impl StateField {
    fn name(self) -> &'static str {
        match self {
            StateField::Position => "position",
            StateField::Velocity => "velocity",
            StateField::Acceleration => "acceleration",
            StateField::Orientation => "orientation",
            StateField::AngularVelocity => "angular velocity",
            StateField::Trend => "trend",
        }
    }
}

/// Why an update is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbelievable {
    /// A number is NaN or infinite.
    #[error("the {} is not finite", .0.name())]
    NonFinite(StateField),
    /// A number exceeds its limit, or the length of the orientation is not near one.
    #[error("the {} is out of range", .0.name())]
    OutOfRange(StateField),
}

/// Checks an update and normalises its orientation.
pub fn believable(update: &Update, limits: &StateLimits) -> Result<Update, Unbelievable> {
    let state = &update.state;
    let vectors = [
        (StateField::Position, state.pos, limits.pos),
        (StateField::Velocity, state.vel, limits.vel),
        (StateField::Acceleration, state.acc, limits.acc),
        (StateField::AngularVelocity, state.angvel, limits.angvel),
        (StateField::Trend, update.trend.before, limits.acc),
    ];
    for (field, vector, _) in vectors {
        if !vector.is_finite() {
            return Err(Unbelievable::NonFinite(field));
        }
    }
    let Trend { first, second, .. } = update.trend;
    for (field, is_finite) in
        [(StateField::Orientation, state.rot.is_finite()), (StateField::Trend, first.is_finite() && second.is_finite())]
    {
        if !is_finite {
            return Err(Unbelievable::NonFinite(field));
        }
    }
    for (field, vector, limit) in vectors {
        // Components first: the square of a huge one would be infinite.
        if vector.abs().max_element() > limit || vector.length() > limit {
            return Err(Unbelievable::OutOfRange(field));
        }
    }
    if !update.trend.is_stable() {
        return Err(Unbelievable::OutOfRange(StateField::Trend));
    }
    let norm = state.rot.length();
    if !(0.5..=2.0).contains(&norm) {
        return Err(Unbelievable::OutOfRange(StateField::Orientation));
    }
    let mut believed = *update;
    // A unit quaternion is unchanged: normalising it again would change its last bit.
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
            believable(&update, &StateLimits::default()).unwrap_err().to_string()
        };
        assert_eq!(refused(|u| u.state.vel.x = f64::NAN), "the velocity is not finite");
        assert_eq!(refused(|u| u.state.pos.y = 1e300), "the position is out of range");
        assert_eq!(refused(|u| u.state.rot = DQuat::from_xyzw(0.0, 0.0, 0.0, 3.0)), "the orientation is out of range");
        assert_eq!(refused(|u| u.trend.first = 2.5), "the trend is out of range");
        assert!(believable(&update, &StateLimits::default()).is_ok());
    }
}

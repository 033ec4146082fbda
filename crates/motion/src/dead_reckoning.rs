//! How a replica goes on from the last state it was told: the family of IEEE 1278.1 (DIS), numbered as there.
//!
//! F or R: orientation fixed or rotating. P or V: velocity constant or changing. W or B: along the world's axes or
//! the body's.

use space::impact::Ballistic;
use space::{DQuat, DVec3};

use crate::curve::{AccelerationPolicy, Curve, Motion};
use crate::rotation;
use crate::state::KinematicState;

/// Which formula carries an update forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// 1: stays where it is.
    Static,
    /// 2: constant velocity.
    Fpw,
    /// 3: constant velocity, turning.
    Rpw,
    /// 4: constant acceleration, turning.
    Rvw,
    /// 5: constant acceleration.
    Fvw,
    /// 6: constant velocity along body axes that turn, orientation shown fixed.
    Fpb,
    /// 7: constant velocity along turning body axes: a steady curve.
    Rpb,
    /// 8: constant acceleration along turning body axes.
    Rvb,
    /// 9: as 8, orientation shown fixed.
    Fvb,
    /// A parabola through the last three positions ([`position_history`](crate::position_history)).
    PositionHistory,
    /// An acceleration that goes on as it did before ([`trend`](crate::trend)).
    Trend,
}

impl Algorithm {
    /// The DIS family, by number from 1.
    pub const DIS: [Algorithm; 9] = [
        Algorithm::Static,
        Algorithm::Fpw,
        Algorithm::Rpw,
        Algorithm::Rvw,
        Algorithm::Fvw,
        Algorithm::Fpb,
        Algorithm::Rpb,
        Algorithm::Rvb,
        Algorithm::Fvb,
    ];

    /// The path that `state` starts, where a state alone is enough to know.
    pub fn curve(self, state: &KinematicState) -> Curve {
        let KinematicState { pos, vel, acc, .. } = *state;
        let zero = DVec3::ZERO;
        match self {
            Algorithm::Static | Algorithm::PositionHistory => Curve::Ballistic(Ballistic { pos, vel: zero, acc: zero }),
            Algorithm::Fpw | Algorithm::Rpw => Curve::Ballistic(Ballistic { pos, vel, acc: zero }),
            Algorithm::Rvw | Algorithm::Fvw | Algorithm::Trend => Curve::Ballistic(Ballistic { pos, vel, acc }),
            Algorithm::Fpb | Algorithm::Rpb => {
                let turning = Turning::new(pos, state.rot, state.angvel, vel, zero);
                Curve::Turning(Turning { body_acc: zero, ..turning })
            }
            Algorithm::Rvb | Algorithm::Fvb => Curve::Turning(Turning::new(pos, state.rot, state.angvel, vel, acc)),
        }
    }

    /// The orientation after `dt` seconds.
    pub fn orientation(self, state: &KinematicState, dt: f64) -> DQuat {
        match self {
            Algorithm::Rpw | Algorithm::Rvw | Algorithm::Rpb | Algorithm::Rvb => {
                rotation::advanced(state.rot, state.angvel, dt)
            }
            _ => state.rot,
        }
    }
}

/// Motion along axes that turn with the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    /// Position at the start.
    pub pos: DVec3,
    /// Orientation of the axes at the start.
    pub rot: DQuat,
    /// How fast the axes turn, along themselves.
    pub angvel: DVec3,
    /// Velocity along the axes.
    pub body_vel: DVec3,
    /// How fast `body_vel` changes: not the felt acceleration, which the turn adds to.
    pub body_acc: DVec3,
}

impl Turning {
    /// The motion with these world velocity and acceleration at its start.
    pub fn new(pos: DVec3, rot: DQuat, angvel: DVec3, vel: DVec3, acc: DVec3) -> Turning {
        let to_body = rot.conjugate();
        let body_vel = to_body * vel;
        Turning { pos, rot, angvel, body_vel, body_acc: to_body * acc - angvel.cross(body_vel) }
    }

    /// No acceleration up to a moment is larger than this: what the axes add, and what the turn makes of the velocity.
    pub fn acceleration_max(&self, to: f64) -> f64 {
        let speed_max = self.body_vel.length() + self.body_acc.length() * to;
        self.body_acc.length() + self.angvel.length() * speed_max
    }

    /// The motion that goes on, after `dt` seconds, with another velocity. A mirrored turn turns the other way, so that
    /// the whole path after the bounce is the mirror image of the one without it.
    #[must_use]
    pub fn deflected(&self, dt: f64, vel: DVec3, normal: DVec3, policy: AccelerationPolicy) -> Turning {
        let axes = rotation::advanced(self.rot, self.angvel, dt);
        let to_body = axes.conjugate();
        let angvel = match policy {
            // What turns is not a direction but a sense of turning: its mirror image has the opposite sign.
            AccelerationPolicy::Mirror => -(to_body * policy.apply(axes * self.angvel, normal)),
            AccelerationPolicy::Zero => DVec3::ZERO,
            AccelerationPolicy::Keep => self.angvel,
        };
        Turning {
            pos: self.at(dt).pos,
            rot: axes,
            angvel,
            body_vel: to_body * vel,
            body_acc: to_body * policy.apply(axes * self.body_acc, normal),
        }
    }

    /// Position, velocity and acceleration after `dt` seconds.
    pub fn at(&self, dt: f64) -> Motion {
        let way = first_integral(self.angvel, dt, self.body_vel) + second_integral(self.angvel, dt, self.body_acc);
        let axes = rotation::advanced(self.rot, self.angvel, dt);
        let body_vel = self.body_vel + self.body_acc * dt;
        Motion {
            pos: self.pos + self.rot * way,
            vel: axes * body_vel,
            acc: axes * (self.body_acc + self.angvel.cross(body_vel)),
        }
    }
}

/// Below this angle the closed forms lose digits and the series is summed instead.
const SERIES_BELOW: f64 = 0.5;
/// Terms of the series: the fifteenth is below the last bit of the first at [`SERIES_BELOW`].
const SERIES_TERMS: u32 = 14;

/// The integral over 0..dt of the turned `vector`: `R1 v` of the standard.
pub fn first_integral(angvel: DVec3, dt: f64, vector: DVec3) -> DVec3 {
    let n = angvel.length();
    let angle = n * dt;
    if angle < SERIES_BELOW {
        // The sum over k of Wᵏ v dt^(k+1)/(k+1)!
        let mut term = vector;
        let mut sum = vector;
        for k in 1..SERIES_TERMS {
            term = angvel.cross(term) * (dt / f64::from(k + 1));
            sum += term;
        }
        return sum * dt;
    }
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    angvel * (angvel.dot(vector) * ((angle - sin) / (n * n * n)))
        + vector * (sin / n)
        + angvel.cross(vector) * ((1.0 - cos) / (n * n))
}

/// The integral over 0..dt of `u` times the vector turned for `u`: `R2 a` of the standard.
pub fn second_integral(angvel: DVec3, dt: f64, vector: DVec3) -> DVec3 {
    let n = angvel.length();
    let angle = n * dt;
    if angle < SERIES_BELOW {
        // The sum over k of Wᵏ a dt^(k+2)/(k! (k+2)).
        let mut term = vector;
        let mut sum = vector * 0.5;
        for k in 1..SERIES_TERMS {
            term = angvel.cross(term) * (dt / f64::from(k));
            sum += term * (1.0 / f64::from(k + 2));
        }
        return sum * (dt * dt);
    }
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let n2 = n * n;
    angvel * (angvel.dot(vector) * ((0.5 * angle * angle - cos - angle * sin + 1.0) / (n2 * n2)))
        + vector * ((cos + angle * sin - 1.0) / n2)
        + angvel.cross(vector) * ((sin - angle * cos) / (n2 * n))
}

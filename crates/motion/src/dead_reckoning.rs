//! Dead reckoning: the models of IEEE 1278.1 (DIS) that extrapolate the state of an update, numbered as there.
//!
//! ```text
//! F P W      orientation:  Fixed or Rotating
//! │ │ │      velocity:     constant (P) or changing (V)
//! │ │ └───── axes:         of the World or of the Body
//! ```

use space::impact::Ballistic;
use space::{DQuat, DVec3};

use crate::curve::{AccelerationPolicy, Curve, Kinematics};
use crate::rotation;
use crate::state::KinematicState;

/// A formula that extrapolates an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// 1: at rest.
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
    /// 7: constant velocity along turning body axes, a helix.
    Rpb,
    /// 8: constant acceleration along turning body axes.
    Rvb,
    /// 9: as 8, orientation shown fixed.
    Fvb,
    /// A parabola through the last three positions: see [`position_history`](crate::position_history).
    PositionHistory,
    /// An acceleration that follows its trend: see [`trend`](crate::trend).
    Trend,
}

impl Algorithm {
    /// The models of DIS, by number from 1.
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

    /// The path from a state, for algorithms that need nothing else.
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
    /// The orientation of the axes at the start.
    pub rot: DQuat,
    /// The angular velocity of the axes, along themselves.
    pub angvel: DVec3,
    /// The velocity along the axes.
    pub body_vel: DVec3,
    /// The derivative of `body_vel`. The rotation adds to the acceleration in the axes of the world.
    pub body_acc: DVec3,
}

impl Turning {
    /// The motion that starts with this velocity and acceleration in the axes of the world.
    pub fn new(pos: DVec3, rot: DQuat, angvel: DVec3, vel: DVec3, acc: DVec3) -> Turning {
        let to_body = rot.conjugate();
        let body_vel = to_body * vel;
        Turning { pos, rot, angvel, body_vel, body_acc: to_body * acc - angvel.cross(body_vel) }
    }

    /// An upper bound of the acceleration up to a moment.
    pub fn acceleration_max(&self, to: f64) -> f64 {
        let speed_max = self.body_vel.length() + self.body_acc.length() * to;
        self.body_acc.length() + self.angvel.length() * speed_max
    }

    /// The motion after a bounce, after `dt` seconds, which leaves the velocity `vel`. With
    /// [`AccelerationPolicy::Mirror`] the path after it is the mirror image of the path without it.
    #[must_use]
    pub fn deflected(&self, dt: f64, vel: DVec3, normal: DVec3, policy: AccelerationPolicy) -> Turning {
        let axes = rotation::advanced(self.rot, self.angvel, dt);
        let to_body = axes.conjugate();
        let angvel = match policy {
            // Angular velocity is a pseudovector: its mirror image has the opposite sign.
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
    pub fn at(&self, dt: f64) -> Kinematics {
        let way = first_integral(self.angvel, dt, self.body_vel) + second_integral(self.angvel, dt, self.body_acc);
        let axes = rotation::advanced(self.rot, self.angvel, dt);
        let body_vel = self.body_vel + self.body_acc * dt;
        Kinematics {
            pos: self.pos + self.rot * way,
            vel: axes * body_vel,
            acc: axes * (self.body_acc + self.angvel.cross(body_vel)),
        }
    }
}

/// Below this angle a series is summed, as the closed forms lose digits to cancellation.
const SERIES_BELOW: f64 = 0.5;
/// Terms of the series: the fifteenth is below the last bit of the first at [`SERIES_BELOW`].
const SERIES_TERMS: u32 = 14;

/// The integral over 0..dt of the rotated `vector`: `R1 v` in the standard.
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

/// The integral over 0..dt of `u` times the vector rotated for a time `u`: `R2 a` in the standard.
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

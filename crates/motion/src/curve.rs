//! Paths between two contacts, in closed form.

use space::DVec3;
use space::impact::{Ballistic, boxes};

use crate::dead_reckoning::Turning;
use crate::trend::TrendCurve;

/// A position and its first two derivatives, in metres and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics {
    pub pos: DVec3,
    pub vel: DVec3,
    pub acc: DVec3,
}

/// A path from a known start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// Constant acceleration in the axes of the world.
    Ballistic(Ballistic),
    /// Constant acceleration in axes that turn with the body.
    Turning(Turning),
    /// An acceleration that follows its [`trend`](crate::trend).
    Trend(TrendCurve),
}

/// What a bounce does to the acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AccelerationPolicy {
    /// It is mirrored, as the velocity is: for steering that turns with the body.
    #[default]
    Mirror,
    /// It is zero afterwards.
    Zero,
    /// It is unchanged: for gravity.
    Keep,
}

impl AccelerationPolicy {
    /// The acceleration after a bounce off a surface of this normal.
    pub fn apply(self, acc: DVec3, normal: DVec3) -> DVec3 {
        match self {
            AccelerationPolicy::Mirror => acc - normal * (2.0 * acc.dot(normal)),
            AccelerationPolicy::Zero => DVec3::ZERO,
            AccelerationPolicy::Keep => acc,
        }
    }
}

impl Curve {
    /// The path of an object at rest.
    pub fn still(pos: DVec3) -> Curve {
        Curve::Ballistic(Ballistic { pos, vel: DVec3::ZERO, acc: DVec3::ZERO })
    }

    /// The motion after `dt` seconds.
    pub fn at(&self, dt: f64) -> Kinematics {
        match self {
            Curve::Ballistic(motion) => {
                Kinematics { pos: motion.position(dt), vel: motion.velocity(dt), acc: motion.acc }
            }
            Curve::Turning(turning) => turning.at(dt),
            Curve::Trend(trend) => trend.at(dt),
        }
    }

    /// An upper bound of the acceleration between two moments.
    pub fn acceleration_max(&self, from: f64, to: f64) -> f64 {
        match self {
            Curve::Ballistic(motion) => motion.acc.length(),
            Curve::Turning(turning) => turning.acceleration_max(to),
            Curve::Trend(trend) => trend.acceleration_max(from, to),
        }
    }

    /// A box that contains the path between two moments.
    pub fn reach(&self, from: f64, to: f64) -> (DVec3, DVec3) {
        if let Curve::Ballistic(motion) = self {
            return boxes::reach(*motion, from, to);
        }
        // A ball around the position at the middle of the span, from a bound of the acceleration.
        let half = 0.5 * (to - from);
        let middle = self.at(from + half);
        let way = middle.vel.length() * half + 0.5 * self.acceleration_max(from, to) * half * half;
        (middle.pos - way, middle.pos + way)
    }

    /// The path after a bounce off a surface of this normal, after `dt` seconds, which leaves the velocity `vel`.
    #[must_use]
    pub fn deflected(&self, dt: f64, vel: DVec3, normal: DVec3, policy: AccelerationPolicy) -> Curve {
        let here = self.at(dt);
        let acc = policy.apply(here.acc, normal);
        match self {
            Curve::Ballistic(_) => Curve::Ballistic(Ballistic { pos: here.pos, vel, acc }),
            Curve::Turning(turning) => Curve::Turning(turning.deflected(dt, vel, normal, policy)),
            Curve::Trend(trend) => Curve::Trend(TrendCurve {
                pos: here.pos,
                vel,
                acc,
                trend: crate::trend::Trend {
                    before: policy.apply(trend.acceleration_before(dt), normal),
                    ..trend.trend
                },
            }),
        }
    }
}

//! The path of a replica between two contacts.

use space::DVec3;
use space::impact::{Ballistic, boxes};

use crate::dead_reckoning::Turning;
use crate::trend::TrendCurve;

/// Position and its first two derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Metres.
    pub pos: DVec3,
    /// Metres per second.
    pub vel: DVec3,
    /// Metres per second squared.
    pub acc: DVec3,
}

/// A path from a known start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// Constant acceleration, possibly none.
    Ballistic(Ballistic),
    /// Along axes that turn with the body.
    Turning(Turning),
    /// An acceleration that goes on as it did before.
    Trend(TrendCurve),
}

/// What a bounce does to acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AccelerationPolicy {
    /// It is reflected as velocity is: steering that turns with the body.
    #[default]
    Mirror,
    /// It ends.
    Zero,
    /// It goes on: gravity, or a driver who has not noticed.
    Keep,
}

impl AccelerationPolicy {
    /// The acceleration after a bounce off a surface with this normal.
    pub fn apply(self, acc: DVec3, normal: DVec3) -> DVec3 {
        match self {
            AccelerationPolicy::Mirror => acc - normal * (2.0 * acc.dot(normal)),
            AccelerationPolicy::Zero => DVec3::ZERO,
            AccelerationPolicy::Keep => acc,
        }
    }
}

impl Curve {
    /// A path that stays where it is.
    pub fn still(pos: DVec3) -> Curve {
        Curve::Ballistic(Ballistic { pos, vel: DVec3::ZERO, acc: DVec3::ZERO })
    }

    /// Where it is after `dt` seconds.
    pub fn at(&self, dt: f64) -> Motion {
        match self {
            Curve::Ballistic(motion) => Motion { pos: motion.position(dt), vel: motion.velocity(dt), acc: motion.acc },
            Curve::Turning(turning) => turning.at(dt),
            Curve::Trend(trend) => trend.at(dt),
        }
    }

    /// No acceleration between two moments is larger than this.
    pub fn acceleration_max(&self, from: f64, to: f64) -> f64 {
        match self {
            Curve::Ballistic(motion) => motion.acc.length(),
            Curve::Turning(turning) => turning.acceleration_max(to),
            Curve::Trend(trend) => trend.acceleration_max(from, to),
        }
    }

    /// A box around the path between two moments.
    pub fn reach(&self, from: f64, to: f64) -> (DVec3, DVec3) {
        if let Curve::Ballistic(motion) = self {
            return boxes::reach(*motion, from, to);
        }
        // Nothing gets farther from the middle of the span than half of it at full speed.
        let half = 0.5 * (to - from);
        let middle = self.at(from + half);
        let way = middle.vel.length() * half + 0.5 * self.acceleration_max(from, to) * half * half;
        (middle.pos - way, middle.pos + way)
    }

    /// The path that goes on, after `dt` seconds, with another velocity, its acceleration treated by `policy` for a
    /// bounce off `normal`.
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

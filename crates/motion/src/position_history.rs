//! The position-history protocol of Singhal and Cheriton: updates carry positions only, and observers fit a parabola to
//! the last three.

use space::impact::Ballistic;
use space::{DQuat, DVec3, Time};

use crate::curve::Curve;
use crate::rotation;

/// A pose at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// By the owner's clock.
    pub stamp: Time,
    pub pos: DVec3,
    pub rot: DQuat,
}

/// How positions are fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistorySettings {
    /// If the angle at the middle of three positions is below this, in radians, the oldest is ignored.
    pub sharp: f64,
    /// Positions closer in time than this amplify rounding: one of them is dropped. In microseconds.
    pub leg_us_min: i64,
}

impl Default for HistorySettings {
    fn default() -> HistorySettings {
        HistorySettings { sharp: 135.0_f64.to_radians(), leg_us_min: 33_333 }
    }
}

/// The last three poses, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PositionHistory {
    samples: Vec<Sample>,
}

impl PositionHistory {
    /// The number of poses that are kept.
    pub const LENGTH: usize = 3;

    pub fn clear(&mut self) {
        self.samples.clear();
    }

    /// Adds a pose that is later than all others.
    pub fn push(&mut self, sample: Sample, settings: &HistorySettings) {
        debug_assert!(self.samples.last().is_none_or(|last| last.stamp < sample.stamp), "stamps ascend");
        let is_short = |last: &Sample| sample.stamp - last.stamp < settings.leg_us_min;
        if self.samples.len() >= 2 && self.samples.last().is_some_and(is_short) {
            self.samples.pop();
        }
        if self.samples.len() == Self::LENGTH {
            self.samples.remove(0);
        }
        self.samples.push(sample);
    }

    /// Adds a late pose, if it lies strictly between two others. Returns whether it does.
    pub fn insert(&mut self, sample: Sample, settings: &HistorySettings) -> bool {
        let after = self.samples.partition_point(|held| held.stamp < sample.stamp);
        let (Some(before), Some(next)) =
            (after.checked_sub(1).and_then(|before| self.samples.get(before)), self.samples.get(after))
        else {
            return false;
        };
        let leg = settings.leg_us_min;
        if next.stamp == sample.stamp || sample.stamp - before.stamp < leg || next.stamp - sample.stamp < leg {
            return false;
        }
        self.samples.insert(after, sample);
        if self.samples.len() > Self::LENGTH {
            self.samples.remove(0);
        }
        true
    }

    /// The angle at the middle position, in radians; π is a straight line. `None` with fewer than three.
    pub fn angle(&self) -> Option<f64> {
        let [p0, p1, p2] = self.samples.as_slice() else { return None };
        let (back, on) = (p0.pos - p1.pos, p2.pos - p1.pos);
        let lengths = (back.length(), on.length());
        if lengths.0 < 1e-9 || lengths.1 < 1e-9 {
            return Some(std::f64::consts::PI);
        }
        Some(libm::acos((back.dot(on) / (lengths.0 * lengths.1)).clamp(-1.0, 1.0)))
    }

    /// The path from the newest position on.
    pub fn curve(&self, settings: &HistorySettings) -> Option<Curve> {
        let velocity = |from: &Sample, to: &Sample| (to.pos - from.pos) / to.stamp.seconds_since(from.stamp);
        let (pos, vel, acc) = match self.samples.as_slice() {
            [] => return None,
            [only] => (only.pos, DVec3::ZERO, DVec3::ZERO),
            [from, to] => (to.pos, velocity(from, to), DVec3::ZERO),
            [p0, p1, p2, ..] => {
                let late = velocity(p1, p2);
                if self.angle().is_some_and(|angle| angle < settings.sharp) {
                    (p2.pos, late, DVec3::ZERO)
                } else {
                    let early = velocity(p0, p1);
                    let acc = (late - early) * (2.0 / p2.stamp.seconds_since(p0.stamp));
                    (p2.pos, late + acc * (0.5 * p2.stamp.seconds_since(p1.stamp)), acc)
                }
            }
        };
        Some(Curve::Ballistic(Ballistic { pos, vel, acc }))
    }

    /// The orientation `dt` seconds after the newest pose, at the angular velocity between the last two.
    pub fn orientation(&self, dt: f64) -> Option<DQuat> {
        let newest = self.samples.last()?;
        let Some(before) = self.samples.len().checked_sub(2).map(|before| self.samples[before]) else {
            return Some(newest.rot);
        };
        let rate = rotation::rate_between(before.rot, newest.rot, newest.stamp.seconds_since(before.stamp));
        Some(rotation::advanced(newest.rot, rate, dt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ms: i64, x: f64, y: f64) -> Sample {
        Sample { stamp: Time::from_micros(ms * 1000), pos: DVec3::new(x, y, 0.0), rot: DQuat::IDENTITY }
    }

    #[test]
    fn a_parabola_goes_on() {
        let settings = HistorySettings::default();
        let mut history = PositionHistory::default();
        for i in 0..3 {
            let t = f64::from(i) * 0.1;
            history.push(sample(i64::from(i) * 100, 10.0 * t, t * t), &settings);
        }
        let at = history.curve(&settings).unwrap().at(0.3);
        assert!((at.pos - DVec3::new(5.0, 0.25, 0.0)).length() < 1e-12, "{at:?}");
    }

    #[test]
    fn a_sharp_turn_forgets_what_was_before_it() {
        let settings = HistorySettings::default();
        let mut history = PositionHistory::default();
        for place in [sample(0, 0.0, 0.0), sample(100, 1.0, 0.0), sample(200, 1.0, 1.0)] {
            history.push(place, &settings);
        }
        let at = history.curve(&settings).unwrap().at(0.1);
        assert!((at.pos - DVec3::new(1.0, 2.0, 0.0)).length() < 1e-12, "{at:?}");
    }

    #[test]
    fn short_legs_are_merged_and_late_positions_are_inserted() {
        let settings = HistorySettings::default();
        let mut history = PositionHistory::default();
        history.push(sample(0, 0.0, 0.0), &settings);
        history.push(sample(100, 1.0, 0.0), &settings);
        history.push(sample(110, 1.1, 0.0), &settings);
        assert_eq!(history.samples.len(), 2);
        assert!(history.insert(sample(50, 0.5, 0.0), &settings));
        assert!(!history.insert(sample(200, 0.5, 0.0), &settings));
        assert!(!history.insert(sample(-10, 0.5, 0.0), &settings));
        assert_eq!(history.samples.len(), 3);
    }
}

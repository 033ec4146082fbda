//! The position-history protocol of Singhal and Cheriton: updates carry places only, and observers fit the motion.

use space::impact::Ballistic;
use space::{DQuat, DVec3, Time};

use crate::convergence::Convergence;
use crate::curve::Curve;
use crate::rotation;

/// A place at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When, in the owner's clock.
    pub stamp: Time,
    /// Where.
    pub pos: DVec3,
    /// Turned how.
    pub rot: DQuat,
}

/// When to fit which curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistorySettings {
    /// Below this angle at the middle of three points, in radians, the way turned sharply: the oldest is ignored.
    pub sharp: f64,
    /// Points closer in time than this, in microseconds, amplify rounding: the middle one is skipped.
    pub leg_us_min: i64,
}

impl Default for HistorySettings {
    fn default() -> HistorySettings {
        HistorySettings { sharp: 135.0_f64.to_radians(), leg_us_min: 33_333 }
    }
}

/// The last three places, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PositionHistory {
    samples: Vec<Sample>,
}

impl PositionHistory {
    /// Places kept.
    pub const LENGTH: usize = 3;

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.samples.clear();
    }

    /// Adds a place later than all others.
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

    /// Adds a place that came late, where it lies strictly between two others; otherwise it is of no use.
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

    /// The angle at the middle place, in radians: π is straight on. `None` with fewer than three.
    pub fn angle(&self) -> Option<f64> {
        let [p0, p1, p2] = self.samples.as_slice() else { return None };
        let (back, on) = (p0.pos - p1.pos, p2.pos - p1.pos);
        let lengths = (back.length(), on.length());
        if lengths.0 < 1e-9 || lengths.1 < 1e-9 {
            return Some(std::f64::consts::PI);
        }
        Some(libm::acos((back.dot(on) / (lengths.0 * lengths.1)).clamp(-1.0, 1.0)))
    }

    /// The path that goes on from the newest place.
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

    /// How a viewer is best led to what is fitted now: straight on where the way is nearly straight, else in a curve.
    pub fn convergence(&self) -> Convergence {
        let is_straight = self.angle().is_none_or(|angle| angle > 170.0_f64.to_radians());
        if is_straight { Convergence::Linear } else { Convergence::Projective }
    }

    /// The orientation `dt` seconds after the newest place: the last turn goes on.
    pub fn orientation(&self, dt: f64) -> Option<DQuat> {
        let newest = self.samples.last()?;
        let Some(before) = self.samples.len().checked_sub(2).map(|before| self.samples[before]) else {
            return Some(newest.rot);
        };
        let rate = rotation::rate_between(before.rot, newest.rot, newest.stamp.seconds_since(before.stamp));
        Some(rotation::advanced(newest.rot, rate, dt))
    }

    /// The places, oldest first.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
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
        assert_eq!(history.convergence(), Convergence::Projective);
    }

    #[test]
    fn short_legs_are_merged_and_late_places_find_theirs() {
        let settings = HistorySettings::default();
        let mut history = PositionHistory::default();
        history.push(sample(0, 0.0, 0.0), &settings);
        history.push(sample(100, 1.0, 0.0), &settings);
        history.push(sample(110, 1.1, 0.0), &settings);
        assert_eq!(history.samples().len(), 2);
        assert!(history.insert(sample(50, 0.5, 0.0), &settings));
        assert!(!history.insert(sample(200, 0.5, 0.0), &settings));
        assert!(!history.insert(sample(-10, 0.5, 0.0), &settings));
        assert_eq!(history.samples().len(), 3);
    }
}

//! Prediction with an acceleration that follows its trend: an owner fits two numbers to its last seconds
//! and sends them.
//!
//! ```text
//! next = first · now + second · before        accelerations every STEP_S
//!
//! first = 2 cos(2π STEP_S / P), second = -1   an oscillation of period P: steering
//! first < 1,                    second =  0   an acceleration that decays: noise
//! ```
//!
//! Constant acceleration is a poor prediction for both. Between samples the acceleration is linear, so the path is a
//! cubic spline. This is beyond the papers: it is the predictor of the lab's method `best`.

use std::collections::VecDeque;

use space::{DVec3, Time};

use crate::curve::{AccelerationPolicy, Kinematics};

/// Seconds between samples of acceleration: long enough that an oscillation shows in three samples, short enough for a
/// linear acceleration between two.
pub const STEP_S: f64 = 0.1;
/// After this many steps the acceleration is zero: no fit is valid for longer.
const STEPS_MAX: u32 = 40;
/// A fit uses samples of this time, in microseconds,
const MEMORY_US: i64 = 2_000_000;
/// and at most this many, two seconds at 120 frames per second.
const SAMPLES_MAX: usize = 240;

/// A linear recursion that an acceleration follows, and what a bounce does to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The acceleration one step ago.
    pub before: DVec3,
    /// The weight of the present acceleration in the next one.
    pub first: f64,
    /// The weight of the previous one.
    pub second: f64,
    pub bounce: AccelerationPolicy,
}

impl Default for Trend {
    /// The trend of a constant acceleration.
    fn default() -> Trend {
        Trend { before: DVec3::ZERO, first: 1.0, second: 0.0, bounce: AccelerationPolicy::Mirror }
    }
}

impl Trend {
    /// Whether accelerations stay bounded: the triangle of stable second-order recursions.
    pub fn is_stable(&self) -> bool {
        self.second.abs() <= 1.0 && self.first.abs() <= 1.0 - self.second
    }
}

/// The path of an object whose acceleration follows a trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrendCurve {
    /// The position at the start.
    pub pos: DVec3,
    /// The velocity at the start.
    pub vel: DVec3,
    /// The acceleration at the start.
    pub acc: DVec3,
    pub trend: Trend,
}

impl TrendCurve {
    /// Position, velocity and acceleration after `dt` seconds.
    pub fn at(&self, dt: f64) -> Kinematics {
        let (mut pos, mut vel) = (self.pos, self.vel);
        let mut left = dt;
        for (now, next) in self.steps() {
            if left <= STEP_S {
                let slope = (next - now) * (1.0 / STEP_S);
                return Kinematics {
                    pos: pos + vel * left + now * (left * left / 2.0) + slope * (left * left * left / 6.0),
                    vel: vel + now * left + slope * (left * left / 2.0),
                    acc: now + slope * left,
                };
            }
            pos += vel * STEP_S + now * (STEP_S * STEP_S / 3.0) + next * (STEP_S * STEP_S / 6.0);
            vel += (now + next) * (0.5 * STEP_S);
            left -= STEP_S;
        }
        Kinematics { pos: pos + vel * left, vel, acc: DVec3::ZERO }
    }

    /// The largest acceleration between two moments.
    pub fn acceleration_max(&self, from: f64, to: f64) -> f64 {
        let mut start = 0.0;
        let mut largest: f64 = 0.0;
        for (now, next) in self.steps() {
            if start > to {
                break;
            }
            if start + STEP_S >= from {
                largest = largest.max(now.length()).max(next.length());
            }
            start += STEP_S;
        }
        largest
    }

    /// The acceleration one step before the moment `dt`.
    pub fn acceleration_before(&self, dt: f64) -> DVec3 {
        if dt >= STEP_S { self.at(dt - STEP_S).acc } else { self.trend.before.lerp(self.acc, dt / STEP_S) }
    }

    /// The accelerations at the start and the end of each step.
    fn steps(&self) -> impl Iterator<Item = (DVec3, DVec3)> {
        let Trend { first, second, mut before, .. } = self.trend;
        let mut now = self.acc;
        (0..STEPS_MAX).map(move |_| {
            let next = now * first + before * second;
            let step = (now, next);
            (before, now) = (now, next);
            step
        })
    }
}

/// The prior of a fit, a Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The mean of `first`; that of `second` is zero.
    pub first: f64,
    /// The standard deviation of both.
    pub spread: f64,
    /// The prior share of noise in the variance of the acceleration.
    pub noise: f64,
    /// The weight of that share, in samples.
    pub noise_weight: f64,
}

impl Default for Prior {
    /// Chosen on the lab's corridors with seeds from 1001 on: a decaying acceleration, unless a fit has
    /// almost no residual.
    fn default() -> Prior {
        Prior { first: 0.8, spread: 0.03, noise: 1e-7, noise_weight: 4.0 }
    }
}

/// An owner's recent accelerations, to which a trend is fitted.
#[derive(Clone, Debug)]
pub struct TrendFit {
    prior: Prior,
    samples: VecDeque<(Time, DVec3)>,
    bounce: AccelerationPolicy,
}

impl TrendFit {
    /// A fit without samples.
    pub fn new(prior: Prior) -> TrendFit {
        TrendFit { prior, samples: VecDeque::new(), bounce: AccelerationPolicy::Mirror }
    }

    /// Takes in the acceleration of a frame. A time that is not later than the last one discards all samples.
    pub fn observe(&mut self, at: Time, acc: DVec3) {
        if self.samples.back().is_some_and(|&(last, _)| at <= last) {
            self.samples.clear();
        }
        self.samples.push_back((at, acc));
        while self.samples.len() > SAMPLES_MAX || self.samples.front().is_some_and(|&(first, _)| at - first > MEMORY_US)
        {
            self.samples.pop_front();
        }
    }

    /// Takes in a bounce, before the frame after it. Samples are changed as the bounce changed the acceleration; if it
    /// was not elastic, they are discarded.
    pub fn bounced(&mut self, normal: DVec3, acc_after: DVec3, is_elastic: bool) {
        let Some(&(_, acc_before)) = self.samples.back() else { return };
        if !is_elastic {
            self.samples.clear();
            return;
        }
        let error = |policy: AccelerationPolicy| (policy.apply(acc_before, normal) - acc_after).length();
        let (mirrored, kept) = (error(AccelerationPolicy::Mirror), error(AccelerationPolicy::Keep));
        // The policy that fits this bounce better is expected for the next one, too.
        if mirrored != kept {
            self.bounce = if mirrored < kept { AccelerationPolicy::Mirror } else { AccelerationPolicy::Keep };
        }
        for (_, acc) in &mut self.samples {
            *acc = self.bounce.apply(*acc, normal);
        }
    }

    pub fn fit(&self) -> Trend {
        let Some(&(latest, now)) = self.samples.back() else { return Trend::default() };
        let step_us = (STEP_S * 1e6) as i64;
        let before = self.acceleration_at(latest + -step_us);
        // Least squares of next = first · now + second · before over all frames that have two steps behind them.
        let (mut xx, mut xy, mut yy, mut xz, mut yz, mut zz, mut rows) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for &(at, z) in self.samples.iter().rev() {
            let (Some(x), Some(y)) = (self.acceleration_at(at + -step_us), self.acceleration_at(at + -2 * step_us))
            else {
                break;
            };
            xx += x.dot(x);
            xy += x.dot(y);
            yy += y.dot(y);
            xz += x.dot(z);
            yz += y.dot(z);
            zz += z.dot(z);
            rows += 1.0;
        }
        let Prior { first: prior, spread, noise, noise_weight } = self.prior;
        let decaying = Trend { before: before.unwrap_or(now), first: prior, second: 0.0, bounce: self.bounce };
        if rows == 0.0 || zz == 0.0 {
            return decaying;
        }
        // Ridge regression: the less noise, the less weight the prior has.
        let solve = |ridge: f64| {
            let (a, b, d) = (xx + ridge, xy, yy + ridge);
            let (p, q) = (xz + ridge * prior, yz);
            let determinant = a * d - b * b;
            if determinant > 1e-12 * a * d {
                ((p * d - q * b) / determinant, (a * q - b * p) / determinant)
            } else {
                (prior, 0.0)
            }
        };
        let (f, s) = solve(1e-9 * xx);
        let rest = zz - 2.0 * (f * xz + s * yz) + f * f * xx + 2.0 * f * s * xy + s * s * yy;
        let variance = (rest.max(0.0) + noise_weight * noise * zz / rows) / (rows + noise_weight);
        let (first, second) = solve(variance / (spread * spread));
        let second = second.clamp(-1.0, 1.0);
        let bound = 1.0 - second;
        Trend { first: first.clamp(-bound, bound), second, ..decaying }
    }

    /// The acceleration at a past moment, interpolated between two frames.
    fn acceleration_at(&self, at: Time) -> Option<DVec3> {
        let after = self.samples.partition_point(|&(time, _)| time < at);
        let &(late, late_acc) = self.samples.get(after)?;
        if late == at {
            return Some(late_acc);
        }
        let &(early, early_acc) = self.samples.get(after.checked_sub(1)?)?;
        Some(early_acc.lerp(late_acc, at.seconds_since(early) / late.seconds_since(early)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscillation_is_recognised_within_a_second() {
        let mut fit = TrendFit::new(Prior::default());
        let swing = |t: f64| DVec3::new(libm::sin(1.7 * t), 0.0, 0.0) * 14.0;
        for frame in 0..60 {
            fit.observe(Time::from_micros(frame * 16_667), swing(frame as f64 * 0.016_667));
        }
        let trend = fit.fit();
        assert!((trend.first - 2.0 * libm::cos(0.17)).abs() < 0.02, "{trend:?}");
        assert!((trend.second + 1.0).abs() < 0.02, "{trend:?}");
        assert!(trend.is_stable());
    }

    #[test]
    fn the_curve_is_the_integral_of_its_acceleration() {
        let trend = Trend { before: DVec3::new(3.0, -1.0, 0.0), first: 1.2, second: -0.5, ..Trend::default() };
        let curve =
            TrendCurve { pos: DVec3::ONE, vel: DVec3::new(1.0, 2.0, 3.0), acc: DVec3::new(2.0, 0.5, 1.0), trend };
        let mut at = curve.at(0.0);
        let step = 1e-4;
        for i in 1..20_000 {
            let next = curve.at(f64::from(i) * step);
            assert!((next.pos - at.pos - (at.vel + next.vel) * (0.5 * step)).length() < 1e-9);
            assert!((next.vel - at.vel - (at.acc + next.acc) * (0.5 * step)).length() < 1e-7);
            at = next;
        }
    }

    #[test]
    fn no_fit_is_unstable() {
        for seed in 0..200 {
            let mut random = space::workload::Random::new(seed);
            let mut fit = TrendFit::new(Prior::default());
            for frame in 0..random.whole(1, 90) {
                fit.observe(Time::from_micros(i64::from(frame) * 16_667), random.direction().as_dvec3() * 5.0);
            }
            assert!(fit.fit().is_stable(), "seed {seed}: {:?}", fit.fit());
        }
    }
}

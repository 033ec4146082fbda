//! Two spheres in accelerated motion. The exact answer is the root of a quartic, whose closed form loses its digits;
//! instead, time advances by steps so short that no contact fits between them.

use crate::DVec3;

use super::{Ballistic, spheres};

/// Whether and when two things meet within a given time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Impact {
    Never,
    At(f64),
    /// The steps ran out: no contact before `from`, and nothing is known up to `to`.
    Maybe {
        /// The first moment that is not known to be free.
        from: f64,
        /// The end of the time that was asked about.
        to: f64,
    },
}

/// What is known about a gap at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Distance between the surfaces, in metres.
    pub gap: f64,
    /// Its rate of change: the velocity along the shortest way between the surfaces, negative while approaching.
    pub rate: f64,
}

/// How far to look, and how closely.
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    pub from: f64,
    pub to: f64,
    /// The largest acceleration in any direction.
    pub acceleration: f64,
    /// A gap as small as this is a contact.
    pub tolerance: f64,
}

impl Advance {
    /// Steps before the answer is "maybe". Clear contacts need about ten; a graze halves its gap about once per step,
    /// and a double has 53 halvings.
    pub const STEPS_MAX: usize = 256;

    /// The first time at which the gap between two convex things is closed while closing further.
    ///
    /// A gap that is closed at the start but opening does not count: objects that touch may separate.
    pub fn find(self, probe: impl Fn(f64) -> Probe) -> Impact {
        let mut t = self.from;
        for _ in 0..Self::STEPS_MAX {
            let now = probe(t);
            if now.gap <= self.tolerance && now.rate < 0.0 {
                return Impact::At(self.polish(t, now, probe));
            }
            let next = t + safe_step(now.gap.max(self.tolerance), now.rate, self.acceleration);
            // A step may be too short to change `t`, or no number: both mean no progress.
            if next.is_nan() || next <= t {
                return Impact::Maybe { from: t, to: self.to };
            }
            if next > self.to {
                let end = probe(self.to);
                let closed = end.gap <= self.tolerance && end.rate < 0.0;
                return if closed { Impact::At(self.to) } else { Impact::Never };
            }
            t = next;
        }
        Impact::Maybe { from: t, to: self.to }
    }

    /// From a moment a little before the contact to the contact, where there is one to be bracketed.
    fn polish(self, t: f64, now: Probe, probe: impl Fn(f64) -> Probe) -> f64 {
        if now.gap <= 0.0 {
            return t;
        }
        let (mut before, mut after) = (t, (t + 2.0 * now.gap / -now.rate).min(self.to));
        // Not closed within twice the time that it takes at this rate: a graze, where any moment is as good.
        if probe(after).gap > 0.0 {
            return t;
        }
        for _ in 0..60 {
            let middle = 0.5 * (before + after);
            if middle <= before || middle >= after {
                break;
            }
            if probe(middle).gap > 0.0 {
                before = middle;
            } else {
                after = middle;
            }
        }
        before
    }
}

/// The longest time in which a gap that changes at this rate cannot close, whatever the acceleration does.
///
/// The shortest way between two convex things is the normal of a plane that keeps them apart, so only motion along it
/// counts. A bound by the whole speed is as safe, but creeps along walls: what slides by at 10 m/s and a nanometre
/// would take a thousand steps to get away.
fn safe_step(gap: f64, rate: f64, acceleration: f64) -> f64 {
    let root = (rate * rate + 2.0 * acceleration * gap).sqrt();
    if rate < 0.0 { 2.0 * gap / (root - rate) } else { (rate + root) / acceleration }
}

/// When two spheres with the relative motion `motion` and the sum of radii `r` first touch, within `horizon` seconds.
///
/// Equal to [`spheres::contact`] when nothing accelerates.
pub fn contact(motion: Ballistic, r: f64, horizon: f64) -> Impact {
    let Ballistic { pos: d, vel: v, acc: a } = motion;
    if a == DVec3::ZERO {
        return match spheres::contact(d, v, r) {
            Some(time) if time <= horizon => Impact::At(time),
            _ => Impact::Never,
        };
    }
    let c = d.dot(d) - r * r;
    let b = d.dot(v);
    // Touching, and about to approach: now, or as soon as the acceleration has its way.
    if c < 0.0 || (c == 0.0 && (b < 0.0 || (b == 0.0 && d.dot(a) + v.dot(v) < 0.0))) {
        return Impact::At(0.0);
    }
    Advance { from: 0.0, to: horizon, acceleration: a.length(), tolerance: 1e-9 * (1.0 + r) }
        .find(|t| probe(motion, r, t))
}

/// The gap between a sphere in relative motion and one of summed radius `r` at the origin.
pub fn probe(motion: Ballistic, r: f64, t: f64) -> Probe {
    let (d, v) = (motion.position(t), motion.velocity(t));
    let distance = d.length();
    let rate = if distance > 0.0 { d.dot(v) / distance } else { -v.length() };
    Probe { gap: distance - r, rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thrown_ball_comes_down() {
        let motion = Ballistic {
            pos: DVec3::new(0.0, 2.0, 0.0),
            vel: DVec3::new(0.0, 10.0, 0.0),
            acc: DVec3::new(0.0, -10.0, 0.0),
        };
        // It leaves the surface of a unit sphere one metre below, and is back after two seconds and a bit.
        let Impact::At(time) = contact(motion, 1.0, 10.0) else { panic!("it must come down") };
        assert!((time - (1.0 + 1.2_f64.sqrt())).abs() < 1e-9, "{time}");
        assert_eq!(contact(motion, 1.0, 2.0), Impact::Never);
    }

    #[test]
    fn whoever_touches_may_leave() {
        let motion = Ballistic { pos: DVec3::X * 2.0, vel: DVec3::X, acc: DVec3::Y * 0.1 };
        assert_eq!(contact(motion, 2.0, 5.0), Impact::Never);
    }

    #[test]
    fn nonsense_is_not_a_contact() {
        let motion = Ballistic { pos: DVec3::NAN, vel: DVec3::X, acc: DVec3::Y };
        assert!(!matches!(contact(motion, 1.0, 1.0), Impact::At(_)));
    }
}

//! When two courses meet: the ticks at which the pair may overlap, and those at which it must.
//!
//! Each object is within its slack of its course. So the pair may overlap only while the courses are closer than the
//! sum of radii and slacks, and must overlap while they are closer than the sum of radii less the slacks. In between
//! the positions decide; everywhere else nothing has to be computed.
//!
//! Invariant: rounding goes outward for "may" and inward for "must". Both sums carry a margin that is larger than what
//! `f32` can be off, and the times are computed in `f64`.

use crate::DVec3;

/// The ticks, counted from now, of one meeting. `may_from <= must_from <= must_until <= may_until`; ends are excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First tick at which the pair may overlap.
    pub may_from: u8,
    /// First tick at which it must.
    pub must_from: u8,
    /// First tick at which it need not any more.
    pub must_until: u8,
    /// First tick at which it cannot any more.
    pub may_until: u8,
}

/// Two courses relative to each other, now.
#[derive(Clone, Copy, Debug)]
pub struct Approach {
    /// From one to the other.
    pub offset: DVec3,
    /// How that changes per tick.
    pub velocity: DVec3,
    /// Closer than this, they may overlap.
    pub outer: f64,
    /// Closer than this, they must. May be negative: never.
    pub inner: f64,
}

impl Approach {
    /// The ticks from 0 up to, not including, `end` at which the pair may and must overlap, if there are any.
    pub fn window(&self, end: u8) -> Option<Window> {
        let speed2 = self.velocity.length_squared();
        let motion = Motion {
            approach: self.offset.dot(self.velocity),
            distance2: self.offset.length_squared(),
            speed2,
            per_speed2: 1.0 / speed2,
        };
        let (may_from, may_until) = motion.ticks_within(self.outer, end)?;
        let (must_from, must_until) = match motion.ticks_within(self.inner, end) {
            Some((from, until)) => (from.max(may_from), until.min(may_until)),
            None => (may_until, may_until),
        };
        Some(Window { may_from, must_from, must_until, may_until })
    }
}

/// What both windows are computed from.
struct Motion {
    approach: f64,
    distance2: f64,
    speed2: f64,
    per_speed2: f64,
}

impl Motion {
    /// The ticks of `0..end` at which the distance is below `reach`, as a half-open range that is not empty.
    fn ticks_within(&self, reach: f64, end: u8) -> Option<(u8, u8)> {
        if reach <= 0.0 {
            return None;
        }
        let gap = self.distance2 - reach * reach;
        if self.speed2 == 0.0 {
            return (gap < 0.0).then_some((0, end));
        }
        let discriminant = self.approach * self.approach - self.speed2 * gap;
        if discriminant <= 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        let from = ((-self.approach - root) * self.per_speed2).max(0.0);
        let until = ((-self.approach + root) * self.per_speed2).min(f64::from(end) - 1.0);
        if from > until {
            return None;
        }
        // Rounded up and down without a call: neither is negative, and both are below 256.
        let first = from as u8 + u8::from(f64::from(from as u8) < from);
        let last = until as u8;
        (first <= last).then_some((first, last + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    /// Tick by tick: what the window says is what the distances say.
    #[test]
    fn a_window_is_what_stepping_finds() {
        let mut random = Random::new(5);
        for round in 0..20_000 {
            let mut vector = |spread: f32| (random.in_ball() * spread).as_dvec3();
            let (offset, velocity) = (vector(6.0), if round % 9 == 0 { DVec3::ZERO } else { vector(0.4) });
            let outer = f64::from(random.between(0.5, 3.0));
            let inner = outer - f64::from(random.between(0.0, 1.0));
            let end = random.whole(1, 100) as u8;
            let within = |tick: u8, reach: f64| (offset + velocity * f64::from(tick)).length() < reach;
            let window = Approach { offset, velocity, outer, inner }.window(end);
            for tick in 0..end {
                let (may, must) = window.map_or((false, false), |w| {
                    ((w.may_from..w.may_until).contains(&tick), (w.must_from..w.must_until).contains(&tick))
                });
                assert_eq!((may, must), (within(tick, outer), within(tick, inner)), "round {round}, tick {tick}");
            }
        }
    }
}

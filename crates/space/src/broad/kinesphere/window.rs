//! When two flight plans bring their objects close: the ticks at which the pair may overlap, and at which it must.
//!
//! Each object is within its slack of its line. So the pair may overlap only while the lines are closer than the sum of
//! radii and slacks, and must overlap while they are closer than the sum of radii less the slacks. In between the
//! positions decide.
//!
//! Invariant: rounding goes outward for "may" and inward for "must". Both sums carry a margin that is larger than the
//! error of `f32`, and the times are computed in `f64`.

/// The ticks of an encounter, counted from now: `may_from <= must_from <= must_until <= may_until`, ends excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncounterWindow {
    pub may_from: u8,
    pub must_from: u8,
    pub must_until: u8,
    pub may_until: u8,
}

/// Two lines relative to each other.
#[derive(Clone, Copy, Debug)]
pub struct RelativeMotion {
    /// From one to the other now, and how that changes per tick.
    pub offset: [f64; 3],
    pub velocity: [f64; 3],
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl RelativeMotion {
    pub fn distance2(&self) -> f64 {
        dot(self.offset, self.offset)
    }

    /// The ticks of `0..end` at which the pair may overlap, closer than `outer`, and must, closer than `inner`.
    pub fn window(&self, outer: f64, inner: f64, end: u8) -> Option<EncounterWindow> {
        let (may_from, may_until) = self.ticks_within(outer, end)?;
        let (must_from, must_until) = match self.ticks_within(inner, end) {
            Some((from, until)) => (from.max(may_from), until.min(may_until)),
            None => (may_until, may_until),
        };
        Some(EncounterWindow { may_from, must_from, must_until, may_until })
    }

    /// The ticks of `0..end` at which the distance is below `reach`, as a half-open range that is not empty. The
    /// squared distance over time is a quadratic polynomial.
    #[inline]
    fn ticks_within(&self, reach: f64, end: u8) -> Option<(u8, u8)> {
        if reach <= 0.0 {
            return None;
        }
        let (approach, speed2) = (dot(self.offset, self.velocity), dot(self.velocity, self.velocity));
        let gap = self.distance2() - reach * reach;
        if speed2 == 0.0 {
            return (gap < 0.0).then_some((0, end));
        }
        let discriminant = approach * approach - speed2 * gap;
        if discriminant <= 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        let from = ((-approach - root) / speed2).max(0.0);
        let until = ((-approach + root) / speed2).min(f64::from(end) - 1.0);
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

    /// The slow twin computes the distance at every tick.
    #[test]
    fn a_window_is_what_stepping_finds() {
        let mut random = Random::new(5);
        for round in 0..20_000 {
            let mut vector = |spread: f32| <[f32; 3]>::from(random.in_ball() * spread).map(f64::from);
            let offset = vector(6.0);
            let velocity = if round % 9 == 0 { [0.0; 3] } else { vector(0.4) };
            let outer = f64::from(random.between(0.5, 3.0));
            let inner = outer - f64::from(random.between(0.0, 1.0));
            let end = random.whole(1, 100) as u8;
            let within = |tick: u8, reach: f64| {
                let at = [0, 1, 2].map(|axis| offset[axis] + velocity[axis] * f64::from(tick));
                dot(at, at).sqrt() < reach
            };
            let window = RelativeMotion { offset, velocity }.window(outer, inner, end);
            for tick in 0..end {
                let (may, must) = window.map_or((false, false), |w| {
                    ((w.may_from..w.may_until).contains(&tick), (w.must_from..w.must_until).contains(&tick))
                });
                assert_eq!((may, must), (within(tick, outer), within(tick, inner)), "round {round}, tick {tick}");
            }
        }
    }
}

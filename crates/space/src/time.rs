//! Time as an argument: nothing under `crates/` reads a clock.

use std::fmt;
use std::ops::{Add, Sub};

/// A moment, in whole microseconds since an origin that the caller chooses.
///
/// Integers, so that a difference is the same on every host and long sessions lose no digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    pub const fn from_micros(micros: i64) -> Time {
        Time(micros)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Seconds from `earlier` to `self`: the difference is taken in integers and only then rounded.
    pub fn seconds_since(self, earlier: Time) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 * 1e-6
    }
}

/// Moves a moment by a number of microseconds; far beyond any session it stops at the ends of time.
impl Add<i64> for Time {
    type Output = Time;
    fn add(self, micros: i64) -> Time {
        Time(self.0.saturating_add(micros))
    }
}

/// The microseconds between two moments.
impl Sub for Time {
    type Output = i64;
    fn sub(self, earlier: Time) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.0 as f64 * 1e-6)
    }
}

/// The number of a step of the world, counted from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(u64);

impl Tick {
    pub const fn new(number: u64) -> Tick {
        Tick(number)
    }

    pub const fn number(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn next(self) -> Tick {
        Tick(self.0.saturating_add(1))
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_exact_far_from_the_origin() {
        let late = Time::from_micros(1 << 60);
        assert_eq!((late + 3) - late, 3);
        assert_eq!((late + 1_500_000).seconds_since(late), 1.5);
    }

    #[test]
    fn the_ends_of_time_hold() {
        let end = Time::from_micros(i64::MAX);
        assert_eq!(end + 1, end);
        assert_eq!(end - Time::from_micros(i64::MIN), i64::MAX);
        assert_eq!(Tick::new(u64::MAX).next(), Tick::new(u64::MAX));
    }
}

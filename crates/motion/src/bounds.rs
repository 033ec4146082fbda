//! How far a replica can be off, published so that others can plan with it.

use std::collections::VecDeque;

use crate::decision::Policy;

/// The whole way from the truth to the screen, in seconds: latency, jitter, and a frame on either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// One way over the network, jitter included.
    pub latency: f64,
    /// The owner's frame.
    pub owner_frame: f64,
    /// The observer's frame.
    pub observer_frame: f64,
}

impl Delay {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.latency + self.owner_frame + self.observer_frame
    }
}

/// Across a kink: the limit, and what two opposite speeds make of the delay.
pub fn across_a_kink(limit: f64, speed_max: f64, speed_predicted: f64, delay: Delay) -> f64 {
    limit + (speed_max + speed_predicted) * delay.total()
}

/// Without kinks, for prediction with constant velocity: `acceleration` bounds the difference of the accelerations.
pub fn first_order(limit: f64, acceleration: f64, delay: Delay) -> f64 {
    let late = delay.total();
    // Between two frames the error may bulge above what both of them see.
    let m = limit + acceleration * delay.owner_frame * delay.owner_frame / 8.0;
    // Not sqrt(2 a m): the error may swing from one side of the limit to the other before it triggers.
    m + 2.0 * (acceleration * m).sqrt() * late + 0.5 * acceleration * late * late
}

/// Without kinks, for prediction with constant acceleration: `jerk` bounds the difference of the jerks, and
/// `acceleration` that of the accelerations, for what happens between two frames.
///
/// The constants are Landau's and Kolmogorov's for a half line.
pub fn second_order(limit: f64, acceleration: f64, jerk: f64, delay: Delay) -> f64 {
    let late = delay.total();
    let m = limit + acceleration * delay.owner_frame * delay.owner_frame / 8.0;
    let (m3, j3) = (libm::cbrt(m), libm::cbrt(jerk));
    let c1 = libm::cbrt(243.0 / 8.0);
    let c2 = libm::cbrt(24.0);
    m + c1 * m3 * m3 * j3 * late + 0.5 * c2 * m3 * j3 * j3 * late * late + jerk * late * late * late / 6.0
}

/// One-way latencies that are remembered.
const LATENCIES_MAX: usize = 100;

/// The session's latency bound: the 95th percentile of what was seen lately, and a margin.
#[derive(Clone, Debug)]
pub struct LatencyBound {
    margin_us: i64,
    recent: VecDeque<i64>,
    late: u64,
}

impl LatencyBound {
    /// Above this latency decisions fall back to the lower host, in microseconds.
    pub const DEGRADED_US: i64 = 500_000;

    /// Nothing seen yet.
    pub fn new(margin_us: i64) -> LatencyBound {
        LatencyBound { margin_us, recent: VecDeque::new(), late: 0 }
    }

    /// Takes in a message's one-way latency, and counts it when it is beyond the bound published before.
    pub fn handle(&mut self, latency_us: i64) {
        if self.bound_us().is_some_and(|bound| latency_us > bound) {
            self.late += 1;
        }
        if self.recent.len() == LATENCIES_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(latency_us.max(0));
    }

    /// The bound, in microseconds; `None` before the first message.
    pub fn bound_us(&self) -> Option<i64> {
        let mut sorted: Vec<i64> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (sorted.len() * 95).div_ceil(100).checked_sub(1)?;
        Some(sorted[rank].saturating_add(self.margin_us))
    }

    /// Messages that came later than the bound.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Whether latency is so long that decisions fall back to the lower host.
    pub fn is_degraded(&self) -> bool {
        self.bound_us().is_some_and(|bound| bound > Self::DEGRADED_US)
    }

    /// The policy to decide by: the one that is wanted, as long as latency allows it.
    pub fn policy(&self, wanted: Policy) -> Policy {
        if self.is_degraded() { Policy::HostId } else { wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latency_bound_is_the_ninety_fifth_percentile() {
        let mut bound = LatencyBound::new(5_000);
        assert_eq!(bound.bound_us(), None);
        for latency in 1..=100 {
            bound.handle(latency * 1_000);
        }
        assert_eq!(bound.bound_us(), Some(100_000));
        assert!(!bound.is_degraded());
        let late = bound.late();
        bound.handle(100_001);
        assert_eq!(bound.late(), late + 1);
        for _ in 0..100 {
            bound.handle(600_000);
        }
        assert!(bound.is_degraded());
        assert_eq!(bound.policy(Policy::Velocity), Policy::HostId);
    }
}

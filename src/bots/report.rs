//! What came of letting bots loose, in numbers.

use std::collections::BTreeMap;

use serde::Serialize;
use sim::checker::Violations;

/// Milliseconds below which a share of the samples is.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Half of them.
    pub p50: f64,
    /// All but one in a hundred.
    pub p99: f64,
    pub max: f64,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct BotsReport {
    /// How many there were to be.
    pub count: usize,
    /// How many were in at the end, after those on the way had arrived.
    pub joined: usize,
    /// How long they ran after that.
    pub seconds: f64,
    /// Inputs sent while they ran.
    pub moves_sent: u64,
    /// Bodies heard of while they ran.
    pub updates_received: u64,
    /// From the mover's sending to a listener's receipt, on one clock.
    pub update_latency_ms: Quantiles,
    /// How many of those were measured.
    pub latency_samples: usize,
    /// How long the server's ticks took, as it says.
    pub server_tick_ms: Option<Quantiles>,
    /// The share of the server's ticks that ended after the next was due.
    pub overruns: Option<f64>,
    /// Promises that were broken.
    pub violations: Violations,
    /// Ticks whose promises were checked.
    pub ticks_checked: u64,
    /// What a client received of states, per second.
    pub bytes_per_client_s: f64,
    /// Connections that were lost and made again.
    pub reconnected: u64,
    /// How often a bot was redirected to another server.
    pub redirected: u64,
    /// How long those whose server was lost were out of the world, and those who were sent on, in milliseconds.
    pub resumed_ms: Quantiles,
    pub redirected_ms: Quantiles,
    /// Bots that are in, by the address of their server.
    pub servers: BTreeMap<String, usize>,
    /// What the server said to those it refused or sent away, and how often.
    pub refusals: BTreeMap<String, u64>,
}

/// The nearest-rank percentile of ascending values; `None` for an empty slice.
pub fn nearest_rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The quantiles of ascending microseconds.
pub(super) fn quantiles(sorted_us: &[i64]) -> Quantiles {
    let at = |percent: usize| nearest_rank(sorted_us, percent).map_or(0.0, |us| us as f64 / 1_000.0);
    Quantiles { p50: at(50), p99: at(99), max: at(100) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_there_is() {
        assert_eq!(quantiles(&[]).max, 0.0);
        let sorted: Vec<i64> = (0..=100).map(|number| number * 1_000).collect();
        let Quantiles { p50, p99, max } = quantiles(&sorted);
        assert_eq!((p50, p99, max), (50.0, 99.0, 100.0));
    }
}

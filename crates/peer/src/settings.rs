//! The settings that all peers of a world share: with others, ghosts would not equal replicas, and
//! deciders would differ.

use motion::Algorithm;
use motion::adaptive::{AdaptiveSettings, Tightening};
use motion::collision_prediction::CollisionMode;
use motion::decision::{EpisodeSettings, Policy};
use motion::owner::{Repeat, SendRule};
use motion::{ReplicaSettings, state};

/// The settings that all peers of a world share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeerSettings {
    /// How the decider of a contact is chosen.
    pub policy: Policy,
    /// How replicas extrapolate an update.
    pub algorithm: Algorithm,
    /// The limit on the error of replicas, and how it falls near other objects.
    pub tracking: AdaptiveSettings,
    /// Every peer receives an update of every object at least this often, in microseconds.
    pub heartbeat_us: i64,
    /// The length of an epoch, in microseconds.
    pub epoch_us: i64,
    /// Digests are sent until the other peer has them; terms wait for this many repetitions.
    pub repeats: u32,
    /// Digests are made at every epoch, and sent at every `every`-th.
    pub every: u32,
    /// The longest latency of a message, in microseconds.
    pub latency_us_max: i64,
    /// The largest error of the estimate of another clock, in microseconds.
    pub clock_error_us: i64,
    /// A pair is close if it could close its gap within this time, in microseconds.
    pub closing_us: i64,
    /// Contacts of a pair that are at most this far apart are the same one, in microseconds.
    pub overlap_us: i64,
    /// The highest speed of an object, in metres per second.
    pub speed_max: f64,
    /// A peer that was silent for this long is dropped, in microseconds.
    pub silence_us: i64,
}

impl Default for PeerSettings {
    fn default() -> PeerSettings {
        PeerSettings {
            policy: Policy::Velocity,
            algorithm: Algorithm::Fvw,
            tracking: AdaptiveSettings {
                limit: 0.5,
                limit_close: 0.1,
                tau: 0.5,
                tightening: Tightening::Graded,
                has_hysteresis: true,
                ..AdaptiveSettings::default()
            },
            heartbeat_us: 1_000_000,
            epoch_us: 100_000,
            repeats: 4,
            every: 2,
            latency_us_max: 250_000,
            clock_error_us: 50_000,
            closing_us: 1_500_000,
            overlap_us: 500_000,
            speed_max: 20.0,
            silence_us: 3_000_000,
        }
    }
}

impl PeerSettings {
    /// Verdicts on contacts that are longer ago are refused, in microseconds. It is longer than `silence_us`.
    pub const MEMORY_US: i64 = 20_000_000;

    pub fn hash(&self) -> u64 {
        let bytes = format!("{self:?}").into_bytes();
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// The settings of a pair's episode, given the sum of the radii in 1/1024 m.
    pub fn episode(&self, radius: i64) -> EpisodeSettings {
        EpisodeSettings {
            policy: self.policy,
            radius,
            closing_us: self.closing_us,
            epoch_us: self.epoch_us,
            delay: self.delay(),
        }
    }

    /// The age at which digests are used, in epochs.
    pub fn delay(&self) -> u32 {
        EpisodeSettings::delay_for(self.latency_us_max, self.clock_error_us, self.repeats, self.epoch_us)
    }

    /// Pairs that may touch within this many seconds are watched, so that the history that policies need is complete
    /// when they are close.
    pub fn watch_s(&self) -> f64 {
        let past = (Policy::HISTORY as i64 + 2) * self.epoch_us;
        (self.closing_us + past + self.latency_us_max) as f64 * 1e-6
    }

    /// How long a peer waits for a verdict, in microseconds: until the digests of the contact are used, so that the
    /// decider is known, and a latency for its verdict, and once more for what was lost.
    pub fn patience_us(&self) -> i64 {
        i64::from(self.delay()) * self.epoch_us + 2 * (self.latency_us_max + self.epoch_us)
    }

    /// The settings of a ball's replicas.
    pub fn replica(&self, radius: f64) -> ReplicaSettings {
        ReplicaSettings {
            radius,
            collisions: CollisionMode::Exact,
            extrapolation_us_max: self.heartbeat_us + 1_000_000,
            timeout_us: self.heartbeat_us * 12 / 5,
            limits: state::StateLimits { vel: 1_024.0, acc: 1_024.0, ..state::StateLimits::default() },
            ..ReplicaSettings::default()
        }
    }

    pub fn sending(&self) -> SendRule {
        SendRule { heartbeat_us: self.heartbeat_us, repeat: Repeat::Events, ..SendRule::default() }
    }
}

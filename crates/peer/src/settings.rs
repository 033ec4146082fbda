//! What all peers of a world must share, or their ghosts are no ghosts and their deciders not the same.

use motion::Algorithm;
use motion::adaptive::{AdaptiveSettings, Tightening};
use motion::collision_prediction::CollisionMode;
use motion::decision::{EpisodeSettings, Policy};
use motion::owner::{Repeat, SendRule};
use motion::{ReplicaSettings, state};

/// The rules of a world without a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeerSettings {
    /// Who decides about a contested contact.
    pub policy: Policy,
    /// How replicas go on from an update.
    pub algorithm: Algorithm,
    /// How exact observers are kept, and how much more near collisions.
    pub tracking: AdaptiveSettings,
    /// Every peer hears of every object at least so often, in microseconds, however far it is.
    pub heartbeat_us: i64,
    /// How long an epoch is, in microseconds.
    pub epoch_us: i64,
    /// Digests are sent until the other has them; so many epochs of that are waited for before they count.
    pub repeats: u32,
    /// Digests are made at every epoch and sent at every so manieth.
    pub every: u32,
    /// No message that counts takes longer, in microseconds.
    pub latency_us_max: i64,
    /// No two clocks are thought to differ by more, after what is known of them, in microseconds.
    pub clock_error_us: i64,
    /// A pair is close when it could close its gap within this time, in microseconds.
    pub closing_us: i64,
    /// Contacts of a pair no farther apart are one, in microseconds.
    pub overlap_us: i64,
    /// Nothing moves faster, in metres per second.
    pub speed_max: f64,
    /// After so much silence a peer is taken for gone, in microseconds.
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
    /// Verdicts on contacts longer ago are refused, in microseconds: longer than a link can be silent and live.
    pub const MEMORY_US: i64 = 20_000_000;

    /// A number that is the same for the same settings.
    pub fn hash(&self) -> u64 {
        let bytes = format!("{self:?}").into_bytes();
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// How pairs are watched, given the sum of their radii in 1/1024 m.
    pub fn episode(&self, radius: i64) -> EpisodeSettings {
        EpisodeSettings {
            policy: self.policy,
            radius,
            closing_us: self.closing_us,
            epoch_us: self.epoch_us,
            delay: self.delay(),
        }
    }

    /// Digests so many epochs old count.
    pub fn delay(&self) -> u32 {
        EpisodeSettings::delay_for(self.latency_us_max, self.clock_error_us, self.repeats, self.epoch_us)
    }

    /// Pairs that may meet within so many seconds are watched: early enough that the past which policies look at is there
    /// when they are close.
    pub fn watch_s(&self) -> f64 {
        let past = (Policy::HISTORY as i64 + 2) * self.epoch_us;
        (self.closing_us + past + self.latency_us_max) as f64 * 1e-6
    }

    /// After so long without a verdict it is no longer waited for, in microseconds: by then what both were at the contact
    /// counts, so that whoever decides knows it, and its verdict was under way, or what was lost of either once more.
    pub fn patience_us(&self) -> i64 {
        i64::from(self.delay()) * self.epoch_us + 2 * (self.latency_us_max + self.epoch_us)
    }

    /// How a replica of a ball predicts.
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

    /// When an owner sends.
    pub fn sending(&self) -> SendRule {
        SendRule { heartbeat_us: self.heartbeat_us, repeat: Repeat::Events, ..SendRule::default() }
    }
}

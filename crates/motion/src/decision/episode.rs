//! The episode rule: both hosts of a pair run one state machine over the same digests, so they reach the same state.
//!
//! ```text
//! epoch       n-delay          n       both hosts hold all digests up to epoch n-delay
//!    ──┬──┬──┬──┬──┬──┬──┬──┬──┬─▶
//!              ▲              ▲
//!              standing       a contact is seen
//!
//! Outside ──close──▶ InTerm, with a decider ──QUIET epochs not close──▶ Outside
//! Uninformed: a digest up to n-delay is missing. A host that is uninformed does not decide.
//! ```
//!
//! While a pair may be close, each host sends a digest of its object at every epoch, and repeats recent ones.

use std::collections::BTreeMap;

use space::NodeId;

use super::policy::{Digest, Policy, dot, minus};

/// The settings of an episode. Both hosts must have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpisodeSettings {
    /// How the decider is chosen.
    pub policy: Policy,
    /// The sum of the two radii, in 1/1024 m.
    pub radius: i64,
    /// The objects are close if they could close the gap between them within this time, in microseconds.
    pub closing_us: i64,
    /// The length of an epoch, in microseconds.
    pub epoch_us: i64,
    /// Digests that are at least this many epochs old are used. It covers the longest latency, the repetitions and the
    /// error of the clocks.
    pub delay: u32,
}

impl EpisodeSettings {
    /// A term ends after this many epochs in which the objects were not close.
    pub const QUIET: u32 = 3;

    /// The smallest delay with which a digest that is sent in `repeats` messages arrives in time.
    pub fn delay_for(latency_us_max: i64, clock_error_us: i64, repeats: u32, epoch_us: i64) -> u32 {
        let needed = latency_us_max + i64::from(repeats.saturating_sub(1)) * epoch_us + clock_error_us;
        needed.div_euclid(epoch_us).clamp(0, 1 << 20) as u32 + u32::from(needed.rem_euclid(epoch_us) > 0)
    }
}

/// The state of an episode at one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A digest is missing: this host must not decide.
    Uninformed {
        /// The first epoch whose digest is missing.
        epoch: u32,
    },
    /// The objects are not close: no host may decide.
    Outside,
    /// The objects are close.
    InTerm {
        /// One more than the epoch in which the term began. The number names the digests of which the decider is a
        /// function, so it means the same to hosts that began to watch the pair at different times.
        term: u32,
        decider: NodeId,
    },
}

/// The state machine of one pair, at one host.
#[derive(Clone, Debug)]
pub struct Episode {
    settings: EpisodeSettings,
    hosts: [NodeId; 2],
    first_epoch: u32,
    held: [BTreeMap<u32, Digest>; 2],
    /// The recent digests that the policy uses, oldest first.
    past: [Vec<Digest>; 2],
    next: u32,
    machine: Machine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Machine {
    term: u32,
    decider: Option<NodeId>,
    quiet: u32,
}

impl Episode {
    /// The most future digests of one host that are held.
    pub const HELD_MAX: usize = 1_024;

    /// An episode that begins at an epoch, which must be the same at both hosts.
    pub fn new(settings: EpisodeSettings, one: NodeId, other: NodeId, first_epoch: u32) -> Episode {
        Episode {
            settings,
            hosts: [one.min(other), one.max(other)],
            first_epoch,
            held: [BTreeMap::new(), BTreeMap::new()],
            past: [Vec::new(), Vec::new()],
            next: first_epoch,
            machine: Machine { term: 0, decider: None, quiet: 0 },
        }
    }

    /// Takes in a digest of either host, in any order. The first for an epoch counts. Returns `false` for another host,
    /// a past epoch, or more than [`HELD_MAX`](Episode::HELD_MAX).
    pub fn handle(&mut self, from: NodeId, digest: Digest) -> bool {
        let Some(side) = self.hosts.iter().position(|&host| host == from) else { return false };
        if digest.epoch < self.next || self.held[side].len() >= Self::HELD_MAX {
            return false;
        }
        self.held[side].entry(digest.epoch).or_insert(digest);
        true
    }

    /// The first epoch that was not processed yet: it is too new, or a digest of it is missing.
    pub fn next_epoch(&self) -> u32 {
        self.next
    }

    /// The state after the epochs that were processed, even if later digests are missing. The decider of this term is
    /// certain; but the term may be over, and another may have begun.
    pub fn foreseen(&self) -> Standing {
        match self.machine.decider {
            Some(decider) => Standing::InTerm { term: self.machine.term, decider },
            None => Standing::Outside,
        }
    }

    /// The state in `epoch`. Calls must be in ascending order of epochs.
    pub fn standing(&mut self, epoch: u32) -> Standing {
        let Some(until) = epoch.checked_sub(self.settings.delay).filter(|&until| until >= self.first_epoch) else {
            return Standing::Outside;
        };
        while self.next <= until {
            let (Some(&one), Some(&other)) = (self.held[0].get(&self.next), self.held[1].get(&self.next)) else {
                return Standing::Uninformed { epoch: self.next };
            };
            self.step(one, other);
        }
        self.foreseen()
    }

    fn step(&mut self, one: Digest, other: Digest) {
        for (side, digest) in [one, other].into_iter().enumerate() {
            self.held[side].remove(&self.next);
            self.past[side].push(digest);
            if self.past[side].len() > Policy::HISTORY + 1 {
                self.past[side].remove(0);
            }
        }
        let epoch = self.next;
        self.next += 1;
        // A term begins only with a full history, or its decider would depend on the episode's first epoch.
        let has_past = self.past[0].len() > Policy::HISTORY;
        if has_past && is_close(&one, &other, &self.settings) {
            if self.machine.decider.is_none() {
                self.machine.term = epoch.saturating_add(1);
                let [low, high] = self.hosts;
                let decider = self.settings.policy.decider((low, &self.past[0]), (high, &self.past[1]));
                self.machine.decider = Some(decider);
            }
            self.machine.quiet = 0;
        } else if self.machine.decider.is_some() {
            self.machine.quiet += 1;
            if self.machine.quiet >= EpisodeSettings::QUIET {
                self.machine.decider = None;
                self.machine.quiet = 0;
            }
        }
    }
}

/// Whether the gap is at most the distance at the closing speed in the closing time, whether they approach or part.
fn is_close(one: &Digest, other: &Digest, settings: &EpisodeSettings) -> bool {
    let (d, v) = (minus(other.pos, one.pos), minus(other.vel, one.vel));
    let distance = root(dot(d, d).unsigned_abs());
    let gap = distance - i128::from(settings.radius);
    if gap <= 0 {
        return true;
    }
    // gap <= (|d·v| / distance) · time, without a division.
    gap * distance * 1_000_000 <= dot(d, v).abs() * i128::from(settings.closing_us)
}

/// The integer part of a square root. 64 bits usually suffice and are ten times as fast.
fn root(square: u128) -> i128 {
    match u64::try_from(square) {
        Ok(square) => i128::from(square.isqrt()),
        Err(_) => square.isqrt() as i128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::DVec3;

    const ANN: NodeId = NodeId::new(1);
    const BOB: NodeId = NodeId::new(2);

    fn settings(delay: u32) -> EpisodeSettings {
        EpisodeSettings { policy: Policy::Velocity, radius: 2_048, closing_us: 1_000_000, epoch_us: 100_000, delay }
    }

    /// Two objects on one line that meet at epoch 50. Bob's is faster.
    fn digests(epoch: u32) -> (Digest, Digest) {
        let t = f64::from(epoch) * 0.1 - 5.0;
        let at = |speed: f64| Digest::new(epoch, DVec3::X * (speed * t), DVec3::X * speed, false);
        (at(1.0), at(-3.0))
    }

    #[test]
    fn both_hosts_reach_the_same_state_and_a_gap_is_noticed() {
        let mut ann = Episode::new(settings(2), ANN, BOB, 0);
        let mut bob = Episode::new(settings(2), BOB, ANN, 0);
        let mut terms = Vec::new();
        for epoch in 0..60 {
            let (a, b) = digests(epoch);
            for host in [&mut ann, &mut bob] {
                host.handle(ANN, a);
                host.handle(BOB, b);
                host.handle(BOB, b);
            }
            assert_eq!(ann.standing(epoch), bob.standing(epoch));
            terms.push(ann.standing(epoch));
        }
        assert_eq!(terms[10], Standing::Outside);
        assert_eq!(terms[50], Standing::InTerm { term: 36, decider: BOB });

        let mut deaf = Episode::new(settings(2), ANN, BOB, 0);
        for epoch in (0..60).filter(|&epoch| epoch != 30) {
            let (a, b) = digests(epoch);
            deaf.handle(ANN, a);
            deaf.handle(BOB, b);
        }
        assert_eq!(deaf.standing(50), Standing::Uninformed { epoch: 30 });
        assert_eq!((deaf.foreseen(), deaf.next_epoch()), (Standing::Outside, 30));
        assert!(!deaf.handle(NodeId::new(9), digests(30).0));
        deaf.handle(ANN, digests(30).0);
        deaf.handle(BOB, digests(30).1);
        assert_eq!(deaf.standing(50), terms[50]);
        assert_eq!((deaf.standing(90), deaf.foreseen()), (Standing::Uninformed { epoch: 60 }, terms[50]));
    }

    #[test]
    fn the_delay_covers_latency_repetitions_and_clocks() {
        assert_eq!(EpisodeSettings::delay_for(200_000, 20_000, 3, 100_000), 5);
        assert_eq!(EpisodeSettings::delay_for(100_000, 0, 1, 100_000), 1);
    }
}

//! Claims and verdicts: how a host that does not decide learns the result, and how all end with the same one.

use space::{NodeId, ObjectId, Time};

use crate::state::KinematicState;

/// Two objects, equal whichever was named first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectPair {
    low: ObjectId,
    high: ObjectId,
}

impl ObjectPair {
    /// The pair of two objects, in either order.
    pub fn new(one: ObjectId, other: ObjectId) -> ObjectPair {
        ObjectPair { low: one.min(other), high: one.max(other) }
    }
}

/// "I saw a contact, and it is not mine to decide."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which pair.
    pub pair: ObjectPair,
    /// The term that the claiming host is in, if any.
    pub term: Option<u32>,
    /// When the contact was, by the session's clock.
    pub contact: Time,
}

/// "This is what happened."
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Which pair.
    pub pair: ObjectPair,
    /// The term in which it was decided.
    pub term: u32,
    /// Who decided.
    pub decider: NodeId,
    /// When the contact was, or would have been.
    pub contact: Time,
    /// The states of the lower and the higher object after it; `None` when there was no contact.
    pub after: Option<[KinematicState; 2]>,
}

/// A response that a host shows while it waits for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tentative {
    /// What was claimed.
    pub claim: Claim,
    /// When.
    pub since: Time,
}

impl Tentative {
    /// Whether no verdict can be expected any more, so that each owner goes on with its own motion.
    pub fn is_dropped(&self, now: Time, latency_us_bound: i64, epoch_us: i64) -> bool {
        now - self.since > 2 * (latency_us_bound + epoch_us)
    }
}

/// The verdicts that a host has heard, and those that count.
///
/// Whatever was sent, and in whichever order it came: once all hosts have heard the same verdicts, the same ones count.
#[derive(Clone, Debug)]
pub struct Verdicts {
    /// Verdicts on one pair whose contacts are no farther apart than this are about the same contact.
    overlap_us: i64,
    /// By precedence.
    heard: Vec<Verdict>,
}

impl Verdicts {
    /// Verdicts remembered; beyond that, those that yield to most others are forgotten.
    pub const HEARD_MAX: usize = 256;

    /// Has heard nothing.
    pub fn new(overlap_us: i64) -> Verdicts {
        Verdicts { overlap_us, heard: Vec::new() }
    }

    /// Takes in a verdict; says whether it was new.
    pub fn handle(&mut self, verdict: Verdict) -> bool {
        let key = precedence(&verdict);
        match self.heard.binary_search_by(|heard| precedence(heard).cmp(&key)) {
            Ok(_) => false,
            Err(place) => {
                self.heard.insert(place, verdict);
                self.heard.truncate(Self::HEARD_MAX);
                true
            }
        }
    }

    /// The verdicts that count: of several about one contact, that of the lowest term, then of the lowest host.
    pub fn counting(&self) -> Vec<Verdict> {
        let mut counting: Vec<Verdict> = Vec::new();
        for verdict in &self.heard {
            let is_same = |other: &Verdict| {
                other.pair == verdict.pair && (other.contact - verdict.contact).abs() <= self.overlap_us
            };
            if !counting.iter().any(is_same) {
                counting.push(*verdict);
            }
        }
        counting
    }

    /// Forgets contacts before a moment, when no message about them can still be under way.
    pub fn forget_before(&mut self, moment: Time) {
        self.heard.retain(|verdict| verdict.contact >= moment);
    }
}

/// A host says one thing about one moment: pair, term, host and time name a verdict.
fn precedence(verdict: &Verdict) -> (u32, NodeId, Time, ObjectPair) {
    (verdict.term, verdict.decider, verdict.contact, verdict.pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn the_order_of_verdicts_does_not_matter() {
        let object = |number| ObjectId::new(number).unwrap();
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let verdicts: Vec<Verdict> = (0..random.whole(1, 12))
                .map(|_| Verdict {
                    pair: ObjectPair::new(object(1), object(u64::from(random.whole(2, 4)))),
                    term: random.whole(1, 4),
                    decider: NodeId::new(u64::from(random.whole(1, 3))),
                    contact: Time::from_micros(i64::from(random.whole(0, 20)) * 100_000),
                    after: None,
                })
                .collect();
            let (mut one, mut other) = (Verdicts::new(500_000), Verdicts::new(500_000));
            for verdict in &verdicts {
                one.handle(*verdict);
            }
            for verdict in verdicts.iter().rev().chain(&verdicts) {
                other.handle(*verdict);
            }
            assert_eq!(one.counting(), other.counting(), "seed {seed}");
            assert!(!one.counting().is_empty());
        }
    }
}

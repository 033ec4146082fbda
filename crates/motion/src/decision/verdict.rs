//! Claims and verdicts: how a host that does not decide learns the result, and how all hosts come to keep the same one.

use space::{NodeId, ObjectId, Time};

use super::episode::Standing;
use crate::state::KinematicState;

/// A pair of objects without order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectPair {
    low: ObjectId,
    high: ObjectId,
}

impl ObjectPair {
    pub fn new(one: ObjectId, other: ObjectId) -> ObjectPair {
        ObjectPair { low: one.min(other), high: one.max(other) }
    }

    /// Both objects, the lower first.
    pub fn objects(self) -> [ObjectId; 2] {
        [self.low, self.high]
    }
}

/// A host saw a contact about which it does not decide, and asks for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub pair: ObjectPair,
    /// The term in which the claiming host is, if any.
    pub term: Option<u32>,
    /// The time of the contact, by the session's clock.
    pub contact: Time,
}

/// The outcome of a contact, as its decider determined it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub pair: ObjectPair,
    pub term: u32,
    pub decider: NodeId,
    /// The time of the contact, whether there was one or not.
    pub contact: Time,
    /// The states of the lower and the higher object after it; `None` if there was no contact.
    pub after: Option<[KinematicState; 2]>,
}

/// A claim that waits for its verdict. Meanwhile the host shows a response of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tentative {
    pub claim: Claim,
    pub since: Time,
}

impl Tentative {
    /// Whether no verdict is expected any more, so that each owner returns to its own motion.
    pub fn is_dropped(&self, now: Time, latency_us_bound: i64, epoch_us: i64) -> bool {
        now - self.since > 2 * (latency_us_bound + epoch_us)
    }
}

/// The verdicts that a host has issued: it gives the same answer to every claim about a contact.
#[derive(Clone, Debug)]
pub struct OwnVerdicts {
    host: NodeId,
    overlap_us: i64,
    decided: Vec<Verdict>,
}

impl OwnVerdicts {
    /// The number of verdicts that are kept; the oldest are dropped.
    pub const DECIDED_MAX: usize = 64;

    /// Contacts of one pair that are at most `overlap_us` apart are the same contact.
    pub fn new(host: NodeId, overlap_us: i64) -> OwnVerdicts {
        OwnVerdicts { host, overlap_us, decided: Vec::new() }
    }

    /// The verdict about a contact that this host sees, if it is the decider. For the same contact the first verdict
    /// is returned again.
    pub fn decide(&mut self, claim: Claim, standing: Standing, after: Option<[KinematicState; 2]>) -> Option<Verdict> {
        let about = |verdict: &&Verdict| {
            verdict.pair == claim.pair && (verdict.contact - claim.contact).abs() <= self.overlap_us
        };
        if let Some(&verdict) = self.decided.iter().find(about) {
            return Some(verdict);
        }
        let Standing::InTerm { term, decider } = standing else { return None };
        if decider != self.host {
            return None;
        }
        let verdict = Verdict { pair: claim.pair, term, decider, contact: claim.contact, after };
        if self.decided.len() == Self::DECIDED_MAX {
            self.decided.remove(0);
        }
        self.decided.push(verdict);
        Some(verdict)
    }

    /// Answers another host's claim: with the verdict about that contact, or, if this host is the decider and saw no
    /// contact, with the verdict that there was none. `None` if this host is not the decider.
    pub fn answer(&mut self, claim: Claim, standing: Standing) -> Option<Verdict> {
        self.decide(claim, standing, None)
    }
}

/// The verdicts that a host has received, and which of them count.
///
/// The order of arrival has no effect: if two hosts have received the same verdicts, the same ones count.
#[derive(Clone, Debug)]
pub struct Verdicts {
    /// Verdicts on one pair whose contacts are at most this far apart are about the same contact.
    overlap_us: i64,
    /// By precedence, the lowest first.
    heard: Vec<Verdict>,
}

impl Verdicts {
    /// The number of verdicts that are kept; the last by precedence are dropped.
    pub const HEARD_MAX: usize = 256;

    pub fn new(overlap_us: i64) -> Verdicts {
        Verdicts { overlap_us, heard: Vec::new() }
    }

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

    /// The verdicts that count: of several about one contact, the one of the lowest term, then of the lowest host.
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

    /// All verdicts, by precedence, including those that do not count.
    pub fn heard(&self) -> &[Verdict] {
        &self.heard
    }

    /// Drops the verdicts on contacts before a moment, about which no message can be under way any more. With each goes
    /// every verdict that yields to it, as that would count otherwise.
    pub fn forget_before(&mut self, moment: Time) {
        let mut forgotten = self.counting();
        forgotten.retain(|verdict| verdict.contact < moment);
        let overlap_us = self.overlap_us;
        let counting = self.counting();
        self.heard.retain(|verdict| {
            let is_about =
                |other: &Verdict| other.pair == verdict.pair && (other.contact - verdict.contact).abs() <= overlap_us;
            verdict.contact >= moment && (counting.contains(verdict) || !forgotten.iter().any(is_about))
        });
    }
}

/// The order in which verdicts count. It is unique, as a host issues one verdict for one pair, term and time.
fn precedence(verdict: &Verdict) -> (u32, NodeId, Time, ObjectPair) {
    (verdict.term, verdict.decider, verdict.contact, verdict.pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn a_decider_repeats_its_verdict_and_others_give_none() {
        let object = |number| ObjectId::new(number).unwrap();
        let (me, other) = (NodeId::new(1), NodeId::new(2));
        let claim = |ms: i64| Claim {
            pair: ObjectPair::new(object(2), object(1)),
            term: None,
            contact: Time::from_micros(ms * 1_000),
        };
        let mine = Standing::InTerm { term: 3, decider: me };
        let mut issued = OwnVerdicts::new(me, 500_000);
        assert_eq!(issued.answer(claim(1_000), Standing::Outside), None);
        assert_eq!(issued.answer(claim(1_000), Standing::InTerm { term: 3, decider: other }), None);
        let after = [KinematicState::at_rest(Time::default(), space::DVec3::ZERO); 2];
        let verdict = issued.decide(claim(1_000), mine, Some(after)).unwrap();
        assert_eq!((verdict.term, verdict.decider, verdict.after), (3, me, Some(after)));
        assert_eq!(issued.answer(claim(1_400), Standing::Outside), Some(verdict), "the same contact, a little later");
        let nothing = issued.answer(claim(9_000), mine).unwrap();
        assert_eq!(nothing.after, None, "a contact that only the other host saw");
    }

    #[test]
    fn what_yields_never_counts_because_another_was_forgotten() {
        let object = |number| ObjectId::new(number).unwrap();
        let pair = ObjectPair::new(object(1), object(2));
        let verdict = |term, host, ms: i64| Verdict {
            pair,
            term,
            decider: NodeId::new(host),
            contact: Time::from_micros(ms * 1_000),
            after: None,
        };
        let mut verdicts = Verdicts::new(500_000);
        verdicts.handle(verdict(3, 1, 1_000));
        verdicts.handle(verdict(4, 2, 1_300));
        verdicts.handle(verdict(9, 2, 4_000));
        verdicts.forget_before(Time::from_micros(1_200_000));
        assert_eq!(verdicts.counting(), [verdict(9, 2, 4_000)]);
    }

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

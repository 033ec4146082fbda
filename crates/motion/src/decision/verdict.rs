//! Claims and verdicts: how a host that does not decide learns the result, and how all end with the same one.

use space::{NodeId, ObjectId, Time};

use super::episode::Standing;
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

    /// The two, the lower first.
    pub fn objects(self) -> [ObjectId; 2] {
        [self.low, self.high]
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

/// What a host has decided, so that it says the same to everybody who asks.
#[derive(Clone, Debug)]
pub struct Docket {
    host: NodeId,
    overlap_us: i64,
    decided: Vec<Verdict>,
}

impl Docket {
    /// Decisions remembered; beyond that the oldest are forgotten.
    pub const DECIDED_MAX: usize = 64;

    /// A host that has decided nothing. Contacts of one pair no farther apart than `overlap_us` are one.
    pub fn new(host: NodeId, overlap_us: i64) -> Docket {
        Docket { host, overlap_us, decided: Vec::new() }
    }

    /// This host sees a contact: its verdict, if it is the one to decide. Deciding twice about one contact gives the
    /// first decision again.
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

    /// Answers a claim of another host: with what was decided about that contact, or, where this host decides and saw
    /// none, that there was none. `None` when it is not this host's to say.
    pub fn answer(&mut self, claim: Claim, standing: Standing) -> Option<Verdict> {
        self.decide(claim, standing, None)
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

    /// All that were heard, those that yield included, by precedence.
    pub fn heard(&self) -> &[Verdict] {
        &self.heard
    }

    /// Forgets contacts before a moment, when no message about them can still be under way; and with each what yields to
    /// it, or that would count from then on.
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

/// A host says one thing about one moment: pair, term, host and time name a verdict.
fn precedence(verdict: &Verdict) -> (u32, NodeId, Time, ObjectPair) {
    (verdict.term, verdict.decider, verdict.contact, verdict.pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn a_decider_says_the_same_to_everybody_and_others_say_nothing() {
        let object = |number| ObjectId::new(number).unwrap();
        let (me, other) = (NodeId::new(1), NodeId::new(2));
        let claim = |ms: i64| Claim {
            pair: ObjectPair::new(object(2), object(1)),
            term: None,
            contact: Time::from_micros(ms * 1_000),
        };
        let mine = Standing::InTerm { term: 3, decider: me };
        let mut docket = Docket::new(me, 500_000);
        assert_eq!(docket.answer(claim(1_000), Standing::Outside), None);
        assert_eq!(docket.answer(claim(1_000), Standing::InTerm { term: 3, decider: other }), None);
        let after = [KinematicState::at_rest(Time::default(), space::DVec3::ZERO); 2];
        let verdict = docket.decide(claim(1_000), mine, Some(after)).unwrap();
        assert_eq!((verdict.term, verdict.decider, verdict.after), (3, me, Some(after)));
        assert_eq!(docket.answer(claim(1_400), Standing::Outside), Some(verdict), "the same contact, a little later");
        let nothing = docket.answer(claim(9_000), mine).unwrap();
        assert_eq!(nothing.after, None, "a contact that only the other saw");
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

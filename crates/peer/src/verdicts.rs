//! All verdicts that a peer has heard, and those that count: per pair, so that no pair can crowd out another.

use std::collections::BTreeMap;

use motion::decision::{ObjectPair, Verdict, Verdicts};
use space::{NodeId, Time};
use wire::peer::name;

/// Pairs about which verdicts are remembered at most.
const PAIRS_MAX: usize = 16_384;

/// What became of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictReceipt {
    /// It counts.
    Counts,
    /// Another one about the same contact does.
    Yields,
    /// It was heard before.
    Known,
    /// The same peer said otherwise about the same contact in the same term, or there are too many pairs.
    Refused,
}

/// What was heard about a pair.
#[derive(Clone, Debug)]
struct Pair {
    verdicts: Verdicts,
    /// The lower of the two owners: contacts are by its clock.
    lower: NodeId,
    heard_at: Time,
}

/// Verdicts, by pair.
#[derive(Clone, Debug)]
pub struct AllVerdicts {
    overlap_us: i64,
    pairs: BTreeMap<ObjectPair, Pair>,
}

impl AllVerdicts {
    /// Has heard nothing.
    pub fn new(overlap_us: i64) -> AllVerdicts {
        AllVerdicts { overlap_us, pairs: BTreeMap::new() }
    }

    /// Takes in a verdict.
    pub fn handle(&mut self, verdict: Verdict, now: Time) -> VerdictReceipt {
        if self.pairs.len() >= PAIRS_MAX && !self.pairs.contains_key(&verdict.pair) {
            return VerdictReceipt::Refused;
        }
        let overlap_us = self.overlap_us;
        // Names begin with their owner's number: the lower object is the lower owner's.
        let lower = name::owner(verdict.pair.objects()[0]);
        let new = || Pair { verdicts: Verdicts::new(overlap_us), lower, heard_at: now };
        let Pair { verdicts, heard_at, .. } = self.pairs.entry(verdict.pair).or_insert_with(new);
        *heard_at = now;
        let counting = verdicts.counting();
        if counting.contains(&verdict) {
            return VerdictReceipt::Known;
        }
        // A decider says one thing about one contact. What it said first came first to everybody, over its stream; what
        // others say does not matter here, or peers that hear them in another order would keep something else.
        let is_contradiction = |held: &Verdict| {
            (held.term, held.decider) == (verdict.term, verdict.decider)
                && (held.contact - verdict.contact).abs() <= overlap_us
        };
        if verdicts.heard().iter().any(is_contradiction) && !verdicts.heard().contains(&verdict) {
            return VerdictReceipt::Refused;
        }
        if !verdicts.handle(verdict) {
            return VerdictReceipt::Known;
        }
        if verdicts.counting().contains(&verdict) { VerdictReceipt::Counts } else { VerdictReceipt::Yields }
    }

    /// The verdict that counts about a contact of a pair.
    pub fn about(&self, pair: ObjectPair, contact: Time) -> Option<Verdict> {
        self.pairs
            .get(&pair)?
            .verdicts
            .counting()
            .into_iter()
            .find(|held| (held.contact - contact).abs() <= self.overlap_us)
    }

    /// All verdicts that count, by pair.
    pub fn counting(&self) -> impl Iterator<Item = Verdict> + '_ {
        self.pairs.values().flat_map(|pair| pair.verdicts.counting())
    }

    /// Forgets contacts that are longer ago than `memory_us`. `clock` is the time now at a peer; where that is not known, it
    /// counts when the last verdict was heard.
    pub fn forget(&mut self, now: Time, memory_us: i64, clock: impl Fn(NodeId) -> Option<Time>) {
        self.pairs.retain(|_, pair| {
            if let Some(there) = clock(pair.lower) {
                pair.verdicts.forget_before(there + -memory_us);
                return !pair.verdicts.counting().is_empty();
            }
            now - pair.heard_at <= memory_us
        });
    }
}

//! The verdicts that a peer has received, by pair, so that the bound on one pair's verdicts does not affect another's.

use std::collections::BTreeMap;

use motion::decision::{ObjectPair, Verdict, Verdicts};
use space::{NodeId, Time};
use wire::peer::name;

/// The most pairs with verdicts.
const PAIRS_MAX: usize = 16_384;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictReceipt {
    Counts,
    /// Another one about the same contact counts.
    Yields,
    Known,
    /// It contradicts the same peer's verdict about the contact in the same term, or there are too many pairs.
    Refused,
}

#[derive(Clone, Debug)]
struct Pair {
    verdicts: Verdicts,
    /// The lower of the two owners, whose clock times contacts.
    lower: NodeId,
    heard_at: Time,
}

#[derive(Clone, Debug)]
pub struct AllVerdicts {
    overlap_us: i64,
    pairs: BTreeMap<ObjectPair, Pair>,
}

impl AllVerdicts {
    pub fn new(overlap_us: i64) -> AllVerdicts {
        AllVerdicts { overlap_us, pairs: BTreeMap::new() }
    }

    pub fn handle(&mut self, verdict: Verdict, now: Time) -> VerdictReceipt {
        if self.pairs.len() >= PAIRS_MAX && !self.pairs.contains_key(&verdict.pair) {
            return VerdictReceipt::Refused;
        }
        let overlap_us = self.overlap_us;
        // A name begins with its owner's number, so the lower object is the lower owner's.
        let lower = name::owner(verdict.pair.objects()[0]);
        let new = || Pair { verdicts: Verdicts::new(overlap_us), lower, heard_at: now };
        let Pair { verdicts, heard_at, .. } = self.pairs.entry(verdict.pair).or_insert_with(new);
        *heard_at = now;
        let counting = verdicts.counting();
        if counting.contains(&verdict) {
            return VerdictReceipt::Known;
        }
        // A decider issues one verdict about a contact. Its stream brings the first one first to all peers. Verdicts of
        // other peers are not compared here, as their order of arrival differs from peer to peer.
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

    pub fn about(&self, pair: ObjectPair, contact: Time) -> Option<Verdict> {
        self.pairs
            .get(&pair)?
            .verdicts
            .counting()
            .into_iter()
            .find(|held| (held.contact - contact).abs() <= self.overlap_us)
    }

    pub fn counting(&self) -> impl Iterator<Item = Verdict> + '_ {
        self.pairs.values().flat_map(|pair| pair.verdicts.counting())
    }

    /// Forgets contacts that are longer ago than `memory_us`. `clock` is a peer's time now; if that is not known, the
    /// arrival of the last verdict counts.
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

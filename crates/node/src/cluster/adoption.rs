//! Death: who keeps copies of a dead node's objects adopts them, each object once.
//!
//! A plan without the dead one holds only when its lease has passed (`lease.rs`), so that it moves nothing any more. Then
//! whoever has copies asks everybody: has somebody this object under a higher number, or under the same one and a lower
//! name? Who acts by the plan answers with all that it has, and with all that it has had since it acts by this plan, under the
//! numbers with which that went on. So an object that changes hands between two answers is named by one of them: whoever had
//! it when it began to act by the plan. What nobody names is adopted, under a higher number.
//!
//! Copies are let go when everybody says that nobody adopts any more: whoever adopts may die, too.

use std::collections::{BTreeMap, BTreeSet};

use space::{NodeId, ObjectId, Time};
use wire::ToNode;
use wire::cluster::Named;

use super::copies::Copies;
use super::handover::{AGAIN_US, Custody, Leaving, Parcel, Planted};

/// What is left of those who died.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// Who died, and who has not said yet that it adopts nothing more of theirs.
    mourned: BTreeMap<NodeId, BTreeSet<NodeId>>,
    /// Copies of theirs, with the numbers of ownership.
    orphans: BTreeMap<ObjectId, (u32, Parcel)>,
    /// Who has answered, under the present plan.
    answered: BTreeSet<NodeId>,
    asked_at: Option<Time>,
    /// What was adopted, until its copies are safe.
    adopted: BTreeSet<ObjectId>,
    /// How many were adopted so far.
    pub count: u64,
}

impl Adoption {
    /// Whether somebody's objects may still be adopted, by whomever.
    pub fn is_mourning(&self) -> bool {
        !self.mourned.is_empty()
    }

    pub(super) fn activate(&mut self, dead: &[NodeId], copies: &Copies) {
        for &node in dead {
            self.mourned.entry(node).or_default();
        }
        self.mourned.values_mut().for_each(BTreeSet::clear);
        self.orphans.clear();
        for node in self.mourned.keys() {
            for (&object, (seq, parcel)) in copies.kept.get(node).into_iter().flat_map(|kept| &kept.objects) {
                let known = self.orphans.entry(object).or_insert_with(|| (*seq, parcel.clone()));
                if known.0 < *seq {
                    *known = (*seq, parcel.clone());
                }
            }
        }
        self.answered.clear();
        self.asked_at = None;
    }

    pub(super) fn lose_patience(&mut self) {
        self.asked_at = None;
    }

    /// Somebody knows better of these.
    pub(super) fn answered(&mut self, from: NodeId, known: &[u64]) {
        for object in known.iter().filter_map(|&object| ObjectId::new(object)) {
            self.orphans.remove(&object);
        }
        self.answered.insert(from);
    }
}

impl Custody {
    /// Whose objects it is about to adopt, for all to know.
    pub fn adopting(&self) -> Vec<NodeId> {
        let is_busy = !self.adoption.orphans.is_empty() || !self.adoption.adopted.is_empty();
        if is_busy { self.adoption.mourned.keys().copied().collect() } else { Vec::new() }
    }

    /// How many objects it has adopted so far.
    pub fn adopted(&self) -> u64 {
        self.adoption.count
    }

    /// Another node says, under the present plan, whose objects it is about to adopt.
    pub fn mourn(&mut self, from: NodeId, version: u64, adopting: &[u64]) {
        if version != self.version {
            return;
        }
        for (dead, done) in &mut self.adoption.mourned {
            if adopting.contains(&dead.number()) {
                done.remove(&from)
            } else {
                done.insert(from)
            };
        }
    }

    /// Which of these it has, or has had since it acts by this plan, under a higher number.
    pub(super) fn asked(&mut self, from: NodeId, objects: &[Named]) {
        let knows = |named: &&Named| {
            let Some(object) = ObjectId::new(named.object) else { return false };
            let own = self.own_seq(object);
            let leaving = self.leaving.get(&object).map(|leaving| leaving.seq);
            let past = self.past.get(&object).map(|past| past.seq);
            let orphan = self.adoption.orphans.get(&object).map(|orphan| orphan.0);
            own.max(leaving).max(past).is_some_and(|seq| seq > named.seq)
                || orphan.is_some_and(|seq| seq > named.seq || seq == named.seq && self.me < from)
        };
        let objects = objects.iter().filter(knows).map(|named| named.object).collect();
        self.sends.push_back((from, ToNode::Known { version: self.version, objects }));
    }

    /// Asks about orphans, and adopts those that nobody knows better of.
    pub(super) fn adopt(&mut self, now: Time) {
        if !self.adoption.is_mourning() {
            return;
        }
        let others: Vec<NodeId> = self.members.iter().copied().filter(|&node| node != self.me).collect();
        // What it has itself it need not ask for.
        let (own, leaving, past) = (&self.own, &self.leaving, &self.past);
        self.adoption.orphans.retain(|object, (seq, _)| {
            let known = own.get(object).map(|own| own.seq).max(leaving.get(object).map(|leaving| leaving.seq));
            known.max(past.get(object).map(|past| past.seq)).is_none_or(|known| known <= *seq)
        });
        let asks = self.planted != Planted::AdoptsWithoutAsking;
        if !asks || others.iter().all(|node| self.adoption.answered.contains(node)) {
            for (object, (seq, parcel)) in std::mem::take(&mut self.adoption.orphans) {
                if self.has(object) {
                    continue;
                }
                self.adoption.count += 1;
                self.adoption.adopted.insert(object);
                self.past.remove(&object);
                self.leaving.insert(object, Leaving::new(seq + 1, self.me, parcel, false));
                self.copies.touch(object);
            }
        } else if !self.adoption.orphans.is_empty()
            && self.adoption.asked_at.is_none_or(|asked| now - asked >= AGAIN_US)
        {
            self.adoption.asked_at = Some(now);
            let named = |(object, (seq, _)): (&ObjectId, &(u32, Parcel))| Named { object: object.number(), seq: *seq };
            let objects: Vec<Named> = self.adoption.orphans.iter().map(named).collect();
            for node in others.iter().filter(|node| !self.adoption.answered.contains(node)) {
                self.sends.push_back((*node, ToNode::Query { version: self.version, objects: objects.clone() }));
            }
        }
        let (own, leaving, copies) = (&self.own, &self.leaving, &self.copies);
        self.adoption.adopted.retain(|&object| {
            let seq = own.get(&object).map(|own| own.seq).or(leaving.get(&object).map(|leaving| leaving.seq - 1));
            seq.is_some_and(|seq| !copies.is_safe(object, seq))
        });
        let is_busy = !self.adoption.orphans.is_empty() || !self.adoption.adopted.is_empty();
        let (mourned, kept) = (&mut self.adoption.mourned, &mut self.copies.kept);
        mourned.retain(|dead, done| {
            let is_over = !is_busy && others.iter().all(|node| done.contains(node));
            if is_over {
                kept.remove(dead);
            }
            !is_over
        });
    }
}

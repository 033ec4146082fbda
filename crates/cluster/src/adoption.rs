//! What becomes of a dead node's objects: a node that keeps copies adopts them, each object once.
//!
//! A plan without the dead node holds only when its lease has passed (`lease.rs`), so that it moves nothing any more.
//! Then each node with copies asks all others: do you have this object under a higher number of ownership, or under the
//! same number and with a lower node number? A node that acts by the plan answers with all that it has, and all that it
//! has had since it acts by this plan, under the numbers with which those objects went on. So an object that changes
//! hands between two answers is named by one of them. An object that no node names is adopted, under a higher number.
//!
//! Copies are dropped when all nodes say that they adopt nothing any more: a node that adopts may die, too.

use std::collections::{BTreeMap, BTreeSet};

use space::{NodeId, ObjectId, Time};
use wire::ToNode;
use wire::cluster::{Named, Piece};

use super::copies::Copies;
use super::handover::{AGAIN_US, Custody, Leaving, Parcel};
use super::long_list::Pieces;

/// What is left of nodes that died.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// Dead nodes, and the nodes that have not said yet that they adopt nothing more of theirs.
    mourned: BTreeMap<NodeId, BTreeSet<NodeId>>,
    /// Copies of their objects, with the numbers of ownership.
    orphans: BTreeMap<ObjectId, (u32, Parcel)>,
    /// What is asked under the present plan, once there is something to ask.
    asking: Option<Asking>,
    /// Adopted objects, until their copies are safe.
    adopted: BTreeSet<ObjectId>,
    /// How many were adopted so far.
    pub count: u64,
}

/// What all others are asked, and what of it they have answered. It stays as it was first asked, even where an answer
/// has made a part of it needless: so a piece has one meaning for as long as the plan holds.
#[derive(Clone, Debug)]
struct Asking {
    objects: Pieces<Named>,
    /// The next piece to ask for; beyond the last, all were asked for.
    next: u32,
    asked_at: Option<Time>,
    answered: BTreeMap<NodeId, BTreeSet<u32>>,
}

impl Asking {
    fn lacks(&self, node: NodeId, piece: u32) -> bool {
        !self.answered.get(&node).is_some_and(|answered| answered.contains(&piece))
    }

    /// Whether a node has answered all of it.
    fn is_answered_by(&self, node: NodeId) -> bool {
        self.answered.get(&node).is_some_and(|answered| answered.len() == self.objects.count() as usize)
    }

    /// One piece for the nodes that have not answered it; after the last, from the beginning after a while.
    fn next(&mut self, now: Time, others: &[NodeId]) -> Option<(Piece, Vec<Named>, Vec<NodeId>)> {
        if self.asked_at.is_none_or(|asked| now - asked >= AGAIN_US) {
            self.next = 0;
        }
        while let Some((piece, objects)) = self.objects.piece(self.next) {
            self.next += 1;
            let asked: Vec<NodeId> = others.iter().copied().filter(|&node| self.lacks(node, piece.number)).collect();
            if !asked.is_empty() {
                self.asked_at = Some(now);
                return Some((piece, objects, asked));
            }
        }
        None
    }
}

impl Adoption {
    /// Whether objects of a dead node may still be adopted, by any node.
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
        self.asking = None;
    }

    pub(super) fn lose_patience(&mut self) {
        if let Some(asking) = &mut self.asking {
            asking.asked_at = None;
        }
    }

    /// Takes in that a node has newer ownership of these objects of a piece.
    pub(super) fn answered(&mut self, from: NodeId, piece: Piece, known: &[u64]) {
        let Some(asking) = self.asking.as_mut().filter(|asking| asking.objects.count() == piece.count) else { return };
        asking.answered.entry(from).or_default().insert(piece.number);
        for object in known.iter().filter_map(|&object| ObjectId::new(object)) {
            self.orphans.remove(&object);
        }
    }

    fn is_answered_by(&self, node: NodeId) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.is_answered_by(node))
    }
}

impl Custody {
    /// The dead nodes whose objects it is about to adopt, for all to know.
    pub fn adopting(&self) -> Vec<NodeId> {
        let is_busy = !self.adoption.orphans.is_empty() || !self.adoption.adopted.is_empty();
        if is_busy { self.adoption.mourned.keys().copied().collect() } else { Vec::new() }
    }

    /// How many objects it has adopted so far.
    pub fn adopted(&self) -> u64 {
        self.adoption.count
    }

    /// Another node tells, under the present plan, whose objects it is about to adopt.
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

    /// Which of these objects it has, or has had since it acts by this plan, under a higher number.
    pub(super) fn asked(&mut self, from: NodeId, piece: Piece, objects: &[Named]) {
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
        self.sends.push_back((from, ToNode::Known { version: self.version, piece, objects }));
    }

    /// Asks about orphans, and adopts those for which no node has newer ownership.
    pub(super) fn adopt(&mut self, now: Time) {
        if !self.adoption.is_mourning() {
            return;
        }
        let others: Vec<NodeId> = self.members.iter().copied().filter(|&node| node != self.me).collect();
        // It need not ask about what it has itself.
        let (own, leaving, past) = (&self.own, &self.leaving, &self.past);
        self.adoption.orphans.retain(|object, (seq, _)| {
            let known = own.get(object).map(|own| own.seq).max(leaving.get(object).map(|leaving| leaving.seq));
            known.max(past.get(object).map(|past| past.seq)).is_none_or(|known| known <= *seq)
        });
        if others.iter().all(|&node| self.adoption.is_answered_by(node)) {
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
        } else if !self.adoption.orphans.is_empty() {
            let Adoption { asking, orphans, .. } = &mut self.adoption;
            let asking = asking.get_or_insert_with(|| {
                let named =
                    |(object, (seq, _)): (&ObjectId, &(u32, Parcel))| Named { object: object.number(), seq: *seq };
                let objects = Pieces::new(orphans.iter().map(named).collect());
                Asking { objects, next: 0, asked_at: None, answered: BTreeMap::new() }
            });
            if let Some((piece, objects, asked)) = asking.next(now, &others) {
                for node in asked {
                    let query = ToNode::Query { version: self.version, piece, objects: objects.clone() };
                    self.sends.push_back((node, query));
                }
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

#[cfg(test)]
mod tests {
    use super::super::copies::Kept;
    use super::super::handover::{ObjectAccess, Past};
    use super::*;

    /// Finds no place for anything: adopted objects wait.
    struct Full;

    impl ObjectAccess for Full {
        fn parcel(&self, _: ObjectId) -> Option<Parcel> {
            None
        }
        fn put(&mut self, _: ObjectId, _: &Parcel, _: bool) -> bool {
            false
        }
        fn lift(&mut self, _: ObjectId) {}
        fn gone(&mut self, _: ObjectId, _: NodeId, _: u32) {}
        fn owner_of(&self, _: &Parcel) -> Option<NodeId> {
            Some(NodeId::new(1))
        }
    }

    /// Keeps out this bug: a node with copies of more objects than fit into a message asked about all of them in one,
    /// which no node could decode, and adopted none. Every third question is lost, and every third answer comes twice.
    #[test]
    fn all_objects_of_a_dead_node_are_adopted() {
        const ORPHANS: u64 = 100_000;
        let [one, two, dead] = [1, 2, 3].map(NodeId::new);
        let mut nodes = [one, two].map(|node| Custody::new(node, 0));
        for node in &mut nodes {
            node.activate(1, &[one, two, dead], &mut Full, Time::from_micros(0));
        }
        let mut kept = Kept::default();
        let parcel = Parcel { object: vec![1], session: Vec::new() };
        kept.objects.extend((1..=ORPHANS).map(|number| (ObjectId::new(number).unwrap(), (1, parcel.clone()))));
        nodes[0].copies.kept.insert(dead, kept);
        // The other node has newer ownership of these.
        let better = [5, 70_000].map(|number| ObjectId::new(number).unwrap());
        better
            .iter()
            .for_each(|&object| nodes[1].past.extend([(object, Past { seq: 2, from: None, closed_at: None })]));
        for node in &mut nodes {
            node.activate(2, &[one, two], &mut Full, Time::from_micros(0));
        }
        let mut count = 0;
        let [asker, answerer] = &mut nodes;
        for wake in 0..200 {
            let now = Time::from_micros(wake * 33_333);
            asker.adopt(now);
            if asker.adoption.count > 0 {
                break;
            }
            while let Some((_, message)) = asker.poll() {
                count += 1;
                let bytes = message.encode();
                assert!(bytes.len() <= wire::cluster::NODE_MESSAGE_MAX / 4);
                if count % 3 != 0 {
                    let heard = ToNode::decode(&bytes).expect("a node can read what another asks");
                    answerer.handle(now, one, &heard, true, &mut Full);
                }
            }
            while let Some((_, message)) = answerer.poll() {
                let heard = ToNode::decode(&message.encode()).expect("a node can read what another answers");
                for _ in 0..1 + count % 2 {
                    asker.handle(now, two, &heard, true, &mut Full);
                }
            }
        }
        assert_eq!(asker.adoption.count, ORPHANS - 2);
        assert!(better.iter().all(|&object| !asker.has(object)));
    }
}

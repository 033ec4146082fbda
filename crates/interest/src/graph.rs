//! Who overlaps whom, kept up to date by what began and what ended: what relations and groups are made from.

use space::{Pair, Slot, Spheres};

use crate::lists::Lists;
use crate::radix;

/// The intersection graph of a world: objects are its vertices, overlapping pairs its edges.
///
/// ```
/// use interest::Graph;
/// use space::{Pair, Slot};
///
/// let mut graph = Graph::new();
/// graph.update(&[Pair::of_rows(1, 2), Pair::of_rows(1, 7)], &[]);
/// assert_eq!(graph.neighbours(Slot::new(1)), [Slot::new(2), Slot::new(7)]);
/// graph.update(&[], &[Pair::of_rows(1, 2)]);
/// assert_eq!(graph.pairs(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    lists: Lists<Slot>,
    pairs: usize,
    began: Vec<Pair>,
    ended: Vec<Pair>,
    /// Scratch: every change from both ends, sorted.
    changes: Vec<u64>,
    scratch: Vec<u64>,
    list: Vec<Slot>,
    /// Scratch of [`Graph::compare`].
    starts: Vec<u32>,
    others: Vec<Slot>,
    candidates: (Vec<Pair>, Vec<Pair>),
    seen: Vec<u32>,
    marks: u32,
}

/// A change as one of its two objects sees it, in one number: whose list, which entry, and whether it is to be there.
/// An end sorts before a beginning, as a slot may change hands within a tick.
#[derive(Clone, Copy, Debug)]
struct Change(u64);

impl Graph {
    /// A graph without pairs.
    pub fn new() -> Graph {
        Graph {
            lists: Lists::new(),
            pairs: 0,
            began: Vec::new(),
            ended: Vec::new(),
            changes: Vec::new(),
            scratch: Vec::new(),
            list: Vec::new(),
            starts: Vec::new(),
            others: Vec::new(),
            candidates: Default::default(),
            seen: Vec::new(),
            marks: 0,
        }
    }

    /// Takes in what changed since the last tick: first what ended, then what began. That is what
    /// [`Kinesphere::began`](space::Kinesphere::began) and `ended` tell, and [`PairChanges`](space::PairChanges) for any
    /// other broad phase.
    ///
    /// A pair that ended without having been there, or began while it was, changes nothing; nor does an object with
    /// itself, or a slot that no world has.
    pub fn update(&mut self, began: &[Pair], ended: &[Pair]) {
        self.changes.clear();
        self.began.clear();
        self.ended.clear();
        for (pairs, begins) in [(ended, false), (began, true)] {
            for pair in pairs.iter().filter(|pair| pair.a() != pair.b() && pair.b().row() < Spheres::MAX_OBJECTS) {
                self.changes.push(Change::new(pair.a(), pair.b(), begins).0);
                self.changes.push(Change::new(pair.b(), pair.a(), begins).0);
            }
        }
        radix::sort(&mut self.changes, &mut self.scratch);
        let changes = std::mem::take(&mut self.changes);
        self.lists.fetch(changes.iter().map(|&change| Change(change).owner().row()));
        for own in changes.chunk_by(|&one, &other| Change(one).owner() == Change(other).owner()) {
            self.change_list(own);
        }
        self.changes = changes;
        self.pairs = self.pairs + self.began.len() - self.ended.len();
    }

    /// Takes in a complete list of pairs, in any order, by comparing it with what is known; `replaced` are the slots that
    /// changed hands, as [`Spheres::replaced`] has them. For dense crowds, in which a broad phase finds all pairs afresh
    /// every tick, this is quicker than to let it tell what changed; for sparse worlds it is not.
    pub fn compare(&mut self, pairs: &[Pair], replaced: &[Slot]) {
        let is_valid = |pair: &&Pair| pair.a() != pair.b() && pair.b().row() < Spheres::MAX_OBJECTS;
        let rows = pairs.iter().filter(is_valid).map(|pair| pair.b().row() + 1).max().unwrap_or(0).max(self.rows());
        // The pairs by their lower slot: counted, then put in place.
        let (mut starts, mut others) = (std::mem::take(&mut self.starts), std::mem::take(&mut self.others));
        starts.clear();
        starts.resize(rows + 2, 0u32);
        pairs.iter().filter(is_valid).for_each(|pair| starts[pair.a().row() + 2] += 1);
        for row in 2..starts.len() {
            starts[row] += starts[row - 1];
        }
        others.clear();
        others.resize(pairs.len(), Slot::new(0));
        for pair in pairs.iter().filter(is_valid) {
            let place = &mut starts[pair.a().row() + 1];
            others[*place as usize] = pair.b();
            *place += 1;
        }
        let (mut began, mut ended) = (std::mem::take(&mut self.candidates.0), std::mem::take(&mut self.candidates.1));
        began.clear();
        ended.clear();
        self.seen.resize(rows, 0);
        let mut is_replaced = space::bits::Bits::new();
        replaced.iter().filter(|slot| slot.row() < rows).for_each(|slot| is_replaced.insert(slot.row()));
        for row in 0..rows {
            let slot = Slot::new(row as u32);
            let now = &others[starts[row] as usize..starts[row + 1] as usize];
            let old = self.lists.get(row);
            let old = &old[old.partition_point(|&other| other < slot)..];
            if now.is_empty() && old.is_empty() {
                continue;
            }
            let (known, found) = (self.marks + 1, self.marks + 2);
            self.marks += 2;
            if self.marks > u32::MAX - 4 {
                self.seen.fill(0);
                self.marks = 0;
            }
            old.iter().for_each(|other| self.seen[other.row()] = known);
            for &other in now {
                let mark = std::mem::replace(&mut self.seen[other.row()], found);
                let is_new = is_replaced.contains(row) || is_replaced.contains(other.row());
                if mark != known || is_new {
                    began.push(Pair::new(slot, other));
                }
                if mark == known && is_new {
                    ended.push(Pair::new(slot, other));
                }
            }
            for &other in old.iter().filter(|other| self.seen[other.row()] != found) {
                ended.push(Pair::new(slot, other));
            }
        }
        self.update(&began, &ended);
        (self.starts, self.others, self.candidates) = (starts, others, (began, ended));
    }

    /// Who overlaps an object, ascending.
    #[inline]
    pub fn neighbours(&self, slot: Slot) -> &[Slot] {
        self.lists.get(slot.row())
    }

    /// Whether two objects overlap.
    pub fn contains(&self, one: Slot, other: Slot) -> bool {
        self.neighbours(one).binary_search(&other).is_ok()
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Slots from here on have no neighbours.
    pub fn rows(&self) -> usize {
        self.lists.rows()
    }

    /// The pairs that the last update added, ascending.
    pub fn began(&self) -> &[Pair] {
        &self.began
    }

    /// The pairs that the last update took away, ascending. A pair may be in both lists: other objects then are behind
    /// its slots.
    pub fn ended(&self) -> &[Pair] {
        &self.ended
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.lists.bytes()
            + (self.began.capacity() + self.ended.capacity()) * size_of::<Pair>()
            + (self.changes.capacity() + self.scratch.capacity()) * 8
            + (self.candidates.0.capacity() + self.candidates.1.capacity()) * size_of::<Pair>()
            + (self.list.capacity() + self.starts.capacity() + self.others.capacity() + self.seen.capacity()) * 4
    }

    /// Merges changes of one list into it. Each list is written once, however many of its entries change.
    fn change_list(&mut self, changes: &[u64]) {
        let owner = Change(changes[0]).owner();
        let old = self.lists.get(owner.row());
        let mut kept = 0;
        self.list.clear();
        for same in changes.chunk_by(|&one, &other| Change(one).other() == Change(other).other()) {
            let other = Change(same[0]).other();
            let before = kept + old[kept..].partition_point(|&entry| entry < other);
            self.list.extend_from_slice(&old[kept..before]);
            let mut is_there = old.get(before) == Some(&other);
            kept = before + usize::from(is_there);
            for change in same.iter().map(|&change| Change(change)) {
                if change.begins() != is_there {
                    is_there = change.begins();
                    if owner < other {
                        let noted = if is_there { &mut self.began } else { &mut self.ended };
                        noted.push(Pair::new(owner, other));
                    }
                }
            }
            if is_there {
                self.list.push(other);
            }
        }
        self.list.extend_from_slice(&old[kept..]);
        self.lists.replace(owner.row(), &self.list);
    }
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Change {
    fn new(owner: Slot, other: Slot, begins: bool) -> Change {
        Change(u64::from(owner.number()) << 33 | u64::from(other.number()) << 1 | u64::from(begins))
    }

    fn owner(self) -> Slot {
        Slot::new((self.0 >> 33) as u32)
    }

    fn other(self) -> Slot {
        Slot::new((self.0 >> 1) as u32)
    }

    fn begins(self) -> bool {
        self.0 & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn any_pairs() -> impl Strategy<Value = Vec<Pair>> {
        prop::collection::vec((0u32..12, 0u32..12).prop_map(|(a, b)| Pair::of_rows(a, b)), 0..12)
    }

    fn compared_pairs(graph: &Graph) -> BTreeSet<Pair> {
        let slots = (0..graph.rows() as u32).map(Slot::new);
        slots.flat_map(|slot| graph.neighbours(slot).iter().map(move |&other| Pair::new(slot, other))).collect()
    }

    proptest! {
        /// Whatever is claimed to have begun and ended, the graph is the set that the changes make, and says which
        /// of them were changes.
        #[test]
        fn a_graph_is_a_set_of_pairs(updates in prop::collection::vec((any_pairs(), any_pairs()), 0..20)) {
            let (mut graph, mut set) = (Graph::new(), BTreeSet::new());
            let mut compared = Graph::new();
            for (began, ended) in updates {
                let began_count = began.len() as u32;
                graph.update(&began, &ended);
                let mut old = set.clone();
                ended.iter().for_each(|pair| { set.remove(pair); });
                set.extend(began.into_iter().filter(|pair| pair.a() != pair.b()));
                prop_assert_eq!(graph.pairs(), set.len());
                for a in 0..12 {
                    let of_a = |b: &u32| set.contains(&Pair::of_rows(a, *b));
                    let expected: Vec<Slot> = (0..12).filter(of_a).map(Slot::new).collect();
                    prop_assert_eq!(graph.neighbours(Slot::new(a)), &expected[..]);
                }
                for pair in graph.ended() { prop_assert!(old.remove(pair)); }
                for pair in graph.began() { prop_assert!(old.insert(*pair)); }
                prop_assert_eq!(old, set.clone());
                // The same by comparison: of the complete list, backwards, with a slot that changed hands.
                let replaced = Slot::new(began_count % 12);
                let before: BTreeSet<Pair> = compared_pairs(&compared);
                compared.compare(&set.iter().rev().copied().collect::<Vec<_>>(), &[replaced]);
                prop_assert_eq!(compared_pairs(&compared), set.clone());
                let stays = |pair: &&Pair| before.contains(pair) && set.contains(pair);
                let expected: Vec<Pair> = before.iter().filter(|pair| {
                    !set.contains(pair) || pair.a() == replaced || pair.b() == replaced
                }).copied().collect();
                prop_assert_eq!(compared.ended(), &expected[..]);
                let anew = set.iter().filter(stays).filter(|pair| pair.a() == replaced || pair.b() == replaced).count();
                prop_assert_eq!(compared.began().len(), set.difference(&before).count() + anew);
            }
        }
    }

    #[test]
    fn a_slot_that_no_world_has_is_ignored() {
        let mut graph = Graph::new();
        graph.update(&[Pair::of_rows(1, u32::MAX), Pair::of_rows(3, 3)], &[Pair::of_rows(3, 3)]);
        assert_eq!((graph.pairs(), graph.rows()), (0, 0));
    }
}

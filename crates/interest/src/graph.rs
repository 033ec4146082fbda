//! The intersection graph, updated with the pairs that began and ended. Relations and groups are computed from it.

use space::{Pair, Slot, Spheres};

use crate::lists::Lists;

/// The intersection graph of a world: objects are its vertices, overlapping pairs its edges.
///
/// ```
/// use kinesphere_interest::Graph;
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
    updates: u64,
    /// Scratch: every change from both ends, sorted.
    changes: Vec<u64>,
    list: Vec<Slot>,
}

/// A change of one list, in one number: the list's owner, the entry, and whether it begins. An end sorts before a
/// beginning, as a slot may be given to another object within a tick.
#[derive(Clone, Copy, Debug)]
struct Change(u64);

/// The most pairs that are applied at once, which bounds the scratch memory.
const PORTION: usize = 1 << 19;
/// Up to this many changes of one list are made one by one.
const FEW: usize = 4;

impl Graph {
    /// A graph without pairs.
    pub fn new() -> Graph {
        Graph {
            lists: Lists::new(),
            pairs: 0,
            began: Vec::new(),
            ended: Vec::new(),
            updates: 0,
            changes: Vec::new(),
            list: Vec::new(),
        }
    }

    /// Applies the pairs that ended since the last tick and then those that began.
    /// [`Kinesphere::began`](space::Kinesphere::began) and `ended` return them, and [`PairChanges`](space::PairChanges)
    /// for any other broad phase.
    ///
    /// Pairs that change nothing are ignored, and so are pairs of an object with itself and of invalid slots.
    pub fn update(&mut self, began: &[Pair], ended: &[Pair]) {
        self.updates += 1;
        self.began.clear();
        self.ended.clear();
        let is_valid = |pair: &&Pair| pair.a() != pair.b() && pair.b().row() < Spheres::MAX_OBJECTS;
        let both = ended.iter().map(|pair| (pair, false)).chain(began.iter().map(|pair| (pair, true)));
        let mut both = both.filter(|(pair, _)| is_valid(pair)).peekable();
        let is_large = began.len() + ended.len() > PORTION;
        while both.peek().is_some() {
            self.changes.clear();
            for (pair, begins) in both.by_ref().take(PORTION) {
                self.changes.push(Change::new(pair.a(), pair.b(), begins).0);
                self.changes.push(Change::new(pair.b(), pair.a(), begins).0);
            }
            self.apply();
        }
        if is_large {
            // They are sorted within each portion only.
            self.began.sort_unstable();
            self.ended.sort_unstable();
        }
        self.pairs = self.pairs + self.began.len() - self.ended.len();
    }

    /// The objects that overlap an object, ascending.
    #[inline]
    pub fn neighbours(&self, slot: Slot) -> &[Slot] {
        self.lists.get(slot.row())
    }

    /// Whether two objects overlap.
    pub fn contains(&self, one: Slot, other: Slot) -> bool {
        self.neighbours(one).binary_search(&other).is_ok()
    }

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

    /// The pairs that the last update removed, ascending. A pair may be in both lists, if its slots were given
    /// to other objects.
    pub fn ended(&self) -> &[Pair] {
        &self.ended
    }

    /// The number of updates, by which a follower notices that it missed one.
    pub(crate) fn updates(&self) -> u64 {
        self.updates
    }

    /// Prefetches the neighbours of some objects.
    pub(crate) fn fetch(&self, slots: impl Iterator<Item = Slot> + Clone) {
        self.lists.fetch(slots.map(Slot::row));
    }

    fn apply(&mut self) {
        self.changes.sort_unstable();
        let changes = std::mem::take(&mut self.changes);
        self.lists.fetch(changes.iter().map(|&change| Change(change).owner().row()));
        for own in changes.chunk_by(|&one, &other| Change(one).owner() == Change(other).owner()) {
            if own.len() <= FEW { self.change_entries(own) } else { self.change_list(own) }
        }
        self.changes = changes;
    }

    /// Makes a few changes of one list in place.
    fn change_entries(&mut self, changes: &[u64]) {
        for change in changes.iter().map(|&change| Change(change)) {
            let (owner, other) = (change.owner(), change.other());
            let noted = match (self.lists.get(owner.row()).binary_search(&other), change.begins()) {
                (Err(place), true) => {
                    self.lists.insert(owner.row(), place, other);
                    &mut self.began
                }
                (Ok(place), false) => {
                    self.lists.remove(owner.row(), place);
                    &mut self.ended
                }
                _ => continue,
            };
            if owner < other {
                noted.push(Pair::new(owner, other));
            }
        }
    }

    /// Merges many changes of one list into it, and writes it once.
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
        prop::collection::vec((0u32..12, 0u32..12).prop_map(|(a, b)| Pair::of_rows(a, b)), 0..30)
    }

    proptest! {
        /// For any updates, the graph is the set that they make, and `began` and `ended` are the changes of the set.
        #[test]
        fn a_graph_is_a_set_of_pairs(updates in prop::collection::vec((any_pairs(), any_pairs()), 0..20)) {
            let (mut graph, mut set) = (Graph::new(), BTreeSet::new());
            for (began, ended) in updates {
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
            }
        }
    }

    /// More than a portion, in reverse order: `began` and `ended` are sorted all the same.
    #[test]
    fn millions_of_pairs_are_applied_by_portions() {
        let count = 1_100;
        let all: Vec<Pair> = (0..count).flat_map(|a| (a + 1..count).map(move |b| Pair::of_rows(a, b))).collect();
        assert!(all.len() > PORTION);
        let mut graph = Graph::new();
        graph.update(&all.iter().rev().copied().collect::<Vec<_>>(), &all);
        assert!(graph.began() == all && graph.ended().is_empty());
        assert!((0..count).all(|row| graph.neighbours(Slot::new(row)).len() == count as usize - 1));
        graph.update(&all[..9], &all);
        assert!(graph.began() == &all[..9] && graph.ended() == all && graph.pairs() == 9);
    }

    #[test]
    fn an_invalid_slot_is_ignored() {
        let mut graph = Graph::new();
        graph.update(&[Pair::of_rows(1, u32::MAX), Pair::of_rows(3, 3)], &[Pair::of_rows(3, 3)]);
        assert_eq!((graph.pairs(), graph.rows()), (0, 0));
    }
}

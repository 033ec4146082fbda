//! The pairs that share no group, and cliques that cover most of them.
//!
//! Invariants:
//! - A pair is in the lists of both its objects or of neither; lists are ascending.
//! - `gains` is zero everywhere between two calls.

use space::bits::Bits;
use space::{Pair, Slot};

use crate::Graph;

/// Pairs that are in no group, as a list per object.
#[derive(Clone, Debug, Default)]
pub struct UncoveredPairs {
    /// Pairs noted since [`clear`](UncoveredPairs::clear); some twice.
    noted: Vec<Pair>,
    owners: Vec<Slot>,
    owning: Bits,
    /// For each row, its list in `entries`, if the span's round is the current one.
    spans: Vec<Span>,
    entries: Vec<Slot>,
    round: u32,
    /// Scratch for growing a clique: the number of its members each row has an uncovered pair with.
    gains: Vec<u32>,
    /// Scratch: a set of rows, empty between two calls.
    marks: Bits,
    candidates: Vec<Slot>,
    clique: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    round: u32,
    start: u32,
    len: u32,
}

/// Memory for this many entries is kept from tick to tick.
const KEPT: usize = 1 << 20;

/// A greedy cover of a graph, computed from nothing, to compare repaired ones with. Each group grows from the first
/// uncovered pair: see `UncoveredPairs::grow`.
pub fn greedy_cover(graph: &Graph) -> Vec<Vec<Slot>> {
    let slots = || (0..graph.rows() as u32).map(Slot::new);
    let later = |slot: Slot| graph.neighbours(slot).iter().filter(move |&&neighbour| neighbour > slot);
    let pairs: Vec<Pair> = slots().flat_map(|slot| later(slot).map(move |&other| Pair::new(slot, other))).collect();
    let mut uncovered = UncoveredPairs::default();
    uncovered.clear();
    uncovered.gather(graph.rows(), &pairs);
    let mut groups = Vec::new();
    for slot in slots() {
        while let Some(&other) = uncovered.of(slot).first() {
            groups.push(uncovered.grow(slot, other, graph).to_vec());
        }
    }
    groups
}

impl UncoveredPairs {
    /// Forgets all pairs.
    pub fn clear(&mut self) {
        self.noted.clear();
        self.entries.clear();
        self.owners.clear();
        self.owning.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.spans.fill(Span::default());
            self.round = 1;
        }
    }

    /// Forgets all pairs and releases memory beyond `KEPT`.
    pub fn release(&mut self) {
        self.clear();
        self.noted.shrink_to(KEPT);
        self.entries.shrink_to(KEPT);
    }

    /// Notes a pair for [`gather`](UncoveredPairs::gather), which removes duplicates.
    pub fn note(&mut self, pair: Pair) {
        self.noted.push(pair);
    }

    /// Makes the lists from noted pairs and `more`, by a counting sort over the rows that have any.
    pub fn gather(&mut self, rows: usize, more: &[Pair]) {
        let UncoveredPairs { noted, owners, owning, spans, entries, round, gains, marks, .. } = self;
        if spans.len() < rows {
            spans.resize(rows, Span::default());
            gains.resize(rows, 0);
            marks.grow(rows);
        }
        owning.grow(rows);
        let pairs = || more.iter().chain(noted.iter());
        for slot in pairs().flat_map(|pair| [pair.a(), pair.b()]) {
            let span = &mut spans[slot.row()];
            if span.round != *round {
                *span = Span { round: *round, start: 0, len: 0 };
                owning.insert(slot.row());
            }
            span.len += 1;
        }
        owners.extend(owning.iter().map(|row| Slot::new(row as u32)));
        let mut sum = 0;
        for owner in owners.iter() {
            let span = &mut spans[owner.row()];
            (span.start, sum, span.len) = (sum, sum + span.len, 0);
        }
        entries.resize(sum as usize, Slot::new(0));
        for pair in pairs() {
            for (owner, other) in [(pair.a(), pair.b()), (pair.b(), pair.a())] {
                let span = &mut spans[owner.row()];
                entries[(span.start + span.len) as usize] = other;
                span.len += 1;
            }
        }
        for owner in owners.iter() {
            let span = &mut spans[owner.row()];
            let list = &mut entries[span.start as usize..][..span.len as usize];
            if !list.is_sorted_by(|one, other| one < other) {
                list.sort_unstable();
                span.len = dedup(list) as u32;
            }
        }
    }

    /// The objects that had uncovered pairs when the lists were made, ascending.
    pub fn owners(&self) -> &[Slot] {
        &self.owners
    }

    /// The objects with which an object has an uncovered pair, ascending.
    #[inline]
    pub fn of(&self, slot: Slot) -> &[Slot] {
        &self.entries[self.range(slot)]
    }

    /// Removes the pairs of an object with some others, which are ascending.
    pub fn cover(&mut self, slot: Slot, others: &[Slot]) {
        let range = self.range(slot);
        let mut kept = range.start;
        for index in range.clone() {
            let other = self.entries[index];
            if others.binary_search(&other).is_err() {
                self.entries[kept] = other;
                kept += 1;
                continue;
            }
            let theirs = self.range(other);
            let list = &mut self.entries[theirs];
            let place = list.binary_search(&slot).expect("a pair is in both lists");
            list.copy_within(place + 1.., place);
            self.spans[other.row()].len -= 1;
        }
        self.truncate(slot, kept);
    }

    /// Grows a clique from an uncovered pair and covers its pairs. Each step adds the object that covers the most
    /// uncovered pairs, of equals the lowest, until none covers any. Members are ascending.
    pub fn grow(&mut self, one: Slot, other: Slot, graph: &Graph) -> &[Slot] {
        let mut clique = std::mem::take(&mut self.clique);
        let mut candidates = std::mem::take(&mut self.candidates);
        clique.clear();
        candidates.clear();
        let mut next = Some(one);
        while let Some(member) = next {
            self.add(member, &clique, &mut candidates, graph);
            clique.push(member);
            next = if clique.len() == 1 { Some(other) } else { self.best_of(&candidates) };
        }
        for &member in &clique {
            self.entries[self.range(member)].iter().for_each(|entry| self.gains[entry.row()] = 0);
        }
        clique.iter().for_each(|slot| self.marks.insert(slot.row()));
        for &member in &clique {
            let range = self.range(member);
            let mut kept = range.start;
            for index in range {
                let entry = self.entries[index];
                self.entries[kept] = entry;
                kept += usize::from(!self.marks.contains(entry.row()));
            }
            self.truncate(member, kept);
        }
        clique.iter().for_each(|slot| self.marks.remove(slot.row()));
        clique.sort_unstable();
        self.candidates = candidates;
        self.clique = clique;
        &self.clique
    }

    /// Adds a member to a growing clique. Candidates are the objects that overlap all members and have an uncovered
    /// pair with one; `gains` counts those pairs.
    fn add(&mut self, member: Slot, clique: &[Slot], candidates: &mut Vec<Slot>, graph: &Graph) {
        let near = graph.neighbours(member);
        if candidates.len() * 8 < near.len() {
            candidates.retain(|candidate| near.binary_search(candidate).is_ok());
        } else {
            near.iter().for_each(|slot| self.marks.insert(slot.row()));
            candidates.retain(|candidate| self.marks.contains(candidate.row()));
            near.iter().for_each(|slot| self.marks.remove(slot.row()));
        }
        for &entry in &self.entries[self.range(member)] {
            let gain = &mut self.gains[entry.row()];
            *gain += 1;
            // With more than one, it is a candidate already or was found not to be one.
            if *gain == 1 && clique.iter().all(|&earlier| earlier != entry && graph.contains(earlier, entry)) {
                candidates.push(entry);
            }
        }
    }

    fn best_of(&self, candidates: &[Slot]) -> Option<Slot> {
        candidates.iter().copied().max_by_key(|&candidate| (self.gains[candidate.row()], std::cmp::Reverse(candidate)))
    }

    /// Ends the list of an object at a place of `entries`.
    fn truncate(&mut self, slot: Slot, end: usize) {
        let range = self.range(slot);
        if end < range.end {
            self.spans[slot.row()].len = (end - range.start) as u32;
        }
    }

    #[inline]
    fn range(&self, slot: Slot) -> std::ops::Range<usize> {
        match self.spans.get(slot.row()) {
            Some(span) if span.round == self.round => span.start as usize..(span.start + span.len) as usize,
            _ => 0..0,
        }
    }
}

/// Moves the distinct entries of an ascending list to its front and returns their number.
fn dedup(list: &mut [Slot]) -> usize {
    let mut kept = 0;
    for index in 0..list.len() {
        if kept == 0 || list[kept - 1] != list[index] {
            list[kept] = list[index];
            kept += 1;
        }
    }
    kept
}

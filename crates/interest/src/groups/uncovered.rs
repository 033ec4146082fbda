//! The pairs that share no group, and the groups that cover most of them.
//!
//! Invariants:
//! - A pair is in the lists of both its objects, or of none; lists are ascending.
//! - `gains` is zero everywhere between two calls.

use space::bits::Bits;
use space::{Pair, Slot};

use super::marks::Marks;
use crate::Graph;

/// Pairs that are in no group.
#[derive(Clone, Debug, Default)]
pub struct Uncovered {
    /// Pairs of groups that somebody left.
    lost: Vec<Pair>,
    owners: Vec<Slot>,
    owning: Bits,
    /// For each row where its list is in `entries`, if `round` says so.
    spans: Vec<Span>,
    entries: Vec<Slot>,
    round: u32,
    /// Scratch for growing a group: how many of its members each row has an uncovered pair with.
    gains: Vec<u32>,
    marks: Marks,
    candidates: Vec<Slot>,
    group: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    round: u32,
    start: u32,
    len: u32,
}

/// Room for so many entries is kept from tick to tick; what a greater upheaval took is given back.
const KEPT: usize = 1 << 20;

impl Uncovered {
    /// Forgets all pairs.
    pub fn clear(&mut self) {
        self.lost.clear();
        self.entries.clear();
        self.owners.clear();
        self.owning.clear();
        self.begin_round();
    }

    /// Gives back what an upheaval took.
    pub fn release(&mut self) {
        self.lost.clear();
        self.lost.shrink_to(KEPT);
        self.entries.clear();
        self.entries.shrink_to(KEPT);
        self.begin_round();
    }

    /// Notes a pair; naming it twice does no harm.
    pub fn note(&mut self, pair: Pair) {
        self.lost.push(pair);
    }

    /// Makes the lists from what was noted, and from more pairs: counted, then put in place.
    pub fn gather(&mut self, rows: usize, more: &[Pair]) {
        let Uncovered { lost, owners, owning, spans, entries, round, gains, marks, .. } = self;
        if spans.len() < rows {
            spans.resize(rows, Span::default());
            gains.resize(rows, 0);
        }
        marks.grow(rows);
        owning.grow(rows);
        let pairs = || more.iter().chain(lost.iter());
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
                span.len = without_repeats(list) as u32;
            }
        }
    }

    /// Whoever had uncovered pairs when the lists were made, ascending.
    pub fn owners(&self) -> &[Slot] {
        &self.owners
    }

    /// With whom an object shares no group although it should, ascending.
    #[inline]
    pub fn of(&self, slot: Slot) -> &[Slot] {
        let (start, len) = self.span(slot);
        &self.entries[start..start + len]
    }

    /// Takes out the pairs of one object with all of some others. `is_other` tells who those are.
    pub fn cover(&mut self, slot: Slot, is_other: impl Fn(Slot) -> bool) {
        let (start, len) = self.span(slot);
        let mut kept = 0;
        for index in 0..len {
            let other = self.entries[start + index];
            if !is_other(other) {
                self.entries[start + kept] = other;
                kept += 1;
                continue;
            }
            let (theirs, their_len) = self.span(other);
            let list = &mut self.entries[theirs..theirs + their_len];
            let place = list.binary_search(&slot).expect("a pair is in both lists");
            list.copy_within(place + 1.., place);
            self.spans[other.row()].len -= 1;
        }
        if len > 0 {
            self.spans[slot.row()].len = kept as u32;
        }
    }

    /// The clique that begins with an uncovered pair and grows by whoever covers the most uncovered pairs, of equals the
    /// lowest, until nobody covers any. Its pairs are covered afterwards. Members are ascending.
    pub fn grow(&mut self, one: Slot, other: Slot, graph: &Graph) -> &[Slot] {
        let mut group = std::mem::take(&mut self.group);
        let mut candidates = std::mem::take(&mut self.candidates);
        group.clear();
        candidates.clear();
        let mut next = Some(one);
        while let Some(member) = next {
            self.add(member, &group, &mut candidates, graph);
            group.push(member);
            next = if group.len() == 1 { Some(other) } else { self.best_of(&candidates) };
        }
        for &member in &group {
            let (start, len) = self.span(member);
            self.entries[start..start + len].iter().for_each(|entry| self.gains[entry.row()] = 0);
        }
        self.marks.start();
        group.iter().for_each(|&member| self.marks.set(member));
        for &member in &group {
            let (start, len) = self.span(member);
            let mut kept = 0;
            for index in start..start + len {
                let entry = self.entries[index];
                self.entries[start + kept] = entry;
                kept += usize::from(!self.marks.has(entry));
            }
            if len > 0 {
                self.spans[member.row()].len = kept as u32;
            }
        }
        group.sort_unstable();
        self.candidates = candidates;
        self.group = group;
        &self.group
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let slots = self.entries.capacity() + self.owners.capacity() + self.candidates.capacity();
        4 * (slots + self.gains.capacity() + self.group.capacity())
            + self.lost.capacity() * size_of::<Pair>()
            + self.spans.capacity() * size_of::<Span>()
            + self.owning.bytes()
            + self.marks.bytes()
    }

    /// From here on no row has a list.
    fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.spans.fill(Span::default());
            self.round = 1;
        }
    }

    /// Lets a member join a group in the making: candidates are those who overlap all members and have an uncovered pair
    /// with one, and `gains` says with how many.
    fn add(&mut self, member: Slot, group: &[Slot], candidates: &mut Vec<Slot>, graph: &Graph) {
        let near = graph.neighbours(member);
        if candidates.len() * 8 < near.len() {
            candidates.retain(|candidate| near.binary_search(candidate).is_ok());
        } else {
            self.marks.start();
            near.iter().for_each(|&neighbour| self.marks.set(neighbour));
            candidates.retain(|&candidate| self.marks.has(candidate));
        }
        let (start, len) = self.span(member);
        for &entry in &self.entries[start..start + len] {
            let gain = &mut self.gains[entry.row()];
            *gain += 1;
            // Who was seen before is a candidate already, or was found not to be one.
            if *gain == 1 && group.iter().all(|&earlier| earlier != entry && graph.contains(earlier, entry)) {
                candidates.push(entry);
            }
        }
    }

    fn best_of(&self, candidates: &[Slot]) -> Option<Slot> {
        candidates.iter().copied().max_by_key(|&candidate| (self.gains[candidate.row()], std::cmp::Reverse(candidate)))
    }

    #[inline]
    fn span(&self, slot: Slot) -> (usize, usize) {
        match self.spans.get(slot.row()) {
            Some(span) if span.round == self.round => (span.start as usize, span.len as usize),
            _ => (0, 0),
        }
    }
}

/// Moves the different entries of an ascending list to its front, and says how many they are.
fn without_repeats(list: &mut [Slot]) -> usize {
    let mut kept = 0;
    for index in 0..list.len() {
        if kept == 0 || list[kept - 1] != list[index] {
            list[kept] = list[index];
            kept += 1;
        }
    }
    kept
}

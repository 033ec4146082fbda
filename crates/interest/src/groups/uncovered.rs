//! The pairs that share no group, and the groups that cover most of them.
//!
//! Invariants:
//! - A pair is in the lists of both its objects, or of none.
//! - `gains` is zero everywhere between two calls.

use space::{Pair, Slot};

use crate::{Graph, radix};

/// Pairs that are in no group.
#[derive(Clone, Debug, Default)]
pub struct Uncovered {
    /// Every pair from both ends, by owner; sorted when the lists are made.
    directed: Vec<u64>,
    scratch: Vec<u64>,
    owners: Vec<Slot>,
    /// Where each owner's list is in `entries`, and how long it still is.
    spans: Vec<(u32, u32)>,
    entries: Vec<Slot>,
    /// For each row its place among the owners, if `round` says so.
    places: Vec<(u32, u32)>,
    round: u32,
    /// Scratch for growing a group: how many of its members each row has an uncovered pair with.
    gains: Vec<u32>,
    candidates: Vec<Slot>,
    group: Vec<Slot>,
}

impl Uncovered {
    /// Forgets all pairs.
    pub fn clear(&mut self) {
        self.directed.clear();
        self.owners.clear();
        self.spans.clear();
        self.entries.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.places.fill((0, 0));
            self.round = 1;
        }
    }

    /// Notes a pair; naming it twice does no harm.
    pub fn note(&mut self, pair: Pair) {
        for (owner, other) in [(pair.a(), pair.b()), (pair.b(), pair.a())] {
            self.directed.push(u64::from(owner.number()) << 32 | u64::from(other.number()));
        }
    }

    /// Makes the lists from what was noted.
    pub fn sort(&mut self, rows: usize) {
        radix::sort(&mut self.directed, &mut self.scratch);
        self.directed.dedup();
        if self.places.len() < rows {
            self.places.resize(rows, (0, 0));
            self.gains.resize(rows, 0);
        }
        for own in self.directed.chunk_by(|one, other| one >> 32 == other >> 32) {
            let owner = Slot::new((own[0] >> 32) as u32);
            self.places[owner.row()] = (self.round, self.owners.len() as u32);
            self.owners.push(owner);
            self.spans.push((self.entries.len() as u32, own.len() as u32));
            self.entries.extend(own.iter().map(|&key| Slot::new(key as u32)));
        }
    }

    /// Whoever had uncovered pairs when the lists were made, ascending.
    pub fn owners(&self) -> &[Slot] {
        &self.owners
    }

    /// With whom an object shares no group although it should.
    pub fn of(&self, slot: Slot) -> &[Slot] {
        let (start, len) = self.span(slot);
        &self.entries[start..start + len]
    }

    /// Takes out the pairs of one object with all of some others. `is_other` tells who those are.
    pub fn cover(&mut self, slot: Slot, is_other: impl Fn(Slot) -> bool) {
        let (start, mut len) = self.span(slot);
        let mut index = 0;
        while index < len {
            let other = self.entries[start + index];
            if !is_other(other) {
                index += 1;
                continue;
            }
            // Order is kept: the lowest come first when groups are opened.
            self.entries.copy_within(start + index + 1..start + len, start + index);
            len -= 1;
            self.shorten(slot, len);
            let (theirs, their_len) = self.span(other);
            let list = &self.entries[theirs..theirs + their_len];
            let place = theirs + list.iter().position(|&entry| entry == slot).expect("a pair is in both lists");
            self.entries.copy_within(place + 1..theirs + their_len, place);
            self.shorten(other, their_len - 1);
        }
    }

    /// The clique that begins with an uncovered pair and grows by whoever covers the most uncovered pairs, of equals the
    /// lowest, until nobody covers any. Its pairs are covered afterwards. Members are ascending.
    pub fn grow(&mut self, one: Slot, other: Slot, graph: &Graph) -> &[Slot] {
        let mut group = std::mem::take(&mut self.group);
        let mut candidates = std::mem::take(&mut self.candidates);
        group.clear();
        candidates.clear();
        candidates.extend_from_slice(graph.neighbours(one));
        let mut next = Some(other);
        self.gain(one, 1);
        group.push(one);
        while let Some(member) = next {
            group.push(member);
            self.gain(member, 1);
            keep_common(&mut candidates, graph.neighbours(member));
            let gains = &self.gains;
            let best = candidates.iter().copied().rev().max_by_key(|candidate| gains[candidate.row()]);
            next = best.filter(|best| gains[best.row()] > 0);
        }
        for &member in &group {
            self.gain(member, 0);
        }
        // Marks of the members, in the place of gains.
        group.iter().for_each(|member| self.gains[member.row()] = 1);
        for &member in &group {
            let (start, len) = self.span(member);
            let mut kept = 0;
            for index in start..start + len {
                let entry = self.entries[index];
                self.entries[start + kept] = entry;
                kept += usize::from(self.gains[entry.row()] == 0);
            }
            self.shorten(member, kept);
        }
        group.iter().for_each(|member| self.gains[member.row()] = 0);
        group.sort_unstable();
        self.candidates = candidates;
        self.group = group;
        &self.group
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let numbers = self.entries.capacity() + self.owners.capacity() + self.gains.capacity();
        8 * (self.directed.capacity() + self.scratch.capacity() + self.spans.capacity() + self.places.capacity())
            + 4 * (numbers + self.candidates.capacity() + self.group.capacity())
    }

    /// Counts a member for all with whom it has uncovered pairs; or sets their counts back.
    fn gain(&mut self, member: Slot, step: u32) {
        let (start, len) = self.span(member);
        for entry in &self.entries[start..start + len] {
            let gain = &mut self.gains[entry.row()];
            *gain = if step == 0 { 0 } else { *gain + step };
        }
    }

    fn span(&self, slot: Slot) -> (usize, usize) {
        match self.places.get(slot.row()) {
            Some(&(round, place)) if round == self.round => {
                let (start, len) = self.spans[place as usize];
                (start as usize, len as usize)
            }
            _ => (0, 0),
        }
    }

    fn shorten(&mut self, slot: Slot, len: usize) {
        let (round, place) = self.places[slot.row()];
        if round == self.round {
            self.spans[place as usize].1 = len as u32;
        }
    }
}

/// Keeps of an ascending list what another has too.
fn keep_common(list: &mut Vec<Slot>, other: &[Slot]) {
    let mut rest = other;
    list.retain(|slot| {
        // Lists of neighbours are of about the same length: a step each is quicker than a search.
        while rest.first().is_some_and(|first| first < slot) {
            rest = &rest[1..];
        }
        rest.first() == Some(slot)
    });
}

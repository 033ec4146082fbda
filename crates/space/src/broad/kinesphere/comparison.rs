//! What began and what ended while pairs are found afresh: this tick's pairs beside the last one's.
//!
//! A crowd has millions of pairs and a few thousand that changed. Sorting them all takes ten times as long as finding
//! them; here they are only put in order of their lower rows, counted and then put in place, and two short lists per row
//! are compared by marks.
//!
//! Invariant: between two calls, `now` holds the pairs of the last one, each once.

use crate::bits::Bits;
use crate::{Pair, Slot};

/// The pairs of the last tick, ready to be compared with the next one's.
#[derive(Debug, Default)]
pub struct Comparison {
    before: ByRow,
    now: ByRow,
    replaced: Bits,
    /// For each row the mark that the row at hand has left there.
    seen: Vec<u32>,
    marks: u32,
}

/// Pairs by their lower row.
#[derive(Debug, Default)]
struct ByRow {
    /// Where the others of each row begin, which is where those of the row before end.
    starts: Vec<u32>,
    others: Vec<Slot>,
}

impl Comparison {
    /// Compares pairs of so many rows with those of the last call, and keeps them for the next one. Adds what changed to
    /// `began` and `ended`, ascending. `replaced` are slots that changed hands: their pairs end and begin.
    pub fn compare(
        &mut self,
        pairs: &[Pair],
        rows: usize,
        replaced: &[Slot],
        began: &mut Vec<Pair>,
        ended: &mut Vec<Pair>,
    ) {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.fill(pairs, rows);
        let rows = self.now.rows().max(self.before.rows());
        self.seen.resize(rows, 0);
        self.replaced.clear();
        replaced.iter().for_each(|slot| self.replaced.insert(slot.row()));
        for row in 0..rows {
            let (old, new) = (self.before.of(row), self.now.of(row));
            // The grid finds the pairs of those who stay in their cells in the same order.
            if old == new && replaced.is_empty() {
                continue;
            }
            if self.marks > u32::MAX - 4 {
                self.seen.fill(0);
                self.marks = 0;
            }
            let (known, found) = (self.marks + 1, self.marks + 2);
            self.marks += 2;
            let slot = Slot::new(row as u32);
            let (began_before, ended_before) = (began.len(), ended.len());
            old.iter().for_each(|other| self.seen[other.row()] = known);
            for &other in new {
                let is_known = std::mem::replace(&mut self.seen[other.row()], found) == known;
                let is_other = self.replaced.contains(row) || self.replaced.contains(other.row());
                if !is_known || is_other {
                    began.push(Pair::new(slot, other));
                }
                if is_known && is_other {
                    ended.push(Pair::new(slot, other));
                }
            }
            ended.extend(
                old.iter().filter(|other| self.seen[other.row()] == known).map(|&other| Pair::new(slot, other)),
            );
            began[began_before..].sort_unstable();
            ended[ended_before..].sort_unstable();
        }
    }

    /// Keeps pairs for the next comparison.
    pub fn remember(&mut self, pairs: &[Pair], rows: usize) {
        self.now.fill(pairs, rows);
    }

    /// Adds the pairs of the last call to a list, and forgets them.
    pub fn hand_over(&mut self, pairs: &mut Vec<Pair>) {
        for row in 0..self.now.rows() {
            pairs.extend(self.now.of(row).iter().map(|&other| Pair::new(Slot::new(row as u32), other)));
        }
        *self = Comparison::default();
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.before.bytes() + self.now.bytes() + self.replaced.bytes() + self.seen.capacity() * 4
    }
}

impl ByRow {
    fn fill(&mut self, pairs: &[Pair], rows: usize) {
        self.starts.clear();
        self.starts.resize(rows + 2, 0);
        pairs.iter().for_each(|pair| self.starts[pair.a().row() + 2] += 1);
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.others.resize(pairs.len(), Slot::new(0));
        for pair in pairs {
            let place = &mut self.starts[pair.a().row() + 1];
            self.others[*place as usize] = pair.b();
            *place += 1;
        }
    }

    fn rows(&self) -> usize {
        self.starts.len().saturating_sub(2)
    }

    #[inline]
    fn of(&self, row: usize) -> &[Slot] {
        match self.starts.get(row..row + 2) {
            Some(&[start, end]) if row < self.rows() => &self.others[start as usize..end as usize],
            _ => &[],
        }
    }

    fn bytes(&self) -> usize {
        (self.starts.capacity() + self.others.capacity()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PairChanges;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_sorted_lists_differ_in(
            ticks in prop::collection::vec(prop::collection::btree_set((0u32..20, 20u32..30), 0..40), 1..12),
        ) {
            let (mut comparison, mut sorted) = (Comparison::default(), PairChanges::new());
            for (tick, pairs) in ticks.into_iter().enumerate() {
                let mut pairs: Vec<Pair> = pairs.into_iter().map(|(a, b)| Pair::of_rows(a, b)).collect();
                let middle = pairs.len() / (tick + 1);
                pairs.rotate_left(middle);
                let (mut began, mut ended) = (Vec::new(), Vec::new());
                comparison.compare(&pairs, 30 + tick % 3, &[], &mut began, &mut ended);
                sorted.update(&pairs);
                prop_assert_eq!((&began, &ended), (&sorted.began, &sorted.ended));
            }
            let mut last = Vec::new();
            comparison.hand_over(&mut last);
            sorted.update(&last);
            prop_assert!(sorted.began.is_empty() && sorted.ended.is_empty());
        }
    }
}

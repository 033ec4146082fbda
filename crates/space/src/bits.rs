//! A set of rows, one bit each: small enough to stay in cache, ordered, and quick to walk.

/// A growable set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    pub const fn new() -> Bits {
        Bits { words: Vec::new() }
    }

    /// Makes room for the numbers below `count`, so that `insert` need not: a bit for each.
    ///
    /// # Panics
    /// If there is no memory for that.
    pub fn grow(&mut self, count: usize) {
        let words = count.div_ceil(64);
        if let Some(more @ 1..) = words.checked_sub(self.words.len()) {
            assert!(self.words.try_reserve(more).is_ok(), "no memory for a bit for each number below {count}");
            self.words.resize(words, 0);
        }
    }

    /// Adds `number`. A set takes a bit for each number up to its largest.
    ///
    /// # Panics
    /// If there is no memory for that.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        if number / 64 >= self.words.len() {
            // The words for all numbers but the last one have room for that, too.
            self.grow(number.saturating_add(1));
        }
        self.words[number / 64] |= 1 << (number % 64);
    }

    #[inline]
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Empties the set and keeps its memory.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The set as words of 64 numbers, lowest first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
    }

    /// One number of every `step`, ascending, from the first on. Most words are only counted.
    pub fn every(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        let mut words = self.words.iter().copied().enumerate();
        let (mut index, mut rest, mut ahead) = (0, 0u64, 0);
        std::iter::from_fn(move || {
            while rest.count_ones() as usize <= ahead {
                ahead -= rest.count_ones() as usize;
                (index, rest) = words.next()?;
            }
            (0..ahead).for_each(|_| rest &= rest - 1);
            let bit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            ahead = step.max(1) - 1;
            Some(index * 64 + bit)
        })
    }
}

/// A set of rows, small enough for the cache, that is emptied in the time it takes to go through it.
#[derive(Clone, Debug, Default)]
pub struct RowSet {
    bits: Bits,
    rows: Vec<u32>,
}

impl RowSet {
    /// Makes room for the rows below `rows`.
    pub fn grow(&mut self, rows: usize) {
        self.bits.grow(rows);
    }

    /// Adds a row. Says whether it is new.
    pub fn insert(&mut self, row: u32) -> bool {
        let is_new = !self.contains(row);
        if is_new {
            self.bits.insert(row as usize);
            self.rows.push(row);
        }
        is_new
    }

    #[inline]
    pub fn contains(&self, row: u32) -> bool {
        !self.rows.is_empty() && self.bits.words()[row as usize / 64] >> (row % 64) & 1 == 1
    }

    pub fn clear(&mut self) {
        for row in self.rows.drain(..) {
            self.bits.remove(row as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The first overflowed, or was an index out of bounds; the second ended the program.
    #[test]
    fn numbers_beyond_all_memory_are_refused() {
        for number in [usize::MAX, usize::MAX - 1] {
            let mut bits = Bits::new();
            bits.insert(7);
            let refusal = std::panic::catch_unwind(move || bits.insert(number)).unwrap_err();
            let message = refusal.downcast::<String>().unwrap();
            assert!(message.starts_with("no memory"), "{message}");
        }
        let mut bits = Bits::new();
        bits.remove(usize::MAX);
        assert!(!bits.contains(usize::MAX));
    }

    proptest! {
        #[test]
        fn bits_are_a_set(
            changes in prop::collection::vec((0usize..300, any::<bool>()), 0..200),
            step in 1usize..100,
        ) {
            let (mut bits, mut set) = (Bits::new(), BTreeSet::new());
            for (number, add) in changes {
                if add { bits.insert(number); set.insert(number); } else { bits.remove(number); set.remove(&number); }
                prop_assert_eq!(bits.contains(number), add);
            }
            prop_assert_eq!(bits.count(), set.len());
            prop_assert!(bits.iter().eq(set.iter().copied()));
            prop_assert!(bits.every(step).eq(set.iter().copied().step_by(step)));
            bits.clear();
            prop_assert_eq!(bits.count(), 0);
        }
    }
}

//! A set of pairs of rows that is quick to change: open addressing, in an order that depends on nothing but its
//! history.
//!
//! Invariants:
//! - The table's length is a power of two, and at most half of it is in use.
//! - From a pair's home to the pair there is no empty place.

/// Pairs of rows, the lower row first.
#[derive(Clone, Debug, Default)]
pub(super) struct PairSet {
    /// The lower row in the high half.
    table: Vec<u64>,
    count: usize,
}

/// No pair: no row has this number.
const EMPTY: u64 = u64::MAX;

impl PairSet {
    pub fn insert(&mut self, one: u32, other: u32) {
        if 2 * (self.count + 1) > self.table.len() {
            self.grow();
        }
        let pair = pack(one, other);
        let mut place = self.home(pair);
        while self.table[place] != EMPTY {
            if self.table[place] == pair {
                return;
            }
            place = self.after(place);
        }
        self.table[place] = pair;
        self.count += 1;
    }

    pub fn remove(&mut self, one: u32, other: u32) {
        if self.count == 0 {
            return;
        }
        let pair = pack(one, other);
        let mut place = self.home(pair);
        while self.table[place] != pair {
            if self.table[place] == EMPTY {
                return;
            }
            place = self.after(place);
        }
        self.count -= 1;
        // Those behind move up, unless that would put them before their home.
        let mut hole = place;
        loop {
            place = self.after(place);
            let pair = self.table[place];
            if pair == EMPTY {
                break;
            }
            let from_home = place.wrapping_sub(self.home(pair)) & (self.table.len() - 1);
            let from_hole = place.wrapping_sub(hole) & (self.table.len() - 1);
            if from_home >= from_hole {
                self.table[hole] = pair;
                hole = place;
            }
        }
        self.table[hole] = EMPTY;
    }

    /// Keeps only the pairs of rows that both are wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(u32) -> bool) {
        let unwanted: Vec<_> = self.iter().filter(|&(one, other)| !is_wanted(one) || !is_wanted(other)).collect();
        for (one, other) in unwanted {
            self.remove(one, other);
        }
    }

    /// Empties the set and keeps its memory.
    pub fn clear(&mut self) {
        self.table.fill(EMPTY);
        self.count = 0;
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.table.iter().filter(|&&pair| pair != EMPTY).map(|&pair| ((pair >> 32) as u32, pair as u32))
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.table);
        self.table = vec![EMPTY; (2 * old.len()).max(16)];
        for pair in old.into_iter().filter(|&pair| pair != EMPTY) {
            let mut place = self.home(pair);
            while self.table[place] != EMPTY {
                place = self.after(place);
            }
            self.table[place] = pair;
        }
    }

    fn home(&self, pair: u64) -> usize {
        // Fibonacci hashing: the high bits of the product depend on all bits of the pair.
        let mixed = (pair ^ pair >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize & (self.table.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.table.len() - 1)
    }
}

fn pack(one: u32, other: u32) -> u64 {
    u64::from(one.min(other)) << 32 | u64::from(one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(changes in prop::collection::vec((0u32..12, 12u32..24, 0u8..3), 0..300)) {
            let (mut pairs, mut set) = (PairSet::default(), BTreeSet::new());
            for (one, other, change) in changes {
                match change {
                    0 => { pairs.remove(other, one); set.remove(&(one, other)); }
                    _ => { pairs.insert(other, one); set.insert((one, other)); }
                }
                prop_assert_eq!(pairs.len(), set.len());
            }
            prop_assert_eq!(pairs.iter().collect::<BTreeSet<_>>(), set.clone());
            pairs.retain(|row| row % 5 != 0);
            set.retain(|(one, other)| one % 5 != 0 && other % 5 != 0);
            prop_assert_eq!(pairs.iter().collect::<BTreeSet<_>>(), set);
            pairs.clear();
            prop_assert_eq!((pairs.len(), pairs.iter().count()), (0, 0));
        }
    }
}

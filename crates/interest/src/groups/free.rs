//! Places that no group has, and the nearest of them.

use std::ops::Range;

/// A set of places, a bit each.
///
/// Near a crowd that has grown nothing is free for hundreds of places. A bit per word says whether it has any, so that one
/// look rules out 64 words.
#[derive(Clone, Debug, Default)]
pub struct Free {
    words: Vec<u64>,
    /// Which words are not 0: a bit each.
    filled: Vec<u64>,
    count: usize,
}

/// So many words are looked through for a place that is near.
const NEAR: usize = 32;

impl Free {
    /// Adds a place, which is not in yet.
    pub fn insert(&mut self, place: u32) {
        let word = place as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
            self.filled.resize(word / 64 + 1, 0);
        }
        self.words[word] |= 1 << (place % 64);
        self.filled[word / 64] |= 1 << (word % 64);
        self.count += 1;
    }

    /// Takes out a place near another one. If none is, any place, but only while a quarter of all `places` is free:
    /// otherwise it is better to make another.
    pub fn take_near(&mut self, near: Option<u32>, places: usize) -> Option<u32> {
        let start = near.map_or(0, |near| near as usize / 64).min(self.words.len());
        let reach = if self.count * 4 > places { self.words.len() } else { NEAR };
        let ahead = start..self.words.len().min(start + reach);
        let behind = start.saturating_sub(reach)..start;
        let word = first_of(&self.filled, ahead).or_else(|| last_of(&self.filled, behind))?;
        let bit = self.words[word].trailing_zeros();
        self.words[word] &= self.words[word] - 1;
        if self.words[word] == 0 {
            self.filled[word / 64] &= !(1 << (word % 64));
        }
        self.count -= 1;
        Some(word as u32 * 64 + bit)
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        (self.words.capacity() + self.filled.capacity()) * 8
    }
}

/// The first bit of a range that is set.
fn first_of(words: &[u64], range: Range<usize>) -> Option<usize> {
    let mut from = range.start;
    while from < range.end {
        let rest = words[from / 64] >> (from % 64);
        if rest != 0 {
            return Some(from + rest.trailing_zeros() as usize).filter(|&bit| bit < range.end);
        }
        from = (from / 64 + 1) * 64;
    }
    None
}

/// The last bit of a range that is set.
fn last_of(words: &[u64], range: Range<usize>) -> Option<usize> {
    let mut to = range.end;
    while to > range.start {
        let last = to - 1;
        let rest = words[last / 64] << (63 - last % 64);
        if rest != 0 {
            return Some(last - rest.leading_zeros() as usize).filter(|&bit| bit >= range.start);
        }
        to = last / 64 * 64;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_nearest_place_is_taken_and_none_is_lost() {
        let mut free = Free::default();
        for place in [7, 9_000, 9_010, 20_000] {
            free.insert(place);
        }
        assert_eq!(free.take_near(Some(8_999), 30_000), Some(9_000));
        assert_eq!(free.take_near(Some(9_100), 30_000), Some(9_010), "behind, as there is none ahead");
        assert_eq!(free.take_near(Some(14_000), 30_000), None, "too far away");
        assert_eq!(free.take_near(Some(14_000), 7), Some(20_000), "too many are free");
        assert_eq!(free.take_near(None, 30_000), Some(7));
        assert_eq!(free.take_near(Some(u32::MAX), 0), None);
    }

    /// The place that is to be taken, found by looking at one word after the other.
    fn nearest_plain(free: &Free, near: Option<u32>, places: usize) -> Option<u32> {
        let start = near.map_or(0, |near| near as usize / 64).min(free.words.len());
        let reach = if free.count * 4 > places { free.words.len() } else { NEAR };
        let ahead = start..free.words.len().min(start + reach);
        let behind = start.saturating_sub(reach)..start;
        let word = ahead.chain(behind.rev()).find(|&word| free.words[word] != 0)?;
        Some(word as u32 * 64 + free.words[word].trailing_zeros())
    }

    proptest! {
        #[test]
        fn what_is_taken_is_what_a_look_at_every_word_finds(
            steps in prop::collection::vec((any::<bool>(), 0u32..20_000, 0usize..200), 0..200),
        ) {
            let mut free = Free::default();
            for (takes, place, places) in steps {
                if takes {
                    let near = Some(place).filter(|place| place % 7 != 0);
                    let expected = nearest_plain(&free, near, places);
                    prop_assert_eq!(free.take_near(near, places), expected);
                } else if free.words.get(place as usize / 64).is_none_or(|word| word >> (place % 64) & 1 == 0) {
                    free.insert(place);
                }
            }
        }
    }
}

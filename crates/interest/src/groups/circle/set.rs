//! Sets of members of a circle, a bit each.

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// Some members of a circle of up to 64 per word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Set<WORDS> {
    /// Nobody.
    pub const EMPTY: Set<WORDS> = Set([0; WORDS]);

    /// One member.
    #[inline]
    pub fn of(tag: usize) -> Set<WORDS> {
        // Whole sets are written, here and below: a set of which one word has just been written cannot be read at once.
        Set(std::array::from_fn(|word| if tag / 64 == word { 1 << (tag % 64) } else { 0 }))
    }

    #[inline]
    pub fn insert(&mut self, tag: usize) {
        *self |= Set::of(tag);
    }

    #[inline]
    pub fn remove(&mut self, tag: usize) {
        *self = self.without(Set::of(tag));
    }

    /// Inserts a member that nobody asks for soon: one word is written, and the whole set cannot be read at once.
    #[inline]
    pub fn put(&mut self, tag: usize) {
        self.0[tag / 64 % WORDS] |= 1 << (tag % 64);
    }

    /// Removes a member that nobody asks for soon.
    #[inline]
    pub fn take(&mut self, tag: usize) {
        self.0[tag / 64 % WORDS] &= !(1 << (tag % 64));
    }

    #[inline]
    pub fn has(&self, tag: usize) -> bool {
        self.0[tag / 64 % WORDS] >> (tag % 64) & 1 == 1
    }

    /// Those who are not in another set.
    #[inline]
    pub fn without(self, other: Set<WORDS>) -> Set<WORDS> {
        Set(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// The set, or nobody. Takes no branch.
    #[inline]
    pub fn only_if(self, condition: bool) -> Set<WORDS> {
        let all_or_none = u64::from(condition).wrapping_neg();
        Set(self.0.map(|word| word & all_or_none))
    }

    /// Those who are in one of two sets alone.
    #[inline]
    pub fn differing(self, other: Set<WORDS>) -> Set<WORDS> {
        Set(std::array::from_fn(|word| self.0[word] ^ other.0[word]))
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Whether nobody or one member is in it.
    #[inline]
    pub fn is_single(self) -> bool {
        // Without the lowest bit of each word nothing is left, and one word at most had any.
        let rest = self.0.iter().fold(0, |rest, &word| rest | (word & word.wrapping_sub(1)));
        rest == 0 && self.0.iter().filter(|&&word| word != 0).count() < 2
    }

    /// The only member, if there is one and no other.
    #[inline]
    pub fn single(self) -> Option<usize> {
        if self.is_single() { self.tags().next() } else { None }
    }

    #[inline]
    pub fn is_within(self, whole: Set<WORDS>) -> bool {
        self.without(whole).is_empty()
    }

    #[inline]
    pub fn len(self) -> u32 {
        // Not every processor that this is built for counts bits by itself. Up to two words are counted as one: within
        // fours of bits there is room for both.
        let mut sum = 0;
        for words in self.0.chunks(2) {
            let fours = words.iter().map(|&word| {
                let twos = word - (word >> 1 & 0x5555_5555_5555_5555);
                (twos & 0x3333_3333_3333_3333) + (twos >> 2 & 0x3333_3333_3333_3333)
            });
            let fours = fours.sum::<u64>();
            let eights = (fours & 0x0f0f_0f0f_0f0f_0f0f) + (fours >> 4 & 0x0f0f_0f0f_0f0f_0f0f);
            sum += eights.wrapping_mul(0x0101_0101_0101_0101) >> 56;
        }
        sum as u32
    }

    /// The set as words, a bit per member.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The members, ascending.
    #[inline]
    pub fn tags(self) -> impl Iterator<Item = usize> {
        const { assert!(WORDS.is_multiple_of(2), "words are walked through in twos") }
        // Two words at once: which of them the next member is in is anybody's guess.
        let two = move |word: usize| Some(u128::from(*self.0.get(word)?) | u128::from(*self.0.get(word + 1)?) << 64);
        let (mut word, mut rest) = (0, two(0).unwrap_or(0));
        std::iter::from_fn(move || {
            while rest == 0 {
                word += 2;
                rest = two(word)?;
            }
            let bit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            Some(word * 64 + bit)
        })
    }
}

impl<const WORDS: usize> Default for Set<WORDS> {
    fn default() -> Set<WORDS> {
        Set::EMPTY
    }
}

impl<const WORDS: usize> BitOr for Set<WORDS> {
    type Output = Set<WORDS>;
    #[inline]
    fn bitor(self, other: Set<WORDS>) -> Set<WORDS> {
        Set(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl<const WORDS: usize> BitOrAssign for Set<WORDS> {
    #[inline]
    fn bitor_assign(&mut self, other: Set<WORDS>) {
        *self = *self | other;
    }
}

impl<const WORDS: usize> BitAnd for Set<WORDS> {
    type Output = Set<WORDS>;
    #[inline]
    fn bitand(self, other: Set<WORDS>) -> Set<WORDS> {
        Set(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One word is written or all of them, and two are walked through at once or bit by bit: it is the same set.
    fn agrees_with_one_bit_after_the_other<const WORDS: usize>(changes: &[(usize, bool)]) -> Result<(), TestCaseError> {
        let (mut whole, mut by_words) = (Set::<WORDS>::EMPTY, Set::<WORDS>::EMPTY);
        for &(tag, comes) in changes {
            let tag = tag % (64 * WORDS);
            if comes {
                whole.insert(tag);
                by_words.put(tag);
            } else {
                whole.remove(tag);
                by_words.take(tag);
            }
            prop_assert_eq!(whole, by_words);
            prop_assert_eq!(whole.has(tag), comes);
        }
        prop_assert!(whole.tags().eq((0..64 * WORDS).filter(|&tag| whole.has(tag))));
        prop_assert_eq!(whole.tags().count(), whole.len() as usize);
        Ok(())
    }

    proptest! {
        #[test]
        fn sets_of_any_width_are_their_bits(changes in prop::collection::vec((0usize..512, any::<bool>()), 0..100)) {
            agrees_with_one_bit_after_the_other::<2>(&changes)?;
            agrees_with_one_bit_after_the_other::<4>(&changes)?;
            agrees_with_one_bit_after_the_other::<8>(&changes)?;
        }
    }
}

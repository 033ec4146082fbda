//! Sets of members of a circle, a bit each.

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// The most members of a circle.
pub const MEMBERS_MAX: usize = 64 * WORDS;

const WORDS: usize = 4;

/// Some members of a circle. Tags are below [`MEMBERS_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set([u64; WORDS]);

impl Set {
    /// Nobody.
    pub const EMPTY: Set = Set([0; WORDS]);

    /// One member.
    #[inline]
    pub fn of(tag: usize) -> Set {
        let mut set = Set::EMPTY;
        set.insert(tag);
        set
    }

    #[inline]
    pub fn insert(&mut self, tag: usize) {
        self.0[tag / 64 % WORDS] |= 1 << (tag % 64);
    }

    #[inline]
    pub fn remove(&mut self, tag: usize) {
        self.0[tag / 64 % WORDS] &= !(1 << (tag % 64));
    }

    #[inline]
    pub fn has(self, tag: usize) -> bool {
        self.0[tag / 64 % WORDS] >> (tag % 64) & 1 == 1
    }

    /// Those who are not in another set.
    #[inline]
    pub fn without(self, other: Set) -> Set {
        Set(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Those who are in one of two sets alone.
    #[inline]
    pub fn differing(self, other: Set) -> Set {
        Set(std::array::from_fn(|word| self.0[word] ^ other.0[word]))
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self == Set::EMPTY
    }

    #[inline]
    pub fn is_within(self, whole: Set) -> bool {
        self.without(whole).is_empty()
    }

    #[inline]
    pub fn len(self) -> u32 {
        // Most circles fill the lower words alone, and not every processor counts bits by itself.
        self.0.iter().filter(|&&word| word != 0).map(|word| word.count_ones()).sum()
    }

    /// The members, ascending.
    #[inline]
    pub fn tags(self) -> impl Iterator<Item = usize> {
        let (mut word, mut rest) = (0, self.0[0]);
        std::iter::from_fn(move || {
            while rest == 0 {
                word += 1;
                rest = *self.0.get(word)?;
            }
            let bit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            Some(word * 64 + bit)
        })
    }
}

impl BitOr for Set {
    type Output = Set;
    #[inline]
    fn bitor(self, other: Set) -> Set {
        Set(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl BitOrAssign for Set {
    #[inline]
    fn bitor_assign(&mut self, other: Set) {
        *self = *self | other;
    }
}

impl BitAnd for Set {
    type Output = Set;
    #[inline]
    fn bitand(self, other: Set) -> Set {
        Set(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

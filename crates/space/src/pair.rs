//! Two objects that overlap, and what changed about the pairs from one tick to the next.

use crate::{Edition, Slot, Spheres};

/// An unordered pair of objects: equal whichever was named first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    a: Slot,
    b: Slot,
}

impl Pair {
    #[inline]
    pub const fn new(one: Slot, other: Slot) -> Pair {
        if one.number() <= other.number() { Pair { a: one, b: other } } else { Pair { a: other, b: one } }
    }

    #[inline]
    pub const fn of_rows(one: u32, other: u32) -> Pair {
        Pair::new(Slot::new(one), Slot::new(other))
    }

    /// The object with the lower slot.
    #[inline]
    pub const fn a(self) -> Slot {
        self.a
    }

    /// The object with the higher slot.
    #[inline]
    pub const fn b(self) -> Slot {
        self.b
    }
}

/// Which pairs began and which ended between two ticks, each in ascending order.
///
/// Works for any broad phase by comparing complete lists; the default method knows its changes without
/// comparing and is tested against this.
#[derive(Clone, Debug, Default)]
pub struct PairChanges {
    before: Vec<Pair>,
    now: Vec<Pair>,
    /// The world that the last list was of.
    seen: Option<Edition>,
    /// Pairs that overlap now and did not before.
    pub began: Vec<Pair>,
    /// Pairs that overlapped before and do not now.
    pub ended: Vec<Pair>,
}

impl PairChanges {
    pub fn new() -> PairChanges {
        PairChanges::default()
    }

    /// Compares the pairs of this world, in any order, with those of the last call. If a slot was given to another
    /// object since, the pairs of the old object end and those of the new one begin, though they name the same slots.
    pub fn update(&mut self, spheres: &Spheres, pairs: &[Pair]) {
        self.compare(pairs);
        if let Some(seen) = self.seen.replace(spheres.edition()) {
            self.begin_anew(spheres, seen);
        }
    }

    /// Compares two successive lists of pairs, in any order, in which each slot names the same object.
    pub fn compare(&mut self, pairs: &[Pair]) {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        self.now.extend_from_slice(pairs);
        self.now.sort_unstable();
        self.began.clear();
        self.ended.clear();
        difference(&self.before, &self.now, &mut self.ended, &mut self.began);
    }

    /// Ends and begins the pairs that stayed, of slots that changed hands.
    fn begin_anew(&mut self, spheres: &Spheres, seen: Edition) {
        if !spheres.has_arrivals_since(seen) {
            return;
        }
        let is_another = |slot| spheres.was_taken_since(seen, slot);
        for &pair in self.now.iter().filter(|pair| is_another(pair.a()) || is_another(pair.b())) {
            if self.before.binary_search(&pair).is_ok() {
                self.began.push(pair);
                self.ended.push(pair);
            }
        }
        self.began.sort_unstable();
        self.ended.sort_unstable();
    }
}

/// Splits two ascending lists into what only the first has and what only the second has.
pub(crate) fn difference(first: &[Pair], second: &[Pair], only_first: &mut Vec<Pair>, only_second: &mut Vec<Pair>) {
    let (mut i, mut j) = (0, 0);
    while i < first.len() && j < second.len() {
        match first[i].cmp(&second[j]) {
            std::cmp::Ordering::Less => {
                only_first.push(first[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                only_second.push(second[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    only_first.extend_from_slice(&first[i..]);
    only_second.extend_from_slice(&second[j..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_no_order() {
        assert_eq!(Pair::of_rows(5, 2), Pair::of_rows(2, 5));
        assert_eq!(Pair::of_rows(5, 2).a(), Slot::new(2));
    }

    #[test]
    fn changes_turn_the_old_pairs_into_the_new() {
        let mut changes = PairChanges::new();
        changes.compare(&[Pair::of_rows(3, 1), Pair::of_rows(1, 2)]);
        assert_eq!(changes.began, [Pair::of_rows(1, 2), Pair::of_rows(1, 3)]);
        changes.compare(&[Pair::of_rows(2, 3), Pair::of_rows(1, 3)]);
        assert_eq!(changes.began, [Pair::of_rows(2, 3)]);
        assert_eq!(changes.ended, [Pair::of_rows(1, 2)]);
    }
}

//! What began and what ended while pairs are found afresh.
//!
//! A crowd has millions of pairs and a few thousand that changed. To find these in two long lists, one has to bring the lists
//! into order, which takes longer than finding the pairs. But whether two overlapped in the last tick can be seen from where
//! they were then. So the spheres of the last tick are kept: a pair began if it did not overlap there, and a pair of the last
//! tick ended if it does not overlap now.
//!
//! Invariant: between two calls, `pairs` are those of the last one, each once, and just those of `spheres` that overlap.

use super::packed::Packed;
use crate::{Columns, Edition, Pair, Spheres};

/// The last tick, ready to be compared with the next one.
#[derive(Debug, Default)]
pub struct Comparison {
    pairs: Vec<Pair>,
    spheres: Packed,
    /// Scratch: the spheres of this tick.
    now: Packed,
}

impl Comparison {
    /// Compares the pairs of these spheres with those of the last call, if there was one, when they were as `seen`; and keeps them for
    /// the next one. Adds what changed to `began` and `ended`, ascending.
    pub fn compare(
        &mut self,
        pairs: &[Pair],
        spheres: &Spheres,
        seen: Option<Edition>,
        began: &mut Vec<Pair>,
        ended: &mut Vec<Pair>,
    ) {
        self.now.take(spheres.columns(), 1);
        // It may be another world, with fewer rows.
        let rows = self.now.rows().max(self.spheres.rows());
        self.now.resize(rows);
        self.spheres.resize(rows);
        let seen = seen.filter(|&seen| spheres.has_arrivals_since(seen));
        if let Some(seen) = seen {
            // Where they are now somebody else was before, if anybody.
            let arrivals = spheres.slots().filter(|&slot| spheres.was_taken_since(seen, slot));
            arrivals.for_each(|slot| self.spheres.remove(slot.row()));
        }
        self.spheres.apart(pairs, began);
        self.now.apart(&self.pairs, ended);
        if let Some(seen) = seen {
            // Others are behind their slots, who may overlap just as well.
            let is_another = |slot| spheres.was_taken_since(seen, slot);
            let of_others = |pair: &&Pair| is_another(pair.a()) || is_another(pair.b());
            let overlaps = |pair: &&Pair| self.now.overlap(pair.a().number(), pair.b().number());
            ended.extend(self.pairs.iter().filter(of_others).filter(overlaps));
        }
        began.sort_unstable();
        ended.sort_unstable();
        std::mem::swap(&mut self.spheres, &mut self.now);
        self.pairs.clear();
        self.pairs.extend_from_slice(pairs);
    }

    /// Keeps the pairs of these spheres for the next comparison.
    pub fn remember(&mut self, pairs: &[Pair], columns: Columns<'_>) {
        self.spheres.take(columns, 1);
        self.pairs.clear();
        self.pairs.extend_from_slice(pairs);
    }

    /// Adds the pairs of the last call to a list, and forgets them.
    pub fn hand_over(&mut self, pairs: &mut Vec<Pair>) {
        pairs.append(&mut self.pairs);
        *self = Comparison::default();
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<Pair>() + self.spheres.bytes() + self.now.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::{BroadPhase, BruteForce};
    use crate::{PairChanges, Slot, Sphere, Vec3};
    use proptest::prelude::*;

    proptest! {
        /// Whoever moves, grows, comes and goes: what it finds is what two sorted lists differ in, and the pairs of a slot
        /// that changed hands.
        #[test]
        fn it_finds_what_sorted_lists_differ_in(
            ticks in prop::collection::vec(prop::collection::vec((0u32..12, 0u8..9, 0f32..6.0, 0.1f32..2.0), 0..12), 1..12),
        ) {
            let mut spheres = Spheres::new();
            let (mut comparison, mut sorted) = (Comparison::default(), PairChanges::new());
            let (mut last, mut seen) = (Vec::new(), None);
            for changes in ticks {
                for (row, what, x, radius) in changes {
                    let (slot, place) = (Slot::new(row), Vec3::new(x, 0.0, 0.0));
                    match what {
                        0 => { let _ = spheres.remove(slot); }
                        1..=3 => { spheres.insert(Sphere::new(place, radius)).unwrap(); }
                        4 => { let _ = spheres.resize(slot, radius); }
                        _ => { let _ = spheres.move_to(slot, place); }
                    }
                }
                let mut pairs = Vec::new();
                BruteForce.pairs(&spheres, &mut pairs);
                pairs.reverse();
                let (mut began, mut ended) = (Vec::new(), Vec::new());
                comparison.compare(&pairs, &spheres, seen.replace(spheres.edition()), &mut began, &mut ended);
                sorted.update(&spheres, &pairs);
                prop_assert_eq!(&began, &sorted.began);
                prop_assert_eq!(&ended, &sorted.ended);
                last = pairs;
                spheres.end_tick();
            }
            let mut handed = Vec::new();
            comparison.hand_over(&mut handed);
            prop_assert_eq!(handed, last);
        }
    }

    #[test]
    fn a_smaller_world_ends_the_pairs_of_a_larger_one() {
        let world = |objects: u32| {
            let mut spheres = Spheres::new();
            (0..objects).for_each(|_| assert!(spheres.insert(Sphere::new(Vec3::ZERO, 1.0)).is_ok()));
            spheres
        };
        let (mut comparison, mut began, mut ended) = (Comparison::default(), Vec::new(), Vec::new());
        let all: Vec<Pair> = (0..40).flat_map(|a| (a + 1..40).map(move |b| Pair::of_rows(a, b))).collect();
        comparison.compare(&all, &world(40), None, &mut began, &mut ended);
        assert!(began == all && ended.is_empty());
        began.clear();
        comparison.compare(&[Pair::of_rows(0, 1)], &world(2), None, &mut began, &mut ended);
        assert!(began.is_empty() && ended == all[1..]);
    }
}

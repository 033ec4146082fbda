//! Which pairs began and ended, whether they come from the schedule or from the plain grid.
//!
//! The schedule says itself what changed. A grid has millions of pairs and a few thousand that changed, and to sort two
//! long lists takes longer than to find the pairs. But whether two spheres overlapped in the last tick can be seen from
//! where they were. So those spheres are kept: a pair began if it did not overlap there, and a pair of the last tick
//! ended if it does not overlap now. Where one takes over from the other, all old pairs are taken back and all new ones
//! are new: what is in both lists cancels out.

use super::schedule::Turnover;
use crate::pair::difference;
use crate::simd::apart::apart;
use crate::{Columns, Edition, Pair, Spheres};

#[derive(Debug, Default)]
pub struct ChangeTracker {
    /// What the schedule says has changed; and all pairs that it reported, when it is cleared.
    pub turnover: Turnover,
    pub began: Vec<Pair>,
    pub ended: Vec<Pair>,
    last: LastTick,
    /// The world when pairs were reported last.
    reported: Option<Edition>,
}

/// The last tick, while pairs come from the grid: each pair once, and just those of `spheres` that overlap.
#[derive(Debug, Default)]
struct LastTick {
    pairs: Vec<Pair>,
    /// The spheres of all rows, each in one piece of memory, since they are looked at in no order.
    spheres: Vec<[f32; 4]>,
    now: Vec<[f32; 4]>,
}

const NO_SPHERE: [f32; 4] = [f32::NAN; 4];

impl ChangeTracker {
    pub fn new() -> ChangeTracker {
        ChangeTracker { turnover: Turnover { is_wanted: true, ..Turnover::default() }, ..ChangeTracker::default() }
    }

    /// Notes what changed with these pairs, which come from the schedule or from the grid.
    pub fn note(&mut self, spheres: &Spheres, pairs: &[Pair], is_scheduled: bool) {
        let ChangeTracker { turnover: Turnover { gained, lost, .. }, last, reported, began, ended } = self;
        let reported = reported.replace(spheres.edition());
        began.clear();
        ended.clear();
        if !is_scheduled && lost.is_empty() {
            // Nor did the pairs of the last tick come from the schedule.
            last.compare(pairs, spheres, reported, began, ended);
            return;
        }
        last.hand_over(lost);
        if !is_scheduled {
            gained.extend_from_slice(pairs);
            pack(spheres.columns(), &mut last.spheres);
            last.pairs.extend_from_slice(pairs);
        }
        gained.sort_unstable();
        lost.sort_unstable();
        difference(lost, gained, ended, began);
        if let Some(reported) = reported.filter(|&reported| spheres.has_arrivals_since(reported)) {
            // Both lists have these pairs, so they cancelled out; but other objects are behind the slots.
            let is_another = |slot| spheres.was_taken_since(reported, slot);
            let of_others = |pair: &&Pair| is_another(pair.a()) || is_another(pair.b());
            for pair in lost.iter().filter(of_others).filter(|pair| gained.binary_search(pair).is_ok()) {
                began.push(*pair);
                ended.push(*pair);
            }
            began.sort_unstable();
            ended.sort_unstable();
        }
        gained.clear();
        lost.clear();
    }
}

impl LastTick {
    /// Compares these pairs with those of the last call, when the world was as `seen`, and keeps them for the next one.
    fn compare(
        &mut self,
        pairs: &[Pair],
        spheres: &Spheres,
        seen: Option<Edition>,
        began: &mut Vec<Pair>,
        ended: &mut Vec<Pair>,
    ) {
        pack(spheres.columns(), &mut self.now);
        // It may be another world, with fewer rows.
        let rows = self.now.len().max(self.spheres.len());
        self.now.resize(rows, NO_SPHERE);
        self.spheres.resize(rows, NO_SPHERE);
        let seen = seen.filter(|&seen| spheres.has_arrivals_since(seen));
        if let Some(seen) = seen {
            // Other objects had these slots, if any had.
            let arrivals = spheres.slots().filter(|&slot| spheres.was_taken_since(seen, slot));
            arrivals.for_each(|slot| self.spheres[slot.row()] = NO_SPHERE);
        }
        apart(&self.spheres, pairs, |pair| began.push(pair));
        apart(&self.now, &self.pairs, |pair| ended.push(pair));
        if let Some(seen) = seen {
            // Other objects are behind these slots, which may overlap just as well.
            let is_another = |slot| spheres.was_taken_since(seen, slot);
            let of_others = |pair: &&Pair| is_another(pair.a()) || is_another(pair.b());
            let columns = spheres.columns();
            let overlaps = |pair: &&Pair| {
                spheres.is_alive(pair.a())
                    && spheres.is_alive(pair.b())
                    && columns.sphere(pair.a().row()).overlaps(columns.sphere(pair.b().row()))
            };
            ended.extend(self.pairs.iter().filter(of_others).filter(overlaps));
        }
        began.sort_unstable();
        ended.sort_unstable();
        std::mem::swap(&mut self.spheres, &mut self.now);
        self.pairs.clear();
        self.pairs.extend_from_slice(pairs);
    }

    /// Adds the pairs of the last call to a list, and forgets them.
    fn hand_over(&mut self, pairs: &mut Vec<Pair>) {
        pairs.append(&mut self.pairs);
        *self = LastTick::default();
    }
}

fn pack(Columns { x, y, z, radius }: Columns<'_>, packed: &mut Vec<[f32; 4]>) {
    packed.clear();
    packed.extend(x.iter().zip(y).zip(z).zip(radius).map(|(((&x, &y), &z), &radius)| [x, y, z, radius]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::{BroadPhase, BruteForce};
    use crate::{PairChanges, Slot, Sphere, Vec3};
    use proptest::prelude::*;

    proptest! {
        /// It finds what two sorted lists differ in, and the pairs of a slot
        /// that was handed on.
        #[test]
        fn it_finds_what_sorted_lists_differ_in(
            ticks in prop::collection::vec(
                prop::collection::vec((0u32..12, 0u8..9, 0f32..6.0, 0.1f32..2.0), 0..12), 1..12,
            ),
        ) {
            let mut spheres = Spheres::new();
            let (mut tracker, mut sorted) = (ChangeTracker::new(), PairChanges::new());
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
                tracker.note(&spheres, &pairs, false);
                sorted.update(&spheres, &pairs);
                prop_assert_eq!(&tracker.began, &sorted.began);
                prop_assert_eq!(&tracker.ended, &sorted.ended);
                spheres.end_tick();
            }
        }
    }

    #[test]
    fn a_smaller_world_ends_the_pairs_of_a_larger_one() {
        let world = |objects: u32| {
            let mut spheres = Spheres::new();
            (0..objects).for_each(|_| assert!(spheres.insert(Sphere::new(Vec3::ZERO, 1.0)).is_ok()));
            spheres
        };
        let mut tracker = ChangeTracker::new();
        let all: Vec<Pair> = (0..40).flat_map(|a| (a + 1..40).map(move |b| Pair::of_rows(a, b))).collect();
        tracker.note(&world(40), &all, false);
        assert!(tracker.began == all && tracker.ended.is_empty());
        tracker.note(&world(2), &[Pair::of_rows(0, 1)], false);
        assert!(tracker.began.is_empty() && tracker.ended == all[1..]);
    }
}

//! The boxes that overlap among some rows, known from the swaps on three sorted axes (I-COLLIDE).
//!
//! Invariants, after each update:
//! - Each axis has both ends of every row's interval, sorted.
//! - `pairs` are the pairs of rows whose boxes overlap. Two intervals begin to overlap exactly when one's low end
//!   passes the other's high end, so that every change of a pair shows as a swap on some axis.

use super::Work;
use super::aabb::Aabb;
use super::interval_ends::{End, high_end, insertion_sort, is_high, low_end, row};
use super::pair_set::PairSet;

/// Sorted interval ends on three axes, and the pairs of boxes that overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxSweep {
    axes: [Vec<End>; 3],
    pairs: PairSet,
    /// How many tests the last fresh start took: when the swaps get more than that, it is time for another.
    tests_of_fresh_start: u64,
    /// Scratch: boxes in the order of their low ends, with their rows.
    in_order: Vec<(Aabb, u32)>,
}

impl BoxSweep {
    /// Swaps per end that are always allowed: sorting afresh is not free.
    const SWAPS_PER_END: u64 = 16;

    /// Forgets the rows that are not wanted any more.
    pub fn retain(&mut self, is_wanted: impl Fn(u32) -> bool) {
        for ends in &mut self.axes {
            ends.retain(|&end| is_wanted(row(end)));
        }
        self.pairs.retain(is_wanted);
    }

    /// Takes in where the boxes are now, and the rows that are new.
    pub fn update(&mut self, boxes: &[Aabb], entered: &[u32]) -> Work {
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            // New boxes start infinitely far up, one behind the other, where they overlap nothing.
            ends.extend(entered.iter().flat_map(|&row| [low_end(0.0, row), high_end(0.0, row)]));
            for end in ends {
                let aabb = &boxes[row(*end) as usize];
                *end = if is_high(*end) {
                    high_end(aabb.high[axis], row(*end))
                } else {
                    low_end(aabb.low[axis], row(*end))
                };
            }
        }
        let ends = self.axes[0].len() as u64;
        let mut swaps_left = self.tests_of_fresh_start.max(Self::SWAPS_PER_END * ends);
        let mut swaps = 0;
        for ends in &mut self.axes {
            let pairs = &mut self.pairs;
            let done = insertion_sort(ends, swaps_left, |moved, passed| match (is_high(moved), is_high(passed)) {
                (false, true) if boxes[row(moved) as usize].overlaps(&boxes[row(passed) as usize]) => {
                    pairs.insert(row(moved), row(passed));
                }
                (true, false) => pairs.remove(row(moved), row(passed)),
                _ => {}
            });
            let Some(done) = done else {
                let sphere_tests = self.start_afresh(boxes);
                return Work { swaps: swaps + swaps_left, sphere_tests, ..Work::default() };
            };
            swaps += done;
            swaps_left = swaps_left.saturating_sub(done);
        }
        Work { swaps, ..Work::default() }
    }

    /// The pairs of rows whose boxes overlap.
    pub fn pairs(&self) -> &PairSet {
        &self.pairs
    }

    /// Sorts all axes and sweeps along the one with the fewest overlaps. Returns how many boxes were compared.
    fn start_afresh(&mut self, boxes: &[Aabb]) -> u64 {
        for ends in &mut self.axes {
            ends.sort_unstable();
        }
        let overlaps = [0, 1, 2].map(|axis| count_overlaps(&self.axes[axis]));
        let axis =
            if overlaps[0] <= overlaps[1].min(overlaps[2]) { 0 } else { 1 + usize::from(overlaps[2] < overlaps[1]) };
        self.tests_of_fresh_start = overlaps[axis];

        let low_ends = self.axes[axis].iter().filter(|&&end| !is_high(end));
        self.in_order.clear();
        self.in_order.extend(low_ends.map(|&end| (boxes[row(end) as usize], row(end))));
        self.pairs.clear();
        for (index, (aabb, row)) in self.in_order.iter().enumerate() {
            for (other, other_row) in &self.in_order[index + 1..] {
                if other.low[axis] > aabb.high[axis] {
                    break;
                }
                if aabb.overlaps(other) {
                    self.pairs.insert(*row, *other_row);
                }
            }
        }
        overlaps[axis]
    }
}

/// How many pairs of intervals overlap.
fn count_overlaps(ends: &[End]) -> u64 {
    let (mut open, mut overlaps) = (0u64, 0);
    for &end in ends {
        if is_high(end) {
            open -= 1;
        } else {
            overlaps += open;
            open += 1;
        }
    }
    overlaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;
    use crate::{Sphere, Vec3};

    /// However rows come, go, creep and jump, the pairs are those of the boxes.
    #[test]
    fn swaps_tell_every_change() {
        let mut random = Random::new(3);
        let mut sweep = BoxSweep::default();
        let mut boxes: Vec<Aabb> = (0..100).map(|_| Aabb::of(Sphere::new(random.point(9.0), 1.0))).collect();
        let mut is_in = vec![false; boxes.len()];
        let mut fresh_starts = 0;
        for tick in 0..300 {
            let was_in = is_in.clone();
            for row in 0..boxes.len() {
                let place = Vec3::from_array(boxes[row].low) + 1.0 + random.direction() * 0.1;
                let place = if tick % 20 == 0 || random.whole(0, 100) == 0 { random.point(9.0) } else { place };
                boxes[row] = Aabb::of(Sphere::new(place, 1.0));
                is_in[row] ^= random.whole(0, 30) == 0;
            }
            let entered: Vec<u32> = (0..100).filter(|&row| is_in[row as usize] && !was_in[row as usize]).collect();
            sweep.retain(|row| is_in[row as usize]);
            let work = sweep.update(&boxes, &entered);
            fresh_starts += u64::from(work.sphere_tests > 0);

            assert!(sweep.axes.iter().all(|ends| ends.is_sorted()));
            let mut found: Vec<_> = sweep.pairs().iter().collect();
            found.sort_unstable();
            let mut expected = Vec::new();
            for one in (0..100u32).filter(|&one| is_in[one as usize]) {
                let others = (one + 1..100).filter(|&other| is_in[other as usize]);
                let others = others.filter(|&other| boxes[one as usize].overlaps(&boxes[other as usize]));
                expected.extend(others.map(|other| (one, other)));
            }
            assert_eq!(found, expected, "tick {tick}");
        }
        assert!((1..200).contains(&fresh_starts), "{fresh_starts} fresh starts: both ways should have been taken");
    }
}

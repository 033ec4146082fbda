//! Sweep and prune on one axis, for comparison: the one along which the world is wide, with all others as far as an
//! interval reaches tested eight at a time.
//!
//! Invariants, from `update` to `find`:
//! - `ends` are the low ends of all objects along `axis`, sorted, and `sorted` are the objects in that order.
//! - If two objects overlap, the low end of the later one is not above the high end of the earlier one.

use super::aabb::Aabb;
use super::interval_ends::{End, insertion_sort, low_end, row};
use super::{BroadPhase, Work, take_in_if_new};
use crate::bits::Bits;
use crate::{Columns, Edition, Pair, Spheres, simd};

/// Objects sorted along one axis and tested against their successors.
#[derive(Clone, Debug, Default)]
pub struct SweepOneAxis {
    axis: usize,
    /// The rows that `ends` has.
    listed: Bits,
    ends: Vec<End>,
    sorted: Sorted,
    /// The world at the last update.
    seen: Option<Edition>,
}

/// The objects in the order of their low ends.
#[derive(Clone, Debug, Default)]
struct Sorted {
    low: Vec<f32>,
    high: Vec<f32>,
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    radius: Vec<f32>,
}

impl SweepOneAxis {
    /// Swaps per object before sorting afresh is quicker.
    const SWAPS_PER_OBJECT: u64 = 64;

    fn list(&mut self, spheres: &Spheres) {
        let alive = spheres.alive();
        if self.listed != *alive {
            self.ends.retain(|&end| alive.contains(row(end) as usize));
            let entered = alive.iter().filter(|&row| !self.listed.contains(row));
            self.ends.extend(entered.map(|row| low_end(0.0, row as u32)));
            self.listed = alive.clone();
        }
    }
}

impl BroadPhase for SweepOneAxis {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.seen = Some(spheres.edition());
        self.list(spheres);
        let columns = spheres.columns();
        self.axis = widest_axis(columns, self.axis);
        for end in &mut self.ends {
            let aabb = Aabb::of(columns.sphere(row(*end) as usize));
            *end = low_end(aabb.low[self.axis], row(*end));
        }
        let swaps_max = Self::SWAPS_PER_OBJECT * self.ends.len() as u64;
        let swaps = insertion_sort(&mut self.ends, swaps_max, |_, _| {});
        if swaps.is_none() {
            self.ends.sort_unstable();
        }
        self.sorted.fill(columns, &self.ends, self.axis);
        Work { swaps: swaps.unwrap_or(swaps_max), ..Work::default() }
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let work = take_in_if_new(self, self.seen, spheres);
        pairs.clear();
        let mut sphere_tests = 0;
        let sorted = self.sorted.columns();
        // High ends are not sorted, but the place up to which they reach moves little from one object to the next.
        let mut to = 0;
        for (index, &high) in self.sorted.high.iter().enumerate() {
            to = to.max(index + 1);
            while to < self.ends.len() && self.sorted.low[to] <= high {
                to += 1;
            }
            while self.sorted.low[to - 1] > high {
                to -= 1;
            }
            sphere_tests += (to - index - 1) as u64;
            simd::overlaps(sorted.sphere(index), sorted, index + 1, to, |other| {
                pairs.push(Pair::of_rows(row(self.ends[index]), row(self.ends[other])));
            });
        }
        work + Work { sphere_tests, ..Work::default() }
    }
}

impl Sorted {
    fn fill(&mut self, columns: Columns<'_>, ends: &[End], axis: usize) {
        self.low.clear();
        self.high.clear();
        for &end in ends {
            let aabb = Aabb::of(columns.sphere(row(end) as usize));
            self.low.push(aabb.low[axis]);
            self.high.push(aabb.high[axis]);
        }
        let sources = [columns.x, columns.y, columns.z, columns.radius];
        for (column, source) in [&mut self.x, &mut self.y, &mut self.z, &mut self.radius].into_iter().zip(sources) {
            column.clear();
            column.extend(ends.iter().map(|&end| source[row(end) as usize]));
        }
    }

    fn columns(&self) -> Columns<'_> {
        Columns { x: &self.x, y: &self.y, z: &self.z, radius: &self.radius }
    }
}

/// The axis along which the centres are spread the widest. It has to be clearly wider than `axis`, because to change
/// the axis is to sort afresh.
fn widest_axis(columns: Columns<'_>, axis: usize) -> usize {
    let extents = [columns.x, columns.y, columns.z].map(|column| {
        let high = column.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        high - column.iter().copied().fold(f32::INFINITY, f32::min)
    });
    let widest = (1..3).fold(0, |widest, axis| if extents[axis] > extents[widest] { axis } else { widest });
    if extents[widest] > 1.25 * extents[axis] { widest } else { axis }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sphere, Vec3};

    #[test]
    fn it_sweeps_along_the_line() {
        let mut spheres = Spheres::new();
        for place in 0..1_000 {
            spheres.insert(Sphere::new(Vec3::new(0.0, 0.0, place as f32), 0.6)).unwrap();
        }
        let (mut sweep, mut pairs) = (SweepOneAxis::default(), Vec::new());
        let work = sweep.pairs(&spheres, &mut pairs);
        assert_eq!((pairs.len(), work.sphere_tests), (999, 999));
    }

    /// A long interval among short ones: the reach goes forth and back.
    #[test]
    fn a_giant_does_not_hide_what_comes_after() {
        let mut spheres = Spheres::new();
        for (place, radius) in [(0.0f32, 1.0), (5.0, 10.0), (20.0, 1.0), (20.5, 1.0), (40.0, 1.0), (-4.9, 0.05)] {
            spheres.insert(Sphere::new(Vec3::new(place, 0.0, 0.0), radius)).unwrap();
        }
        let mut pairs = Vec::new();
        SweepOneAxis::default().pairs(&spheres, &mut pairs);
        pairs.sort_unstable();
        assert_eq!(pairs, [Pair::of_rows(0, 1), Pair::of_rows(1, 5), Pair::of_rows(2, 3)]);
    }
}

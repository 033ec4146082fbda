//! The objects in each voxel, and how that changed: the state of the methods that keep a grid from tick to tick.
//!
//! Invariants:
//! - `rows[row]` is the row as it was at the last update; whatever was told to the cells follows from these.
//! - An object in more than [`Residents::VOXELS_MAX`] voxels is on a separate list instead: memory stays linear in the
//!   number of objects.
//!
//! Every row is read again at every update, so that it does not matter which world is handed over, or whether ticks
//! were skipped: what is as it was costs a comparison.

use crate::Vec3;

use super::aabb::Aabb;
use super::voxels::{VoxelRange, Voxels, VoxelsError};
use crate::bits::Bits;
use crate::{Columns, Pair, Spheres, simd};

/// What an update says to a voxel about an object that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Entered,
    /// Was here and still is, but moved or was resized.
    Stayed,
    Left,
}

/// The objects of each voxel.
#[derive(Clone, Debug)]
pub(super) struct Residents {
    cells: [u32; 3],
    /// `None` until there is an object to put a box around.
    voxels: Option<Voxels>,
    rows: Vec<Resident>,
    oversized: Bits,
}

#[derive(Clone, Copy, Debug)]
struct Resident {
    /// The bits of the centre and the radius: dead rows equal each other, too.
    bits: [u32; 4],
    /// `None` for the dead and the oversized.
    range: Option<VoxelRange>,
}

const NOBODY: Resident = Resident { bits: [u32::MAX; 4], range: None };

impl Residents {
    /// Enough for an object of the size of two voxels.
    pub const VOXELS_MAX: u64 = 27;

    /// Voxels over the box from `low` to `high`.
    pub fn new(low: Vec3, high: Vec3, cells: [u32; 3]) -> Result<Residents, VoxelsError> {
        let voxels = Voxels::new(low, high, cells)?;
        Ok(Residents { cells, voxels: Some(voxels), rows: Vec::new(), oversized: Bits::new() })
    }

    /// Voxels over the box around these objects, or around the first that come.
    pub fn around(spheres: &Spheres, cells: [u32; 3]) -> Result<Residents, VoxelsError> {
        let voxels = Voxels::around(spheres, cells)?;
        Ok(Residents { cells, voxels, rows: Vec::new(), oversized: Bits::new() })
    }

    /// Makes sure that there are voxels as soon as there are objects, and returns how many.
    pub fn settle(&mut self, spheres: &Spheres) -> usize {
        if self.voxels.is_none() {
            self.voxels = Voxels::around(spheres, self.cells).expect("cells were checked, and worlds are finite");
        }
        self.voxels.map_or(0, |voxels| voxels.count())
    }

    /// Compares all rows with what they were, and tells each voxel concerned.
    pub fn update(&mut self, spheres: &Spheres, mut tell: impl FnMut(usize, u32, Change)) {
        let Some(voxels) = self.voxels else { return };
        let columns = spheres.columns();
        // Another world may have fewer rows: those it lacks are dead.
        let rows = columns.x.len().max(self.rows.len());
        self.rows.resize(rows, NOBODY);
        for (row, resident) in self.rows.iter_mut().enumerate() {
            let bits = if row < columns.x.len() { bits(columns, row) } else { NOBODY.bits };
            if bits == resident.bits {
                continue;
            }
            let is_alive = row < columns.x.len() && !columns.x[row].is_nan();
            let range = is_alive.then(|| voxels.range(&Aabb::of(columns.sphere(row))));
            let is_oversized = range.is_some_and(|range| range.count() > Self::VOXELS_MAX);
            if is_oversized {
                self.oversized.insert(row);
            } else {
                self.oversized.remove(row);
            }
            let range = range.filter(|_| !is_oversized);
            tell_places(resident.range, range, |place, change| tell(voxels.number(place), row as u32, change));
            *resident = Resident { bits, range };
        }
        self.rows.truncate(columns.x.len());
    }

    #[inline]
    pub fn is_in(&self, row: u32, voxel: usize) -> bool {
        match (self.rows.get(row as usize), self.voxels) {
            (Some(Resident { range: Some(range), .. }), Some(voxels)) => range.contains(voxels.place(voxel)),
            _ => false,
        }
    }

    /// Whether a voxel reports a pair of its objects: one of the voxels that they share does.
    #[inline]
    pub fn is_reported_by(&self, voxel: usize, one: u32, other: u32) -> bool {
        match (self.rows[one as usize].range, self.rows[other as usize].range, self.voxels) {
            (Some(one), Some(other), Some(voxels)) => voxels.number(one.first_shared(&other)) == voxel,
            _ => false,
        }
    }

    /// Adds the pairs of those who are too large for the voxels, and returns how many tests that took.
    pub fn add_oversized_pairs(&self, columns: Columns<'_>, pairs: &mut Vec<Pair>) -> u64 {
        let mut tests = 0;
        for row in self.oversized.iter() {
            tests += columns.x.len() as u64;
            simd::overlaps(columns.sphere(row), columns, 0, columns.x.len(), |other| {
                let is_reported_by_other = self.oversized.contains(other) && other <= row;
                if !is_reported_by_other {
                    pairs.push(Pair::of_rows(row as u32, other as u32));
                }
            });
        }
        tests
    }
}

fn bits(columns: Columns<'_>, row: usize) -> [u32; 4] {
    [columns.x[row], columns.y[row], columns.z[row], columns.radius[row]].map(f32::to_bits)
}

#[inline]
fn tell_places(before: Option<VoxelRange>, now: Option<VoxelRange>, mut tell: impl FnMut([u32; 3], Change)) {
    if let Some(before) = before {
        before.for_each(|place| {
            let stays = now.is_some_and(|now| now.contains(place));
            tell(place, if stays { Change::Stayed } else { Change::Left });
        });
    }
    if let Some(now) = now.filter(|_| now != before) {
        now.for_each(|place| {
            if !before.is_some_and(|before| before.contains(place)) {
                tell(place, Change::Entered);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;
    use std::collections::BTreeSet;

    /// The reported changes add up to the ranges of voxels.
    #[test]
    fn changes_add_up_to_the_ranges() {
        let mut residents = Residents::new(Vec3::ZERO, Vec3::splat(10.0), [10, 10, 10]).unwrap();
        let voxels = residents.voxels.unwrap();
        let (mut spheres, mut listed) = (Spheres::new(), BTreeSet::new());
        let mut random = crate::workload::Random::new(5);
        for _ in 0..200 {
            let sphere = Sphere::new(random.point(14.0) - 2.0, random.log_uniform(100.0) * 0.1);
            match random.whole(0, 4) {
                0 => _ = spheres.insert(sphere),
                1 => _ = spheres.remove(crate::Slot::new(random.whole(0, 50))),
                2 => _ = spheres.move_to(crate::Slot::new(random.whole(0, 50)), sphere.center),
                _ => _ = spheres.resize(crate::Slot::new(random.whole(0, 50)), sphere.radius),
            }
            residents.update(&spheres, |voxel, row, change| match change {
                Change::Entered => assert!(listed.insert((voxel, row))),
                Change::Stayed => assert!(listed.contains(&(voxel, row))),
                Change::Left => assert!(listed.remove(&(voxel, row))),
            });
            let mut expected = BTreeSet::new();
            for slot in spheres.slots() {
                let range = voxels.range(&Aabb::of(spheres.get(slot).unwrap()));
                let is_oversized = range.count() > Residents::VOXELS_MAX;
                assert_eq!(residents.oversized.contains(slot.row()), is_oversized);
                if !is_oversized {
                    range.for_each(|place| _ = expected.insert((voxels.number(place), slot.number())));
                }
            }
            assert_eq!(listed, expected);
            assert!(listed.iter().all(|&(voxel, row)| residents.is_in(row, voxel)));
        }
    }
}

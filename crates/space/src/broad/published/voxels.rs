//! A box cut into equal voxels: where a sphere's box lies among them, and who reports a pair that shares several.
//!
//! Invariants:
//! - A higher place never has a lower voxel, whatever was rounded: boxes that overlap share a voxel.
//! - What lies outside counts as lying in the voxels of the border.

use crate::Vec3;

use super::aabb::Aabb;
use crate::Spheres;

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum VoxelsError {
    /// A box that holds nothing, or whose corners are not finite.
    #[error("the grid's box is from {low} to {high} along {axis}, expected finite numbers, the first one lower")]
    Bounds {
        /// Along which axis: `x`, `y` or `z`.
        axis: char,
        low: f32,
        high: f32,
    },
    /// No voxels, or more than are useful.
    #[error("{} x {} x {} voxels requested, expected 1 to {} in all", cells[0], cells[1], cells[2], Voxels::MAX)]
    Cells { cells: [u32; 3] },
}

/// Equal voxels, numbered along x, then y, then z.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voxels {
    low: [f32; 3],
    per_metre: [f32; 3],
    cells: [u32; 3],
}

/// A box of voxels, from the lowest to the highest, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VoxelRange {
    pub low: [u32; 3],
    pub high: [u32; 3],
}

impl Voxels {
    /// Some 20 MB of lists.
    pub const MAX: u32 = 1 << 18;

    pub fn new(low: Vec3, high: Vec3, cells: [u32; 3]) -> Result<Voxels, VoxelsError> {
        check_cells(cells)?;
        let (low, high) = (low.to_array(), high.to_array());
        for (index, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            let (low, high) = (low[index], high[index]);
            if !low.is_finite() || !high.is_finite() || low >= high {
                return Err(VoxelsError::Bounds { axis, low, high });
            }
        }
        // As f64 because the difference of two finite numbers may not be finite, nor the inverse of a small one.
        let per_metre = std::array::from_fn(|axis| {
            let extent = f64::from(high[axis]) - f64::from(low[axis]);
            (f64::from(cells[axis]) / extent).min(f64::from(f32::MAX)) as f32
        });
        Ok(Voxels { low, per_metre, cells })
    }

    /// The voxels of the box around all objects, or `None` when there are none.
    ///
    /// Where the world is thin, the box is not: voxels are no smaller than most objects, which then are in few of them.
    pub fn around(spheres: &Spheres, cells: [u32; 3]) -> Result<Option<Voxels>, VoxelsError> {
        check_cells(cells)?;
        let columns = spheres.columns();
        let (mut low, mut high, mut radii) = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0.0);
        for row in spheres.alive().iter() {
            let aabb = Aabb::of(columns.sphere(row));
            low = low.min(aabb.low.into());
            high = high.max(aabb.high.into());
            radii += f64::from(columns.radius[row]);
        }
        if spheres.is_empty() {
            return Ok(None);
        }
        // Far from the origin a difference may be lost, and points have no size: a little is added for both.
        let edge_min = 3.0 * (radii / spheres.len() as f64) as f32;
        let thickness = Vec3::from(cells.map(|cells| cells as f32)) * edge_min;
        let high = high.max(low + thickness).max(low + low.abs() * 1e-6 + f32::MIN_POSITIVE);
        Voxels::new(low, high, cells).map(Some)
    }

    pub fn count(&self) -> usize {
        self.cells.iter().product::<u32>() as usize
    }

    #[inline]
    pub fn range(&self, aabb: &Aabb) -> VoxelRange {
        VoxelRange { low: self.place_of(aabb.low), high: self.place_of(aabb.high) }
    }

    #[inline]
    pub fn number(&self, place: [u32; 3]) -> usize {
        ((place[2] * self.cells[1] + place[1]) * self.cells[0] + place[0]) as usize
    }

    #[inline]
    pub fn place(&self, number: usize) -> [u32; 3] {
        let (number, [x, y, _]) = (number as u32, self.cells);
        [number % x, number / x % y, number / x / y]
    }

    #[inline]
    fn place_of(&self, point: [f32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| {
            let voxels = (point[axis] - self.low[axis]) * self.per_metre[axis];
            // The cast saturates; a point below the box becomes voxel 0.
            (voxels as u32).min(self.cells[axis] - 1)
        })
    }
}

impl VoxelRange {
    pub fn count(&self) -> u64 {
        (0..3).map(|axis| u64::from(self.high[axis] - self.low[axis]) + 1).product()
    }

    #[inline]
    pub fn contains(&self, place: [u32; 3]) -> bool {
        (0..3).all(|axis| self.low[axis] <= place[axis] && place[axis] <= self.high[axis])
    }

    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut([u32; 3])) {
        for z in self.low[2]..=self.high[2] {
            for y in self.low[1]..=self.high[1] {
                for x in self.low[0]..=self.high[0] {
                    visit([x, y, z]);
                }
            }
        }
    }

    /// The lowest voxel that both are in, if there is one. It alone reports their pair.
    #[inline]
    pub fn first_shared(&self, other: &VoxelRange) -> [u32; 3] {
        std::array::from_fn(|axis| self.low[axis].max(other.low[axis]))
    }
}

fn check_cells(cells: [u32; 3]) -> Result<(), VoxelsError> {
    let count = cells.iter().fold(1u32, |count, &cells| count.saturating_mul(cells));
    if (1..=Voxels::MAX).contains(&count) { Ok(()) } else { Err(VoxelsError::Cells { cells }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;
    use proptest::prelude::*;

    #[test]
    fn a_grid_that_cannot_be_is_refused() {
        let refused = |low, high, cells| Voxels::new(low, high, cells).unwrap_err().to_string();
        assert_eq!(
            refused(Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0), [1, 1, 1]),
            "the grid's box is from 0 to 0 along y, expected finite numbers, the first one lower"
        );
        assert!(refused(Vec3::ZERO, Vec3::new(f32::NAN, 1.0, 1.0), [1, 1, 1]).contains("along x"));
        assert_eq!(
            refused(Vec3::ZERO, Vec3::ONE, [4_000_000_000, 4_000_000_000, 0]),
            "4000000000 x 4000000000 x 0 voxels requested, expected 1 to 262144 in all"
        );
        assert!(Voxels::new(Vec3::splat(f32::MIN), Vec3::splat(f32::MAX), [10, 4, 10]).is_ok());
    }

    proptest! {
        /// The law that exactness rests on, for boxes within, across and outside of any grid.
        #[test]
        fn boxes_that_overlap_share_the_voxel_that_reports_them(
            cells in [1u32..20, 1u32..20, 1u32..20],
            exponent in -30i32..30,
            offset in prop_oneof![Just(0f32), -1e8f32..1e8],
            spheres in prop::collection::vec((-2f32..2.0, -2f32..2.0, -2f32..2.0, 0f32..1.0), 2..20),
        ) {
            let scale = 2f32.powi(exponent);
            let corner = Vec3::splat(offset - scale);
            let voxels = Voxels::new(corner, corner + Vec3::splat(2.0 * scale + offset.abs() * 1e-6 + 1e-30), cells);
            let voxels = voxels.unwrap();
            let boxes: Vec<Aabb> = spheres.iter().map(|&(x, y, z, radius)| {
                Aabb::of(Sphere::new(Vec3::new(x, y, z) * scale + offset, radius * scale))
            }).collect();
            for (index, one) in boxes.iter().enumerate() {
                for other in &boxes[..index] {
                    let (range, other_range) = (voxels.range(one), voxels.range(other));
                    let shared = range.first_shared(&other_range);
                    prop_assert!(!one.overlaps(other) || range.contains(shared) && other_range.contains(shared));
                    prop_assert!(voxels.number(range.high) < voxels.count());
                }
            }
        }
    }
}

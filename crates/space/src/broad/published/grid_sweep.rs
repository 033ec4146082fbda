//! Paper 003's hybrid: its grid, with a sweep and prune in each voxel instead of brute force. The paper found it slower
//! than a single sweep and prune.
//!
//! Invariants, from `update` to `find`:
//! - A voxel's sweep knows exactly its residents, and the pairs of them whose boxes overlap.
//! - A sweep where nothing changed is left alone.

use crate::Vec3;

use super::aabb::Aabb;
use super::box_sweep::BoxSweep;
use super::residents::{Change, Residents};
use super::voxels::VoxelsError;
use super::{BroadPhase, UniformGrid, Work, take_in_if_new};
use crate::{Edition, Pair, Spheres};

/// A static grid with a sweep and prune in each voxel.
#[derive(Clone, Debug)]
pub struct GridSweepAndPrune {
    residents: Residents,
    voxels: Vec<Voxel>,
    touched: Vec<u32>,
    boxes: Vec<Aabb>,
    /// The world at the last update.
    seen: Option<Edition>,
}

#[derive(Clone, Debug, Default)]
struct Voxel {
    sweep: BoxSweep,
    entered: Vec<u32>,
    has_left: bool,
    is_touched: bool,
}

impl GridSweepAndPrune {
    /// A grid over the box from `low` to `high`. Objects outside are found as well, in the voxels of the border.
    pub fn new(low: Vec3, high: Vec3, cells: [u32; 3]) -> Result<GridSweepAndPrune, VoxelsError> {
        Residents::new(low, high, cells).map(GridSweepAndPrune::of)
    }

    /// A grid over the box around these objects; when there are none, around the first that come.
    pub fn around(spheres: &Spheres, cells: [u32; 3]) -> Result<GridSweepAndPrune, VoxelsError> {
        Residents::around(spheres, cells).map(GridSweepAndPrune::of)
    }

    fn of(residents: Residents) -> GridSweepAndPrune {
        GridSweepAndPrune { residents, voxels: Vec::new(), touched: Vec::new(), boxes: Vec::new(), seen: None }
    }
}

/// The granularity of [`UniformGrid`], over the box around the objects of the first tick that has some.
impl Default for GridSweepAndPrune {
    fn default() -> GridSweepAndPrune {
        GridSweepAndPrune::around(&Spheres::new(), UniformGrid::CELLS).expect("the paper's grid can be made")
    }
}

impl BroadPhase for GridSweepAndPrune {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.seen = Some(spheres.edition());
        let columns = spheres.columns();
        self.boxes.clear();
        self.boxes.extend((0..spheres.rows()).map(|row| Aabb::of(columns.sphere(row))));
        self.voxels.resize_with(self.residents.settle(spheres), Voxel::default);
        let (voxels, touched) = (&mut self.voxels, &mut self.touched);
        self.residents.update(spheres, |number, row, change| {
            let voxel = &mut voxels[number];
            match change {
                Change::Entered => voxel.entered.push(row),
                Change::Stayed => {}
                Change::Left => voxel.has_left = true,
            }
            if !voxel.is_touched {
                voxel.is_touched = true;
                touched.push(number as u32);
            }
        });
        let mut work = Work { cells: self.touched.len() as u64, ..Work::default() };
        for number in self.touched.drain(..) {
            let voxel = &mut self.voxels[number as usize];
            if voxel.has_left {
                voxel.sweep.retain(|row| self.residents.is_in(row, number as usize));
            }
            work += voxel.sweep.update(&self.boxes, &voxel.entered);
            voxel.entered.clear();
            (voxel.has_left, voxel.is_touched) = (false, false);
        }
        work
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let mut work = take_in_if_new(self, self.seen, spheres);
        pairs.clear();
        let columns = spheres.columns();
        for (number, voxel) in self.voxels.iter().enumerate() {
            for (one, other) in voxel.sweep.pairs().iter() {
                if self.residents.is_reported_by(number, one, other) {
                    work.sphere_tests += 1;
                    if columns.sphere(one as usize).overlaps(columns.sphere(other as usize)) {
                        pairs.push(Pair::of_rows(one, other));
                    }
                }
            }
        }
        work.sphere_tests += self.residents.add_oversized_pairs(columns, pairs);
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;

    #[test]
    fn a_pair_that_shares_voxels_is_reported_once_wherever_it_goes() {
        let mut spheres = Spheres::new();
        let [ann, bob] = [0.0f32, 0.5].map(|place| spheres.insert(Sphere::new(Vec3::splat(place), 1.0)).unwrap());
        let mut grid = GridSweepAndPrune::new(Vec3::ZERO, Vec3::splat(10.0), [8, 8, 8]).unwrap();
        let mut pairs = Vec::new();
        for step in 0..120 {
            grid.pairs(&spheres, &mut pairs);
            assert_eq!(pairs, [Pair::new(ann, bob)], "step {step}");
            spheres.end_tick();
            for slot in [ann, bob] {
                let place = spheres.get(slot).unwrap().center + Vec3::new(0.1, 0.07, 0.09);
                spheres.move_to(slot, place).unwrap();
            }
        }
        spheres.end_tick();
        let work = grid.pairs(&spheres, &mut pairs);
        spheres.end_tick();
        assert!(work.cells > 0 && grid.pairs(&spheres, &mut pairs).cells == 0, "who stands still touches no voxel");
    }
}

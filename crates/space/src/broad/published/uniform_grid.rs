//! Paper 003's grid: a box cut into voxels once, each object listed in every voxel that its box overlaps, and brute
//! force in each voxel.
//!
//! Invariants:
//! - A voxel lists its residents, in any order, and knows the pairs among them that it reports.
//! - Only a voxel where something changed is looked into: the others' pairs are what they were.

use crate::Vec3;

use super::cell_members::CellMembers;
use super::residents::{Change, Residents};
use super::voxels::VoxelsError;
use super::{BroadPhase, Work, take_in_if_new};
use crate::{Edition, Pair, Spheres};

#[derive(Clone, Debug)]
pub struct UniformGrid {
    residents: Residents,
    voxels: Vec<Voxel>,
    touched: Vec<u32>,
    members: CellMembers,
    /// The world at the last update.
    seen: Option<Edition>,
}

#[derive(Clone, Debug, Default)]
struct Voxel {
    rows: Vec<u32>,
    pairs: Vec<Pair>,
    is_touched: bool,
}

impl UniformGrid {
    /// The granularity that paper 003 found best for its room of 100 x 25 x 100.
    pub const CELLS: [u32; 3] = [10, 4, 10];

    /// A grid over the box from `low` to `high`. Objects outside are found as well, in the voxels of the border.
    pub fn new(low: Vec3, high: Vec3, cells: [u32; 3]) -> Result<UniformGrid, VoxelsError> {
        Residents::new(low, high, cells).map(UniformGrid::of)
    }

    /// A grid over the box around these objects; when there are none, around the first that come.
    pub fn around(spheres: &Spheres, cells: [u32; 3]) -> Result<UniformGrid, VoxelsError> {
        Residents::around(spheres, cells).map(UniformGrid::of)
    }

    fn of(residents: Residents) -> UniformGrid {
        UniformGrid { residents, voxels: Vec::new(), touched: Vec::new(), members: CellMembers::default(), seen: None }
    }
}

/// The paper's granularity, over the box around the objects of the first tick that has some.
impl Default for UniformGrid {
    fn default() -> UniformGrid {
        UniformGrid::around(&Spheres::new(), UniformGrid::CELLS).expect("the paper's grid can be made")
    }
}

impl BroadPhase for UniformGrid {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.seen = Some(spheres.edition());
        self.voxels.resize_with(self.residents.settle(spheres), Voxel::default);
        let (voxels, touched) = (&mut self.voxels, &mut self.touched);
        let mut work = Work::default();
        self.residents.update(spheres, |number, row, change| {
            let voxel = &mut voxels[number];
            work.cells += u64::from(change != Change::Stayed);
            match change {
                Change::Entered => voxel.rows.push(row),
                Change::Stayed => {}
                Change::Left => {
                    let index = voxel.rows.iter().position(|&resident| resident == row);
                    voxel.rows.swap_remove(index.expect("who leaves a voxel was listed there"));
                }
            }
            if !voxel.is_touched {
                voxel.is_touched = true;
                touched.push(number as u32);
            }
        });
        work
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let mut work = take_in_if_new(self, self.seen, spheres);
        work.cells += self.touched.len() as u64;
        for number in self.touched.drain(..) {
            let voxel = &mut self.voxels[number as usize];
            voxel.is_touched = false;
            voxel.pairs.clear();
            work.sphere_tests += self.members.brute_force(spheres.columns(), &voxel.rows, |one, other| {
                if self.residents.is_reported_by(number as usize, one, other) {
                    voxel.pairs.push(Pair::of_rows(one, other));
                }
            });
        }
        pairs.clear();
        for voxel in &self.voxels {
            pairs.extend_from_slice(&voxel.pairs);
        }
        work.sphere_tests += self.residents.add_oversized_pairs(spheres.columns(), pairs);
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sphere;

    #[test]
    fn only_touched_voxels_are_visited_and_the_others_keep_their_pairs() {
        let mut spheres = Spheres::new();
        let slots: Vec<_> =
            [0.1f32, 0.6, 8.1, 8.6].map(|place| spheres.insert(Sphere::new(Vec3::splat(place), 0.5)).unwrap()).into();
        let mut grid = UniformGrid::new(Vec3::ZERO, Vec3::splat(10.0), [5, 5, 5]).unwrap();
        let mut pairs = Vec::new();
        let work = grid.pairs(&spheres, &mut pairs);
        assert_eq!(pairs.len(), 2);
        assert!(work.cells >= 2);

        spheres.end_tick();
        assert_eq!(grid.pairs(&spheres, &mut pairs), Work::default(), "nothing moved");
        assert_eq!(pairs.len(), 2);

        spheres.move_to(slots[3], Vec3::splat(9.5)).unwrap();
        assert!(grid.pairs(&spheres, &mut pairs).cells >= 1);
        assert_eq!(pairs, [Pair::new(slots[0], slots[1])]);
    }

    #[test]
    fn who_is_larger_than_many_voxels_is_listed_apart() {
        let mut spheres = Spheres::new();
        let slots: Vec<_> = [(2.0f32, 0.2), (5.0, 9.0), (6.0, 7.0)]
            .map(|(place, radius)| spheres.insert(Sphere::new(Vec3::splat(place), radius)).unwrap())
            .into();
        let mut grid = UniformGrid::new(Vec3::ZERO, Vec3::splat(10.0), [20, 20, 20]).unwrap();
        let mut pairs = Vec::new();
        grid.pairs(&spheres, &mut pairs);
        pairs.sort_unstable();
        assert_eq!(pairs, [(0, 1), (0, 2), (1, 2)].map(|(one, other)| Pair::new(slots[one], slots[other])));
        assert!(grid.voxels.iter().map(|voxel| voxel.rows.len()).sum::<usize>() <= 27);
    }
}

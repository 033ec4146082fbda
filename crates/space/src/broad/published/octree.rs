//! Paper 003's octree: the box around all objects is halved along each axis down to a given depth, each object is
//! listed in each leaf that its box overlaps, and each leaf is searched by brute force. It is built anew every tick.
//!
//! Invariants, from `update` to `find`:
//! - The deepest leaves are voxels; a node is a cube of them, and lists exactly those whose box is in one of its
//!   voxels.
//! - Every voxel with two objects is in one leaf. A node with fewer than two is not made.
//! - Lists together have at most [`Octree::LISTED_MAX`] entries per object: a node is not split beyond that.

use super::aabb::Aabb;
use super::cell_members::CellMembers;
use super::voxels::{VoxelRange, Voxels};
use super::{BroadPhase, Work, take_in_if_new};
use crate::{Edition, Pair, Spheres};

#[derive(Clone, Debug)]
pub struct Octree {
    depth: u32,
    /// The voxels of each row.
    ranges: Vec<VoxelRange>,
    leaves: Vec<Node>,
    open: Vec<Node>,
    /// The objects of the nodes, each node's in one run.
    listed: Vec<u32>,
    /// Scratch: which children each object of a node is in, one bit each.
    children: Vec<u8>,
    members: CellMembers,
    /// The world at the last update.
    seen: Option<Edition>,
}

/// A cube of voxels and its objects.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: [u32; 3],
    edge: u32,
    /// Its run in `listed`.
    from: usize,
    to: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an octree of depth {depth} requested, expected at most {}", Octree::DEPTH_MAX)]
pub struct OctreeError {
    /// How often it would have been split.
    pub depth: u32,
}

impl Octree {
    /// The depth that paper 003 found best.
    pub const DEPTH: u32 = 3;
    /// As many voxels as any grid may have.
    pub const DEPTH_MAX: u32 = 6;
    /// Entries per object in all lists: at the paper's depth only the largest objects come near.
    const LISTED_MAX: usize = 64;

    /// An octree that is split `depth` times; 0 is brute force.
    pub fn new(depth: u32) -> Result<Octree, OctreeError> {
        if depth > Octree::DEPTH_MAX {
            return Err(OctreeError { depth });
        }
        Ok(Octree {
            depth,
            ranges: Vec::new(),
            leaves: Vec::new(),
            open: Vec::new(),
            listed: Vec::new(),
            children: Vec::new(),
            members: CellMembers::default(),
            seen: None,
        })
    }

    /// Replaces a node by those of its eight children that have at least two objects.
    fn split(&mut self, node: Node) {
        let half = node.edge / 2;
        let middle = node.low.map(|low| low + half);
        let mut counts = [0; 8];
        self.children.clear();
        for &row in &self.listed[node.from..node.to] {
            let children = self.ranges[row as usize].children(middle);
            for (child, count) in counts.iter_mut().enumerate() {
                *count += usize::from(children >> child & 1);
            }
            self.children.push(children);
        }
        let (mut places, mut wanted) = ([0; 8], 0u8);
        let mut end = self.listed.len();
        for (child, &count) in counts.iter().enumerate().filter(|&(_, &count)| count >= 2) {
            let low = std::array::from_fn(|axis| if child >> axis & 1 == 0 { node.low[axis] } else { middle[axis] });
            self.open.push(Node { low, edge: half, from: end, to: end + count });
            places[child] = end;
            wanted |= 1 << child;
            end += count;
        }
        self.listed.resize(end, 0);
        for (index, &children) in self.children.iter().enumerate() {
            let row = self.listed[node.from + index];
            let mut rest = children & wanted;
            while rest != 0 {
                let place = &mut places[rest.trailing_zeros() as usize];
                self.listed[*place] = row;
                *place += 1;
                rest &= rest - 1;
            }
        }
    }
}

impl VoxelRange {
    /// Which of the eight cubes around a corner it reaches into, one bit each, numbered along x, then y, then z.
    #[inline]
    fn children(&self, middle: [u32; 3]) -> u8 {
        let sides = |axis: usize, below: u8, above: u8| {
            let below = if self.low[axis] < middle[axis] { below } else { 0 };
            let above = if self.high[axis] >= middle[axis] { above } else { 0 };
            below | above
        };
        sides(0, 0b0101_0101, 0b1010_1010) & sides(1, 0b0011_0011, 0b1100_1100) & sides(2, 0b0000_1111, 0b1111_0000)
    }
}

impl Default for Octree {
    fn default() -> Octree {
        Octree::new(Octree::DEPTH).expect("the paper's octree can be made")
    }
}

impl BroadPhase for Octree {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.seen = Some(spheres.edition());
        self.leaves.clear();
        self.open.clear();
        self.listed.clear();
        let edge = 1 << self.depth;
        let voxels = Voxels::around(spheres, [edge; 3]).expect("the depth was checked, and worlds are finite");
        let Some(voxels) = voxels else { return Work::default() };

        let columns = spheres.columns();
        self.ranges.clear();
        self.ranges.extend((0..spheres.rows()).map(|row| voxels.range(&Aabb::of(columns.sphere(row)))));
        self.listed.extend(spheres.alive().iter().map(|row| row as u32));
        self.open.push(Node { low: [0; 3], edge, from: 0, to: self.listed.len() });
        let listed_max = spheres.len() * Self::LISTED_MAX;
        let mut nodes = 0;
        while let Some(node) = self.open.pop() {
            nodes += 1;
            // Splitting lists each object eight times at most.
            let is_affordable = self.listed.len() + 8 * (node.to - node.from) <= listed_max;
            if node.edge > 1 && is_affordable {
                self.split(node);
            } else {
                self.leaves.push(node);
            }
        }
        Work { nodes, ..Work::default() }
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let mut work = take_in_if_new(self, self.seen, spheres);
        work.cells += self.leaves.len() as u64;
        pairs.clear();
        for leaf in &self.leaves {
            let cube = VoxelRange { low: leaf.low, high: leaf.low.map(|low| low + leaf.edge - 1) };
            let rows = &self.listed[leaf.from..leaf.to];
            work.sphere_tests += self.members.brute_force(spheres.columns(), rows, |one, other| {
                let shared = self.ranges[one as usize].first_shared(&self.ranges[other as usize]);
                if cube.contains(shared) {
                    pairs.push(Pair::of_rows(one, other));
                }
            });
        }
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sphere, Vec3};

    #[test]
    fn a_tree_too_deep_is_refused() {
        assert_eq!(Octree::new(7).unwrap_err().to_string(), "an octree of depth 7 requested, expected at most 6");
    }

    #[test]
    fn children_are_the_cubes_that_are_reached() {
        let range = VoxelRange { low: [1, 3, 0], high: [2, 5, 3] };
        for child in 0..8u32 {
            let low = [0, 1, 2].map(|axis| (child >> axis & 1) * 4);
            let reaches = (0..3).all(|axis| range.low[axis] < low[axis] + 4 && range.high[axis] >= low[axis]);
            assert_eq!(range.children([4; 3]) >> child & 1 == 1, reaches);
        }
    }

    #[test]
    fn giants_do_not_fill_the_memory() {
        let mut spheres = Spheres::new();
        for place in 0..500 {
            spheres.insert(Sphere::new(Vec3::splat(place as f32), 1e6)).unwrap();
        }
        let mut octree = Octree::new(Octree::DEPTH_MAX).unwrap();
        let mut pairs = Vec::new();
        octree.pairs(&spheres, &mut pairs);
        assert_eq!(pairs.len(), 500 * 499 / 2);
        assert!(octree.listed.len() <= 500 * Octree::LISTED_MAX);
    }

    #[test]
    fn far_groups_are_never_tested_against_each_other() {
        let mut spheres = Spheres::new();
        for place in [0.0f32, 0.1, 0.2, 99.8, 99.9, 100.0] {
            spheres.insert(Sphere::new(Vec3::splat(place), 0.1)).unwrap();
        }
        let mut octree = Octree::default();
        let mut pairs = Vec::new();
        let work = octree.pairs(&spheres, &mut pairs);
        assert_eq!((pairs.len(), work.sphere_tests, work.cells), (4, 6, 2));
    }
}

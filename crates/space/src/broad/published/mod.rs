//! Paper 003's broad phases: its octree, its uniform grid of voxels, sweep and prune on three axes and on one, and the
//! grid with a sweep in each voxel. They are here to be compared with, and are exact like all others.

mod aabb;
mod box_sweep;
mod cell_members;
mod grid_sweep;
mod interval_ends;
mod octree;
mod pair_set;
mod residents;
mod sweep_and_prune;
mod sweep_one_axis;
mod uniform_grid;
mod voxels;

pub use grid_sweep::GridSweepAndPrune;
pub use octree::{Octree, OctreeError};
pub use sweep_and_prune::SweepAndPrune;
pub use sweep_one_axis::SweepOneAxis;
pub use uniform_grid::UniformGrid;
pub use voxels::VoxelsError;

use super::{BroadPhase, Work, take_in_if_new};

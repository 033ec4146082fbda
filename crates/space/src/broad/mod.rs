//! Broad phases: the pairs of bounding spheres that overlap, by one file per method.
//!
//! [`BruteForce`] is the definition: every other method is tested against it, tick after tick.

mod brute_force;
mod kinesphere;
mod plain_grid;
pub mod published;
pub mod query;

pub use brute_force::BruteForce;
pub use kinesphere::Kinesphere;
pub use plain_grid::PlainGrid;
pub use published::{GridSweepAndPrune, Octree, OctreeError, SweepAndPrune, SweepOneAxis, UniformGrid, VoxelsError};
pub use query::Finder;

use crate::{Edition, Pair, Spheres};

/// Finds the pairs of spheres that overlap ([`Sphere::overlaps`](crate::Sphere::overlaps)).
///
/// Every implementation gives exactly the same set of pairs, each once and in an order of its own, whatever it
/// remembers from earlier ticks and whichever world it is handed. A method may rely on
/// [`moved`](Spheres::moved) and [`reshaped`](Spheres::reshaped) only when the world's
/// [`edition`](Spheres::edition) is the [next](crate::Edition::is_next_after) after the one it saw last.
///
/// The work comes in two steps, so that the lab can measure them apart: first `update`, then `find`.
/// [`pairs`](BroadPhase::pairs) does both.
pub trait BroadPhase: Send {
    /// Takes in the new positions. Call it once per tick, before `find`; further calls, and calls without a `find`, do
    /// no harm.
    fn update(&mut self, spheres: &Spheres) -> Work;

    /// Replaces `pairs` by the pairs of spheres that overlap. Calls `update` first if the spheres have changed since.
    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work;

    /// A whole tick: from new positions to the complete list of pairs.
    fn pairs(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        self.update(spheres) + self.find(spheres, pairs)
    }
}

/// The operations of a method, counted rather than timed: the numbers are the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Tests of a sphere, its path or its box against another. Comparisons within swaps are not included.
    pub sphere_tests: u64,
    /// Cells, tiles or leaves that were searched, or that an object entered or left.
    pub cells: u64,
    /// Nodes of a tree that were made or visited.
    pub nodes: u64,
    /// Swaps of neighbours in a sorted list.
    pub swaps: u64,
}

impl std::ops::Add for Work {
    type Output = Work;
    fn add(self, other: Work) -> Work {
        Work {
            sphere_tests: self.sphere_tests + other.sphere_tests,
            cells: self.cells + other.cells,
            nodes: self.nodes + other.nodes,
            swaps: self.swaps + other.swaps,
        }
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        *self = *self + other;
    }
}

/// Updates a method, unless the spheres are as it has `seen` them.
fn take_in_if_new(method: &mut impl BroadPhase, seen: Option<Edition>, spheres: &Spheres) -> Work {
    if seen == Some(spheres.edition()) { Work::default() } else { method.update(spheres) }
}

//! Every sphere against every other: the definition of the right answer, and the yardstick of the papers.

use super::{BroadPhase, Work};
use crate::{Pair, Spheres, simd};

/// Tests all n(n-1)/2 pairs, eight at a time.
#[derive(Clone, Debug, Default)]
pub struct BruteForce;

impl BroadPhase for BruteForce {
    fn update(&mut self, _spheres: &Spheres) -> Work {
        Work::default()
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        pairs.clear();
        let columns = spheres.columns();
        for row in spheres.alive().iter() {
            // Dead rows hold NaN and so overlap nothing: no need to skip them.
            let sphere = columns.sphere(row);
            simd::overlaps(sphere, columns, row + 1, spheres.rows(), |other| {
                pairs.push(Pair::of_rows(row as u32, other as u32));
            });
        }
        let n = spheres.len() as u64;
        Work { sphere_tests: n * n.saturating_sub(1) / 2, ..Work::default() }
    }
}

//! Sweep and prune, as in I-COLLIDE and paper 003: the ends of all boxes sorted on three axes and kept from tick to
//! tick.
//!
//! Invariants, from `update` to `find`:
//! - `listed` are the rows that the sweep knows: those that lived at the last update.
//! - Spheres that overlap have boxes that overlap, so only the sweep's pairs are tested.
//!
//! It does not notice that it is given another world: all objects seem to have jumped, and are sorted again.

use super::aabb::Aabb;
use super::box_sweep::BoxSweep;
use super::{BroadPhase, Work, take_in_if_new};
use crate::bits::Bits;
use crate::{Edition, Pair, Spheres};

/// Boxes swept on three axes; the pairs that overlap follow from the swaps.
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune {
    boxes: Vec<Aabb>,
    listed: Bits,
    entered: Vec<u32>,
    sweep: BoxSweep,
    /// The world at the last update.
    seen: Option<Edition>,
}

impl BroadPhase for SweepAndPrune {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.seen = Some(spheres.edition());
        let columns = spheres.columns();
        self.boxes.clear();
        self.boxes.extend((0..spheres.rows()).map(|row| Aabb::of(columns.sphere(row))));
        self.entered.clear();
        let alive = spheres.alive();
        if self.listed != *alive {
            let entered = alive.iter().filter(|&row| !self.listed.contains(row));
            self.entered.extend(entered.map(|row| row as u32));
            if self.listed.iter().any(|row| !alive.contains(row)) {
                self.sweep.retain(|row| alive.contains(row as usize));
            }
            self.listed = alive.clone();
        }
        self.sweep.update(&self.boxes, &self.entered)
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let work = take_in_if_new(self, self.seen, spheres);
        pairs.clear();
        let columns = spheres.columns();
        for (one, other) in self.sweep.pairs().iter() {
            if columns.sphere(one as usize).overlaps(columns.sphere(other as usize)) {
                pairs.push(Pair::of_rows(one, other));
            }
        }
        work + Work { sphere_tests: self.sweep.pairs().len() as u64, ..Work::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Motion, Settings, Workload};

    fn swaps_per_object(motion: Motion) -> u64 {
        let objects = 1_000;
        let mut workload = Workload::new(Settings { motion, objects, ..Settings::default() }).unwrap();
        let (mut sweep_and_prune, mut pairs) = (SweepAndPrune::default(), Vec::new());
        sweep_and_prune.pairs(workload.spheres(), &mut pairs);
        let mut swaps = 0;
        for _ in 0..10 {
            workload.step();
            swaps += sweep_and_prune.pairs(workload.spheres(), &mut pairs).swaps;
        }
        swaps / 10 / objects as u64
    }

    #[test]
    fn small_steps_take_few_swaps_and_jumps_do_not_take_squares_of_them() {
        let (steps, jumps) = (swaps_per_object(Motion::Uniform), swaps_per_object(Motion::Teleport));
        assert!(steps < 20, "{steps} swaps per object and tick");
        assert!(jumps < 100, "{jumps} swaps per object and tick, where sorting all by insertion takes 3000");
    }
}

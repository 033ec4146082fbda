//! Crowds in which everybody has so many neighbours, on average: the workload's own number is that of the middle.

use space::BroadPhase;
use space::broad::PlainGrid;
use space::workload::{Motion, Settings, Workload, WorkloadError};

/// How far an object moves within its crowd per tick, in radii.
pub const SPEED: f32 = 0.05;

/// Crowds of `size` that mill about at [`SPEED`], in which an object has `neighbours` others on average over time.
pub fn workload(objects: usize, size: usize, neighbours: f32, seed: u64) -> Result<Workload, WorkloadError> {
    // Within a crowd, the workload moves objects by half the speed.
    let speed = 2.0 * SPEED;
    let settings = |objects: usize, crowd_neighbours: f32| Settings {
        motion: Motion::Crowds,
        objects,
        crowd_size: size,
        crowd_neighbours,
        speed,
        seed,
        ..Settings::default()
    };
    let mut crowd_neighbours = 1.6 * neighbours;
    // A smaller world of the same crowds tells how far off the number is; it settles within a few rounds.
    for _ in 0..6 {
        let mean = mean_neighbours(Workload::new(settings(objects.min(20 * size), crowd_neighbours))?);
        if mean > 0.0 {
            crowd_neighbours *= neighbours / mean;
        }
    }
    Workload::new(settings(objects, crowd_neighbours))
}

/// Neighbours per object, over three hundred ticks.
fn mean_neighbours(mut workload: Workload) -> f32 {
    let (mut grid, mut pairs, mut sum) = (PlainGrid::default(), Vec::new(), 0);
    for tick in 0..300 {
        if tick % 20 == 0 {
            grid.pairs(workload.spheres(), &mut pairs);
            sum += pairs.len();
        }
        workload.step();
    }
    2.0 * sum as f32 / 15.0 / workload.spheres().len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_has_the_neighbours_that_were_asked_for() {
        for (objects, size, neighbours) in [(200, 200, 60.0), (1_000, 100, 30.0)] {
            let mean = mean_neighbours(workload(objects, size, neighbours, 1).unwrap());
            assert!((mean / neighbours - 1.0).abs() < 0.1, "{mean} neighbours instead of {neighbours}");
        }
    }
}

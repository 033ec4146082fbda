//! Crowds with a given mean number of neighbours per object: the workload's own number is that of the middle.

use std::ops::Range;

use space::BroadPhase;
use space::broad::PlainGrid;
use space::workload::{Motion, Settings, Workload, WorkloadError};

/// How far an object moves within its crowd per tick, in radii.
pub const SPEED: f32 = 0.05;

/// Crowds of `size` that mill about at [`SPEED`], in which an object has `neighbours` others on average over some
/// ticks.
pub fn workload(
    objects: usize,
    size: usize,
    neighbours: f32,
    over: Range<u32>,
    seed: u64,
) -> Result<Workload, WorkloadError> {
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
    // A smaller world of the same crowds tells how far off the number is; it settles within a few rounds. The last ones
    // are made with the world itself, for in a small one more crowds are pressed against the walls.
    for round in 0..6 {
        let sample = if round < 4 { objects.min(20 * size) } else { objects };
        let mean = mean_neighbours(Workload::new(settings(sample, crowd_neighbours))?, over.clone());
        if mean > 0.0 {
            crowd_neighbours *= neighbours / mean;
        }
    }
    Workload::new(settings(objects, crowd_neighbours))
}

/// Neighbours per object, over some ticks, of which some fifteen are looked at.
fn mean_neighbours(mut workload: Workload, over: Range<u32>) -> f32 {
    let (mut grid, mut pairs, mut sum, mut looks) = (PlainGrid::default(), Vec::new(), 0, 0u32);
    let step = (over.len() as u32 / 15).max(1);
    for tick in 0..over.end {
        if over.contains(&tick) && (tick - over.start).is_multiple_of(step) {
            grid.pairs(workload.spheres(), &mut pairs);
            sum += pairs.len();
            looks += 1;
        }
        workload.step();
    }
    2.0 * sum as f32 / looks.max(1) as f32 / workload.spheres().len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_has_the_neighbours_that_were_asked_for() {
        for (objects, size, neighbours, over) in [(200, 200, 60.0, 0..300), (5_000, 100, 30.0, 40..100)] {
            let mean = mean_neighbours(workload(objects, size, neighbours, over.clone(), 1).unwrap(), over);
            assert!((mean / neighbours - 1.0).abs() < 0.03, "{mean} neighbours instead of {neighbours}");
        }
    }
}

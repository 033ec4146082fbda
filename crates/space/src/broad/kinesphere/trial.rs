//! For tests: ours beside brute force, tick by tick, and how those move who are looked at.

use super::Kinesphere;
use crate::broad::BruteForce;
use crate::{BroadPhase, Pair, PairChanges, Slot, Sphere, Spheres, Vec3};

/// A run in which every tick is compared: its pairs with those of brute force, what began and ended with what a comparison
/// finds.
#[derive(Debug)]
pub struct Trial {
    pub kinesphere: Kinesphere,
    seed: u64,
    tick: u64,
    found: Vec<Pair>,
    expected: Vec<Pair>,
    changes: PairChanges,
}

impl Trial {
    /// One that follows objects wherever it can, with one thread or two.
    pub fn new(seed: u64) -> Trial {
        Trial {
            kinesphere: Kinesphere::with_threads(1 + seed as usize % 2).eager().tracking_changes(),
            seed,
            tick: 0,
            found: Vec::new(),
            expected: Vec::new(),
            changes: PairChanges::new(),
        }
    }

    /// Goes through a tick.
    ///
    /// # Panics
    /// If anything is amiss, with the seed and the tick.
    pub fn tick(&mut self, spheres: &Spheres) {
        let Trial { kinesphere, seed, tick, found, expected, changes } = self;
        BruteForce.pairs(spheres, expected);
        kinesphere.pairs(spheres, found);
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected, "seed {seed}, tick {tick}");
        changes.update(spheres, found);
        assert!(kinesphere.began() == changes.began, "seed {seed}, tick {tick}: began");
        assert!(kinesphere.ended() == changes.ended, "seed {seed}, tick {tick}: ended");
        *tick += 1;
    }
}

/// Moves everybody on in a room, whose walls reflect them.
pub fn walk(spheres: &mut Spheres, velocities: &mut [Vec3], side: f32) {
    for (row, velocity) in velocities.iter_mut().enumerate().filter(|(_, velocity)| **velocity != Vec3::ZERO) {
        let slot = Slot::new(row as u32);
        let Ok(Sphere { center, .. }) = spheres.get(slot) else { continue };
        let next = center + *velocity;
        let is_outside = next.cmplt(Vec3::ZERO) | next.cmpgt(Vec3::splat(side));
        *velocity = Vec3::select(is_outside, -*velocity, *velocity);
        spheres.move_to(slot, next).unwrap();
    }
}

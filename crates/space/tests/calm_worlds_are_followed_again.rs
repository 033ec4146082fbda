//! A world that was wild for a while is not given up for good.

use kinesphere_space::workload::Random;
use kinesphere_space::{BroadPhase, Kinesphere, Slot, Sphere, Spheres, Vec3};

/// Some objects go straight, all teleport for forty ticks, and then the same go straight again.
#[test]
fn a_world_that_calms_down_is_followed_again() {
    let (objects, side) = (50_000, 160.0);
    for (seed, one_walks_in) in [(0, 1), (1, 1), (2, 8)] {
        let mut random = Random::new(seed);
        let mut spheres = Spheres::new();
        for _ in 0..objects {
            spheres.insert(Sphere::new(random.point(side), 1.0)).unwrap();
        }
        let walks = |row: usize| row.is_multiple_of(one_walks_in);
        let velocities: Vec<Vec3> =
            (0..objects).map(|row| random.direction() * if walks(row) { 0.1 } else { 0.0 }).collect();
        let (mut kinesphere, mut pairs) = (Kinesphere::new(), Vec::new());
        for tick in 0..280 {
            kinesphere.pairs(&spheres, &mut pairs);
            let is_wild = (100..140).contains(&tick);
            match tick {
                90 | 279 => assert!(kinesphere.is_following(), "seed {seed}, tick {tick}"),
                120 => assert!(!kinesphere.is_following(), "seed {seed}, tick {tick}"),
                _ => {}
            }
            spheres.end_tick();
            for (row, velocity) in velocities.iter().enumerate().filter(|(row, _)| is_wild || walks(*row)) {
                let slot = Slot::new(row as u32);
                let next = spheres.get(slot).unwrap().center + *velocity;
                spheres.move_to(slot, if is_wild { random.point(side) } else { next }).unwrap();
            }
        }
    }
}

//! A world that was wild for a while is not given up for good; and no tick is slow when it is followed again.

use kinesphere_space::broad::PlainGrid;
use kinesphere_space::workload::Random;
use kinesphere_space::{BroadPhase, Kinesphere, Slot, Sphere, Spheres, Vec3};

/// One object in so many goes straight, everybody teleports for forty ticks, and then they go straight again.
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
        let (mut kinesphere, mut grid, mut pairs) = (Kinesphere::new(), PlainGrid::default(), Vec::new());
        let mut most: f64 = 0.0;
        for tick in 0..280 {
            let plain = grid.pairs(&spheres, &mut pairs).sphere_tests;
            let tests = kinesphere.pairs(&spheres, &mut pairs).sphere_tests;
            let is_wild = (100..140).contains(&tick);
            match tick {
                90 | 279 => assert!(kinesphere.is_following(), "seed {seed}, tick {tick}"),
                120 => assert!(!kinesphere.is_following(), "seed {seed}, tick {tick}"),
                _ => {}
            }
            if tick > 100 {
                most = most.max(tests as f64 / plain as f64);
            }
            spheres.end_tick();
            for (row, velocity) in velocities.iter().enumerate().filter(|(row, _)| is_wild || walks(*row)) {
                let slot = Slot::new(row as u32);
                let next = spheres.get(slot).unwrap().center + *velocity;
                spheres.move_to(slot, if is_wild { random.point(side) } else { next }).unwrap();
            }
        }
        println!("seed {seed}: at most {most:.2} times as many tests as a plain grid makes");
        assert!(most < 3.0, "seed {seed}: {most:.2} times as many tests as a plain grid makes");
    }
}

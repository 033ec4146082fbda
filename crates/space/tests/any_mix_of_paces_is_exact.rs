//! Objects of any speed and size among any number that stand, searched together or one by one: what is found is what
//! brute force finds, tick after tick.
//!
//! A failure prints the seed and the tick; a world depends on nothing else.

use kinesphere_space::broad::BruteForce;
use kinesphere_space::workload::Random;
use kinesphere_space::{BroadPhase, Kinesphere, Pair, Slot, Sphere, Spheres, Vec3};

/// Spheres that go straight on and are reflected by the walls of a room.
struct Room {
    low: Vec3,
    side: f32,
    spheres: Spheres,
    velocities: Vec<Vec3>,
    random: Random,
}

impl Room {
    /// A room anywhere, with up to `crowd` objects. Most of the crowd stands or walks; one in a few is up to a
    /// thousand times as fast, or fifty times as large.
    fn new(seed: u64, crowd: u32) -> Room {
        let mut random = Random::new(seed);
        let objects = random.whole(crowd / 4, crowd);
        let side = (objects as f32 * random.log_uniform(100.0) * 4.0).cbrt();
        let low = Vec3::splat([0.0, -side / 2.0, 2e4][random.whole(0, 3) as usize]);
        let (one_walks_in, one_races_in, one_is_large_in) =
            (random.whole(1, 30), random.whole(2, 200), random.whole(2, 200));
        let mut spheres = Spheres::new();
        let mut velocities = Vec::new();
        for _ in 0..objects {
            let speed = match (random.whole(0, one_races_in), random.whole(0, one_walks_in)) {
                (0, _) => random.log_uniform(1_000.0) * 0.05,
                (_, 0) => 0.05,
                _ => 0.0,
            };
            let radius = if random.whole(0, one_is_large_in) == 0 { random.log_uniform(50.0) } else { 1.0 };
            spheres.insert(Sphere::new(low + random.point(side), radius)).unwrap();
            velocities.push(random.direction() * speed);
        }
        Room { low, side, spheres, velocities, random }
    }

    fn step(&mut self) {
        let Room { low, side, spheres, velocities, random } = self;
        spheres.end_tick();
        for (row, velocity) in velocities.iter_mut().enumerate() {
            // Now and then an object turns, stops or starts.
            if random.whole(0, 500) == 0 {
                *velocity = random.direction() * [velocity.length(), 0.0, 0.3][random.whole(0, 3) as usize];
            }
            if *velocity != Vec3::ZERO {
                let slot = Slot::new(row as u32);
                let next = spheres.get(slot).unwrap().center + *velocity;
                let is_outside = next.cmplt(*low) | next.cmpgt(*low + *side);
                *velocity = Vec3::select(is_outside, -*velocity, *velocity);
                spheres.move_to(slot, next).unwrap();
            }
        }
    }
}

fn sorted_pairs(method: &mut dyn BroadPhase, spheres: &Spheres) -> Vec<Pair> {
    let mut pairs = Vec::new();
    method.pairs(spheres, &mut pairs);
    pairs.sort_unstable();
    pairs
}

#[test]
fn any_mix_of_paces_is_exact() {
    let mut followed = 0;
    for seed in 0..60 {
        let mut room = Room::new(seed, 1_200);
        let mut kinesphere = Kinesphere::new().eager();
        for tick in 0..120 {
            let expected = sorted_pairs(&mut BruteForce, &room.spheres);
            let found = sorted_pairs(&mut kinesphere, &room.spheres);
            let missing: Vec<_> = expected.iter().filter(|pair| found.binary_search(pair).is_err()).collect();
            assert!(missing.is_empty(), "seed {seed}, tick {tick}: {missing:?} are missing");
            assert_eq!(found, expected, "seed {seed}, tick {tick}");
            kinesphere.assert_well_formed(&room.spheres);
            followed += u32::from(kinesphere.is_following());
            room.step();
        }
    }
    assert!(followed > 60 * 60, "in {followed} ticks of {} anybody was followed", 60 * 120);
}

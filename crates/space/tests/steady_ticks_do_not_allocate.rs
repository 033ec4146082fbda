//! A world that goes on as it did takes no memory that the default broad phase does not already have.

use kinesphere_space::workload::{Motion, Random, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere, Slot, Sphere, Spheres, Vec3};

/// The ticks of some steady ones that allocated, and how many bytes each took.
fn allocating_ticks(settings: &Settings, ticks: usize) -> Vec<(usize, u64)> {
    let mut workload = Workload::new(settings.clone()).unwrap();
    let mut kinesphere = Kinesphere::new();
    let mut pairs = Vec::new();
    for _ in 0..900 {
        kinesphere.pairs(workload.spheres(), &mut pairs);
        workload.step();
    }
    pairs.reserve(settings.objects / 20);
    let is_following = kinesphere.is_following();
    let mut allocating = Vec::new();
    for tick in 0..ticks {
        let allocations = allocation_counter::measure(|| {
            kinesphere.pairs(workload.spheres(), &mut pairs);
        });
        assert_eq!(kinesphere.is_following(), is_following, "{settings:?}, tick {tick}");
        if allocations.count_total > 0 {
            allocating.push((tick, allocations.bytes_total));
        }
        workload.step();
    }
    allocating
}

#[test]
fn steady_ticks_do_not_allocate() {
    for (motion, objects, ticks, seeds) in [
        (Motion::Uniform, 20_000, 1_000, 1..=3),
        (Motion::Uniform, 100_000, 600, 1..=2),
        (Motion::Mixed, 20_000, 200, 1..=1),
        (Motion::Static, 20_000, 200, 1..=1),
        (Motion::Turning, 20_000, 200, 1..=1),
    ] {
        for seed in seeds {
            let settings = Settings { motion, objects, seed, ..Settings::default() };
            let allocating = allocating_ticks(&settings, ticks);
            assert!(allocating.is_empty(), "{settings:?}: of {ticks} ticks these, with bytes: {allocating:?}");
        }
    }
}

/// Nor do giants take any, who are not followed, as they cross a crowd.
#[test]
fn giants_do_not_allocate() {
    let (mut random, side) = (Random::new(1), 119.0);
    let mut spheres = Spheres::new();
    for row in 0..20_000 {
        spheres.insert(Sphere::new(random.point(side), if row < 3 { 20.0 } else { 1.0 })).unwrap();
    }
    let mut velocities: Vec<Vec3> = (0..3).map(|_| random.direction() * 0.5).collect();
    let (mut kinesphere, mut pairs) = (Kinesphere::new().tracking_changes(), Vec::with_capacity(20_000));
    for tick in 0..1_200 {
        let allocations = allocation_counter::measure(|| {
            kinesphere.pairs(&spheres, &mut pairs);
        });
        assert!(tick < 600 || kinesphere.is_following(), "tick {tick}");
        assert!(tick < 900 || allocations.count_total == 0, "tick {tick}: {} bytes", allocations.bytes_total);
        spheres.end_tick();
        for (row, velocity) in velocities.iter_mut().enumerate() {
            let slot = Slot::new(row as u32);
            let next = spheres.get(slot).unwrap().center + *velocity;
            *velocity = Vec3::select(next.cmplt(Vec3::ZERO) | next.cmpgt(Vec3::splat(side)), -*velocity, *velocity);
            spheres.move_to(slot, next).unwrap();
        }
    }
}

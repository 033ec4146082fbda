//! The default broad phase takes memory for the objects there are, not for the space between them, nor for those that
//! were.

use kinesphere_space::workload::{Random, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere, Slot, Sphere, Spheres, Vec3};

/// Lets the method look for so many ticks, moving the objects in between.
fn look(kinesphere: &mut Kinesphere, spheres: &mut Spheres, ticks: usize, mut step: impl FnMut(&mut Spheres, usize)) {
    let mut pairs = Vec::new();
    for tick in 0..ticks {
        kinesphere.pairs(spheres, &mut pairs);
        spheres.end_tick();
        step(spheres, tick);
    }
}

fn move_by(spheres: &mut Spheres, slot: Slot, step: Vec3) {
    let limit = Vec3::splat(Spheres::LIMIT);
    let center = spheres.get(slot).unwrap().center + step;
    spheres.move_to(slot, center.clamp(-limit, limit)).unwrap();
}

fn assert_at_most(bytes_max: usize, kinesphere: &Kinesphere, objects: usize, world: &str) {
    let bytes = kinesphere.bytes() / objects;
    println!("{world}: {bytes} bytes per object");
    assert!(bytes <= bytes_max, "{world}: {bytes} bytes per object, expected at most {bytes_max}");
}

#[test]
fn a_uniform_world_takes_150_bytes_per_object() {
    let objects = 100_000;
    let mut workload = Workload::new(Settings { objects, ..Settings::default() }).unwrap();
    let mut kinesphere = Kinesphere::new();
    let (mut pairs, mut followed) = (Vec::new(), 0);
    // Long enough that lists have been stocked up.
    while followed < 600 {
        kinesphere.pairs(workload.spheres(), &mut pairs);
        followed += usize::from(kinesphere.is_following());
        workload.step();
    }
    assert_at_most(150, &kinesphere, objects, "uniform, 5 %");
}

/// What is left when all have gone is no more than what was there for them.
#[test]
fn an_emptied_world_takes_no_more_than_a_full_one() {
    let objects = 5_000;
    let workload = Workload::new(Settings { objects, ..Settings::default() }).unwrap();
    let mut random = Random::new(2);
    let velocities: Vec<Vec3> = (0..objects).map(|_| random.direction() * 0.1).collect();
    let mut spheres = workload.spheres().clone();
    let mut kinesphere = Kinesphere::new().eager();
    look(&mut kinesphere, &mut spheres, 100, |spheres, _| {
        for slot in spheres.slots().collect::<Vec<_>>() {
            move_by(spheres, slot, velocities[slot.row()]);
        }
    });
    let full = kinesphere.bytes();
    for slot in spheres.slots().collect::<Vec<_>>() {
        spheres.remove(slot).unwrap();
    }
    look(&mut kinesphere, &mut spheres, 100, |_, _| {});
    let empty = kinesphere.bytes();
    assert!(empty <= 2 * full, "{empty} bytes when empty, {full} when full");
}

#[test]
fn two_at_the_ends_of_the_world() {
    for radius in [0.0, 1.0, 1e9] {
        let mut spheres = Spheres::new();
        for corner in [-1e9, 1e9] {
            spheres.insert(Sphere::new(Vec3::splat(corner), radius)).unwrap();
        }
        let mut kinesphere = Kinesphere::new().eager();
        look(&mut kinesphere, &mut spheres, 200, |spheres, tick| {
            let step = if tick % 2 == 0 { -3e6 } else { 3e6 };
            move_by(spheres, Slot::new(1), Vec3::splat(step));
        });
        // Two objects do not pay for the shelves; a quarter of a megabyte is nothing either.
        assert!(kinesphere.bytes() < 250_000, "radius {radius}: {} bytes", kinesphere.bytes());
    }
}

/// Nobody is near anybody, so every object is alone in its part of space.
#[test]
fn a_sparse_cloud() {
    for (speed, name) in [(0.0, "standing"), (0.1, "drifting"), (1_000.0, "racing")] {
        let objects = 3_000;
        let mut random = Random::new(3);
        let mut spheres = Spheres::new();
        let velocities: Vec<Vec3> = (0..objects).map(|_| random.direction() * speed).collect();
        for _ in 0..objects {
            spheres.insert(Sphere::new((random.point(2.0) - Vec3::ONE) * 1e8, 1.0)).unwrap();
        }
        let mut kinesphere = Kinesphere::new().eager();
        let mut most = 0;
        let mut pairs = Vec::new();
        for _ in 0..150 {
            kinesphere.pairs(&spheres, &mut pairs);
            most = most.max(kinesphere.bytes());
            spheres.end_tick();
            for slot in spheres.slots().collect::<Vec<_>>() {
                move_by(&mut spheres, slot, velocities[slot.row()]);
            }
        }
        println!("sparse cloud, {name}: {} bytes per object", most / objects);
        assert!(most / objects <= 1_000, "sparse cloud, {name}: {} bytes per object", most / objects);
    }
}

/// A sparse cloud near enough to the origin to be followed.
#[test]
fn a_sparse_cloud_that_is_followed() {
    for (speed, name) in [(0.0, "standing"), (0.1, "drifting")] {
        let objects = 3_000;
        let mut random = Random::new(4);
        let mut spheres = Spheres::new();
        let velocities: Vec<Vec3> = (0..objects).map(|_| random.direction() * speed).collect();
        for _ in 0..objects {
            spheres.insert(Sphere::new((random.point(2.0) - Vec3::ONE) * 5e3, 1.0)).unwrap();
        }
        let mut kinesphere = Kinesphere::new().eager();
        look(&mut kinesphere, &mut spheres, 150, |spheres, _| {
            for slot in spheres.slots().collect::<Vec<_>>() {
                move_by(spheres, slot, velocities[slot.row()]);
            }
        });
        assert!(kinesphere.is_following(), "{name}");
        assert_at_most(1_000, &kinesphere, objects, name);
    }
}

/// A caravan: the hindmost hop ahead and rest there, and all behind is left for good.
#[test]
fn places_that_were_left_are_forgotten() {
    let objects = 600;
    let mut random = Random::new(5);
    let mut spheres = Spheres::new();
    for number in 0..objects {
        let across = random.point(10.0);
        spheres.insert(Sphere::new(across + Vec3::X * number as f32, 1.0)).unwrap();
    }
    let mut kinesphere = Kinesphere::new().eager();
    let mut caravan = |kinesphere: &mut Kinesphere, ticks: std::ops::Range<usize>| {
        let mut followed = 0;
        for tick in ticks {
            look(kinesphere, &mut spheres, 1, |spheres, _| {
                let place = random.point(10.0) + Vec3::X * (objects + tick) as f32;
                spheres.move_to(Slot::new((tick % objects) as u32), place).unwrap();
            });
            followed += usize::from(kinesphere.is_following());
        }
        (kinesphere.bytes(), followed)
    };
    // Tiles are used again and again, and have all had as many objects as any by and by. Every now and then courses begin anew.
    let (early, _) = caravan(&mut kinesphere, 0..40_000);
    let (late, followed) = caravan(&mut kinesphere, 40_000..240_000);
    println!("{early} bytes early, {late} bytes late, {followed} followed");
    assert!(followed > 190_000, "{followed} of 200000 ticks followed");
    assert!(late <= early + early / 8, "{early} bytes early, {late} bytes late");
}

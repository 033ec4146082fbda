//! Broad phases take memory for the objects there are, not for the space between them, nor for those that were.

use kinesphere_space::broad::{GridSweepAndPrune, Octree, PlainGrid, SweepAndPrune, SweepOneAxis, UniformGrid};
use kinesphere_space::workload::{Random, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere, Pair, Slot, Sphere, Spheres, Vec3};

/// A method, and the memory that it holds.
struct Held<M> {
    method: M,
    pairs: Vec<Pair>,
    bytes: i64,
}

impl<M: BroadPhase> Held<M> {
    fn by(method: M) -> Held<M> {
        Held { method, pairs: Vec::new(), bytes: 0 }
    }

    fn look(&mut self, spheres: &Spheres) {
        let Held { method, pairs, bytes } = self;
        let of_pairs = pairs.capacity();
        let growth = allocation_counter::measure(|| {
            method.pairs(spheres, pairs);
        });
        *bytes += growth.bytes_current - (pairs.capacity() as i64 - of_pairs as i64) * size_of::<Pair>() as i64;
    }

    fn assert_at_most(&self, bytes_max: i64, objects: usize, world: &str) {
        let bytes = self.bytes / objects as i64;
        println!("{world}: {bytes} bytes per object");
        assert!(bytes <= bytes_max, "{world}: {bytes} bytes per object, expected at most {bytes_max}");
    }
}

/// Lets the method look for `ticks` ticks, moving the objects in between.
fn look(
    kinesphere: &mut Held<Kinesphere>,
    spheres: &mut Spheres,
    ticks: usize,
    mut step: impl FnMut(&mut Spheres, usize),
) {
    for tick in 0..ticks {
        kinesphere.look(spheres);
        spheres.end_tick();
        step(spheres, tick);
    }
}

fn move_by(spheres: &mut Spheres, slot: Slot, step: Vec3) {
    let limit = Vec3::splat(Spheres::LIMIT);
    let center = spheres.get(slot).unwrap().center + step;
    spheres.move_to(slot, center.clamp(-limit, limit)).unwrap();
}

#[test]
fn a_uniform_world_takes_150_bytes_per_object() {
    let objects = 100_000;
    let mut workload = Workload::new(Settings { objects, ..Settings::default() }).unwrap();
    let (mut kinesphere, mut followed) = (Held::by(Kinesphere::new()), 0);
    while followed < 600 {
        kinesphere.look(workload.spheres());
        followed += usize::from(kinesphere.method.is_following());
        workload.step();
    }
    kinesphere.assert_at_most(150, objects, "uniform, 5 %");
}

/// What is left when all have gone is no more than what was there for them.
#[test]
fn an_emptied_world_takes_no_more_than_a_full_one() {
    let objects = 5_000;
    let workload = Workload::new(Settings { objects, ..Settings::default() }).unwrap();
    let mut random = Random::new(2);
    let velocities: Vec<Vec3> = (0..objects).map(|_| random.direction() * 0.1).collect();
    let mut spheres = workload.spheres().clone();
    let mut kinesphere = Held::by(Kinesphere::new().eager());
    look(&mut kinesphere, &mut spheres, 100, |spheres, _| {
        for slot in spheres.slots().collect::<Vec<_>>() {
            move_by(spheres, slot, velocities[slot.row()]);
        }
    });
    let full = kinesphere.bytes;
    for slot in spheres.slots().collect::<Vec<_>>() {
        spheres.remove(slot).unwrap();
    }
    look(&mut kinesphere, &mut spheres, 100, |_, _| {});
    let empty = kinesphere.bytes;
    assert!(empty <= 2 * full, "{empty} bytes when empty, {full} when full");
}

#[test]
fn two_at_the_ends_of_the_world() {
    for radius in [0.0, 1.0, 1e9] {
        let mut spheres = Spheres::new();
        for corner in [-1e9, 1e9] {
            spheres.insert(Sphere::new(Vec3::splat(corner), radius)).unwrap();
        }
        let mut kinesphere = Held::by(Kinesphere::new().eager());
        look(&mut kinesphere, &mut spheres, 200, |spheres, tick| {
            let step = if tick % 2 == 0 { -3e6 } else { 3e6 };
            move_by(spheres, Slot::new(1), Vec3::splat(step));
        });
        // Two objects do not pay for the shelves; a quarter of a megabyte is nothing either.
        assert!(kinesphere.bytes < 250_000, "radius {radius}: {} bytes", kinesphere.bytes);
    }
}

/// No object is near another, so each has a tile of its own.
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
        let mut kinesphere = Held::by(Kinesphere::new().eager());
        let mut most = 0;
        for _ in 0..150 {
            kinesphere.look(&spheres);
            most = most.max(kinesphere.bytes as usize);
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
        let mut kinesphere = Held::by(Kinesphere::new().eager());
        look(&mut kinesphere, &mut spheres, 150, |spheres, _| {
            for slot in spheres.slots().collect::<Vec<_>>() {
                move_by(spheres, slot, velocities[slot.row()]);
            }
        });
        assert!(kinesphere.method.is_following(), "{name}");
        kinesphere.assert_at_most(1_000, objects, name);
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
    let mut kinesphere = Held::by(Kinesphere::new().eager());
    let mut caravan = |kinesphere: &mut Held<Kinesphere>, ticks: std::ops::Range<usize>| {
        let mut followed = 0;
        for tick in ticks {
            look(kinesphere, &mut spheres, 1, |spheres, _| {
                let place = random.point(10.0) + Vec3::X * (objects + tick) as f32;
                spheres.move_to(Slot::new((tick % objects) as u32), place).unwrap();
            });
            followed += usize::from(kinesphere.method.is_following());
        }
        (kinesphere.bytes, followed)
    };
    // Tiles are used again and again, and have all had as many objects as any by and by. Every now and then flight
    // plans begin anew.
    let (early, _) = caravan(&mut kinesphere, 0..40_000);
    let (late, followed) = caravan(&mut kinesphere, 40_000..240_000);
    println!("{early} bytes early, {late} bytes late, {followed} followed");
    assert!(followed > 190_000, "{followed} of 200000 ticks followed");
    assert!(late <= early + early / 8, "{early} bytes early, {late} bytes late");
}

/// Two that are 2e9 apart, thousands in one spot, and giants that reach over all of them.
#[test]
fn worlds_made_to_break_methods_do_not_fill_the_memory() {
    let mut random = Random::new(1);
    let mut spheres = Spheres::new();
    for corner in [-1e9f32, 1e9] {
        spheres.insert(Sphere::new(Vec3::splat(corner), 1e9)).unwrap();
    }
    for _ in 0..3_000 {
        spheres.insert(Sphere::new(random.in_ball() * 0.3, 0.01)).unwrap();
    }
    for _ in 0..20 {
        spheres.insert(Sphere::new(random.in_ball() * 1e9, 5e8)).unwrap();
    }
    fn assert_bounded(name: &str, spheres: &Spheres, method: impl BroadPhase) {
        let mut held = Held::by(method);
        (0..3).for_each(|_| held.look(spheres));
        assert!(held.bytes < 3_000_000, "{name} holds {} bytes", held.bytes);
    }
    assert_bounded("Kinesphere", &spheres, Kinesphere::new().eager());
    assert_bounded("PlainGrid", &spheres, PlainGrid::default());
    assert_bounded("UniformGrid", &spheres, UniformGrid::default());
    assert_bounded("GridSweepAndPrune", &spheres, GridSweepAndPrune::default());
    assert_bounded("Octree", &spheres, Octree::default());
    assert_bounded("SweepAndPrune", &spheres, SweepAndPrune::default());
    assert_bounded("SweepOneAxis", &spheres, SweepOneAxis::default());
}

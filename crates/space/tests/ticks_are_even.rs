//! Once flight plans are followed, what has to be looked at is spread over the ticks: no tick has much more to do than
//! the others, whether all move or a few, and whatever their sizes. Work is counted, not timed, so that it is the same
//! on every machine.

use kinesphere_space::broad::PlainGrid;
use kinesphere_space::workload::{Motion, Random, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere, Slot, Sphere, Spheres, Vec3};

/// The greatest and the mean of some counts.
fn most_and_mean(counts: &[u64]) -> (u64, f64) {
    (counts.iter().copied().max().unwrap(), counts.iter().sum::<u64>() as f64 / counts.len() as f64)
}

/// Tests, and objects of renewed tiles, in the ticks of a steady run.
fn work_per_tick(motion: Motion) -> (Vec<u64>, Vec<u64>) {
    let settings = Settings { motion, objects: 30_000, ..Settings::default() };
    let mut workload = Workload::new(settings).unwrap();
    let mut kinesphere = Kinesphere::new().eager();
    let mut pairs = Vec::new();
    let (mut tests, mut renewed) = (Vec::new(), Vec::new());
    for tick in 0..500 {
        let work = kinesphere.pairs(workload.spheres(), &mut pairs);
        // The first ticks are not steady: flight plans begin in one of them, and what moves is found out in the next.
        if tick >= 20 {
            assert!(kinesphere.is_following(), "{} at tick {tick}", motion.name());
            tests.push(work.sphere_tests);
            renewed.push(work.cells);
        }
        workload.step();
    }
    (tests, renewed)
}

#[test]
fn work_is_spread_over_the_ticks() {
    // Where one in a hundred moves, a tick has seven objects to look at: chance makes up for three times as many.
    for (motion, times) in [(Motion::Uniform, 2.0), (Motion::Mixed, 2.0), (Motion::Static, 4.0)] {
        let (tests, renewed) = work_per_tick(motion);
        for (what, counts) in [("tests", tests), ("objects of renewed tiles", renewed)] {
            let (most, mean) = most_and_mean(&counts);
            let name = motion.name();
            println!("{name}: at most {most} {what} in a tick, {mean:.0} on average");
            assert!(most as f64 <= times * mean, "{name}: {most} {what} in a tick, {mean:.0} on average");
        }
    }
}

/// In a small world, where flight plans do not pay, no tick has more tests than others; nor have
/// those in which flight plans are considered again.
#[test]
fn small_worlds_have_the_same_to_do_in_every_tick() {
    let mut workload = Workload::new(Settings { objects: 4_000, ..Settings::default() }).unwrap();
    let mut kinesphere = Kinesphere::new();
    let mut pairs = Vec::new();
    let mut counts = Vec::new();
    for _ in 0..700 {
        counts.push(kinesphere.pairs(workload.spheres(), &mut pairs).sphere_tests);
        assert!(!kinesphere.is_following());
        workload.step();
    }
    let (most, mean) = most_and_mean(&counts);
    assert!(most as f64 <= 1.1 * mean, "{most} tests in a tick, {mean} on average");
}

/// Moves an object on in a room, whose walls reflect it.
fn step(spheres: &mut Spheres, slot: Slot, velocity: &mut Vec3, side: f32) {
    let next = spheres.get(slot).unwrap().center + *velocity;
    let is_outside = next.cmplt(Vec3::ZERO) | next.cmpgt(Vec3::splat(side));
    *velocity = Vec3::select(is_outside, -*velocity, *velocity);
    spheres.move_to(slot, next).unwrap();
}

/// A world of standing objects in which one in `one_in` begins to walk at tick 100; and in which, if so wanted, one
/// races through it from the first. For each tick from 300 on: tests, objects of renewed tiles, and the tests of a
/// plain grid.
fn awakening(objects: usize, one_in: usize, is_raced_through: bool) -> Vec<[u64; 3]> {
    let mut random = Random::new(7);
    let side = (objects as f32 * 84.0).cbrt();
    let mut spheres = Spheres::new();
    let mut velocities: Vec<Vec3> = (0..objects).map(|_| random.direction() * 0.1).collect();
    velocities[0] *= 30.0;
    for _ in 0..objects {
        spheres.insert(Sphere::new(random.point(side), 1.0)).unwrap();
    }
    let (mut kinesphere, mut grid, mut pairs) = (Kinesphere::new(), PlainGrid::default(), Vec::new());
    let mut counts = Vec::new();
    for tick in 0..900 {
        let plain = grid.pairs(&spheres, &mut pairs);
        let work = kinesphere.pairs(&spheres, &mut pairs);
        if tick >= 300 {
            assert!(kinesphere.is_following(), "tick {tick}");
            counts.push([work.sphere_tests, work.cells, plain.sphere_tests]);
        }
        spheres.end_tick();
        let walkers = (one_in / 2..objects).step_by(one_in).filter(|_| tick >= 100);
        for row in walkers.chain(is_raced_through.then_some(0)) {
            step(&mut spheres, Slot::new(row as u32), &mut velocities[row], side);
        }
    }
    counts
}

/// Objects that stood when the structure started may move later.
#[test]
fn those_who_begin_to_move_are_spread_over_the_ticks() {
    for one_in in [100, 10] {
        let counts = awakening(20_000, one_in, false);
        for (index, what) in ["tests", "objects of renewed tiles"].into_iter().enumerate() {
            let (most, mean) = most_and_mean(&counts.iter().map(|counts| counts[index]).collect::<Vec<_>>());
            println!("one in {one_in}: at most {most} {what} in a tick, {mean:.0} on average");
            assert!(most as f64 <= 4.0 * mean, "one in {one_in}: {most} {what} in a tick, {mean:.0} on average");
        }
    }
}

/// An object that races through a world looks at the few along its way, and no other object has more to look at because
/// of it.
#[test]
fn one_fast_object_does_not_slow_the_others() {
    for one_in in [usize::MAX, 1_000, 100, 10] {
        let counts = awakening(20_000, one_in, true);
        for [tests, _, plain] in &counts {
            assert!(tests * 4 < *plain, "one in {one_in}: {tests} tests in a tick, and a plain grid takes {plain}");
        }
    }
}

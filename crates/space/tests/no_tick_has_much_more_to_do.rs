//! Once courses are followed, what has to be looked at is spread over the ticks: no tick has much more to do than the
//! others, whether all move or a few, and whatever their sizes.

use space::workload::{Motion, Settings, Workload};
use space::{BroadPhase, Kinesphere};

/// The greatest and the mean number of tests in a tick of a steady run.
fn tests_per_tick(motion: Motion) -> (u64, f64) {
    let settings = Settings { motion, objects: 30_000, ..Settings::default() };
    let mut workload = Workload::new(settings).unwrap();
    let mut kinesphere = Kinesphere::new().eager();
    let mut pairs = Vec::new();
    let mut counts = Vec::new();
    for tick in 0..300 {
        let work = kinesphere.pairs(workload.spheres(), &mut pairs);
        // The first ticks are not steady: courses begin in one of them, and who moves is found out in the next.
        if tick >= 20 {
            assert!(kinesphere.is_following(), "{} at tick {tick}", motion.name());
            counts.push(work.sphere_tests);
        }
        workload.step();
    }
    (counts.iter().copied().max().unwrap(), counts.iter().sum::<u64>() as f64 / counts.len() as f64)
}

#[test]
fn work_is_spread_over_the_ticks() {
    // Where one in a hundred moves, a tick has a tile of some thirty to look at, or none.
    for (motion, times) in [(Motion::Uniform, 3.0), (Motion::Mixed, 3.0), (Motion::Static, 10.0)] {
        let (most, mean) = tests_per_tick(motion);
        let name = motion.name();
        assert!(most as f64 <= times * mean, "{name}: {most} tests in a tick, {mean:.0} on average");
    }
}

/// In a small world, where courses do not pay and pairs are found afresh, no tick has more tests than others; nor have those
/// in which courses are considered again.
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
    let (most, mean) = (counts.iter().max().unwrap(), counts.iter().sum::<u64>() / counts.len() as u64);
    assert!(*most * 10 <= mean * 11, "{most} tests in a tick, {mean} on average");
}

//! Once courses are followed, what has to be looked at is spread over the ticks: no tick has much more to do than the
//! others, whether all move or a few, and whatever their sizes. Work is counted, not timed, so that it is the same on every
//! machine.

use space::workload::{Motion, Settings, Workload};
use space::{BroadPhase, Kinesphere};

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
        // The first ticks are not steady: courses begin in one of them, and who moves is found out in the next.
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
    // Where one in a hundred moves, a tick has a tile of some thirty to look at, or none.
    for (motion, times) in [(Motion::Uniform, 2.0), (Motion::Mixed, 2.0), (Motion::Static, 10.0)] {
        let (tests, renewed) = work_per_tick(motion);
        for (what, counts) in [("tests", tests), ("objects of renewed tiles", renewed)] {
            let (most, mean) = most_and_mean(&counts);
            let name = motion.name();
            println!("{name}: at most {most} {what} in a tick, {mean:.0} on average");
            assert!(most as f64 <= times * mean, "{name}: {most} {what} in a tick, {mean:.0} on average");
        }
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
    let (most, mean) = most_and_mean(&counts);
    assert!(most as f64 <= 1.1 * mean, "{most} tests in a tick, {mean} on average");
}

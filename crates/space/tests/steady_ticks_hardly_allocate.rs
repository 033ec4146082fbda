//! A world that goes on as it did hardly ever takes memory that the default broad phase does not already have: a list
//! that varies by chance is longer than ever before now and then.

use kinesphere_space::workload::{Motion, Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere};

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
fn steady_ticks_hardly_allocate() {
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
            println!("{settings:?}: of {ticks} ticks these, with bytes: {allocating:?}");
            let bytes: u64 = allocating.iter().map(|(_, bytes)| bytes).sum();
            assert!(allocating.len() * 10 <= ticks, "{} of {ticks} ticks", allocating.len());
            assert!(bytes <= 4 * objects as u64, "{bytes} bytes in {ticks} ticks");
        }
    }
}

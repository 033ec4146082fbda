//! A world that goes on as it did takes no memory that the default broad phase does not already have.

use space::workload::{Settings, Workload};
use space::{BroadPhase, Kinesphere};

/// The ticks of some steady ones that allocated, and how many bytes each took.
fn allocating_ticks(objects: usize, ticks: usize, seed: u64) -> Vec<(usize, u64)> {
    let mut workload = Workload::new(Settings { objects, seed, ..Settings::default() }).unwrap();
    let mut kinesphere = Kinesphere::new().eager();
    let mut pairs = Vec::new();
    for _ in 0..800 {
        kinesphere.pairs(workload.spheres(), &mut pairs);
        workload.step();
    }
    pairs.reserve(objects / 20);
    let mut allocating = Vec::new();
    for tick in 0..ticks {
        let allocations = allocation_counter::measure(|| {
            kinesphere.pairs(workload.spheres(), &mut pairs);
        });
        assert!(kinesphere.is_following());
        if allocations.count_total > 0 {
            allocating.push((tick, allocations.bytes_total));
        }
        workload.step();
    }
    allocating
}

#[test]
fn steady_ticks_do_not_allocate() {
    for (objects, ticks, seeds) in [(20_000, 100, 1..=3), (100_000, 200, 1..=2)] {
        for seed in seeds {
            let allocating = allocating_ticks(objects, ticks, seed);
            assert!(
                allocating.is_empty(),
                "{objects} objects, seed {seed}: ticks of {ticks}, and bytes: {allocating:?}"
            );
        }
    }
}

//! A world that goes on as it did takes no memory that the default broad phase does not already have.

use space::workload::{Settings, Workload};
use space::{BroadPhase, Kinesphere};

/// The ticks of a hundred steady ones that allocated, and how many bytes each took.
fn allocating_ticks(seed: u64) -> Vec<(usize, u64)> {
    let mut workload = Workload::new(Settings { objects: 20_000, seed, ..Settings::default() }).unwrap();
    let mut kinesphere = Kinesphere::new().eager();
    let mut pairs = Vec::new();
    for _ in 0..800 {
        kinesphere.pairs(workload.spheres(), &mut pairs);
        workload.step();
    }
    pairs.reserve(1_000);
    let mut allocating = Vec::new();
    for tick in 0..100 {
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
    for seed in 1..=3 {
        let allocating = allocating_ticks(seed);
        assert!(allocating.is_empty(), "seed {seed}: ticks of 100 that allocated, and bytes: {allocating:?}");
    }
}

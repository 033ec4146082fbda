//! A world that goes on as it did takes hardly any memory that the default broad phase does not already have.

use space::workload::{Settings, Workload};
use space::{BroadPhase, Kinesphere};

/// The ticks of a hundred steady ones that allocated, and how many bytes each took.
fn allocating_ticks() -> Vec<(usize, u64)> {
    let mut workload = Workload::new(Settings { objects: 20_000, ..Settings::default() }).unwrap();
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

/// Tiles each have memory of their own, and now and then one of thousands is fuller than ever: about one tick in fifty then
/// takes a little more. Nothing is taken every tick, and nothing large.
#[test]
fn steady_ticks_hardly_ever_allocate() {
    let allocating = allocating_ticks();
    let bytes: u64 = allocating.iter().map(|(_, bytes)| bytes).sum();
    assert!(
        allocating.len() <= 6 && bytes <= 30_000,
        "expected at most 6 of 100 ticks, 30000 bytes; ticks and bytes: {allocating:?}"
    );
}

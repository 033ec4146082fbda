//! No tick of a steady run has much more to do than the others: work is counted, not timed, so that it is the same on
//! every machine.

use space::workload::{Settings, Workload};
use space::{BroadPhase, Kinesphere};

#[test]
fn the_largest_tick_has_at_most_three_times_the_mean_to_do() {
    let mut workload = Workload::new(Settings { objects: 20_000, ..Settings::default() }).unwrap();
    let mut kinesphere = Kinesphere::new().eager();
    let mut pairs = Vec::new();
    let mut efforts = Vec::new();
    for tick in 0..500 {
        let work = kinesphere.pairs(workload.spheres(), &mut pairs);
        if tick >= 100 {
            assert!(kinesphere.is_following());
            efforts.push((work.sphere_tests, work.cells));
        }
        workload.step();
    }
    for (what, of) in [("sphere tests", (|e| e.0) as fn(&(u64, u64)) -> u64), ("objects of renewed tiles", |e| e.1)] {
        let mean = efforts.iter().map(of).sum::<u64>() / efforts.len() as u64;
        let most = efforts.iter().map(of).max().unwrap();
        println!("{what}: at most {most}, {mean} on average");
        assert!(most <= 3 * mean, "{what}: at most {most} in a tick, {mean} on average");
    }
}

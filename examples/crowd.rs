//! Ten thousand who follow a few targets: strangers at first, crowds later. Pairs are found anew every tick; what a
//! program usually wants to know is how they change.

use space::workload::{Motion, Settings, Workload, WorkloadError};
use space::{BroadPhase, Kinesphere, PairChanges};

fn main() -> Result<(), WorkloadError> {
    let settings = Settings { motion: Motion::Seekers, objects: 10_000, speed: 0.5, ..Settings::default() };
    let mut workload = Workload::new(settings)?;
    let mut broad_phase = Kinesphere::default();
    let mut pairs = Vec::new();
    let mut changes = PairChanges::new();

    println!("{:>5} {:>8} {:>7} {:>7}", "tick", "pairs", "began", "ended");
    for tick in 0..=200 {
        broad_phase.pairs(workload.spheres(), &mut pairs);
        changes.update(workload.spheres(), &pairs);
        if tick % 20 == 0 {
            println!("{tick:>5} {:>8} {:>7} {:>7}", pairs.len(), changes.began.len(), changes.ended.len());
        }
        workload.step();
    }
    Ok(())
}

//! A tick of 10,000 moving spheres: the default, the plain grid, and brute force, which is their definition.

use divan::Bencher;
use kinesphere_space::broad::{BruteForce, PlainGrid};
use kinesphere_space::workload::{Settings, Workload};
use kinesphere_space::{BroadPhase, Kinesphere};

fn main() {
    divan::main();
}

/// Steps the workload too, which costs the same for all.
fn ticks(bencher: Bencher, mut method: impl BroadPhase) {
    let mut workload = Workload::new(Settings { objects: 10_000, ..Settings::default() }).unwrap();
    let mut pairs = Vec::new();
    bencher.bench_local(|| {
        method.pairs(workload.spheres(), &mut pairs);
        workload.step();
        pairs.len()
    });
}

#[divan::bench]
fn kinesphere(bencher: Bencher) {
    ticks(bencher, Kinesphere::default());
}

#[divan::bench]
fn plain_grid(bencher: Bencher) {
    ticks(bencher, PlainGrid::default());
}

#[divan::bench(sample_count = 5)]
fn brute_force(bencher: Bencher) {
    ticks(bencher, BruteForce);
}

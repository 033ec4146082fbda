//! A tick of a plaza, by the number of its walkers, and the plain search for an overlap that a tick must not leave.

use divan::Bencher;
use kinesphere_world::{Plaza, World};

fn main() {
    divan::main();
}

fn plaza(seekers: u32) -> World {
    World::new(Plaza { seekers, side: 200.0, ..Plaza::default() }.spec()).unwrap()
}

#[divan::bench(args = [100, 1_000])]
fn step(bencher: Bencher, seekers: u32) {
    let mut world = plaza(seekers);
    bencher.bench_local(|| world.step(&[]).moved.len());
}

#[divan::bench(args = [100, 1_000])]
fn first_overlap(bencher: Bencher, seekers: u32) {
    let world = plaza(seekers);
    bencher.bench_local(|| world.first_overlap());
}

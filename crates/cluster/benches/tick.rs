//! A tick of a node that is a cluster by itself, and of its world alone.

use divan::Bencher;
use kinesphere_cluster::space::{NodeId, Time};
use kinesphere_cluster::world::{Plaza, World};
use kinesphere_cluster::{Cluster, ClusterSettings};

fn main() {
    divan::main();
}

fn world() -> World {
    World::new(Plaza { seekers: 500, side: 100.0, ..Plaza::default() }.spec()).unwrap()
}

#[divan::bench]
fn cluster(bencher: Bencher) {
    let (mut world, mut now, address) = (world(), Time::default(), String::new());
    let settings =
        ClusterSettings { node: NodeId::new(1), address, is_witness: false, copies: 0, reach: 22.0, world: 7 };
    let mut cluster = Cluster::first(settings, &mut world, now);
    bencher.bench_local(|| {
        now = now + 33_333;
        cluster.tick(now, &mut world, &[])
    });
}

#[divan::bench]
fn world_alone(bencher: Bencher) {
    let mut world = world();
    bencher.bench_local(|| world.step(&[]).moved.len());
}

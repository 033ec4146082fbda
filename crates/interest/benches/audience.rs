//! A tick of 2,000 moving objects that hear 20 m far: the audience, and all distances.

use divan::Bencher;
use kinesphere_interest::space::{Vec3, workload::Random};
use kinesphere_interest::{Audience, Aura};

fn main() {
    divan::main();
}

fn places() -> Vec<Vec3> {
    let mut random = Random::new(1);
    (0..2_000).map(|_| random.in_ball() * 200.0).collect()
}

#[divan::bench]
fn audience(bencher: Bencher) {
    let (mut audience, mut places) = (Audience::new(), places());
    let slots: Vec<_> = places.iter().map(|&place| audience.insert(place, Aura::new(10.0)).unwrap()).collect();
    bencher.bench_local(|| {
        for (slot, place) in slots.iter().zip(&mut places) {
            *place = -*place * 0.999;
            audience.move_to(*slot, *place).unwrap();
        }
        audience.update();
        audience.entered().len()
    });
}

#[divan::bench]
fn all_distances(bencher: Bencher) {
    let places = places();
    bencher.bench_local(|| {
        let heard = |one: &Vec3| places.iter().filter(|other| one.distance_squared(**other) <= 400.0).count();
        places.iter().map(heard).sum::<usize>()
    });
}

//! Where 60 others are shown, 100 ms after they were last heard: each for itself, and with their collisions predicted.

use divan::Bencher;
use kinesphere_client_core::others::{Others, OthersSettings};
use kinesphere_client_core::space::{GridPoint, ObjectId, Time, Turn, workload::Random};
use kinesphere_client_core::wire::session::{Entered, EnteredKind};
use kinesphere_client_core::wire::{CollisionShape, Handle};

fn main() {
    divan::main();
}

#[divan::bench(args = [0, 60])]
fn show(bencher: Bencher, company_max: usize) {
    let (start, mut random) = (Time::default(), Random::new(1));
    let mut others = Others::new(OthersSettings { company_max, ..OthersSettings::default() });
    for number in 1..=60u16 {
        let entered = Entered {
            handle: Handle(number),
            object: ObjectId::new(number.into()).unwrap(),
            kind: EnteredKind::Movable,
            name: String::new(),
            shape: CollisionShape::Sphere { radius: 0.5 },
            place: GridPoint::nearest(random.in_ball() * 20.0).unwrap(),
            turn: Turn::IDENTITY,
            motion: [100, 0, 0],
        };
        others.enter(entered, 1, start, 33_333);
    }
    let mut shown = Vec::new();
    bencher.bench_local(|| {
        others.show(start + 100_000, &mut shown);
        shown.len()
    });
}

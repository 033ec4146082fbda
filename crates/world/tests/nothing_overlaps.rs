//! Nothing overlaps, in any tick, whatever is asked for.

mod crowd;

use crowd::Hostile;
use world::{Plaza, World};

#[test]
fn nothing_overlaps_on_the_plaza() {
    for seed in 0..6 {
        let plaza = Plaza { seekers: 80, side: 60.0, seed, ..Plaza::default() };
        let mut world = World::new(plaza.spec()).unwrap();
        let mut hostile = Hostile::new(seed, 20);
        for tick in 0..200 {
            let inputs = hostile.inputs(&world);
            world.step(&inputs);
            assert_eq!(world.first_overlap(), None, "seed {seed}, tick {tick}");
        }
    }
}

//! The world file with every precision, a flag and something that breathes: it is read, and nothing overlaps in it.

use kinesphere_world::{Spec, World};

#[test]
fn nothing_overlaps_on_a_windy_lawn() {
    let text = include_str!("../../../worlds/windy.toml");
    let spec = Spec::from_toml(text, "windy.toml", &mut |_| Err("it needs no file".to_owned())).unwrap();
    let mut world = World::new(spec).unwrap_or_else(|error| panic!("{}", Spec::blame(text, "windy.toml", error)));
    for tick in 0..90 {
        world.step(&[]);
        assert_eq!(world.first_overlap(), None, "tick {tick}");
    }
}

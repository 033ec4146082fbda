//! Any text as a world file: a world in which nothing overlaps, or refused. The tests of `world` replay
//! `corpus/world_file`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shapes::mesh::TriangleMesh;
use world::World;
use world::spec::Spec;

fuzz_target!(|text: &str| {
    let mut no_mesh = |_: &str| -> Result<TriangleMesh, String> { Err("no mesh here".to_owned()) };
    let Ok(mut spec) = Spec::from_toml(text, "file.toml", &mut no_mesh) else { return };
    if let Some(crowd) = &mut spec.crowd {
        crowd.seekers = crowd.seekers.min(50);
    }
    let Ok(mut world) = World::new(spec) else { return };
    for _ in 0..3 {
        world.step(&[]);
        assert_eq!(world.overlap_near(), None);
    }
});

//! The same inputs give the same world, to the bit: again, from any snapshot, in any build.

mod crowd;

use std::sync::Arc;

use crowd::Hostile;
use kinesphere_world::spec::{ObjectKind, Shape, Spec};
use kinesphere_world::{Plaza, World, journal};
use shapes::mesh::TriangleMesh;
use space::Vec3;

fn courtyard() -> Spec {
    let no_mesh = &mut |_: &str| -> Result<TriangleMesh, String> { Err("no mesh here".to_owned()) };
    Spec::from_toml(include_str!("../../../worlds/courtyard.toml"), "courtyard.toml", no_mesh).unwrap()
}

fn plaza(seed: u64) -> Spec {
    Plaza { seekers: 60, side: 60.0, seed, ..Plaza::default() }.spec()
}

/// A world with its journal, and snapshots taken on the way.
fn recorded(spec: Arc<Spec>, seed: u64, ticks: u32) -> (World, Vec<u8>, Vec<Vec<u8>>) {
    let mut world = World::new(spec).unwrap();
    let mut hostile = Hostile::new(seed, 15);
    let (mut written, mut snapshots) = (Vec::new(), Vec::new());
    for tick in 0..ticks {
        if tick % 40 == 7 {
            let mut snapshot = Vec::new();
            world.snapshot(&mut snapshot);
            snapshots.push(snapshot);
        }
        let inputs = hostile.inputs(&world);
        journal::write(world.tick().next(), &inputs, &mut written);
        world.step(&inputs);
    }
    (world, written, snapshots)
}

#[test]
fn a_journal_replays_from_the_start_and_from_any_snapshot() {
    for (number, spec) in [courtyard(), plaza(1), plaza(2)].into_iter().enumerate() {
        let spec = Arc::new(spec);
        let (world, written, snapshots) = recorded(Arc::clone(&spec), number as u64, 200);
        let mut again = World::new(Arc::clone(&spec)).unwrap();
        let mut hashes = Vec::new();
        let last = journal::replay(&mut again, &written, &mut |world| hashes.push(world.hash())).unwrap();
        assert_eq!(last, world.hash(), "world {number}");
        for (index, snapshot) in snapshots.iter().enumerate() {
            let mut restored = World::restore(Arc::clone(&spec), snapshot).unwrap();
            let begun = restored.tick().number() as usize;
            let mut tick = begun;
            journal::replay(&mut restored, &written, &mut |world| {
                assert_eq!(world.hash(), hashes[tick], "world {number}, snapshot {index}, tick {tick}");
                tick += 1;
            })
            .unwrap();
            assert_eq!(tick, 200);
        }
    }
}

/// The same in debug and in release, on every machine. A change of motion changes these numbers, and nothing else does.
#[test]
fn the_golden_hash() {
    let (world, _, _) = recorded(Arc::new(courtyard()), 7, 300);
    let (other, _, _) = recorded(Arc::new(plaza(7)), 7, 300);
    assert_eq!(
        (world.hash().to_string().as_str(), other.hash().to_string().as_str()),
        ("589472682b0381bf", "6caee389a99941e4")
    );
}

#[test]
fn damaged_snapshots_and_journals_are_refused() {
    let spec = Arc::new(plaza(3));
    let (_, written, snapshots) = recorded(Arc::clone(&spec), 3, 60);
    let mut random = space::workload::Random::new(9);
    for _ in 0..3_000 {
        let mut bytes = snapshots[1].clone();
        match random.whole(0, 3) {
            0 => bytes.truncate(random.whole(0, bytes.len() as u32) as usize),
            1 => {
                let at = random.whole(0, bytes.len() as u32) as usize;
                bytes[at] ^= 1 << random.whole(0, 8);
            }
            _ => bytes.extend_from_slice(b"and more"),
        }
        assert!(World::restore(Arc::clone(&spec), &bytes).is_err());
    }
    assert!(World::restore(Arc::new(plaza(4)), &snapshots[1]).is_err(), "of another world");
    for _ in 0..3_000 {
        let mut bytes = written.clone();
        let at = random.whole(0, bytes.len() as u32) as usize;
        bytes[at] ^= 1 << random.whole(0, 8);
        // Bytes that still are a journal may have any values.
        journal::read(&bytes).for_each(drop);
    }
}

/// Two meshes with the same bounds are not the same world.
#[test]
fn a_snapshot_of_another_mesh_is_refused() {
    let with_dent = |depth: f32| {
        let corners = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z, Vec3::splat(depth)];
        let triangles = vec![[0, 1, 2], [3, 4, 5], [0, 4, 6]];
        let mesh = TriangleMesh::new(corners.to_vec(), triangles).unwrap();
        let mut spec = crowd::empty();
        spec.objects.push(crowd::object("stone", ObjectKind::Fixed, Shape::mesh(mesh), Vec3::new(9.0, 3.0, 0.0)));
        Arc::new(spec)
    };
    let mut snapshot = Vec::new();
    World::new(with_dent(0.1)).unwrap().snapshot(&mut snapshot);
    assert!(World::restore(with_dent(0.1), &snapshot).is_ok());
    assert!(World::restore(with_dent(0.2), &snapshot).is_err());
}

/// Forged bytes with a valid hash cause no panic and no overlap.
#[test]
fn forged_snapshots_make_no_overlap() {
    let spec = Arc::new(plaza(5));
    let (_, _, snapshots) = recorded(Arc::clone(&spec), 5, 60);
    let mut random = space::workload::Random::new(11);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..400 {
        let mut bytes = snapshots[1].clone();
        for _ in 0..random.whole(1, 4) {
            let at = random.whole(12, bytes.len() as u32 - 8) as usize;
            bytes[at] = random.whole(0, 256) as u8;
        }
        kinesphere_world::forge_fingerprint(&mut bytes);
        match World::restore(Arc::clone(&spec), &bytes) {
            Err(_) => refused += 1,
            Ok(mut world) => {
                accepted += 1;
                for _ in 0..3 {
                    world.step(&[]);
                    assert_eq!(world.first_overlap(), None);
                }
            }
        }
    }
    assert!(accepted > 20 && refused > 20, "{accepted} accepted, {refused} refused");
}

/// Keeps out: stored worlds that a new version does not recognise, as the text of their spec had changed.
#[test]
fn stored_worlds_are_recognised() {
    let windy = include_str!("../../../worlds/windy.toml");
    let windy = Spec::from_toml(windy, "windy.toml", &mut |_| Err("no mesh here".to_owned())).unwrap();
    let fingerprints = [courtyard(), windy, plaza(1)].map(|spec| World::new(spec).unwrap().fingerprint());
    assert_eq!(
        fingerprints,
        [0x7b16_7bae_db36_d032, 0xef48_fba6_ca15_0bb3, 0x2c2f_a25a_6674_2217],
        "{fingerprints:#x?}"
    );
}

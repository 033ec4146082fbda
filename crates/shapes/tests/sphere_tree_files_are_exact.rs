//! Trees are read back to the bit, and damaged files are refused.

mod tree_meshes;

use kinesphere_shapes::sphere_tree::file::{Interior, TreeFile, checksum, from_bytes, to_bytes};
use kinesphere_shapes::sphere_tree::{Method, Object, build, cover_solid};
use space::workload::Random;

fn sample(method: Method) -> TreeFile {
    let case = tree_meshes::shipped_one("box");
    let built = build(&case.vertices, &case.triangles, method, &[8, 20]).unwrap();
    TreeFile { method, tree: built.tree, inside: None }
}

fn solid() -> TreeFile {
    let case = tree_meshes::shipped_one("ball");
    let built = build(&case.vertices, &case.triangles, Method::Octree, &[8, 56]).unwrap();
    let object = Object::new(&case.vertices, &case.triangles).unwrap();
    let solid = cover_solid(&object, &built.tree, 0.05).unwrap();
    assert!(!solid.inner.is_empty());
    let inside = Some(Interior { inner: solid.inner, margin: solid.margin });
    TreeFile { method: Method::Octree, tree: solid.tree, inside }
}

/// The bytes with a valid checksum, so that damage must be found otherwise.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let sum = checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn what_was_written_is_read() {
    for file in [sample(Method::Octree), sample(Method::OctreeTight), solid()] {
        let bytes = to_bytes(&file);
        assert_eq!(from_bytes(&bytes).unwrap(), file);
        assert_eq!(to_bytes(&from_bytes(&bytes).unwrap()), bytes);
    }
}

#[test]
fn every_shorter_file_and_every_flipped_bit_is_refused() {
    for bytes in [sample(Method::Octree), solid()].map(|file| to_bytes(&file)) {
        for length in 0..bytes.len() {
            assert!(from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
        for at in 0..bytes.len() {
            for bit in if at % 5 == 0 { 0..8 } else { 3..4 } {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(from_bytes(&damaged).is_err(), "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn hostile_numbers_with_a_fitting_sum_are_refused_or_make_a_sound_tree() {
    let files = [sample(Method::OctreeTight), solid()].map(|file| to_bytes(&file));
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let mut damaged = files[seed as usize % 2].clone();
        for _ in 0..random.whole(1, 4) {
            let at = random.whole(8, damaged.len() as u32 - 4) as usize;
            damaged[at] = [0, 0xff, 0x7f, 0x80, random.whole(0, 256) as u8][random.whole(0, 5) as usize];
        }
        if let Ok(file) = from_bytes(&summed(damaged)) {
            for node in file.tree.nodes() {
                assert!(node.ball.radius > 0.0 && node.ball.center.is_finite() && node.error >= 0.0, "seed {seed}");
                let children = node.first_child as usize + node.children as usize;
                assert!(children <= file.tree.nodes().len(), "seed {seed}");
            }
            for ball in file.inside.iter().flat_map(|inside| &inside.inner) {
                assert!(ball.radius > 0.0 && ball.center.is_finite(), "seed {seed}");
            }
        }
    }
}

#[test]
fn refusals_say_what_was_expected() {
    let bytes = to_bytes(&sample(Method::Octree));
    let with = |at: usize, value: u8| {
        let mut changed = bytes.clone();
        changed[at] = value;
        from_bytes(&summed(changed)).unwrap_err().to_string()
    };
    assert_eq!(
        from_bytes(b"nothing").unwrap_err().to_string(),
        "this is no sphere-tree: it does not begin with KSPHTREE"
    );
    assert_eq!(with(8, 3), "version 3, expected 1 or 2");
    // As if inner balls followed, for which bytes are missing.
    assert_eq!(with(8, 2), format!("{} bytes, expected {}", bytes.len(), bytes.len() + 12));
    assert_eq!(with(10, 4), "method 4, expected 0 to 3");
    assert_eq!(with(11, 0), "the number of levels is 0, expected 1 to 9");
    assert!(with(15, 0xff).starts_with("the number of nodes is"));
}

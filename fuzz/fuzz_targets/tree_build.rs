//! Any bytes as corners and triangles: every builder returns a tree that a second proof confirms, or refuses.

#![no_main]

use shapes::sphere_tree::{build, certify};

#[path = "tree_build_input.rs"]
mod tree_build_input;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((method, vertices, triangles)) = tree_build_input::input(bytes) else { return };
    if let Ok(built) = build(&vertices, &triangles, method, &[3, 7]) {
        let corners: Vec<_> = triangles.iter().map(|corners| corners.map(|corner| vertices[corner as usize])).collect();
        assert!(certify(&built.tree, &corners).is_ok());
    }
});

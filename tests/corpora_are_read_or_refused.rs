//! Every file of every fuzzing corpus is read or refused, and nothing panics. Which of the two is in its name's
//! company: the files below are right, all others are wrong.

use std::fs;
use std::path::Path;

use shapes::mesh::{Format, read};

const RIGHT: [&str; 12] = [
    "mesh_gltf/fan.gltf",
    "mesh_gltf/no_scene.gltf",
    "mesh_gltf/placed.gltf",
    "mesh_gltf/sparse.gltf",
    "mesh_gltf/strip.gltf",
    "mesh_gltf/triangle.glb",
    "mesh_gltf/triangle.gltf",
    "mesh_obj/carriage_returns.obj",
    "mesh_obj/materials_and_groups.obj",
    "mesh_obj/quad_backwards.obj",
    "mesh_obj/tetrahedron.obj",
    "mesh_tri/beam_of_the_paper.tri",
];

#[test]
fn mesh_files() {
    let mut right = Vec::new();
    for (target, format) in [("mesh_gltf", Format::Gltf), ("mesh_obj", Format::Obj), ("mesh_tri", Format::Tri)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let mut count = 0;
        for file in fs::read_dir(&folder).expect("a corpus") {
            let path = file.expect("a file").path();
            count += 1;
            let name = format!("{target}/{}", path.file_name().expect("a name").to_string_lossy());
            match read(&fs::read(&path).expect("bytes"), format) {
                Ok(_) => right.push(name),
                Err(error) => assert!(!error.to_string().is_empty(), "{name}"),
            }
        }
        assert!(count >= 10, "the corpus of {target} has {count} files");
    }
    right.sort();
    assert_eq!(right, RIGHT);
}

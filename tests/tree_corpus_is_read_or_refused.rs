//! Every file of the sphere-tree corpora is read or refused, as its name says.

use std::fs;
use std::path::{Path, PathBuf};

use shapes::mesh::corners_of;
use shapes::sphere_tree::file::from_bytes;
use shapes::sphere_tree::{build, certify};

#[path = "../fuzz/fuzz_targets/tree_build_input.rs"]
mod tree_build_input;

/// The files of a corpus, with their bytes.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    paths.map(|path| (path.clone(), fs::read(&path).expect("it can be read"))).collect()
}

fn begins(path: &Path, with: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(with))
}

#[test]
fn tree_corpus_is_read_or_refused() {
    let files = corpus("tree_file");
    for (path, bytes) in &files {
        assert_eq!(from_bytes(bytes).is_ok(), begins(path, "box-"), "{}", path.display());
    }
    assert!(files.len() >= 3, "{} files", files.len());
}

#[test]
fn meshes_of_the_corpus_are_covered_or_refused() {
    let files = corpus("tree_build");
    for (path, bytes) in &files {
        let name = path.display();
        let built = tree_build_input::input(bytes).and_then(|(method, vertices, triangles)| {
            Some((build(&vertices, &triangles, method, &[3, 7]).ok()?, vertices, triangles))
        });
        assert_eq!(built.is_none(), begins(path, "refused-"), "{name}");
        if let Some((built, vertices, triangles)) = built {
            let corners = corners_of(&vertices, &triangles);
            certify(&built.tree, &corners).unwrap_or_else(|missed| panic!("{name}: {missed}"));
            assert!(built.tree.nodes().iter().all(|node| node.ball.radius > 0.0 && node.error.is_finite()), "{name}");
        }
    }
    assert!(files.len() >= 20, "{} files", files.len());
}

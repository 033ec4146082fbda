//! Every file of the corpus of sphere-trees is read, if its name says that it is whole, or refused; nothing panics.

use std::fs;
use std::path::Path;

use space::narrow::sphere_tree::file::from_bytes;

#[test]
fn tree_corpus_is_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/tree_file");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("it can be listed").path();
        let bytes = fs::read(&path).expect("it can be read");
        let is_whole = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("box-"));
        assert_eq!(from_bytes(&bytes).is_ok(), is_whole, "{}", path.display());
        count += 1;
    }
    assert!(count >= 3, "{count} files");
}

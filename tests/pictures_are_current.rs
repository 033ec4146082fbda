//! The pictures in the README and in `docs/broad-phase.md` are what the code draws today, what they count included.

#[allow(dead_code)]
#[path = "../examples/picture.rs"]
mod picture;
#[allow(dead_code)]
#[path = "../lab/examples/pictures/main.rs"]
mod pictures;

use std::path::Path;

#[test]
fn picture_of_the_readme_is_current() {
    let drawn = picture::svg().expect("the picture's world is within the limits");
    let kept = include_str!("../docs/picture.svg");
    assert!(drawn == kept, "docs/picture.svg is old: cargo run --example picture > docs/picture.svg");
}

#[test]
fn pictures_of_the_broad_phase_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    for (name, draw) in pictures::PICTURES {
        let file = folder.join(name).with_extension("svg");
        let kept = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(draw() == kept, "docs/pictures/{name}.svg is old: cargo run -p lab --example pictures");
    }
}

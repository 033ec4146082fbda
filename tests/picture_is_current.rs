//! The picture in the README is what the code draws today.

#[allow(dead_code)]
#[path = "../examples/picture.rs"]
mod picture;

#[test]
fn picture_is_current() {
    let drawn = picture::svg().expect("the picture's world is within the limits");
    let kept = include_str!("../docs/picture.svg");
    assert!(drawn == kept, "docs/picture.svg is old: cargo run --example picture > docs/picture.svg");
}

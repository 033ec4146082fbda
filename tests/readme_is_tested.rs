//! The README shows the code of the README of `kinesphere-space`, which is a doctest: hence it does what it says.

#[test]
fn readme_is_tested() {
    let code = |readme: &'static str| readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```\n").next());
    let tested = code(include_str!("../crates/space/README.md"));
    assert!(tested.is_some());
    assert_eq!(code(include_str!("../README.md")), tested);
}

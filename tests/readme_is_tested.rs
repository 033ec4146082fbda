//! The code that the READMEs show is a doctest, to the letter: hence it compiles and does what it says.

const README: &str = include_str!("../README.md");
const README_OF_SPACE: &str = include_str!("../crates/space/README.md");
const README_OF_SHAPES: &str = include_str!("../crates/shapes/README.md");
const README_OF_INTEREST: &str = include_str!("../crates/interest/README.md");

/// The first doctest of a file, as a reader sees it. Pictures in text stand between fences, too.
fn tested(source: &str) -> String {
    let mut lines =
        source.lines().filter_map(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let fence = |line: &&str| line.starts_with("```");
    while lines.by_ref().find(fence).is_some_and(|opening| opening != "```") {
        lines.by_ref().find(fence);
    }
    lines
        .take_while(|line| !fence(line))
        .filter(|line| !line.starts_with("# "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn readme_is_tested() {
    let front = ("crates/space/src/lib.rs", include_str!("../crates/space/src/lib.rs"));
    let shapes = ("crates/shapes/src/lib.rs", include_str!("../crates/shapes/src/lib.rs"));
    let hearing = ("crates/interest/src/lib.rs", include_str!("../crates/interest/src/lib.rs"));
    for (name, readme, (file, source)) in [
        ("README.md", README, front),
        ("crates/space/README.md", README_OF_SPACE, front),
        ("crates/shapes/README.md", README_OF_SHAPES, shapes),
        ("crates/interest/README.md", README_OF_INTEREST, hearing),
    ] {
        let tested = tested(source);
        assert!(
            readme.contains(&format!("```rust\n{tested}```\n")),
            "{name} shows other code than the doctest in {file}, which is:\n{tested}"
        );
    }
}

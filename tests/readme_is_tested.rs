//! The code that the READMEs show is a doctest of `space`, to the letter: hence it compiles and does what it says.

const README: &str = include_str!("../README.md");
const README_OF_SPACE: &str = include_str!("../crates/space/README.md");

/// The first doctest of a file, as a reader sees it.
fn tested(source: &str) -> String {
    source
        .lines()
        .skip_while(|line| *line != "//! ```")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| line.strip_prefix("//! ").unwrap_or(""))
        .filter(|line| !line.starts_with("# "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn readme_is_tested() {
    let front = ("crates/space/src/lib.rs", include_str!("../crates/space/src/lib.rs"));
    let shapes = ("crates/space/src/narrow/mod.rs", include_str!("../crates/space/src/narrow/mod.rs"));
    for (name, readme, (file, source)) in [
        ("README.md", README, front),
        ("crates/space/README.md", README_OF_SPACE, front),
        ("crates/space/README.md", README_OF_SPACE, shapes),
    ] {
        let tested = tested(source);
        assert!(
            readme.contains(&format!("```rust\n{tested}```\n")),
            "{name} shows other code than the doctest in {file}, which is:\n{tested}"
        );
    }
}

//! The code that the READMEs show is the doctest of `space`, to the letter: hence it compiles and does what it says.

const FRONT_PAGE: &str = include_str!("../crates/space/src/lib.rs");

#[test]
fn readme_is_tested() {
    let tested: String = FRONT_PAGE
        .lines()
        .skip_while(|line| *line != "//! ```")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| line.strip_prefix("//! ").unwrap_or(""))
        .filter(|line| !line.starts_with("# "))
        .map(|line| format!("{line}\n"))
        .collect();
    for (name, readme) in [
        ("README.md", include_str!("../README.md")),
        ("crates/space/README.md", include_str!("../crates/space/README.md")),
    ] {
        assert!(
            readme.contains(&format!("```rust\n{tested}```\n")),
            "{name} shows other code than the doctest in crates/space/src/lib.rs, which is:\n{tested}"
        );
    }
}

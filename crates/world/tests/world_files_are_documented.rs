//! `docs/world-file.md` names every key that a world file may have, and no other; and its example is a world.
//!
//! The reader lists its keys when it refuses an unknown one.

use std::collections::BTreeSet;

use kinesphere_world::{Spec, World};

const DOCUMENT: &str = include_str!("../../../docs/world-file.md");

fn read(text: &str) -> Result<Spec, String> {
    Spec::from_toml(text, "a file", &mut |_| Err("there are no files here".to_owned()))
        .map_err(|error| error.to_string())
}

/// The words between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The keys that the reader expects where a file has `unheard_of`.
fn expected(text: &str) -> BTreeSet<String> {
    let refusal = read(text).expect_err("there is no such key");
    let (_, rest) = refusal.split_once("unknown field `unheard_of`, expected ").unwrap_or_else(|| panic!("{refusal}"));
    quoted(rest).collect()
}

/// The rows of the tables of one part of the document.
fn rows(part: &str) -> impl Iterator<Item = &'static str> {
    let begin = DOCUMENT.find(part).unwrap_or_else(|| panic!("there is no part {part:?}")) + part.len();
    let text = DOCUMENT[begin..].split("\n#").next().unwrap_or_default();
    text.lines().filter(|line| line.starts_with("| `"))
}

fn documented(part: &str) -> BTreeSet<String> {
    rows(part).flat_map(|row| quoted(row.split('|').nth(1).unwrap_or_default())).collect()
}

/// The keys in braces in the row of a shape or a route.
fn parts(section: &str, key: &str) -> BTreeSet<String> {
    let row = rows(section).find(|row| row.starts_with(&format!("| `{key}`"))).unwrap_or_else(|| panic!("{key}"));
    let braces = row.split("`{ ").skip(1).filter_map(|rest| rest.split(" }`").next());
    braces.flat_map(|inside| inside.split(", ")).map(str::to_owned).collect()
}

const BOUNDS: &str = "name = 'a'\nbounds = { low = [-9, 0, -9], high = [9, 9, 9] }\n";

#[test]
fn every_key_is_documented() {
    assert_eq!(documented("\n## The world\n"), expected(&format!("{BOUNDS}unheard_of = 1")));
    assert_eq!(documented("\n### Bounds\n"), expected("name = 'a'\nbounds = { unheard_of = 1 }"));
    for (part, table) in [("Limits", "limits"), ("Crowd", "crowd")] {
        assert_eq!(documented(&format!("\n### {part}\n")), expected(&format!("{BOUNDS}[{table}]\nunheard_of = 1")));
    }
    for (part, table) in [("### Avatars", "avatar"), ("## Objects", "object")] {
        assert_eq!(documented(&format!("\n{part}\n")), expected(&format!("{BOUNDS}[[{table}]]\nunheard_of = 1")));
    }
}

#[test]
fn every_part_of_a_shape_and_of_a_route_is_documented() {
    let object = expected(&format!("{BOUNDS}[[object]]\nunheard_of = 1"));
    let mut tables = 0;
    for section in ["\n### Shapes\n", "\n### Routes\n"] {
        for key in documented(section) {
            assert!(object.contains(&key), "{key}");
            let found = expected(&format!("{BOUNDS}[[object]]\n{key} = {{ unheard_of = 1 }}"));
            assert_eq!(parts(section, &key), found, "of {key}");
            tables += 1;
        }
    }
    assert_eq!(tables, 10);
}

#[test]
fn the_example_is_a_world() {
    let text =
        DOCUMENT.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("there is an example");
    let spec = read(text).expect("it is a world file");
    World::new(std::sync::Arc::new(spec)).expect("it makes a world");
}

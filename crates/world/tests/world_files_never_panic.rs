//! Any world file gives a world or an error: files of the corpus, and thousands of damaged ones.
//!
//! `fuzz/corpus/world_file` holds files that were worth keeping; `cargo +nightly fuzz run world_file` tries more.

mod crowd;

use std::panic::{AssertUnwindSafe, catch_unwind};

use kinesphere_world::World;
use kinesphere_world::spec::Spec;
use proptest::prelude::*;
use shapes::mesh::TriangleMesh;

const CASES: u32 = 300;

const CORPUS: &[(&str, &str)] = &[
    ("courtyard", include_str!("../../../worlds/courtyard.toml")),
    ("empty", include_str!("../../../fuzz/corpus/world_file/empty.toml")),
    ("flat hull", include_str!("../../../fuzz/corpus/world_file/flat_hull.toml")),
    ("huge numbers", include_str!("../../../fuzz/corpus/world_file/huge_numbers.toml")),
    ("infinite", include_str!("../../../fuzz/corpus/world_file/infinite.toml")),
    ("many rules", include_str!("../../../fuzz/corpus/world_file/many_rules.toml")),
    ("no room", include_str!("../../../fuzz/corpus/world_file/no_room.toml")),
    ("tiny", include_str!("../../../fuzz/corpus/world_file/tiny.toml")),
    ("turned", include_str!("../../../fuzz/corpus/world_file/turned.toml")),
];

/// Reads a file, makes the world if it can, and steps it.
fn try_file(text: &str) {
    let mut no_mesh = |_: &str| -> Result<TriangleMesh, String> { Err("no mesh here".to_owned()) };
    let Ok(mut spec) = Spec::from_toml(text, "file.toml", &mut no_mesh) else { return };
    // A crowd of a hundred thousand is valid and slow.
    if let Some(crowd) = &mut spec.crowd {
        crowd.seekers = crowd.seekers.min(200);
    }
    let Ok(mut world) = World::new(spec) else { return };
    for tick in 0..5 {
        world.step(&[]);
        assert_eq!(world.first_overlap(), None, "tick {tick} of\n{text}");
    }
}

#[test]
fn the_corpus_is_read_or_refused() {
    for (name, text) in CORPUS {
        let result = catch_unwind(AssertUnwindSafe(|| try_file(text)));
        assert!(result.is_ok(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// Numbers, lines and letters of good files, exchanged.
    #[test]
    fn damaged_files_are_read_or_refused(
        file in 0..CORPUS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, any::<prop::sample::Index>()), 1..6),
    ) {
        let mut text = CORPUS[file].1.to_owned();
        for (at, change, other) in changes {
            text = damaged(&text, at, change, other);
        }
        try_file(&text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}=\",.#a-z0-9 \n-]{0,200}") {
        try_file(&text);
        try_file(&format!("name = \"x\"\nbounds = {{ low = [-5, 0, -5], high = [5, 5, 5] }}\n{text}"));
    }
}

const VALUES: [&str; 12] = ["-1", "0", "1e30", "nan", "inf", "-inf", "1e-30", "8192", "[]", "\"x\"", "0.35", "true"];

fn damaged(text: &str, at: prop::sample::Index, change: u8, other: prop::sample::Index) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let line = at.index(lines.len());
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    match change {
        0 => drop(lines.remove(line)),
        1 => {
            let copy = lines[other.index(lines.len())].clone();
            lines.insert(line, copy);
        }
        2 => {
            let numbers: Vec<(usize, &str)> =
                lines[line].match_indices(|letter: char| letter.is_ascii_digit()).collect();
            if !numbers.is_empty() {
                let (place, digit) = numbers[other.index(numbers.len())];
                let length = digit.len();
                let value = VALUES[other.index(VALUES.len())];
                lines[line].replace_range(place..place + length, value);
            }
        }
        3 => {
            let mut letters: Vec<char> = lines[line].chars().collect();
            if !letters.is_empty() {
                let place = other.index(letters.len());
                letters[place] = ['[', '"', '=', '9', '-', '}'][place % 6];
            }
            lines[line] = letters.into_iter().collect();
        }
        _ => {
            let target = other.index(lines.len());
            lines.swap(line, target);
        }
    }
    lines.join("\n")
}

//! What keeps the tree easy to find one's way in: one type name for one thing, lines of at most 120 columns, a book
//! that lists its pages, and front pages that stay short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names that mean the same kind of thing in every module that has one, and are always used with the module's name.
const SHARED_NAMES: [&str; 4] = ["Error", "Report", "Row", "Settings"];

/// All files below the root with one of these endings, in order; without what is generated or downloaded.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "node_modules", "dist", "corpus"].contains(&&*name) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    assert!(found.len() > 10, "the tree is not where this test looks: {found:?}");
    found
}

fn text(path: &Path) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The name of the type that a line declares for others to use.
fn declared_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')')?.1,
        None => rest,
    };
    let (kind, rest) = rest.trim_start().split_once(' ')?;
    ["struct", "enum", "trait", "type"].contains(&kind).then(|| {
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn a_type_name_stands_for_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in files(&[".rs"]) {
        if path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        for name in text(&path).lines().filter_map(declared_type) {
            places.entry(name.to_owned()).or_default().insert(path.parent().unwrap().to_owned());
        }
    }
    assert!(places.contains_key("Spheres"), "no declaration was recognised");
    places.retain(|name, folders| folders.len() > 1 && !SHARED_NAMES.contains(&&**name));
    assert!(places.is_empty(), "each of these names stands for several things, rename all but one: {places:#?}");
}

#[test]
fn no_line_has_more_than_120_columns() {
    let mut long = Vec::new();
    for path in files(&[".rs", ".ts", ".md"]) {
        for (number, line) in text(&path).lines().enumerate() {
            // Tables and addresses cannot be broken.
            if line.chars().count() > 120 && !line.trim_start().starts_with('|') && !line.contains("http") {
                long.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(long.is_empty(), "{} lines have more than 120 columns:\n{}", long.len(), long.join("\n"));
}

#[test]
fn the_book_lists_every_page() {
    let summary = text(Path::new("docs/SUMMARY.md"));
    for path in files(&[".md"]) {
        let Ok(page) = path.strip_prefix("docs") else { continue };
        let page = page.to_string_lossy();
        assert!(page == "SUMMARY.md" || summary.contains(&format!("({page})")), "docs/SUMMARY.md lacks {page}");
    }
}

#[test]
fn front_pages_stay_short() {
    for (page, lines_max) in [("README.md", 90), ("ARCHITECTURE.md", 150)] {
        let lines = text(Path::new(page)).lines().count();
        assert!(lines <= lines_max, "{page} has {lines} lines, expected at most {lines_max}");
    }
}

#[test]
fn the_glossary_has_at_most_50_nouns() {
    let contributing = text(Path::new("CONTRIBUTING.md"));
    let (_, glossary) = contributing.split_once("## Glossary").expect("CONTRIBUTING.md has a glossary");
    let nouns = glossary.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| here")).count();
    assert!((20..=50).contains(&nouns), "the glossary has {nouns} nouns");
}

/// The documents that guide a newcomer name files; each of these exists.
#[test]
fn documents_name_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut gone = Vec::new();
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for name in text(Path::new(page)).split('`').skip(1).step_by(2) {
            let is_path = name.contains('/') && !name.contains([' ', ':', '*', '<', '…']) && name != "./check";
            if is_path && ![root.join(name), root.join("crates").join(name)].iter().any(|path| path.exists()) {
                gone.push(format!("{page}: {name}"));
            }
        }
    }
    assert!(gone.is_empty(), "documents name files that do not exist: {gone:#?}");
}

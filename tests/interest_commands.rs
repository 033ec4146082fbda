//! `lab relations`, `lab groups` and `bench interest` as a script meets them: one document, with the rows it was promised.

use std::process::Command;

use serde_json::Value;

fn document(arguments: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
    let output = command.args(arguments.split_whitespace()).output().expect("the binary was just built");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON document and nothing else")
}

fn rows<'a>(document: &'a Value, fields: &[&str]) -> &'a Vec<Value> {
    let rows = document["rows"].as_array().expect("`rows` is a list");
    for (row, field) in rows.iter().flat_map(|row| fields.iter().map(move |field| (row, field))) {
        assert!(!row[*field].is_null(), "{field} is missing in {row}");
    }
    rows
}

/// A folder of its own, gone afterwards.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("kinesphere-{name}-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn relations_print_a_row_per_world_and_algorithm() {
    let folder = Folder::new("relations");
    let command = "lab relations --objects 100,200 --coverage 5,20 --warm 50 --frames 2 --json --out";
    let document = document(&format!("{command} {}", folder.0.display()));
    let fields = ["objects", "coverage", "algorithm", "comparisons_raw", "comparisons_distinct"];
    rows(&document, &["share_of_brute_force", "ms_per_frame", "relations", "pairs"]);
    let all = rows(&document, &fields);
    assert_eq!(all.len(), 24);
    assert!(all.iter().all(|row| row["agrees"] == true));
    for file in ["index.html", "relations.csv", "relations.json", "comparisons-20.svg", "time-5.svg"] {
        assert!(folder.0.join(file).exists(), "{file}");
    }
}

#[test]
fn groups_print_a_row_per_world_and_scheme() {
    let folder = Folder::new("groups");
    let document = document(&format!("lab groups --objects 200 --ticks 3 --json --out {}", folder.0.display()));
    let fields = ["world", "scheme", "groups", "memberships", "copies_per_needed", "changes_per_tick"];
    let all = rows(&document, &fields);
    rows(&document, &["edge_changes_per_tick"]);
    for world in ["uniform-1", "uniform-200", "crowds-40", "crowd-200-60", "crowd-200-120"] {
        let schemes: Vec<&str> =
            all.iter().filter(|row| row["world"] == world).filter_map(|row| row["scheme"].as_str()).collect();
        assert_eq!(schemes, ["relations", "cover", "channel-per-object", "cells"], "{world}");
    }
    assert!(all.iter().all(|row| row["fresh_groups"].is_number() == (row["scheme"] == "cover")));
    for file in ["index.html", "groups.csv", "groups.json", "copies.svg", "changes.svg"] {
        assert!(folder.0.join(file).exists(), "{file}");
    }
}

#[test]
fn the_interest_bench_has_a_ratio_per_case() {
    // Small worlds are not judged, only measured.
    let document = document("bench interest --objects 5000 --crowded 1000 --seekers 200 --warm 3 --ticks 3 --json");
    assert_eq!(rows(&document, &["case", "ratio", "must", "goal", "ours", "peer"]).len(), 6);
}

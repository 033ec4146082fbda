//! `relations`, `groups` and `bench interest` as a script meets them: one document, with the rows it was promised.

mod shell;

use shell::{Folder, document, rows};

#[test]
fn relations_print_a_row_per_world_and_algorithm() {
    let folder = Folder::new("relations");
    let command = "relations --objects 100,200 --coverage 5,20 --warm 50 --frames 2 --json --out";
    let document = document(&format!("{command} {}", folder.0.display()));
    let fields = ["objects", "coverage", "algorithm", "comparisons_raw", "comparisons_distinct"];
    rows(&document, "rows", &["share_of_brute_force", "ms_per_frame", "relations", "pairs"]);
    let all = rows(&document, "rows", &fields);
    assert_eq!(all.len(), 24);
    assert!(all.iter().all(|row| row["agrees"] == true));
    for file in ["index.html", "relations.csv", "relations.json", "comparisons-20.svg", "time-5.svg"] {
        assert!(folder.0.join(file).exists(), "{file}");
    }
}

#[test]
fn groups_print_a_row_per_world_and_scheme() {
    let folder = Folder::new("groups");
    let document = document(&format!("groups --objects 200 --ticks 3 --json --out {}", folder.0.display()));
    let fields = ["world", "scheme", "groups", "memberships", "copies_per_needed", "changes_per_tick"];
    let all = rows(&document, "rows", &fields);
    rows(&document, "rows", &["edge_changes_per_tick"]);
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
    assert_eq!(rows(&document, "rows", &["case", "ratio", "must", "goal", "ours", "peer"]).len(), 6);
}

//! `simulate`, `missed-collisions` and `bench tick` as a script meets them.

mod shell;

use shell::{Folder, document, lab, rows, stderr};

#[test]
fn a_simulation_prints_a_row_per_promise_and_repeats() {
    let command = "simulate --seed 3 --clients 4 --hostile 2 --ticks 600 --loss 0.1 --latency 80 --json";
    let first = document(command);
    assert_eq!(first["seed"], 3);
    assert_eq!(first["ticks"], 600);
    let all = rows(&first, "rows", &["checker", "checks", "violations", "examples"]);
    assert!(all.len() >= 8 && all.iter().all(|row| row["violations"] == 0));
    assert!(first["shown_error_m"].is_number() && first["state_bytes_per_object"].is_number());
    assert_eq!(first, document(command), "the same seed is the same run, to the bit");
}

#[test]
fn a_simulation_that_cannot_be_is_refused_in_a_sentence() {
    let output = lab("simulate --loss 2");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`loss` is 2, expected a fraction of 0 to 0.9"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn missed_collisions_print_their_rows_and_write_their_report() {
    let folder = Folder::new("missed-collisions");
    let command = format!("missed-collisions --encounters 20 --json --out {}", folder.0.display());
    let document = document(&command);
    let fields = ["method", "loss", "latency_ms", "encounters", "missed", "missed_percent", "messages_per_s"];
    let all = rows(&document, "rows", &fields);
    assert!(all.iter().filter(|row| row["method"] == "server").all(|row| row["missed"] == 0));
    rows(&document, "topologies", &["topology", "users", "messages", "copies", "busiest"]);
    rows(&document, "verdicts", &["claim", "source", "outcome", "evidence"]);
    assert!(folder.0.join("index.html").exists());
}

#[test]
fn the_tick_bench_tells_each_stage_and_the_bytes() {
    let document = document("bench tick --objects 400 --clients 20 --warm 3 --ticks 5 --json");
    let all = rows(&document, "rows", &["stage", "cpu_ms_mean", "cpu_ms_min", "cpu_ms_max"]);
    let stages: Vec<&str> = all.iter().filter_map(|row| row["stage"].as_str()).collect();
    assert_eq!(stages, ["receive", "inputs", "world", "follow", "audience", "fan_out", "hand_out"]);
    let bytes = document["state_bytes_per_object"].as_f64().unwrap();
    assert!((6.0..16.0).contains(&bytes), "{bytes} bytes");
}

/// Whether a delay is noticeable depends on the machine, and is not asserted here.
#[test]
fn four_users_meet_over_three_networks_and_never_overlap() {
    let report: serde_json::Value =
        serde_json::from_slice(&lab("four-users --seconds 5 --json").stdout).expect("one document");
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{report:#}");
    for row in rows {
        assert_eq!((row["joined"].as_u64(), row["violations"].as_u64()), (Some(4), Some(0)), "{report:#}");
        assert!(row["samples"].as_u64().unwrap() > 0, "{report:#}");
        assert!(
            row["update_latency_ms"]["p50"].as_f64() >= row["one_way_ms"].as_f64().map(|ms| 2.0 * ms),
            "{report:#}"
        );
    }
}

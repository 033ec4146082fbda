//! The command line: help, refusals, exit codes, and only results on stdout.

mod shell;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shell::{Folder, lab, stderr, stdout};

#[test]
fn every_command_explains_itself_with_an_example() {
    for command in [
        "--help",
        "bench --help",
        "bench broad-phase --help",
        "bench motion --help",
        "bench queries --help",
        "broad-phases --help",
        "prediction --help",
        "decisions --help",
        "peers --help",
        "cluster --help",
        "sphere-trees --help",
        "relations --help",
        "groups --help",
        "four-users --help",
        "bench interest --help",
    ] {
        let output = lab(command);
        assert!(output.status.success(), "{command}");
        assert!(stdout(&output).contains("Example: cargo run --release -p lab -- "), "{command}: {}", stdout(&output));
    }
}

#[test]
fn help_names_every_workload_and_every_method() {
    let workloads = space::workload::Motion::ALL.map(|(_, name)| name);
    let methods = lab::method::METHODS.iter().map(|method| method.name);
    let is_named = |command: &str, name: &str| {
        let output = lab(command);
        assert!(stdout(&output).contains(name), "{command} does not name {name}: {}", stdout(&output));
    };
    for name in workloads {
        is_named("bench broad-phase --help", name);
        is_named("bench queries --help", name);
    }
    methods.for_each(|name| is_named("bench broad-phase --help", name));
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let cases = [
        ("bench broad-phase --objects 1000000000", "a world holds at most 16777216"),
        ("bench broad-phase --objects -1", "'-1' for '--objects <N>': expected a whole number from 0 on"),
        ("bench broad-phase --ticks 1e3", "'1e3' for '--ticks <TICKS>': expected a whole number from 0 on"),
        ("bench broad-phase --coverage wide", "'wide' for '--coverage <PERCENT>': expected a number"),
        ("bench broad-phase --coverage NaN", "`coverage` is NaN, expected a percentage from 0.001"),
        ("bench broad-phase --coverage -5", "`coverage` is -5, expected a percentage from 0.001"),
        ("bench broad-phase --speed inf", "`speed` is inf, expected 0 to"),
        ("bench broad-phase --workload walkers", "no workload is called `walkers`; there are uniform,"),
        ("bench broad-phase --methods bubble-sort", "no method is called `bubble-sort`; there are "),
        ("bench broad-phase --ticks 0", "`ticks` is 0, expected 1 to"),
        ("bench broad-phase --runs 0", "`runs` is 0, expected 1 to"),
        ("bench broad-phase --threads 0", "`threads` is 0, expected 1 to"),
        ("bench broad-phase --threads 100000", "`threads` is 100000, expected 1 to"),
        ("broad-phases --objects 1000000000", "expected 1 to 20,000 objects in a room"),
        ("broad-phases --speed NaN", "`speed` is NaN, expected 0 to 10"),
        ("bench motion --ticks 0", "`ticks` is 0, expected 1 to 100,000"),
        ("bench queries --ticks 0", "`ticks` is 0, expected 1 to 1,000,000"),
        ("bench queries --objects 1000000000", "a world holds at most 16777216"),
        ("bench motion --updates NaN", "`updates` is NaN, expected 0 to 60"),
        ("cluster --nodes 1", "`nodes` is 1, expected 2 to 16"),
        ("cluster --seeds 5", "`5` is no range of seeds, expected FROM..TO"),
        ("peers --hosts 1", "`hosts` is 1, expected 2 to 64"),
        ("prediction --latency 5000", "`latency` is 5000, expected 0 to 2,000 milliseconds"),
        ("prediction --seeds 0", "`seeds` is 0, expected 1 to 10,000"),
        ("decisions --encounters 0", "`encounters` is 0, expected 1 to 1,000,000"),
        ("missed-collisions --encounters 0", "`encounters` is 0, expected 1 to 1,000,000"),
        ("four-users --seconds 1", "`seconds` is 1, expected 5 to 3,600 seconds"),
        ("sphere-trees --mesh box --depth 9", "--depth is 9, expected 1 to 8"),
        ("room --speed 11", "`speed` is 11, expected 0 to 10 widths per frame"),
        ("relations --frames 0", "`frames` is 0, expected 1 to 100,000"),
        ("relations --objects 1", "`objects` is 1, expected 2 to 20,000"),
        ("relations --coverage NaN", "`coverage` is NaN, expected a percentage"),
        ("groups --ticks 1", "`ticks` is 1, expected 2 to 100,000"),
        ("bench interest --ticks 0", "`ticks` is 0, expected 1 to 100,000"),
        ("bench tick --ticks 0", "`ticks` is 0, expected 1 to 1,000,000"),
        ("bench tick --objects 5 --clients 6", "`objects` is 5, expected at least as many as `clients`: 6"),
        ("bench world --movers 101", "`movers` is 101, expected 0 to 100 percent"),
        ("bench", "Usage: cargo run --release -p lab -- bench"),
    ];
    for (command, expected) in cases {
        let output = lab(command);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{command}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{command}");
    }
}

#[test]
fn a_bench_in_json_is_one_document_with_a_row_per_method() {
    let output = lab("bench broad-phase --objects 300 --ticks 5 --coverage 20 --seed 7 --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["objects"], 300);
    assert_eq!(document["threads"], 1);
    assert_eq!(document["seed"], 7);
    assert_eq!(document["workload"], "uniform");
    assert!(document["pairs_per_object"].as_f64().unwrap() > 0.0);
    assert!(document["floor_cpu_ms_mean"].is_number());
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.len() > 5);
    for row in rows {
        assert_eq!(row["agrees"], true, "{row}");
        for number in ["cpu_ms_mean", "cpu_ms_min", "cpu_ms_max", "wall_ms_mean", "sphere_tests", "bytes_per_object"] {
            assert!(row[number].is_number(), "{number} in {row}");
        }
    }
}

#[test]
fn a_bench_runs_every_workload_named_methods_and_two_threads() {
    for workload in ["uniform", "seekers", "mixed", "static", "turning", "jitter", "teleport", "crowds", "line"] {
        let output = lab(&format!(
            "bench broad-phase --objects 200 --ticks 3 --warm 2 --threads 2 --workload {workload} \
             --methods brute-force,plain-grid,parry-refit"
        ));
        assert!(output.status.success(), "{workload}: {}", stderr(&output));
        let text = stdout(&output);
        assert!(text.contains("/ plain-grid") && text.contains("parry-refit") && !text.contains("octree"), "{text}");
    }
}

#[test]
fn an_empty_world_can_be_measured() {
    let output = lab("bench broad-phase --objects 0 --ticks 2");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn the_lab_writes_its_report_and_prints_verdicts() {
    let folder = Folder::new("lab");
    let command = format!("broad-phases --objects 100,200 --frames 3 --out {}", folder.0.display());
    let output = lab(&command);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("Sweep and prune is the fastest of the four."));
    for file in ["index.html", "broad-phases.csv", "broad-phases.json", "figure-4-space.svg", "everybody-plane.svg"] {
        assert!(folder.0.join(file).exists(), "{file}");
    }
    let output = lab(&(command + " --json"));
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    for rows in ["rows", "voxels"] {
        assert!(document[rows].as_array().unwrap().iter().all(|row| row["agrees"] == true), "{rows}");
    }
    assert_eq!(document["verdicts"].as_array().unwrap().len(), 9);
}

/// Keeps out: hours of work were lost because the folder could not be written.
#[test]
fn a_folder_that_cannot_be_written_is_named_before_the_work() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    let endless = "broad-phases --objects 20000 --frames 100000 --out /dev/null/nowhere";
    let mut child = command.args(endless.split(' ')).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/null/nowhere") && stderr(&output).contains("--out"), "{}", stderr(&output));
}

#[test]
fn results_are_printed_even_if_they_cannot_be_written() {
    let folder = Folder::new("lab-unwritten");
    std::fs::create_dir_all(folder.0.join("index.html")).unwrap();
    let output = lab(&format!("broad-phases --objects 10 --frames 1 --out {}", folder.0.display()));
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("Sweep and prune is the fastest of the four."), "{}", stdout(&output));
    assert!(stderr(&output).contains("index.html"), "{}", stderr(&output));
}

#[test]
fn what_is_refused_leaves_no_folder_behind() {
    let folder = Folder::new("lab-refused");
    let output = lab(&format!("cluster --nodes 1 --out {}/deep/down", folder.0.display()));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(!folder.0.exists());
}

//! `bench motion`, `prediction` and `decisions` as a script meets them: one document, with the rows it was
//! promised.

mod shell;

use shell::{Folder, document, rows};

#[test]
fn prediction_prints_its_rows_and_writes_its_report() {
    let folder = Folder::new("prediction");
    let command = format!("prediction --latency 0,200 --seeds 2 --json --out {}", folder.0.display());
    let document = document(&command);
    let fields = ["method", "latency_ms", "mean_m", "rms_m", "max_m", "messages", "bytes_per_s", "penetration_m"];
    let all = rows(&document, "rows", &fields);
    assert_eq!(all.len(), 2 * 16);
    for row in all {
        let lengths =
            ["at_collision_m", "window_mean_m", "window_messages"].map(|list| row[list].as_array().unwrap().len());
        assert_eq!(lengths, [5, 4, 4]);
    }
    for list in ["corridors", "loss", "frame_rates", "random", "equal_traffic", "convergence", "verdicts", "goals"] {
        rows(&document, list, &[]);
    }
    for file in ["index.html", "error-curves.csv", "parameters.json", "path.svg", "errors-first-order.svg"] {
        assert!(folder.0.join(file).exists(), "{file}");
    }
}

#[test]
fn decisions_print_a_row_per_setting() {
    let folder = Folder::new("decisions");
    let document = document(&format!("decisions --encounters 20 --json --out {}", folder.0.display()));
    let fields = ["rule", "policy", "loss", "latency_ms", "k", "d", "tau_c"];
    let all = rows(&document, "rows", &fields);
    rows(&document, "rows", &["none", "one", "both", "uninformed", "outside", "different_terms", "other"]);
    for rule in ["newest", "paper", "lowest-host", "episode"] {
        assert!(all.iter().any(|row| row["rule"] == rule), "{rule}");
    }
    assert!(all.iter().all(|row| row["encounters"] == 20 && row["other"] == 0));
}

#[test]
fn the_motion_bench_compares_with_extrapolation() {
    // Ten thousand are few: the ratio is not judged here, only that it is there.
    let document = document("bench motion --replicas 10000 --objects 100 --warm 5 --ticks 5 --json");
    assert_eq!(document["replicas"], 10_000);
    assert!(document["ratio"].is_number() && document["ratio_from_scratch"].is_number());
    assert_eq!(rows(&document, "rows", &["method", "cpu_ms_mean", "ns_per_replica"]).len(), 3);
}

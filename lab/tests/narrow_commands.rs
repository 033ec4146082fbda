//! `bench narrow` and `room` as a script meets them: one document, with the rows it was promised.

mod shell;

use shell::{Folder, document, lab, rows, stderr, stdout};

#[test]
fn the_narrow_bench_compares_with_parry() {
    let document = document("bench narrow --mesh torus --method octree-tight --depth 2 --pairs 3 --rounds 1 --json");
    let rows_of = |list, fields: &[&str]| rows(&document, list, fields).len();
    let fields = ["case", "ratio", "cpu_us", "parry_cpu_us", "touching", "operations"];
    assert_eq!(rows_of("rows", &fields), 12);
    let fields = ["case", "touches_us", "memory_us", "spared", "walk_us", "front_us", "front_pairs", "blocks"];
    assert_eq!(rows_of("coherence", &fields), 3);
    assert_eq!((&document["disagreements"], &document["depth"]), (&0.into(), &2.into()));
    let cases: Vec<&str> = rows(&document, "rows", &[]).iter().filter_map(|row| row["case"].as_str()).collect();
    assert!(
        cases.contains(&"touching: all contacts") && cases.contains(&"nearly touching: all contacts, equal tolerance")
    );
}

#[test]
fn the_room_prints_its_rows_and_writes_its_report() {
    let folder = Folder::new("room");
    let command = format!("room --objects 100,400 --frames 3 --json --out {}", folder.0.display());
    let document = document(&command);
    let fields = ["bodies", "method", "depth", "objects", "fps", "update_ms", "broad_ms", "narrow_ms"];
    let all = rows(&document, "rows", &fields);
    assert_eq!(all.len(), 2 * 2 * 8, "boxes and rabbits, two rooms, eight trees");
    for (method, depth) in [("octree", 3), ("octree", 4), ("combined", 1), ("combined", 3), ("best", 1), ("best", 3)] {
        let is_it = |row: &&serde_json::Value| row["method"] == method && row["depth"] == depth;
        assert_eq!(all.iter().filter(is_it).count(), 4, "{method} {depth}");
    }
    assert_eq!(rows(&document, "verdicts", &["claim", "source", "outcome", "evidence"]).len(), 9);
    for file in
        ["index.html", "room.csv", "room.json", "figure-7-rabbit.svg", "figure-8-box.svg", "figure-9-rabbit.svg"]
    {
        assert!(folder.0.join(file).exists(), "{file}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_advice() {
    let refused = [
        ("bench narrow --mesh nowhere.obj", "nowhere.obj"),
        ("bench narrow --method magic", "expected one of octree, octree-tight, combined, best"),
        ("bench narrow --depth 0", "`depth` is 0, expected 1 to 8"),
        (
            "bench narrow --mesh box --method octree --depth 1 --pairs 0",
            "`cargo run --release -p lab -- bench narrow --help` lists",
        ),
        ("room --frames 0", "`cargo run --release -p lab -- room --help` lists"),
        ("room --objects 0", "`cargo run --release -p lab -- room --help` lists"),
    ];
    for (command, sentence) in refused {
        let output = lab(command);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(stderr(&output).contains(sentence), "{command}: {}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{command}");
    }
}

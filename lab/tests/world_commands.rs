//! `bench world` and `world` as a script meets them: one document, with the rows it was promised.

mod shell;

use shell::{Folder, document, lab, rows, stderr};

#[test]
fn a_bench_prints_every_stage() {
    let document = document("bench world --objects 200 --movers 50 --warm 5 --ticks 5 --json");
    let rows = rows(&document, "rows", &["stage", "cpu_ms_mean", "ns_per_avatar"]);
    let stages: Vec<&str> = rows.iter().filter_map(|row| row["stage"].as_str()).collect();
    assert_eq!(stages, ["propose", "broad", "narrow", "settle", "snapshot"]);
    assert_eq!(document["holds"], true);
}

#[test]
fn a_world_is_run_from_its_file_and_drawn() {
    let folder = Folder::new("world");
    let out = folder.0.display();
    let command = format!("world worlds/courtyard.toml --ticks 30 --out {out} --json");
    let first = document(&command);
    rows(&first, "rows", &["kind", "objects", "way_m", "moving"]);
    assert_eq!(first["hash"], document(&command)["hash"], "the same world twice");
    let picture = std::fs::read_to_string(folder.0.join("from-above.svg")).expect("it was written");
    assert!(picture.contains("turnstile"));
}

#[test]
fn a_bad_world_file_is_refused_by_line() {
    let folder = Folder::new("bad-world");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let file = folder.0.join("bad.toml");
    let text = "name = \"bad\"\nbounds = { low = [-9, 0, -9], high = [9, 9, 9] }\n[[object]]\nname = \"a\"\n\
                at = [0, 1, 0]\nmesh = { file = \"../secret.obj\" }\n";
    std::fs::write(&file, text).expect("a file");
    let output = lab(&format!("world {}", file.display()));
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("bad.toml, line 6: cannot use the mesh `../secret.obj`: expected a file beside"), "{said}");
}

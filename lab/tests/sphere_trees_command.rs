//! `lab sphere-trees`: every method and level of a mesh from a file and of a built-in one, and what is refused.

mod shell;

use shell::{document, lab, rows, stderr};

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#[test]
fn the_lab_measures_every_method_and_level() {
    let folder = std::env::temp_dir().join(format!("kinesphere-sphere-trees-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mesh, out) = (folder.join("tetrahedron.obj"), folder.join("report"));
    std::fs::write(&mesh, TETRAHEDRON).unwrap();
    let (mesh, out_text) = (mesh.display(), out.display());
    let report = document(&format!("sphere-trees --mesh {mesh} box --spheres 4,12 --json --out {out_text}"));
    let fields = ["mesh", "method", "level", "spheres", "e_max", "e_avg", "miss_percent", "gap", "ov", "build_cpu_s"];
    let all = rows(&report, "rows", &fields);
    assert_eq!(all.len(), 2 * 4 * 3);
    assert!(all.iter().all(|row| row["miss_percent"] == 0.0 && row["gap"] == 0.0));
    assert!(!rows(&report, "verdicts", &["claim", "outcome", "evidence"]).is_empty());
    for file in ["index.html", "sphere-trees.csv", "sphere-trees.json", "error-tetrahedron.svg", "error-box.svg"] {
        assert!(out.join(file).exists(), "{file}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_mesh_or_a_level_that_cannot_be_is_refused_by_name() {
    for (arguments, expected) in [
        ("sphere-trees --mesh box --spheres 0", "level 1 of 1 may have 0 balls"),
        ("sphere-trees --mesh box --depth 99", "expected 1 to 8"),
        ("sphere-trees --mesh nothing", "nothing: there is no such file"),
    ] {
        let output = lab(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments}: {}", stderr(&output));
    }
}

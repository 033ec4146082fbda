//! `tree build`, `tree show` and `tree check`: what they write, repair and refuse. A refusal names
//! the file, the place in it and the reason.

mod shell;

use std::fs;

use shell::{Folder, document, kinesphere, rows, stderr, stdout};

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir_all(&folder.0).unwrap();
    folder
}

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#[test]
fn a_tree_is_built_shown_and_checked() {
    let folder = folder("tree");
    let tree = folder.0.join("torus.tree");
    let tree = tree.display();
    for method in ["octree", "octree-tight", "combined", "best"] {
        let built = kinesphere(&format!("tree build torus --method {method} --spheres 3,8 -o {tree}"));
        assert!(built.status.success(), "{method}: {}", stderr(&built));
        let checked = kinesphere(&format!("tree check {tree} torus"));
        assert!(checked.status.success(), "{method}: {}", stderr(&checked));
        assert!(stdout(&checked).contains("covers torus on all 3 levels"), "{}", stdout(&checked));
    }
    let shown = document(&format!("tree show {tree} --json"));
    assert_eq!((shown["method"].as_str(), shown["depth"].as_u64()), (Some("best"), Some(2)));
    let fields = ["level", "spheres", "e_max", "e_avg", "radius_min", "radius_max", "children_max", "picture"];
    let levels = rows(&shown, "rows", &fields);
    assert_eq!(levels.len(), 3);
    for level in levels {
        let picture = fs::read(level["picture"].as_str().unwrap()).unwrap();
        assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "{level}");
    }
    assert!(levels.windows(2).all(|pair| pair[1]["e_max"].as_f64() <= pair[0]["e_max"].as_f64()));
    assert!(stdout(&kinesphere(&format!("tree show {tree}"))).contains("by best"));
    // It does not cover another mesh, and the message says where.
    let other = kinesphere(&format!("tree check {tree} box"));
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("is not covered near ("), "{}", stderr(&other));
}

#[test]
fn a_solid_tree_keeps_what_covers_the_inside() {
    let folder = folder("tree-solid");
    let tree = folder.0.join("ball.tree");
    let built = kinesphere(&format!("tree build ball --method octree --depth 2 --solid=0.05 -o {}", tree.display()));
    assert!(built.status.success() && stdout(&built).contains("All that is inside is covered"), "{}", stderr(&built));
    let shown = document(&format!("tree show {} --json", tree.display()));
    assert!(shown["inner"].as_u64() > Some(0), "{shown}");
    assert!((shown["margin"].as_f64().unwrap() - 0.05).abs() < 1e-9, "{shown}");
    let check = || kinesphere(&format!("tree check {} ball", tree.display()));
    assert!(stdout(&check()).contains("All that is inside is covered, too"), "{}", stderr(&check()));
    // An invalid inner ball fails the proof.
    let mut bytes = fs::read(&tree).unwrap();
    let (at, end) = (bytes.len() - 4 - 8, bytes.len() - 4);
    bytes[at..end].copy_from_slice(&5.0_f64.to_le_bytes());
    let sum = shapes::sphere_tree::file::checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    fs::write(&tree, bytes).unwrap();
    let wrong = check();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr(&wrong).contains("what is inside near ("), "{}", stderr(&wrong));
    let plain = folder.0.join("plain.tree");
    let built = kinesphere(&format!("tree build box --method octree --depth 1 -o {}", plain.display()));
    assert!(built.status.success(), "{}", stderr(&built));
    let surface = document(&format!("tree show {} --json", plain.display()));
    assert!(surface["inner"].is_null() && surface["margin"].is_null(), "{surface}");
}

#[test]
fn a_depth_counts_levels_and_the_same_command_gives_the_same_bytes() {
    let folder = folder("tree-depth");
    let mut files = Vec::new();
    for name in ["a.tree", "b.tree"] {
        let path = folder.0.join(name);
        let built = kinesphere(&format!("tree build box --method octree --depth 4 -o {}", path.display()));
        assert!(built.status.success(), "{}", stderr(&built));
        assert!(stdout(&built).contains("1352"), "a cube's octree has 1352 nodes on level 4: {}", stdout(&built));
        files.push(fs::read(path).unwrap());
    }
    assert_eq!(files[0], files[1]);
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let folder = folder("tree-refusals");
    let path = |name: &str| folder.0.join(name).display().to_string();
    let out = path("out.tree");
    for (name, text) in [("mesh.stl", "solid"), ("mesh", TETRAHEDRON), ("no.tree", "KSPHTREE and no more")] {
        fs::write(path(name), text).unwrap();
    }
    for (command, expected) in [
        (format!("tree build box --depth 0 -o {out}"), "--depth is 0, expected 1 to 8".to_owned()),
        (format!("tree build box --depth 9 -o {out}"), "--depth is 9, expected 1 to 8".to_owned()),
        (format!("tree build box --depth -1 -o {out}"), "unexpected argument".to_owned()),
        (format!("tree build soup --method octree --solid -o {out}"), "the mesh is not closed".to_owned()),
        (format!("tree build box --method octree --solid=2 -o {out}"), "the margin is 2, expected 0.001".to_owned()),
        // The margin is refused before building shows that the mesh is not closed.
        (format!("tree build soup --method octree --solid=-1 -o {out}"), "the margin is -1, expected 0.001".to_owned()),
        (format!("tree build box --spheres 0 -o {out}"), "level 1 of 1 may have 0 balls".to_owned()),
        (format!("tree build box --spheres 8,0,9 -o {out}"), "level 2 of 3 may have 0 balls".to_owned()),
        (format!("tree build box --spheres 8,64 --depth 3 -o {out}"), "they must agree".to_owned()),
        (format!("tree build box --spheres 8,9000 -o {out}"), "expected at most 4096 with best".to_owned()),
        (
            format!("tree build box --method fastest -o {out}"),
            "--method is fastest, expected one of octree, octree-tight, combined, best".to_owned(),
        ),
        ("tree build box --depth 1".to_owned(), "--output <FILE>".to_owned()),
        (format!("tree build nowhere.obj -o {out}"), "nowhere.obj: there is no such file".to_owned()),
        (format!("tree build {} -o {out}", path("mesh.stl")), "expected a file that ends in .obj".to_owned()),
        (format!("tree build {} -o {out}", path("mesh")), "expected a file that ends in .obj".to_owned()),
        (format!("tree show {}", path("none.tree")), "none.tree: ".to_owned()),
        (format!("tree show {}", path("no.tree")), "no.tree: 20 bytes, expected 24".to_owned()),
        (format!("tree check {} box", path("mesh")), "mesh: this is no sphere-tree".to_owned()),
    ] {
        let output = kinesphere(&command);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains(&expected), "{command}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{command}");
    }
    let output = kinesphere("tree build box --method octree --depth 1 -o /dev/null/nowhere.tree");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write /dev/null/nowhere.tree"), "{}", stderr(&output));
    let good = path("good.tree");
    assert!(kinesphere(&format!("tree build box --method octree --depth 1 -o {good}")).status.success());
    let output = kinesphere(&format!("tree show {good} --out /dev/null/nowhere"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/null/nowhere") && stderr(&output).contains("--out"), "{}", stderr(&output));
}

#[test]
fn files_without_a_mesh_are_refused_with_file_element_and_reason() {
    let folder = folder("tree-hostile");
    let many = format!("v 0 0 0\n{}", "f 1 1 1 1\n".repeat(3)) + "f 1 2 3\n";
    let cases: [(&str, &[u8], &str); 12] = [
        ("empty.obj", b"", "empty.obj: "),
        ("points.obj", b"v 0 0 0\nv 1 0 0\n", "points.obj: "),
        ("infinite.obj", b"v 0 0 inf\n", "line 1: `inf`, expected a finite number"),
        ("nan.obj", b"v 0 0 0\nv NaN 0 0\n", "line 2: `NaN`, expected a finite number"),
        ("overflow.obj", b"v 0 0 1e400\n", "line 1: `1e400`, expected a finite number"),
        ("huge.obj", b"v 0 0 0\nv 1e9 0 0\nv 0 1 0\nf 1 2 3\n", "vertex 1: coordinate 1000000000"),
        ("truncated.obj", b"v 0 0 0\nv 1 0\n", "line 2: 2 coordinates, expected 3"),
        ("beyond.obj", many.as_bytes(), "line 5: `2`, expected a vertex from 1 to 1"),
        ("truncated.tri", b"1\n", "truncated.tri: "),
        ("truncated.glb", b"glTF\x02\0\0\0\xff\xff\xff\xff", "truncated.glb: "),
        ("hostile.gltf", b"{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[4294967295]}]}", "hostile.gltf: "),
        ("binary.obj", &[0xff; 64], "binary.obj: "),
    ];
    for (name, bytes, expected) in cases {
        let path = folder.0.join(name);
        fs::write(&path, bytes).unwrap();
        let out = folder.0.join("out.tree");
        let output = kinesphere(&format!("tree build {} -o {}", path.display(), out.display()));
        assert_eq!(output.status.code(), Some(2), "{name}: {}", stderr(&output));
        let told = stderr(&output);
        assert!(told.contains(name) && told.contains(expected), "{name}: {told}");
        assert!(!out.exists(), "{name}");
    }
}

#[test]
fn broken_meshes_are_repaired_and_covered() {
    let folder = folder("tree-broken");
    let shifted = |by: f32, first: usize| {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let vertices: String =
            corners.iter().map(|[x, y, z]| format!("v {} {} {}\n", x + by, y + by, z + by)).collect();
        let faces = [[1, 3, 2], [1, 2, 4], [2, 3, 4], [3, 1, 4]];
        let faces: String = faces
            .iter()
            .map(|face| format!("f {} {} {}\n", face[0] + first, face[1] + first, face[2] + first))
            .collect();
        vertices + &faces
    };
    let without_one: String = TETRAHEDRON.lines().take(7).map(|line| format!("{line}\n")).collect();
    let cases = [
        ("open", without_one),
        ("non-manifold", format!("{TETRAHEDRON}v -1 -1 -1\nf 1 2 5\nf 1 2 3\n")),
        ("self-intersecting", shifted(0.0, 0) + &shifted(0.1, 4)),
        ("degenerate", format!("{TETRAHEDRON}f 1 1 1\nf 1 2 2\nv 0.5 0 0\nf 1 5 2\n")),
        ("inside-out", TETRAHEDRON.replace("f 1 3 2", "f 1 2 3")),
        ("far-away", shifted(99_990.0, 0)),
        ("tiny", TETRAHEDRON.replace("v 1 0 0", "v 1e-20 0 0").replace("v 0 1 0", "v 0 1e-20 0")),
        ("one-triangle", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_owned()),
        ("one-point", "v 3 3 3\nf 1 1 1\n".to_owned()),
    ];
    for (name, text) in cases {
        let mesh = folder.0.join(format!("{name}.obj"));
        fs::write(&mesh, text).unwrap();
        let tree = folder.0.join(format!("{name}.tree"));
        for method in ["octree-tight", "best"] {
            let built = kinesphere(&format!(
                "tree build {} --method {method} --spheres 3,6 -o {}",
                mesh.display(),
                tree.display()
            ));
            assert!(built.status.success(), "{name}, {method}: {}", stderr(&built));
            let checked = kinesphere(&format!("tree check {} {}", tree.display(), mesh.display()));
            assert!(checked.status.success(), "{name}, {method}: {}", stderr(&checked));
        }
    }
}

/// Keeps out: that a file cannot be written was found only after the work.
#[test]
fn a_file_that_cannot_be_written_is_named_before_the_work() {
    let output = kinesphere("tree build soup --method octree --solid -o /dev/null/soup.tree");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write /dev/null/soup.tree"), "{}", stderr(&output));
}

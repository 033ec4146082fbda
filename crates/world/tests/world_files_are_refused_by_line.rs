//! A bad world file gets an error that names the file, the line, and what was expected.

use kinesphere_world::spec::Spec;
use kinesphere_world::{World, WorldFileError};
use shapes::mesh::TriangleMesh;
use space::Vec3;

fn load(text: &str) -> Result<World, WorldFileError> {
    let spec = Spec::from_toml(text, "square.toml", &mut tetrahedron)?;
    World::new(spec).map_err(|error| Spec::blame(text, "square.toml", error))
}

fn tetrahedron(name: &str) -> Result<TriangleMesh, String> {
    if name != "hill.obj" {
        return Err("there is no such file".to_owned());
    }
    let points = vec![Vec3::new(-2.0, 0.0, -2.0), Vec3::new(2.0, 0.0, -2.0), Vec3::new(0.0, 0.0, 2.0), Vec3::Y];
    TriangleMesh::new(points, vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]).map_err(|error| error.to_string())
}

const HEAD: &str = "name = \"square\"\nbounds = { low = [-20, 0, -20], high = [20, 10, 20] }\n";

fn refused(body: &str) -> String {
    load(&format!("{HEAD}{body}")).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_whole_file_is_read() {
    let text = include_str!("../../../worlds/courtyard.toml");
    let mut world = load(text).unwrap();
    for _ in 0..60 {
        world.step(&[]);
        assert_eq!(world.first_overlap(), None);
    }
    assert!(world.len() > 10);
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    assert_eq!(refused("gravity = \"down\"\n"), "square.toml, line 3: invalid type: string \"down\", expected f32");
    assert_eq!(
        refused("[[object]]\nname = \"ball\"\nat = [0, 1, 0]\nsphere = 2\n"),
        "square.toml, line 6: invalid type: integer `2`, expected `{ radius = metres }`"
    );
    assert!(refused("colour = 3\n").starts_with("square.toml, line 3: unknown field `colour`"));
    assert_eq!(
        refused("[[object]]\nname = \"ball\"\nat = [0, 1, 0]\nsphere = { radius = -2 }\n"),
        "square.toml, line 4: `ball`: `radius` is -2, expected 0.01 to 2000 m"
    );
    assert_eq!(
        refused("[[object]]\nname = \"ball\"\nat = [0, 1, 0]\n"),
        "square.toml, line 4: `ball`: 0 shapes, expected one of sphere, box, capsule, hull and mesh"
    );
    assert_eq!(
        refused("[[object]]\nname = \"b\"\nat = [0, 1, 0]\nsphere = { radius = 1 }\nprecision = \"sphere-tree\"\n"),
        "square.toml, line 7: `b`: `precision` is `sphere-tree`, expected a mesh for it rather than a sphere"
    );
    assert_eq!(
        refused("[[object]]\nname = \"b\"\nat = [0, 1, 0]\nsphere = { radius = 1 }\nprecision = \"sphere-tree 9\"\n"),
        "square.toml, line 7: `b`: `precision` is `sphere-tree 9`, expected `exact`, `bounding-sphere`, or \
         `sphere-tree` with a level from 1 to 4"
    );
    assert_eq!(
        refused("[[object]]\nname = \"b\"\nat = [0, 1, 0]\nmesh = { file = \"moon.obj\" }\n"),
        "square.toml, line 6: cannot use the mesh `moon.obj`: there is no such file"
    );
    assert_eq!(
        refused("[[object]]\nname = \"b\"\nat = [0, 99, 0]\nsphere = { radius = 1 }\n"),
        "square.toml, line 4: `b`: `at` is [0, 99, 0], expected a place within the bounds"
    );
    assert_eq!(
        refused("[[object]]\nname = \"b\"\nkind = \"moving\"\nat = [0, 1, 0]\nsphere = { radius = 1 }\n"),
        "square.toml, line 4: `b`: `kind` is `moving`, expected one of path, orbit, flight, spin, wave and breathe"
    );
    assert_eq!(refused("[limits]\nspeed = -1\n"), "square.toml, line 4: `limits.speed` is -1, expected 0 to 100");
    assert_eq!(refused("sky = \"blue\"\n"), "square.toml, line 3: `sky` is `blue`, expected a colour like `#9fc6e8`");
    let bounds = load("name = \"x\"\nbounds = { low = [0, 0, 0], high = [9999, 1, 1] }\n").unwrap_err();
    assert_eq!(
        bounds.to_string(),
        "square.toml, line 2: `bounds`: bounds reach to [9999, 1, 1], expected corners within 8192 m of the \
         world's zero"
    );
}

#[test]
fn solids_that_overlap_are_refused_by_both_names() {
    let ball = |name: &str, x: f32| {
        format!("[[object]]\nname = \"{name}\"\nkind = \"movable\"\nat = [{x}, 1, 0]\nsphere = {{ radius = 1 }}\n")
    };
    assert_eq!(
        refused(&format!("{}{}", ball("sun", 0.0), ball("moon", 1.5))),
        "square.toml, line 4: `sun` and `moon` overlap at the start, expected solids to be apart"
    );
    load(&format!("{HEAD}{}{}", ball("sun", 0.0), ball("moon", 2.0))).unwrap();
    assert_eq!(
        refused(&format!("{}{}", ball("sun", 0.0), ball("sun", 4.0))),
        "square.toml, line 9: `sun` is the name of two objects, expected a name of its own"
    );
    let hill = "[[object]]\nname = \"hill\"\nat = [0, 0, 0]\nmesh = { file = \"hill.obj\" }\n";
    assert!(refused(&format!("{hill}{}", ball("sun", 1.0))).contains("`hill` and `sun` overlap"));
    assert_eq!(
        refused(&ball("sun", 19.5)),
        "square.toml, line 4: `sun` reaches beyond the bounds, expected it within them"
    );
}

/// Keeps out: beyond ten thousand objects two could have one name.
#[test]
fn every_object_has_a_name_of_its_own_however_many_there_are() {
    let ball = |name: u32| format!("[[object]]\nname = \"{name}\"\nat = [0, 1, 0]\nsphere = {{ radius = 1 }}\n");
    let balls: String = (0..10_001).chain([7]).map(ball).collect();
    let error = refused(&balls);
    assert!(error.contains("`7` is the name of two objects, expected a name of its own"), "{error}");
}

/// Keeps out: a longer name was kept, and what was kept could never be opened again.
#[test]
fn a_name_is_as_long_as_a_snapshot_reads_back() {
    let ball = |name: &str| {
        format!("[[object]]\nname = \"{name}\"\nkind = \"movable\"\nat = [0, 1, 0]\nsphere = {{ radius = 1 }}\n")
    };
    let world = load(&format!("{HEAD}{}", ball(&"a".repeat(4_096)))).unwrap();
    let mut bytes = Vec::new();
    world.snapshot(&mut bytes);
    World::restore(world.spec().clone(), &bytes).unwrap();
    let name = "a".repeat(4_097);
    let shown = format!("{}…", "a".repeat(32));
    assert_eq!(
        refused(&ball(&name)),
        format!("square.toml, line 4: `{shown}`: `name` is 4097 bytes long, expected at most 4096 bytes")
    );
}

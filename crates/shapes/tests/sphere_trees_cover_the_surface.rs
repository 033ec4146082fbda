//! Every level covers the surface, parts nest, errors never grow from level to level, and every number is valid: for
//! every method, on every shipped shape and on broken meshes.

mod tree_meshes;

use kinesphere_shapes::sphere_tree::{Built, Method, Object, build, certify, error_of};
use space::DVec3;
use space::workload::Random;
use tree_meshes::{Case, broken, shipped};

fn check(case: &Case, method: Method, caps: &[usize]) {
    let name = format!("{}, {}", case.name, method.name());
    let Built { tree, regions } =
        build(&case.vertices, &case.triangles, method, caps).unwrap_or_else(|error| panic!("{name}: {error}"));
    let corners = case.corners();
    assert_eq!(tree.depth(), caps.len(), "{name}");
    for (level, &cap) in caps.iter().enumerate() {
        let count = tree.level(level + 1).len();
        assert!((1..=cap).contains(&count), "{name}: {count} balls on level {}", level + 1);
    }
    for node in tree.nodes() {
        assert!(node.ball.center.is_finite() && node.ball.radius > 0.0 && node.error >= 0.0, "{name}: {node:?}");
    }
    // Repeats the proof, and checks random points on every level.
    certify(&tree, &corners).unwrap_or_else(|missed| panic!("{name}: {missed}"));
    let mut random = Random::new(3);
    for _ in 0..300 {
        let [a, b, c] = corners[random.whole(0, corners.len() as u32) as usize];
        let (mut u, mut v) = (f64::from(random.unit()), f64::from(random.unit()));
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let point = a * (1.0 - u - v) + b * u + c * v;
        for level in 0..=tree.depth() {
            let slack = 1e-9 * tree.scale() + 1e-12 * point.length();
            let lack = tree.level(level).iter().map(|node| node.ball.center.distance(point) - node.ball.radius);
            assert!(lack.fold(f64::INFINITY, f64::min) <= slack, "{name}: level {level} misses {point}");
        }
    }
    // All nodes above a leaf contain its parts.
    let first = tree.level_range(tree.depth()).start;
    for (leaf, pieces) in regions.leaves.iter().enumerate() {
        for piece in pieces {
            let places: [DVec3; 3] = piece.positions(&corners[piece.triangle as usize]);
            let is_nested =
                tree.chain((first + leaf) as u32).all(|node| tree.nodes()[node as usize].ball.contains_all(&places));
            assert!(is_nested, "{name}: {piece:?} of leaf {leaf}");
        }
    }
    if method != Method::Octree {
        let worst = |level: usize| tree.level(level).iter().map(|node| node.error).fold(0.0, f64::max);
        for level in 0..tree.depth() {
            assert!(worst(level + 1) <= worst(level), "{name}: error grows from level {level} to the next");
        }
    }
    let object = Object::new(&case.vertices, &case.triangles).unwrap();
    for node in tree.nodes().iter().take(40) {
        let known = error_of(&object, object.ball_to_unit(node.ball), 1e-2);
        assert!(known.at_least <= node.error / object.bounds().radius + 1e-6, "{name}: {known:?} of {node:?}");
    }
}

#[test]
fn octrees_cover_every_shipped_shape() {
    for case in shipped() {
        check(&case, Method::Octree, &[8, 64]);
        check(&case, Method::OctreeTight, &[8, 40]);
    }
}

#[test]
fn combined_covers_every_shipped_shape() {
    for case in shipped() {
        check(&case, Method::Combined, &[3, 8]);
    }
}

#[test]
fn best_covers_every_shipped_shape() {
    for case in shipped() {
        check(&case, Method::Best, &[3, 8]);
    }
}

#[test]
fn broken_meshes_are_covered_too() {
    for seed in 0..16 {
        let case = broken(seed);
        let method = Method::ALL[(seed + seed / 8) as usize % 4];
        check(&case, method, if method == Method::Combined { &[3, 9] } else { &[6, 24] });
        check(&case, Method::OctreeTight, &[4, 20]);
    }
}

/// Keeps out: near a hole, a ball that does not meet the surface was taken to be inside, and errors were too small.
#[test]
fn claims_hold_on_torn_meshes() {
    for name in ["box", "torus", "rabbit"] {
        let mut case = tree_meshes::shipped_one(name);
        let mut random = Random::new(21);
        case.triangles.retain(|_| random.unit() < 0.9);
        case.name = format!("{name}, torn");
        check(&case, Method::OctreeTight, &[8, 40]);
        check(&case, Method::Best, &[5, 14]);
    }
}

#[test]
fn a_punctured_tree_is_refused() {
    use kinesphere_shapes::sphere_tree::SphereTree;
    let case = tree_meshes::shipped_one("torus");
    let built = build(&case.vertices, &case.triangles, Method::OctreeTight, &[8, 64]).unwrap();
    let levels = |tree: &SphereTree, shrunk: usize| -> Vec<Vec<(kinesphere_shapes::sphere_tree::Ball, f64, u32)>> {
        (0..=tree.depth())
            .map(|level| {
                let above = if level == 0 { 0 } else { tree.level_range(level - 1).start };
                let range = tree.level_range(level);
                let of_node = |index: usize| {
                    let node = tree.nodes()[index];
                    let mut ball = node.ball;
                    if level == shrunk {
                        ball.radius *= 0.25;
                    }
                    (ball, node.error, node.parent - above as u32)
                };
                range.map(of_node).collect()
            })
            .collect()
    };
    let whole = SphereTree::new(&levels(&built.tree, usize::MAX), built.tree.scale()).unwrap();
    assert_eq!(whole, built.tree);
    assert!(certify(&whole, &case.corners()).is_ok());
    // A neighbour may cover for one smaller ball; a whole level of smaller balls leaves gaps.
    for level in 0..=built.tree.depth() {
        let smaller = SphereTree::new(&levels(&built.tree, level), built.tree.scale()).unwrap();
        assert!(certify(&smaller, &case.corners()).is_err(), "the balls of level {level} were made smaller");
    }
}

#[test]
fn caps_beyond_the_bounds_are_refused_by_level() {
    let case = tree_meshes::shipped_one("box");
    let refused = |method: Method, caps: &[usize]| {
        build(&case.vertices, &case.triangles, method, caps).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(refused(Method::Best, &[8, 5_000]), "level 2 may have 5000 balls, expected at most 4096 with best");
    assert!(refused(Method::Octree, &[8, 0]).starts_with("level 2 of 2 may have 0 balls"));
    assert!(refused(Method::Octree, &[8; 9]).contains("expected 1 to 8 levels"));
    assert!(refused(Method::Octree, &[]).contains("expected 1 to 8 levels"));
}

/// As `fuzz/fuzz_targets/tree_build.rs`, without nightly: numbers of any size, some not finite.
#[test]
fn any_numbers_make_a_certified_tree_or_a_refusal() {
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let size = 10_f64.powi(random.whole(0, 30) as i32 - 15);
        let corners = random.whole(1, 24);
        let strange = [0.0, f64::NAN, f64::INFINITY, 1e200, -1e-200, f64::MIN_POSITIVE];
        let mut number = || match random.whole(0, 40) {
            0 => strange[random.whole(0, 6) as usize],
            1..8 => 0.0,
            8..12 => size * 1e-9 * f64::from(random.between(-1.0, 1.0)),
            _ => size * f64::from(random.between(-1.0, 1.0)),
        };
        let mut vertices: Vec<DVec3> = (0..corners).map(|_| DVec3::new(number(), number(), number())).collect();
        // Every other seed has no number that is refused at once.
        if seed % 2 == 0 {
            let is_strange = |vertex: &&mut DVec3| !vertex.is_finite() || vertex.abs().max_element() > size;
            vertices.iter_mut().filter(is_strange).for_each(|vertex| *vertex = DVec3::ZERO);
        }
        let triangles: Vec<[u32; 3]> = (0..random.whole(0, 24))
            .map(|_| [0; 3].map(|_| random.whole(0, corners + u32::from(seed % 7 == 0))))
            .collect();
        let method = if seed % 20 == 4 { Method::Best } else { Method::ALL[seed as usize / 2 % 2] };
        let Ok(built) = build(&vertices, &triangles, method, &[3, 9]) else { continue };
        let case = Case { name: format!("numbers, seed {seed}"), vertices, triangles };
        assert!(certify(&built.tree, &case.corners()).is_ok(), "{}", case.name);
        for node in built.tree.nodes() {
            let is_sound = node.ball.center.is_finite() && node.ball.radius > 0.0 && node.error >= 0.0;
            assert!(is_sound && node.ball.radius.is_finite() && node.error.is_finite(), "{}: {node:?}", case.name);
        }
    }
}

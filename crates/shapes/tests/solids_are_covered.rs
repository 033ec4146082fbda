//! With inner balls, every point of a closed object is in a ball of each level or in an inner one, and inner balls are
//! completely inside. Exact volumes agree with sampled ones.

mod tree_meshes;

use kinesphere_shapes::sphere_tree::metrics::measure;
use kinesphere_shapes::sphere_tree::{
    Ball, Method, Object, Solid, SolidError, build, certify, certify_solid, cover_solid, outside_volume,
};
use space::workload::Random;
use tree_meshes::{Case, shipped, shipped_one};

const MARGIN: f64 = 0.02;

/// The object and its solid tree, or why there is none.
fn solid(case: &Case, method: Method, caps: &[usize]) -> (Object, Result<Solid, SolidError>) {
    let object = Object::new(&case.vertices, &case.triangles).unwrap();
    let tree = build(&case.vertices, &case.triangles, method, caps).unwrap().tree;
    let solid = cover_solid(&object, &tree, MARGIN);
    (object, solid)
}

/// Checks random points instead of the proof's cubes.
fn check(name: &str, case: &Case, object: &Object, solid: &Solid) {
    certify_solid(object, solid).unwrap_or_else(|error| panic!("{name}: {error}"));
    let surface = solid.surface().unwrap_or_else(|| panic!("{name}: a ball is smaller than the margin"));
    certify(&surface, &case.corners()).unwrap_or_else(|missed| panic!("{name}: {missed}"));
    for ball in &solid.inner {
        let ball = object.ball_to_unit(*ball);
        assert!(ball.radius > 0.0 && object.depth(ball.center, None).0 >= ball.radius, "{name}: {ball:?}");
    }
    let mut random = Random::new(31);
    let mut inside = 0;
    for _ in 0..2_000 {
        let unit = random.in_ball().as_dvec3();
        if object.depth(unit, None).0 <= 0.0 {
            continue;
        }
        inside += 1;
        let point = object.bounds().center + unit * object.bounds().radius;
        let slack = 1e-9 * object.bounds().radius;
        let holds = |ball: &Ball| ball.center.distance(point) <= ball.radius + slack;
        for level in 0..=solid.tree.depth() {
            let is_covered =
                solid.inner.iter().any(holds) || solid.tree.level(level).iter().any(|node| holds(&node.ball));
            assert!(is_covered, "{name}: level {level} and inner balls miss {point}");
        }
    }
    assert!(inside > 5, "{name}: {inside} of the points are inside");
}

#[test]
fn every_closed_shape_is_covered_inside_too() {
    for case in shipped() {
        for (method, caps) in [(Method::Octree, [8, 64]), (Method::OctreeTight, [8, 30]), (Method::Best, [4, 10])] {
            // The slow builder only on smaller shapes.
            if method == Method::Best && case.triangles.len() > 600 {
                continue;
            }
            let name = format!("{}, {}", case.name, method.name());
            match solid(&case, method, &caps) {
                (object, Ok(solid)) => check(&name, &case, &object, &solid),
                (_, Err(error)) => assert_eq!((case.name.as_str(), error), ("soup", SolidError::Open), "{name}"),
            }
        }
    }
}

#[test]
fn small_balls_leave_an_inside_that_inner_ones_fill() {
    let case = shipped_one("ball");
    let (object, solid) = solid(&case, Method::Octree, &[8, 64, 512]);
    let solid = solid.unwrap();
    check("ball", &case, &object, &solid);
    assert!(!solid.inner.is_empty(), "an octree's balls are at the surface");
    // Without the largest inner ball, the proof finds a gap.
    let mut without = solid.clone();
    let largest = (0..solid.inner.len()).max_by(|&a, &b| solid.inner[a].radius.total_cmp(&solid.inner[b].radius));
    without.inner.remove(largest.unwrap());
    assert!(matches!(certify_solid(&object, &without), Err(SolidError::Uncovered { .. })));
    // A ball that sticks out of the object is not an inner ball.
    let mut beyond = solid;
    beyond.inner[0].radius *= 1.5;
    assert!(matches!(certify_solid(&object, &beyond), Err(SolidError::Uncovered { .. })));
}

#[test]
fn margins_beyond_their_bounds_and_open_meshes_are_refused() {
    let case = shipped_one("box");
    let object = Object::new(&case.vertices, &case.triangles).unwrap();
    let tree = build(&case.vertices, &case.triangles, Method::Octree, &[8]).unwrap().tree;
    for margin in [0.0, -1.0, f64::NAN, 0.5] {
        assert!(matches!(cover_solid(&object, &tree, margin), Err(SolidError::Margin { .. })), "{margin}");
    }
    let open = Object::new(&case.vertices, &case.triangles[2..]).unwrap();
    assert_eq!(cover_solid(&open, &tree, MARGIN), Err(SolidError::Open));
}

#[test]
fn volumes_counted_ball_by_ball_are_exact_and_at_least_their_union() {
    for name in ["box", "torus", "vessel"] {
        let case = shipped_one(name);
        let object = Object::new(&case.vertices, &case.triangles).unwrap();
        let tree = build(&case.vertices, &case.triangles, Method::OctreeTight, &[8, 40]).unwrap().tree;
        for level in measure(&object, &tree) {
            let balls = tree.level(level.level).iter().map(|node| object.ball_to_unit(node.ball));
            let sum: f64 = balls.map(|ball| outside_volume(&object, ball).unwrap()).sum();
            assert!((level.sov - sum / object.volume()).abs() < 1e-9, "{name}: {level:?}");
            // The union is sampled.
            assert!(level.ov <= level.sov * 1.02 + 0.01, "{name}: {level:?}");
        }
        let root = object.ball_to_unit(tree.nodes()[0].ball);
        let expected = 4.0 / 3.0 * std::f64::consts::PI * root.radius.powi(3) - object.volume();
        assert!((outside_volume(&object, root).unwrap() - expected).abs() < 1e-6, "{name}");
    }
}

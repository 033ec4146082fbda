//! Laws of builders: closed forms, independence of threads, position and scale, tight octrees never worse than classic
//! ones, Combined never worse than its reducers, and refits that cover.

mod tree_meshes;

use kinesphere_shapes::sphere_tree::metrics::{farthest_out, measure};
use kinesphere_shapes::sphere_tree::published::combined::{Reducer, build_combined};
use kinesphere_shapes::sphere_tree::{Ball, Method, Object, SphereTree, build, certify, error_of, refit};
use space::DVec3;
use space::workload::Random;
use tree_meshes::{Case, shipped, shipped_one};

#[test]
fn a_cubes_octree_is_known_in_closed_form() {
    let case = shipped_one("box");
    let object = Object::new(&case.vertices, &case.triangles).unwrap();
    let tree = build(&case.vertices, &case.triangles, Method::Octree, &[8, 64, 512, 4096]).unwrap().tree;
    for (level, (spheres, factor)) in
        [(1, 1.0), (8, 0.5), (56, 0.25), (296, 0.125), (1352, 0.0625)].into_iter().enumerate()
    {
        assert_eq!(tree.level(level).len(), spheres);
        let error = farthest_out(&object, &tree, level);
        assert!((error - 0.42265 * factor).abs() < 2e-4, "level {level}: {error}");
    }
}

#[test]
fn errors_are_what_dense_sampling_finds() {
    for name in ["box", "torus", "vessel"] {
        let case = shipped_one(name);
        let object = Object::new(&case.vertices, &case.triangles).unwrap();
        let mut random = Random::new(9);
        for _ in 0..12 {
            let ball = Ball::new(random.in_ball().as_dvec3() * 0.7, f64::from(random.between(0.05, 0.6)));
            let known = error_of(&object, ball, 1e-3);
            let sampled =
                (0..2_000).map(|_| object.out(ball.center + random.in_ball().as_dvec3() * ball.radius, None).0);
            let sampled = sampled.fold(0.0, f64::max);
            assert!(known.at_most - known.at_least <= 1e-3 + 1e-9, "{name}: {known:?} of {ball:?}");
            assert!(sampled <= known.at_most + 1e-9, "{name}: {sampled} against {known:?} of {ball:?}");
            assert!(sampled >= known.at_least - 0.25 * ball.radius, "{name}: {sampled} against {known:?} of {ball:?}");
        }
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    // A closed shape, one whose inside needs winding numbers, and one without an inside.
    for (name, caps) in [("torus", [6, 20]), ("chair", [3, 6]), ("soup", [3, 6])] {
        let case = shipped_one(name);
        for method in Method::ALL {
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| build(&case.vertices, &case.triangles, method, &caps).unwrap().tree)
            };
            assert_eq!(with(1), with(3), "{name}, {}", method.name());
        }
    }
}

/// A level's error to within 0.002, which is faster than the precision of reports.
fn about_farthest_out(object: &Object, tree: &SphereTree, level: usize) -> f64 {
    let proven = |ball: &Ball| ball.radius - object.depth(ball.center, None).0;
    let mut balls: Vec<Ball> = tree.level(level).iter().map(|node| object.ball_to_unit(node.ball)).collect();
    balls.sort_by(|a, b| proven(b).total_cmp(&proven(a)));
    balls.iter().fold(0.0, |farthest, ball| {
        if proven(ball) <= farthest { farthest } else { error_of(object, *ball, 2e-3).at_most.max(farthest) }
    })
}

#[test]
fn tight_is_never_worse_than_classic() {
    for case in shipped() {
        let object = Object::new(&case.vertices, &case.triangles).unwrap();
        let tree = |method| build(&case.vertices, &case.triangles, method, &[8, 64]).unwrap().tree;
        let (classic, tight) = (tree(Method::Octree), tree(Method::OctreeTight));
        for level in 1..=2 {
            let [classic, tight] = [&classic, &tight].map(|tree| about_farthest_out(&object, tree, level));
            assert!(tight <= classic + 6e-3, "{}, level {level}: {tight} against {classic}", case.name);
        }
    }
}

#[test]
fn combined_is_never_worse_than_each_entrant() {
    for case in shipped() {
        let name = &case.name;
        let object = Object::new(&case.vertices, &case.triangles).unwrap();
        let worst = |reducers: &[Reducer]| {
            let tree = build_combined(&object, &[4], reducers).unwrap();
            tree.level(1).iter().map(|node| node.error).fold(0.0, f64::max)
        };
        let all = worst(&Reducer::ALL);
        for reducer in Reducer::ALL {
            let alone = worst(&[reducer]);
            // Ties within half a percent go to the smaller balls, and mending adds its part.
            assert!(all <= alone * 1.05 + 4e-3, "{name}: {all} together, {alone} by {reducer:?}");
        }
    }
}

#[test]
fn moving_and_scaling_change_next_to_nothing() {
    for case in shipped().into_iter().filter(|case| ["box", "torus", "plate"].contains(&case.name.as_str())) {
        check_moved(&case);
    }
}

fn check_moved(case: &Case) {
    let metrics = |vertices: &[DVec3]| {
        let object = Object::new(vertices, &case.triangles).unwrap();
        measure(&object, &build(vertices, &case.triangles, Method::OctreeTight, &[8]).unwrap().tree)
    };
    let moved: Vec<DVec3> = case.vertices.iter().map(|vertex| *vertex * 37.0 + DVec3::new(5.0, -900.0, 3.0)).collect();
    for (before, after) in metrics(&case.vertices).iter().zip(&metrics(&moved)) {
        assert!((before.e_max - after.e_max).abs() <= 0.02 * before.e_max, "{before:?} {after:?}");
        assert!((before.ov - after.ov).abs() <= 0.02 * before.ov + 1e-3, "{before:?} {after:?}");
        assert_eq!((before.miss_percent, after.miss_percent), (0.0, 0.0));
    }
}

/// Searches begin in the same frame, so only the last bits differ.
#[test]
fn turning_by_a_right_angle_changes_nothing() {
    let turns: [fn(DVec3) -> DVec3; 3] = [
        |vertex| DVec3::new(vertex.x, -vertex.z, vertex.y),
        |vertex| DVec3::new(-vertex.y, vertex.x, vertex.z),
        |vertex| DVec3::new(vertex.y, vertex.z, vertex.x),
    ];
    for case in shipped() {
        for method in Method::ALL {
            // Slow searches only on some kinds of shapes.
            let searches = matches!(method, Method::Combined | Method::Best);
            if searches && !["box", "torus", "plate"].contains(&case.name.as_str()) {
                continue;
            }
            let errors = |vertices: &[DVec3]| -> Vec<f64> {
                let tree = build(vertices, &case.triangles, method, &[6, 16]).unwrap().tree;
                tree.nodes().iter().map(|node| node.error / tree.scale()).collect()
            };
            let before = errors(&case.vertices);
            for turn in if searches { &turns[..1] } else { &turns[1..] } {
                let vertices: Vec<DVec3> = case.vertices.iter().map(|&vertex| turn(vertex)).collect();
                let after = errors(&vertices);
                assert_eq!(before.len(), after.len(), "{}, {}", case.name, method.name());
                for (before, after) in before.iter().zip(after) {
                    let name = method.name();
                    assert!((before - after).abs() <= 1e-9, "{}, {name}: {before}, turned {after}", case.name);
                }
            }
        }
    }
}

#[test]
fn a_refitted_tree_covers_what_the_mesh_became() {
    let case = shipped_one("torus");
    let built = build(&case.vertices, &case.triangles, Method::Best, &[8, 40]).unwrap();
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let bend = f64::from(random.between(0.0, 0.5));
        let shift = random.in_ball().as_dvec3() * 3.0;
        let bent: Vec<DVec3> = case
            .vertices
            .iter()
            .map(|vertex| *vertex + shift + DVec3::Z * bend * vertex.x * vertex.x + random.in_ball().as_dvec3() * 0.01)
            .collect();
        let corners = |vertices: &[DVec3]| -> Vec<[DVec3; 3]> {
            case.triangles.iter().map(|corners| corners.map(|corner| vertices[corner as usize])).collect()
        };
        let after = corners(&bent);
        let tree = refit(&built.tree, &built.regions, &corners(&case.vertices), &after).unwrap();
        certify(&tree, &after).unwrap_or_else(|missed| panic!("seed {seed}: {missed}"));
        let object = Object::new(&bent, &case.triangles).unwrap();
        for node in tree.nodes() {
            let known = error_of(&object, object.ball_to_unit(node.ball), 1e-2);
            assert!(known.at_least * object.bounds().radius <= node.error + 1e-6, "seed {seed}: {known:?} of {node:?}");
        }
    }
}

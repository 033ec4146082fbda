//! Distances are certified from both sides: two points of the shapes are that far apart, so the distance is not
//! larger; two parallel planes that far apart separate the shapes, so it is not smaller. For a mesh, planes
//! separate each triangle.
//!
//! A failure prints the seed.

mod shapes;

use kinesphere_shapes::mesh::TriangleMesh;
use kinesphere_shapes::{Pose, Shape, exact};
use shapes::{CONVEX, KINDS, outside, pose, shape, support};
use space::Vec3;
use space::workload::Random;

/// The allowed error: rounding to `f32`, and a thousandth of the cores' distance where a hull takes part.
fn tolerance(a: &Shape, b: &Shape, distance: f64) -> f64 {
    let hull = matches!(a, Shape::Hull(_)) || matches!(b, Shape::Hull(_));
    let radius = |shape: &Shape| match shape {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius as f64,
        _ => 0.0,
    };
    4e-6 + if hull { 1.2e-3 * (distance + radius(a) + radius(b)) } else { 1e-6 * distance }
}

fn check_closest(seed: u64, a: &Shape, at: &Pose, b: &Shape, bt: &Pose) {
    let closest = exact::closest(a, at, b, bt);
    let distance = closest.distance as f64;
    let slack = tolerance(a, b, distance);
    let case = format!("seed {seed}: {} and {}, {closest:?}", a.name(), b.name());
    assert_eq!(closest.distance, exact::distance(a, at, b, bt), "{case}");
    assert_eq!(exact::intersects(a, at, b, bt), distance == 0.0, "{case}");
    assert!((closest.normal.length() - 1.0).abs() < 1e-5, "{case}");
    if distance == 0.0 {
        return;
    }
    let (on_a, on_b) = (closest.on_a.as_dvec3(), closest.on_b.as_dvec3());
    assert!(outside(a, at, on_a) < 1e-5 && outside(b, bt, on_b) < 1e-5, "{case}: points are off the shapes");
    assert!((on_a.distance(on_b) - distance).abs() < 4e-6 + 1e-6 * distance, "{case}: points are not that far apart");
    for (limit, closer) in [(distance * 1.002 + 1e-5, true), (distance * 0.998 - 1e-5, false)] {
        assert_eq!(exact::closer_than(a, at, b, bt, limit as f32), closer, "{case}: closer than {limit}");
    }
    if let (Shape::Mesh(_), _) | (_, Shape::Mesh(_)) = (a, b) {
        return;
    }
    let normal = closest.normal.as_dvec3();
    let apart = normal.dot(support(b, bt, -normal) - support(a, at, normal));
    assert!(apart > distance - slack, "{case}: planes are only {apart} apart");
}

#[test]
fn convex_shapes() {
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, seed as u32 % CONVEX), shape(&mut random, seed as u32 / CONVEX % CONVEX));
        let far = random.log_uniform(30.0);
        check_closest(seed, &a, &pose(&mut random, far), &b, &pose(&mut random, far));
    }
}

#[test]
fn a_mesh_is_as_near_as_its_nearest_triangle() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, KINDS - 1), shape(&mut random, seed as u32 % KINDS));
        let far = random.log_uniform(8.0);
        let (at, bt) = (pose(&mut random, far), pose(&mut random, far));
        check_closest(seed, &a, &at, &b, &bt);
        check_closest(seed, &b, &bt, &a, &at);
        let Shape::Mesh(mesh) = &a else { unreachable!() };
        let triangles = mesh.triangles();
        let alone = |triangle: usize| {
            let corners = triangles.corners(triangle).unwrap();
            Shape::mesh(TriangleMesh::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap())
        };
        let count = triangles.triangles().len();
        let nearest = (0..count).map(|i| exact::distance(&alone(i), &at, &b, &bt)).fold(f32::INFINITY, f32::min);
        let found = exact::distance(&a, &at, &b, &bt);
        let slack = tolerance(&a, &b, nearest as f64) as f32;
        assert!((found - nearest).abs() <= slack, "seed {seed}: {found}, the nearest triangle is at {nearest}");
    }
}

#[test]
fn one_triangle_has_planes_too() {
    for seed in 0..6_000 {
        let mut random = Random::new(seed);
        let corners = [0; 3].map(|_| random.in_ball());
        let a = Shape::mesh(TriangleMesh::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap());
        let b = shape(&mut random, seed as u32 % CONVEX);
        let (at, bt) = (pose(&mut random, 3.0), pose(&mut random, 3.0));
        let closest = exact::closest(&a, &at, &b, &bt);
        if closest.distance > 1e-3 {
            let normal = closest.normal.as_dvec3();
            let apart = normal.dot(support(&b, &bt, -normal) - support(&a, &at, normal));
            let slack = tolerance(&a, &b, closest.distance as f64);
            assert!(apart > closest.distance as f64 - slack, "seed {seed}: {closest:?}, {apart} apart");
        }
    }
}

#[test]
fn known_distances() {
    let ball = Shape::sphere(1.0).unwrap();
    let cube = Shape::cuboid(Vec3::ONE).unwrap();
    let rod = Shape::capsule(2.0, 0.5).unwrap();
    let at = |x, y, z| Pose::at(Vec3::new(x, y, z));
    let origin = Pose::IDENTITY;
    assert_eq!(exact::distance(&ball, &origin, &ball, &at(3.0, 4.0, 0.0)), 3.0);
    assert_eq!(exact::distance(&cube, &origin, &ball, &at(0.0, 5.0, 0.0)), 3.0);
    assert_eq!(exact::distance(&cube, &origin, &cube, &at(4.0, 5.0, 1.0)), 13f32.sqrt());
    assert_eq!(exact::distance(&rod, &origin, &rod, &at(3.0, 1.0, 0.0)), 2.0);
    assert_eq!(exact::distance(&rod, &origin, &rod, &at(0.0, 7.0, 0.0)), 2.0);
    assert_eq!(exact::distance(&rod, &origin, &cube, &at(2.0, 2.5, 0.0)), 0.5);
    assert_eq!(exact::distance(&rod, &origin, &cube, &at(0.0, 0.5, 0.0)), 0.0);
    // Far from the origin, where `f32` is coarse, the answer is as exact as the positions are.
    let far = Vec3::new(1e6, -1e6, 1e6);
    let (here, there) = (Pose::at(far), Pose::at(far + Vec3::new(3.0, 4.0, 0.0)));
    assert_eq!(exact::distance(&ball, &here, &ball, &there), 3.0);
    assert_eq!(exact::distance(&cube, &here, &cube, &there), (1.0f32 + 4.0).sqrt());
}

/// Invalid shapes and poses are not reported as apart.
#[test]
fn nonsense_is_not_apart() {
    let ball = Shape::sphere(1.0).unwrap();
    let bad = Pose::at(Vec3::new(f32::NAN, 0.0, 0.0));
    let good = Pose::at(Vec3::X * 100.0);
    assert!(exact::intersects(&ball, &bad, &ball, &good));
    assert_eq!(exact::distance(&ball, &good, &ball, &bad), 0.0);
    let none = Shape::Sphere { radius: f32::NAN };
    assert!(exact::intersects(&none, &good, &ball, &Pose::IDENTITY));
    assert!(exact::closer_than(&ball, &good, &ball, &Pose::IDENTITY, f32::NAN));
}

/// An approximate distance is within its stated error, and that is within the allowed error where possible.
#[test]
fn approximate_distances_keep_their_word() {
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, seed as u32 % KINDS), shape(&mut random, seed as u32 / KINDS % KINDS));
        let (at, bt) = (pose(&mut random, 6.0), pose(&mut random, 6.0));
        let error = random.log_uniform(1000.0) * 0.005;
        let exactly = exact::distance_within(&a, &at, &b, &bt, 0.0);
        let about = exact::distance_within(&a, &at, &b, &bt, error);
        let off = (about.distance - exactly.distance).abs();
        assert!(off <= about.error + exactly.error, "seed {seed}: {about:?} for {exactly:?}");
        assert!(about.error <= error * 1.0001 + 2e-3 * exactly.distance + 1e-5, "seed {seed}: {about:?} for {error}");
    }
}

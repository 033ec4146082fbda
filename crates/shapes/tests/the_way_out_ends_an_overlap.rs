//! Moved by its penetration, a shape only touches the other, and no shorter move in any of many directions suffices.

mod shapes;

use kinesphere_shapes::{Pose, Shape, exact};
use shapes::{CONVEX, pose, shape, support};
use space::Vec3;
use space::workload::Random;

#[test]
fn convex_shapes_part() {
    let mut overlaps = 0;
    for seed in 0..8_000 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, seed as u32 % CONVEX), shape(&mut random, seed as u32 / CONVEX % CONVEX));
        let (at, bt) = (pose(&mut random, 0.8), pose(&mut random, 0.8));
        let case = format!("seed {seed}: {} and {}", a.name(), b.name());
        let Some(way) = exact::penetration(&a, &at, &b, &bt) else {
            assert!(exact::distance(&a, &at, &b, &bt) > 0.0, "{case}");
            continue;
        };
        overlaps += 1;
        assert!(exact::intersects(&a, &at, &b, &bt), "{case}");
        let moved = |by: f32, way: Vec3| Pose::new(bt.position + way * by, bt.rotation);
        // Where a hull takes part, the way may be longer by a hundredth.
        let hull = matches!(a, Shape::Hull(_)) || matches!(b, Shape::Hull(_));
        let parted = moved(way.depth + if hull { 1e-4 } else { 1e-5 }, way.normal);
        assert!(!exact::intersects(&a, &at, &b, &parted), "{case}: {way:?} is no way out");
        let beyond = exact::distance(&a, &at, &b, &parted);
        let most = if hull { 1e-3 + 0.01 * way.depth } else { 1e-4 };
        assert!(beyond < most, "{case}: {way:?} goes too far, by {beyond}");
        // The way out along a direction is the overlap along it; none is shorter.
        let most = if hull { 1.01 } else { 1.000_01 };
        for _ in 0..60 {
            let tried = random.direction();
            let normal = tried.as_dvec3();
            let overlap = normal.dot(support(&a, &at, normal) - support(&b, &bt, -normal));
            assert!(way.depth as f64 <= overlap * most + 1e-5, "{case}: {way:?}, but {overlap} along {tried}");
        }
    }
    assert!(overlaps > 4_000, "only {overlaps} overlaps were tried");
}

#[test]
fn known_overlaps() {
    let ball = Shape::sphere(1.0).unwrap();
    let cube = Shape::cuboid(Vec3::ONE).unwrap();
    let way = exact::penetration(&ball, &Pose::IDENTITY, &ball, &Pose::at(Vec3::X * 1.5)).unwrap();
    assert_eq!((way.depth, way.normal), (0.5, Vec3::X));
    let way = exact::penetration(&cube, &Pose::IDENTITY, &cube, &Pose::at(Vec3::new(0.2, -1.5, 0.3))).unwrap();
    assert_eq!((way.depth, way.normal), (0.5, -Vec3::Y));
    let way = exact::penetration(&cube, &Pose::IDENTITY, &ball, &Pose::at(Vec3::new(0.0, 0.0, 0.75))).unwrap();
    assert_eq!((way.depth, way.normal), (1.25, Vec3::Z));
    assert_eq!(exact::penetration(&ball, &Pose::IDENTITY, &ball, &Pose::at(Vec3::X * 2.5)), None);
    // At the same position any direction is a way out.
    let way = exact::penetration(&ball, &Pose::IDENTITY, &ball, &Pose::IDENTITY).unwrap();
    assert_eq!((way.depth, way.normal.length()), (2.0, 1.0));
}

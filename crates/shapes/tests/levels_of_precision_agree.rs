//! Every proximity query at every level of precision: the balls of a level are their union, and their distance from a
//! mesh is never too large, and too small by at most their certified error.

use std::sync::{Arc, LazyLock};

use kinesphere_shapes::BallTree;
use kinesphere_shapes::mesh::catalog::shape;
use kinesphere_shapes::sphere_tree::Method;
use kinesphere_shapes::traversal::wrap;
use kinesphere_shapes::{Pose, Precision, RigidMotion, Shape, exact, proximity};
use space::workload::Random;
use space::{Quat, Vec3};

static TREES: LazyLock<Vec<(Shape, Arc<BallTree>)>> = LazyLock::new(|| {
    [("torus", 3), ("box", 2), ("rabbit", 2)]
        .map(|(name, depth)| {
            let mesh = shape(name).unwrap();
            let tree = Arc::new(wrap(&mesh, Method::OctreeTight, depth).unwrap());
            (Shape::mesh_in(mesh, Arc::clone(&tree)), tree)
        })
        .to_vec()
});

fn turn(random: &mut Random) -> Quat {
    Quat::from_axis_angle(random.direction(), random.between(0.0, 6.0))
}

/// A partner for a mesh of about one metre, and the error of its balls at a level.
fn other(random: &mut Random, level: u8) -> (Shape, f32) {
    match random.whole(0, 5) {
        0 => (Shape::sphere(random.between(0.05, 0.3)).unwrap(), 0.0),
        1 => (Shape::cuboid(Vec3::splat(0.05) + random.point(0.2)).unwrap(), 0.0),
        2 => (Shape::capsule(0.2, 0.1).unwrap(), 0.0),
        3 => (Shape::hull(&[Vec3::ZERO, Vec3::X * 0.3, Vec3::Y * 0.2, Vec3::Z * 0.3]).unwrap(), 0.0),
        _ => {
            let (mesh, tree) = &TREES[random.whole(0, TREES.len() as u32) as usize];
            (mesh.clone(), tree.error_at(level))
        }
    }
}

#[test]
fn a_level_is_never_too_far_and_too_near_by_its_error_at_most() {
    let (mut close, mut apart) = (0, 0);
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let (mesh, tree) = &TREES[random.whole(0, TREES.len() as u32) as usize];
        let level = random.whole(0, 4) as u8;
        let (partner, error) = other(&mut random, level);
        let far = if seed % 4 == 0 { Vec3::splat(700.0) } else { Vec3::ZERO };
        let at = Pose::new(far, turn(&mut random));
        // Outside the mesh, so that nothing is inside it.
        let bt = Pose::new(far + random.direction() * (1.1 + 0.9 * random.unit().powi(3)), turn(&mut random));
        let precision = Precision::Level(level);
        let exact = exact::distance(mesh, &at, &partner, &bt);
        let found = proximity::distance(mesh, &at, &partner, &bt, precision);
        let name = format!("seed {seed}: {} at level {level}", partner.name());
        assert!(found <= exact + 1e-4, "{name}: {found} for {exact}");
        let error = tree.error_at(level) + error;
        assert!(exact <= found + error + 1e-4, "{name}: {found} within {error} for {exact}");
        let swapped = proximity::distance(&partner, &bt, mesh, &at, precision);
        assert!((swapped - found).abs() < 1e-4, "{name}: {found}, the other way round {swapped}");
        // All queries agree.
        assert_eq!(proximity::intersects(mesh, &at, &partner, &bt, precision), found == 0.0, "{name}");
        assert!(proximity::closer_than(mesh, &at, &partner, &bt, found + 1e-3, precision), "{name}");
        if found > 1e-3 {
            assert!(!proximity::closer_than(mesh, &at, &partner, &bt, found - 1e-3, precision), "{name}");
            assert_eq!(proximity::penetration(mesh, &at, &partner, &bt, precision), None, "{name}");
            let closest = proximity::closest(mesh, &at, &partner, &bt, precision);
            assert!((closest.distance - found).abs() < 1e-4, "{name}");
            assert!((closest.on_a.distance(closest.on_b) - found).abs() < 2e-3, "{name}: {closest:?} for {found}");
            apart += 1;
        } else {
            close += 1;
        }
        let approximate = proximity::distance_within(mesh, &at, &partner, &bt, 0.1, precision);
        assert!(
            (approximate.distance - found).abs() <= approximate.error + 1e-4,
            "{name}: {approximate:?} for {found}"
        );
        let sphere = proximity::distance(mesh, &at, &partner, &bt, Precision::BoundingSphere);
        assert!(sphere <= exact + 1e-4, "{name}");
    }
    assert!(close > 20 && apart > 50, "{close} close, {apart} apart");
}

#[test]
fn balls_are_the_union_of_their_balls() {
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let (_, tree) = &TREES[random.whole(0, TREES.len() as u32) as usize];
        let level = random.whole(0, 3) as u8;
        let balls = Shape::balls(Arc::clone(tree), level).unwrap();
        let (partner, _) = other(&mut random, level);
        let at = Pose::new(random.in_ball(), turn(&mut random));
        let bt = Pose::new(random.in_ball() * 1.5, turn(&mut random));
        let there = RigidMotion::new(bt, Pose::new(bt.position + random.in_ball() * 3.0, bt.rotation));
        let found = exact::distance(&balls, &at, &partner, &bt);
        let contact = exact::first_contact(&balls, &RigidMotion::rest(at), &partner, &there, 0.01);
        let (mut least, mut first, mut deepest) = (f32::INFINITY, None::<f32>, None::<f32>);
        for node in tree.ends(level) {
            let ball = tree.ball(node);
            let (one, place) = (Shape::sphere(ball.radius).unwrap(), Pose::at(at.transform(ball.center)));
            least = least.min(exact::distance(&one, &place, &partner, &bt));
            if let Some(contact) = exact::first_contact(&one, &RigidMotion::rest(place), &partner, &there, 0.01) {
                first = Some(first.map_or(contact.time, |time| time.min(contact.time)));
            }
            if let Some(overlap) = exact::penetration(&one, &place, &partner, &bt) {
                deepest = Some(deepest.map_or(overlap.depth, |depth| depth.max(overlap.depth)));
            }
        }
        let name = format!("seed {seed}: {} against balls of level {level}", partner.name());
        assert!((found - least).abs() < 1e-4, "{name}: {found} for {least}");
        let depth = exact::penetration(&balls, &at, &partner, &bt).map(|overlap| overlap.depth);
        assert_eq!(depth.is_some(), deepest.is_some(), "{name}");
        if let (Some(depth), Some(deepest)) = (depth, deepest) {
            assert!((depth - deepest).abs() < 1e-3 * (1.0 + deepest), "{name}: {depth} deep for {deepest}");
        }
        match (contact, first) {
            (Some(contact), Some(first)) => {
                assert!((contact.time - first).abs() < 1e-3, "{name}: at {} for {first}", contact.time);
            }
            (None, None) => {}
            // A grazing contact may be found by one of them only.
            (one, other) => assert!(
                one.map_or(1.0, |contact| contact.time) > 0.9 || other > Some(0.9),
                "{name}: {one:?}, {other:?}"
            ),
        }
    }
}

#[test]
fn contacts_at_a_level_are_never_late() {
    let mut met = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let (mesh, _) = &TREES[random.whole(0, TREES.len() as u32) as usize];
        let level = random.whole(0, 4) as u8;
        let (partner, _) = other(&mut random, level);
        let pose = |random: &mut Random, place: Vec3| Pose::new(place, turn(random));
        let way = random.direction();
        let beside = random.in_ball() * 0.5;
        let (from, to) = (pose(&mut random, way * 2.5), pose(&mut random, way * -2.5 + beside));
        let spins = random.unit() < 0.5;
        let motion = RigidMotion::new(from, if spins { to } else { Pose::new(to.position, from.rotation) });
        let still = RigidMotion::rest(pose(&mut random, Vec3::ZERO));
        let exact = exact::first_contact(&partner, &motion, mesh, &still, 0.0);
        let found = proximity::first_contact(&partner, &motion, mesh, &still, 0.0, Precision::Level(level));
        if let Some(exact) = exact {
            met += 1;
            let found =
                found.unwrap_or_else(|| panic!("seed {seed}: met at {}, level {level} sees nothing", exact.time));
            assert!(found.time <= exact.time + 1e-5, "seed {seed}: {} is after {}", found.time, exact.time);
            if found.time > 0.0 {
                let at = motion.at(found.time);
                let left = proximity::distance(&partner, &at, mesh, &still.from, Precision::Level(level));
                assert!(left < 5e-3, "seed {seed}: {left} left at {}", found.time);
            }
        }
    }
    assert!(met > 12, "{met} met");
}

//! Before the first contact the shapes are never closer than the gap; at the contact they are that close; without a
//! contact they are never closer. Sampled at hundreds of times of each motion.
//!
//! A failure prints the seed.

mod shapes;

use kinesphere_shapes::mesh::generated;
use kinesphere_shapes::{Pose, RigidMotion, Shape, exact};
use shapes::{CONVEX, KINDS, motion, shape};
use space::workload::Random;
use space::{Quat, Vec3};

/// Rounding of positions to `f32`, a few metres from the origin.
const ROUNDING: f32 = 4e-6;

fn check(
    case: &str,
    a: &Shape,
    am: &RigidMotion,
    b: &Shape,
    bm: &RigidMotion,
    gap: f32,
    moments: usize,
) -> Option<f32> {
    let contact = exact::first_contact(a, am, b, bm, gap);
    let at = |time: f32| exact::distance(a, &am.at(time), b, &bm.at(time));
    let start = at(0.0);
    // Shapes that begin closer than the gap may stay that close.
    let least = gap.min(start);
    let until = contact.map_or(1.0, |contact| contact.time);
    let hull = matches!(a, Shape::Hull(_)) || matches!(b, Shape::Hull(_));
    for moment in 0..=moments {
        let time = until * (moment as f32 / moments as f32);
        let here = at(time);
        assert!(here >= least - ROUNDING, "{case}: {here} apart at {time}, before {contact:?}, gap {gap}");
    }
    if let Some(contact) = contact {
        assert!((contact.normal.length() - 1.0).abs() < 1e-5, "{case}: {contact:?}");
        let here = at(contact.time);
        // A thousandth of the distance where a hull takes part, plus the tolerance of the steps.
        let sizes = a.bounding_sphere().radius + b.bounding_sphere().radius;
        let most = gap + 2e-5 * sizes + ROUNDING + if hull { 1.5e-3 * (gap + sizes) } else { 0.0 };
        assert!(here <= most, "{case}: blocked by nothing: {here} apart at {contact:?}, gap {gap}");
    }
    contact.map(|contact| contact.time)
}

#[test]
fn convex_shapes_in_any_motion() {
    let mut contacts = 0;
    for seed in 0..1_500 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, seed as u32 % CONVEX), shape(&mut random, seed as u32 / CONVEX % CONVEX));
        let far = random.log_uniform(4.0) * 2.0;
        let (am, bm) = (motion(&mut random, far), motion(&mut random, far));
        let gap = [0.0, 0.001, 0.02, 0.3][random.whole(0, 4) as usize];
        let case = format!("seed {seed}: {} and {}", a.name(), b.name());
        contacts += usize::from(check(&case, &a, &am, &b, &bm, gap, 200).is_some_and(|time| time > 0.0));
    }
    assert!(contacts > 300, "only {contacts} contacts after the start");
}

#[test]
fn meshes_in_any_motion() {
    let mut contacts = 0;
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let (a, b) = (shape(&mut random, KINDS - 1), shape(&mut random, seed as u32 % KINDS));
        let (am, bm) = (motion(&mut random, 4.0), motion(&mut random, 4.0));
        let case = format!("seed {seed}: {} and {}", a.name(), b.name());
        let met = if seed % 2 == 0 {
            check(&case, &a, &am, &b, &bm, 0.01, 100)
        } else {
            check(&case, &b, &bm, &a, &am, 0.01, 100)
        };
        contacts += usize::from(met.is_some_and(|time| time > 0.0));
    }
    assert!(contacts > 50, "only {contacts} contacts after the start");
}

/// Paper 002's own test: two fast objects, head on, that pass each other within one tick.
#[test]
fn fast_objects_head_on_do_not_tunnel() {
    let mesh = Shape::mesh(generated::cup(0.5, 1.0, 0.02, 16).unwrap());
    let points: Vec<Vec3> = (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
    let all = [
        Shape::sphere(0.01).unwrap(),
        Shape::cuboid(Vec3::new(0.005, 0.5, 0.5)).unwrap(),
        Shape::capsule(0.9, 0.02).unwrap(),
        Shape::hull(&points.iter().map(|p| (*p - Vec3::splat(0.5)) * Vec3::new(0.01, 1.0, 1.0)).collect::<Vec<_>>())
            .unwrap(),
        mesh,
    ];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            for speed in [10.0, 1e3, 1e5] {
                let lift = if i == 4 || j == 4 { Vec3::Y * 0.01 } else { Vec3::ZERO };
                let way = |from: f32, to: f32, lift: Vec3| {
                    RigidMotion::new(Pose::at(Vec3::X * from * speed + lift), Pose::at(Vec3::X * to * speed + lift))
                };
                let met = exact::first_contact(a, &way(-1.0, 1.1, lift), b, &way(1.0, -0.9, Vec3::ZERO), 0.0);
                let contact = met.unwrap_or_else(|| panic!("{} and {} tunnel at {speed}", a.name(), b.name()));
                // Positions at a hundred kilometres are precise to about a centimetre.
                assert!((0.3..0.5).contains(&contact.time), "{} and {}: {contact:?}", a.name(), b.name());
            }
        }
    }
}

/// A turning rod sweeps a sphere that a straight motion would never touch.
#[test]
fn turns_are_swept() {
    let rod = Shape::cuboid(Vec3::new(2.0, 0.1, 0.1)).unwrap();
    let ball = Shape::sphere(0.2).unwrap();
    let quarter =
        RigidMotion::new(Pose::IDENTITY, Pose::new(Vec3::ZERO, Quat::from_rotation_z(std::f32::consts::FRAC_PI_2)));
    let rest = RigidMotion::rest(Pose::at(Vec3::new(1.2, 1.2, 0.0)));
    let time = check("rod", &rod, &quarter, &ball, &rest, 0.0, 500).expect("the rod sweeps through the ball");
    // Half of the turn, less the thickness of rod and sphere.
    let expected = (45f32.to_radians() - (0.3f32 / (1.2 * 2f32.sqrt())).asin()) / 90f32.to_radians();
    assert!((time - expected).abs() < 1e-3, "{time} for {expected}");
    // An upright capsule that turns stays within its own volume.
    let avatar = Shape::capsule(0.6, 0.3).unwrap();
    let turn = RigidMotion::new(Pose::IDENTITY, Pose::new(Vec3::ZERO, Quat::from_rotation_y(2.0)));
    let wall = Shape::cuboid(Vec3::new(0.1, 2.0, 2.0)).unwrap();
    let beside = RigidMotion::rest(Pose::at(Vec3::X * 0.401));
    assert_eq!(exact::first_contact(&avatar, &turn, &wall, &beside, 0.01), None);
}

/// A blocked object can leave, and can slide along.
#[test]
fn touching_and_leaving_is_no_contact() {
    let avatar = Shape::capsule(0.6, 0.3).unwrap();
    let floor = [
        Shape::cuboid(Vec3::new(10.0, 1.0, 10.0)).unwrap(),
        Shape::mesh(generated::cuboid(Vec3::new(10.0, 1.0, 10.0)).unwrap()),
    ];
    let start = Vec3::new(0.3, 1.0 + 0.9 + 0.005, 0.2);
    let go = |by: Vec3| RigidMotion::new(Pose::at(start), Pose::at(start + by));
    for floor in &floor {
        let meets = |by: Vec3| exact::first_contact(&avatar, &go(by), floor, &RigidMotion::rest(Pose::IDENTITY), 0.01);
        assert_eq!(meets(Vec3::Y), None, "{}", floor.name());
        assert_eq!(meets(Vec3::X), None, "{}", floor.name());
        assert_eq!(meets(Vec3::ZERO), None, "{}", floor.name());
        assert_eq!(meets(Vec3::new(1.0, -0.1, 0.0)).map(|contact| contact.time), Some(0.0), "{}", floor.name());
    }
}

/// Invalid motions and gaps are in contact at once.
#[test]
fn nonsense_is_met_at_once() {
    let ball = Shape::sphere(1.0).unwrap();
    let far = RigidMotion::rest(Pose::at(Vec3::X * 100.0));
    let bad = RigidMotion::new(Pose::IDENTITY, Pose::at(Vec3::new(0.0, f32::INFINITY, 0.0)));
    assert_eq!(exact::first_contact(&ball, &bad, &ball, &far, 0.0).map(|contact| contact.time), Some(0.0));
    assert_eq!(exact::first_contact(&ball, &far, &ball, &far, f32::NAN).map(|contact| contact.time), Some(0.0));
}

//! A hull contains all the points that it was made from, up to rounding, or is refused. Nothing panics.

use kinesphere_shapes::Hull;
use space::Vec3;
use space::workload::Random;

/// How far a point sticks out of the hull in the worst of many directions, relative to the size of the cloud.
fn sticking_out(hull: &Hull, points: &[Vec3], random: &mut Random) -> f64 {
    let size = points.iter().map(|point| point.as_dvec3().distance(points[0].as_dvec3())).fold(0.0, f64::max);
    let mut most: f64 = 0.0;
    for _ in 0..200 {
        let direction = random.direction().as_dvec3();
        let reach = |points: &[Vec3]| {
            points.iter().map(|point| point.as_dvec3().dot(direction)).fold(f64::NEG_INFINITY, f64::max)
        };
        most = most.max(reach(points) - reach(hull.vertices()));
    }
    most / size
}

type Cloud = fn(&mut Random) -> Vec3;

#[test]
fn clouds_of_all_kinds() {
    let clouds: [(&str, Cloud); 9] = [
        ("a ball", |random| random.in_ball()),
        ("a sphere", |random| random.direction() * 3.0),
        ("a lattice", |random| random.point(4.0).floor()),
        ("a box far away", |random| random.point(1.0) + Vec3::splat(5e4)),
        ("a thin sheet", |random| random.in_ball() * Vec3::new(1.0, 1e-4, 1.0)),
        ("a needle", |random| random.in_ball() * Vec3::new(1.0, 1e-3, 1e-3)),
        ("a plane", |random| random.in_ball() * Vec3::new(1.0, 0.0, 1.0)),
        ("a line", |random| Vec3::ONE * random.unit()),
        ("one point", |_| Vec3::X),
    ];
    for (name, cloud) in clouds {
        let mut made = 0;
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let count = random.whole(1, 60);
            let points: Vec<Vec3> = (0..count).map(|_| cloud(&mut random)).collect();
            if let Ok(hull) = Hull::new(&points) {
                made += 1;
                let out = sticking_out(&hull, &points, &mut random);
                assert!(out < 1e-5, "{name}, seed {seed}: a point sticks out by {out} of the hull's size");
            }
        }
        // A sheet with a thickness of a ten-thousandth is refused as flat half of the time.
        let solid = !["a plane", "a line", "one point"].contains(&name);
        assert_eq!(made > 50, solid, "{name}: {made} of 200 became hulls");
    }
}

#[test]
fn refusals_name_the_point() {
    let mut points = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    assert!(Hull::new(&points).is_ok());
    points[2].z = f32::NAN;
    let expected = "point 2: coordinate NaN, expected a number within 100000 metres";
    assert_eq!(Hull::new(&points).unwrap_err().to_string(), expected);
    let many = vec![Vec3::ZERO; Hull::MAX_POINTS + 1];
    assert_eq!(Hull::new(&many).unwrap_err().to_string(), "8193 points, a hull is made from at most 8192");
    assert_eq!(
        Hull::new(&[]).unwrap_err().to_string(),
        "the 0 points enclose no volume: a hull needs four that are not in a plane"
    );
}

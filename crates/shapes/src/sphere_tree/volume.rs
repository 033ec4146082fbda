//! The exact volume of a ball outside an object, by one formula per triangle.
//!
//! Seen from the ball's centre, an object consists of signed cones over its triangles. The part of a cone within the
//! ball has a flat part, where the triangle cuts the ball, and a round part, where the ball ends first. Both follow
//! from the triangle's edges: inside the disc that the ball cuts out of the triangle's plane an edge gives a triangle,
//! outside of it an arc.

use space::DVec3;

use super::ball::Ball;
use super::object::{Inside, Object};
use super::topology::solid_angle;

/// A centre on the surface is moved aside by this much.
const ASIDE: f64 = 1e-9;

/// The volume of the ball outside the object, in unit coordinates. `None` if the object is not closed and clean, or if
/// the ball's centre or volume is not finite or its radius negative.
pub fn outside_volume(object: &Object, ball: Ball) -> Option<f64> {
    let is_a_ball = ball.center.is_finite() && ball.radius >= 0.0 && ball.volume().is_finite();
    if object.inside() != Inside::Normals || !is_a_ball {
        return None;
    }
    let (mut center, radius) = (ball.center, ball.radius);
    let (mut depth, nearest) = object.depth(center, None);
    if depth.abs() < ASIDE {
        center += object.normal(&nearest).normalize_or_zero() * ASIDE;
        depth = object.depth(center, Some(nearest.triangle)).0;
    }
    let cubed = radius * radius * radius / 3.0;
    let mut inside = if depth > 0.0 { 4.0 * std::f64::consts::PI * cubed } else { 0.0 };
    object.triangles_near(center, radius, |index, corners| {
        let normal = object.face_normal(index);
        let [a, b, c] = corners.map(|corner| corner - center);
        // Counter-clockwise seen from the normal's side.
        let wound = if (b - a).cross(c - a).dot(normal) >= 0.0 { [a, b, c] } else { [a, c, b] };
        let (area, angle) = within_disc(&wound, normal, radius);
        inside += normal.dot(a) / 3.0 * area - cubed * angle;
    });
    Some((ball.volume() - inside).clamp(0.0, ball.volume()))
}

/// The area of the part of a triangle in a ball around the origin, and its signed solid angle: positive if its
/// back is visible.
fn within_disc(corners: &[DVec3; 3], normal: DVec3, radius: f64) -> (f64, f64) {
    let height = normal.dot(corners[0]);
    let squared = radius * radius - height * height;
    if squared <= 0.0 || normal == DVec3::ZERO {
        return (0.0, 0.0);
    }
    let foot = normal * height;
    let cap = (1.0 - height.abs() / radius) * height.signum();
    let (mut area, mut angle) = (0.0, 0.0);
    let mut arc = |from: DVec3, to: DVec3| {
        let turn = libm::atan2(from.cross(to).dot(normal), from.dot(to));
        area += turn * squared * 0.5;
        angle += turn * cap;
    };
    let (mut chord_area, mut chord_angle) = (0.0, 0.0);
    let mut chord = |from: DVec3, to: DVec3| {
        chord_area += from.cross(to).dot(normal) * 0.5;
        chord_angle += solid_angle(DVec3::ZERO, &[foot, foot + from, foot + to]);
    };
    for side in 0..3 {
        let (from, to) = (corners[side] - foot, corners[(side + 1) % 3] - foot);
        let along = to - from;
        // The interval in which the edge's line is within the disc.
        let (length, middle) = (along.length_squared(), from.dot(along));
        let root = middle * middle - length * (from.length_squared() - squared);
        if length == 0.0 || root <= 0.0 {
            arc(from, to);
            continue;
        }
        let [enter, leave] = [-root.sqrt(), root.sqrt()].map(|root| ((root - middle) / length).clamp(0.0, 1.0));
        if enter >= leave {
            arc(from, to);
            continue;
        }
        let (first, last) = (from + along * enter, from + along * leave);
        if enter > 0.0 {
            arc(from, first);
        }
        chord(first, last);
        if leave < 1.0 {
            arc(last, to);
        }
    }
    (area + chord_area, angle + chord_angle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::catalog::shape;
    use space::workload::Random;

    fn object(name: &str) -> Object {
        let mesh = shape(name).unwrap();
        let vertices = mesh.wide_vertices();
        Object::new(&vertices, mesh.triangles()).unwrap()
    }

    #[test]
    fn balls_at_a_face_an_edge_and_a_corner_are_known_in_closed_form() {
        let object = object("box");
        let half = 1.0 / 3.0_f64.sqrt();
        for (center, share) in [
            (DVec3::ZERO, 0.0),
            (DVec3::new(half, 0.0, 0.1), 0.5),
            (DVec3::new(half, half, 0.1), 0.75),
            (DVec3::splat(half), 0.875),
            (DVec3::new(2.0, 0.0, 0.0), 1.0),
        ] {
            let ball = Ball::new(center, 0.2);
            let outside = outside_volume(&object, ball).unwrap();
            assert!((outside - share * ball.volume()).abs() < 1e-7, "{center}: {}", outside / ball.volume());
        }
        // A cap of known height.
        let ball = Ball::new(DVec3::new(half - 0.1, 0.0, 0.0), 0.25);
        let cap = std::f64::consts::PI * 0.15 * 0.15 * (3.0 * 0.25 - 0.15) / 3.0;
        assert!((outside_volume(&object, ball).unwrap() - cap).abs() < 1e-12);
        // The whole box in a ball.
        let all = Ball::new(DVec3::new(0.03, 0.01, -0.02), 1.3);
        assert!((outside_volume(&object, all).unwrap() - (all.volume() - object.volume())).abs() < 1e-9);
    }

    #[test]
    fn it_is_what_random_points_say() {
        for (seed, name) in ["box", "torus", "vessel", "rabbit", "torus-knot", "plate"].into_iter().enumerate() {
            let object = object(name);
            let mut random = Random::new(seed as u64);
            for case in 0..6 {
                let ball = Ball::new(random.in_ball().as_dvec3() * 0.8, f64::from(random.between(0.05, 0.7)));
                let Some(exact) = outside_volume(&object, ball) else { panic!("{name} is closed") };
                let points = 4_000;
                let out = (0..points)
                    .filter(|_| object.depth(ball.center + random.in_ball().as_dvec3() * ball.radius, None).0 < 0.0);
                let sampled = out.count() as f64 / f64::from(points);
                let share = exact / ball.volume();
                // Five standard deviations.
                let slack = 5.0 * (share * (1.0 - share) / f64::from(points)).sqrt() + 1e-3;
                assert!((sampled - share).abs() <= slack, "{name}, case {case}: {share}, sampled {sampled}");
            }
        }
    }

    #[test]
    fn what_is_not_closed_has_no_outside_to_speak_of() {
        assert_eq!(outside_volume(&object("soup"), Ball::new(DVec3::ZERO, 0.5)), None);
    }

    /// Keeps out: a radius that is NaN or negative was a panic.
    #[test]
    fn what_is_not_a_ball_has_no_volume() {
        let object = object("box");
        for radius in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.5, -1e-200] {
            assert_eq!(outside_volume(&object, Ball::new(DVec3::ZERO, radius)), None, "radius {radius}");
        }
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(outside_volume(&object, Ball::new(DVec3::X * bad, 0.5)), None, "centre {bad}");
        }
        for radius in [0.0, -0.0, 1e-200] {
            assert_eq!(outside_volume(&object, Ball::new(DVec3::ZERO, radius)), Some(0.0), "radius {radius}");
        }
    }
}

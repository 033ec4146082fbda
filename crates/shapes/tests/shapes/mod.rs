//! Random shapes, poses and motions for the tests of the narrow phase, and slow reference queries. Everything depends
//! on the seed alone.

#![allow(dead_code)] // Not every test uses everything.

use kinesphere_shapes::mesh::{TriangleMesh, generated};
use kinesphere_shapes::{Balls, Pose, RigidMotion, Shape};
use space::workload::Random;
use space::{DQuat, DVec3, Quat, Vec3};

/// The kinds of shapes: sphere, box, capsule, hull, and mesh last.
pub const KINDS: u32 = 5;
/// The convex kinds.
pub const CONVEX: u32 = 4;

/// A shape of about one metre; one in eight is thin, long or small.
pub fn shape(random: &mut Random, kind: u32) -> Shape {
    let size = |random: &mut Random| {
        if random.whole(0, 8) == 0 { random.log_uniform(1000.0) * 0.01 } else { random.between(0.2, 1.5) }
    };
    match kind {
        0 => Shape::sphere(size(random)),
        1 => Shape::cuboid(Vec3::new(size(random), size(random), size(random))),
        2 => Shape::capsule(size(random), size(random)),
        3 => {
            let count = random.whole(4, 30);
            let stretch = Vec3::new(size(random), size(random), size(random));
            let offset = random.in_ball();
            let points: Vec<Vec3> = (0..count).map(|_| random.in_ball() * stretch + offset).collect();
            return Shape::hull(&points).unwrap_or_else(|_| Shape::sphere(1.0).unwrap());
        }
        _ => return Shape::mesh(mesh(random)),
    }
    .unwrap()
}

/// A small mesh: a box, sphere, torus or cup, or random triangles.
pub fn mesh(random: &mut Random) -> TriangleMesh {
    match random.whole(0, 5) {
        0 => generated::cuboid(Vec3::new(0.3, 0.8, 0.5)),
        1 => generated::ball(random.between(0.3, 1.2), 2),
        2 => generated::torus(1.0, 0.3, 12, 8),
        3 => generated::cup(0.6, 1.0, 0.05, 12),
        _ => {
            let vertices = (0..12).map(|_| random.in_ball()).collect();
            let triangles = (0..8).map(|_| [0; 3].map(|_| random.whole(0, 12))).collect();
            TriangleMesh::new(vertices, triangles)
        }
    }
    .unwrap()
}

/// A random rotation; one in four by right angles, where faces and edges are parallel.
pub fn rotation(random: &mut Random) -> Quat {
    if random.whole(0, 4) == 0 {
        let quarter = |random: &mut Random| std::f32::consts::FRAC_PI_2 * random.whole(0, 4) as f32;
        let (x, y) = (quarter(random), quarter(random));
        return Quat::from_rotation_x(x) * Quat::from_rotation_y(y);
    }
    Quat::from_axis_angle(random.direction(), random.between(0.0, std::f32::consts::PI))
}

pub fn pose(random: &mut Random, far: f32) -> Pose {
    Pose::new(random.in_ball() * far, rotation(random))
}

/// A motion between two poses; one in three does not turn, one in six does not move.
pub fn motion(random: &mut Random, far: f32) -> RigidMotion {
    let from = pose(random, far);
    let mut to = pose(random, far);
    match random.whole(0, 6) {
        0 | 1 => to.rotation = from.rotation,
        2 => to.position = from.position,
        _ => {}
    }
    RigidMotion::new(from, to)
}

/// The farthest point of a convex shape along `direction`, in the world.
pub fn support(shape: &Shape, pose: &Pose, direction: DVec3) -> DVec3 {
    let turn = wide(pose);
    let local = turn.conjugate() * direction;
    let among = |points: &[Vec3]| {
        points.iter().map(|point| point.as_dvec3()).max_by(|p, q| p.dot(local).total_cmp(&q.dot(local))).unwrap()
    };
    let point = match shape {
        Shape::Sphere { radius } => local.normalize_or_zero() * *radius as f64,
        Shape::Box { half } => half.as_dvec3() * local.map(f64::signum),
        Shape::Capsule { half_height, radius } => {
            DVec3::Y * (*half_height as f64).copysign(local.y) + local.normalize_or_zero() * *radius as f64
        }
        Shape::Hull(hull) => among(hull.vertices()),
        Shape::Mesh(mesh) => among(mesh.triangles().vertices()),
        Shape::Balls(balls) => balls_of(balls)
            .map(|(center, radius)| center + local.normalize_or_zero() * radius)
            .max_by(|p, q| p.dot(local).total_cmp(&q.dot(local)))
            .unwrap(),
    };
    pose.position.as_dvec3() + turn * point
}

fn balls_of(balls: &Balls) -> impl Iterator<Item = (DVec3, f64)> {
    let balls = balls.clone();
    balls.tree().ends(balls.level()).into_iter().map(move |node| {
        let ball = balls.tree().ball(node);
        (ball.center.as_dvec3(), f64::from(ball.radius))
    })
}

/// The distance of a point from a shape; zero inside. For a mesh, the distance from its surface.
pub fn outside(shape: &Shape, pose: &Pose, point: DVec3) -> f64 {
    let local = wide(pose).conjugate() * (point - pose.position.as_dvec3());
    match shape {
        Shape::Sphere { radius } => local.length() - *radius as f64,
        Shape::Box { half } => (local - local.clamp(-half.as_dvec3(), half.as_dvec3())).length(),
        Shape::Capsule { half_height, radius } => {
            let half = *half_height as f64;
            (local - DVec3::Y * local.y.clamp(-half, half)).length() - *radius as f64
        }
        Shape::Hull(hull) => hull
            .triangles()
            .iter()
            .filter_map(|corners| {
                let [a, b, c] = corners.map(|corner| hull.vertices()[corner as usize].as_dvec3());
                (b - a).cross(c - a).try_normalize().map(|normal| normal.dot(local - a))
            })
            .fold(f64::NEG_INFINITY, f64::max),
        Shape::Mesh(mesh) => (0..mesh.triangles().triangles().len())
            .map(|triangle| {
                let corners = mesh.triangles().corners(triangle).unwrap().map(|corner| corner.as_dvec3());
                from_triangle(local, corners)
            })
            .fold(f64::INFINITY, f64::min),
        Shape::Balls(balls) => {
            balls_of(balls).map(|(center, radius)| local.distance(center) - radius).fold(f64::INFINITY, f64::min)
        }
    }
    .max(0.0)
}

/// The distance from a triangle, by a search over convex combinations of its corners.
fn from_triangle(point: DVec3, corners: [DVec3; 3]) -> f64 {
    let mut weights = DVec3::splat(1.0 / 3.0);
    let at =
        |weights: DVec3, corners: &[DVec3; 3]| corners[0] * weights.x + corners[1] * weights.y + corners[2] * weights.z;
    let mut step: f64 = 0.5;
    while step > 1e-12 {
        let here = at(weights, &corners).distance_squared(point);
        let mut better = None;
        for from in 0..3 {
            for to in 0..3 {
                if from != to && weights[from] > 0.0 {
                    let moved = step.min(weights[from]);
                    let mut tried = weights;
                    tried[from] -= moved;
                    tried[to] += moved;
                    if at(tried, &corners).distance_squared(point) < here {
                        better = Some(tried);
                    }
                }
            }
        }
        match better {
            Some(tried) => weights = tried,
            None => step *= 0.5,
        }
    }
    at(weights, &corners).distance(point)
}

fn wide(pose: &Pose) -> DQuat {
    pose.rotation.as_dquat().normalize()
}

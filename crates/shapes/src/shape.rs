//! Shapes: sphere, box, capsule, convex hull, triangle mesh, or the balls of a sphere-tree's level.

use std::sync::Arc;

use space::{DVec3, Vec3};

use super::solid::{Balls, Hull, Mesh};
use space::Sphere;

use crate::BallTree;

/// A shape in its own coordinates. Constructors refuse numbers that make no shape; [`Shape::check`] does so for numbers
/// that came in another way.
///
/// Sphere, box, capsule and hull are solid. A mesh is its surface: what is wholly inside does not touch it. Balls are a
/// level of a sphere-tree; they contain the surface of its mesh.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Around the origin.
    Sphere {
        radius: f32,
    },
    /// Axis-aligned, around the origin.
    Box {
        /// Half of its sides, in metres.
        half: Vec3,
    },
    /// All points within `radius` of a segment along the y axis around the origin.
    Capsule {
        /// Half the length of the segment, in metres; the capsule's own half height is larger by the radius.
        half_height: f32,
        radius: f32,
    },
    Hull(Arc<Hull>),
    Mesh(Arc<Mesh>),
    /// The union of the balls of a sphere-tree's level.
    Balls(Arc<Balls>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    #[error("`{field}` is {value}, expected {} to {} metres", Shape::SMALLEST, Shape::LARGEST)]
    OutOfRange { field: &'static str, value: f32 },
    /// A point of a hull that is not finite or too far away.
    #[error("point {point}: coordinate {value}, expected a number within {} metres", Shape::LARGEST)]
    BadPoint { point: usize, value: f32 },
    #[error("{count} points, a hull is made from at most {}", Hull::MAX_POINTS)]
    TooManyPoints { count: usize },
    /// Points without volume: fewer than four, or coplanar.
    #[error("the {count} points enclose no volume: a hull needs four that are not in a plane")]
    Flat { count: usize },
}

impl Shape {
    /// The smallest length of a shape, in metres.
    pub const SMALLEST: f32 = 1e-4;
    /// The largest length of a shape, in metres.
    pub const LARGEST: f32 = 1e5;

    pub fn sphere(radius: f32) -> Result<Shape, ShapeError> {
        Shape::Sphere { radius }.checked()
    }

    /// A box, by half of its sides.
    pub fn cuboid(half: Vec3) -> Result<Shape, ShapeError> {
        Shape::Box { half }.checked()
    }

    /// Along the y axis. Without height it is a sphere.
    pub fn capsule(half_height: f32, radius: f32) -> Result<Shape, ShapeError> {
        Shape::Capsule { half_height, radius }.checked()
    }

    pub fn hull(points: &[Vec3]) -> Result<Shape, ShapeError> {
        Ok(Shape::Hull(Arc::new(Hull::new(points)?)))
    }

    pub fn mesh(mesh: crate::mesh::TriangleMesh) -> Shape {
        Shape::Mesh(Arc::new(Mesh::new(mesh)))
    }

    /// The surface of `mesh` with a sphere-tree around it, for queries below the highest precision.
    pub fn mesh_in(mesh: crate::mesh::TriangleMesh, tree: Arc<BallTree>) -> Shape {
        Shape::Mesh(Arc::new(Mesh::new(mesh).with_tree(tree)))
    }

    /// The balls of a tree in which walks down to `level` end.
    pub fn balls(tree: Arc<BallTree>, level: u8) -> Result<Shape, ShapeError> {
        Ok(Shape::Balls(Arc::new(Balls::new(tree, level)?)))
    }

    /// Whether the shape's numbers are allowed; those of hulls, meshes and balls always are.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Shape::Sphere { radius } => check_length("radius", *radius),
            Shape::Box { half } => half.to_array().into_iter().try_for_each(|side| check_length("half", side)),
            Shape::Capsule { half_height, radius } => {
                if *half_height != 0.0 {
                    check_length("half_height", *half_height)?;
                }
                check_length("radius", *radius)
            }
            Shape::Hull(_) | Shape::Mesh(_) | Shape::Balls(_) => Ok(()),
        }
    }

    /// A bounding sphere in the shape's own coordinates, rounded outward.
    pub fn bounding_sphere(&self) -> Sphere {
        match self {
            Shape::Sphere { radius } => Sphere::new(Vec3::ZERO, *radius),
            Shape::Box { half } => Sphere::new(Vec3::ZERO, round_up(half.as_dvec3().length())),
            Shape::Capsule { half_height, radius } => {
                Sphere::new(Vec3::ZERO, round_up(*half_height as f64 + *radius as f64))
            }
            Shape::Hull(hull) => hull.sphere,
            Shape::Mesh(mesh) => mesh.sphere,
            Shape::Balls(balls) => balls.sphere,
        }
    }

    /// The axis-aligned bounding box in the shape's own coordinates, rounded outward.
    pub fn bounds(&self) -> Bounds {
        match self {
            Shape::Sphere { radius } => Bounds::around(Vec3::splat(*radius)),
            Shape::Box { half } => Bounds::around(*half),
            Shape::Capsule { half_height, radius } => {
                Bounds::around(Vec3::new(*radius, round_up(*half_height as f64 + *radius as f64), *radius))
            }
            Shape::Hull(hull) => hull.bounds,
            Shape::Mesh(mesh) => mesh.bounds,
            Shape::Balls(balls) => balls.bounds,
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Shape::Sphere { .. } => "sphere",
            Shape::Box { .. } => "box",
            Shape::Capsule { .. } => "capsule",
            Shape::Hull(_) => "hull",
            Shape::Mesh(_) => "mesh",
            Shape::Balls(_) => "balls",
        }
    }

    fn checked(self) -> Result<Shape, ShapeError> {
        self.check().map(|()| self)
    }
}

impl Bounds {
    fn around(half: Vec3) -> Bounds {
        Bounds { min: -half, max: half }
    }

    /// The smallest box around `points`; at the origin when there are none.
    pub(crate) fn of(points: &[Vec3]) -> Bounds {
        let Some(&first) = points.first() else {
            return Bounds::around(Vec3::ZERO);
        };
        let (mut min, mut max) = (first, first);
        for &point in points {
            min = min.min(point);
            max = max.max(point);
        }
        Bounds { min, max }
    }

    pub fn center(&self) -> Vec3 {
        (self.min.as_dvec3() * 0.5 + self.max.as_dvec3() * 0.5).as_vec3()
    }
}

/// A bounding sphere by Ritter's method, from the centre of the points' box; or around that centre, if this is smaller.
pub(crate) fn sphere_around(points: &[Vec3]) -> Sphere {
    let mut center = Bounds::of(points).center().as_dvec3();
    let mut radius: f64 = 0.0;
    let far =
        |center: DVec3| points.iter().map(|point| point.as_dvec3().distance_squared(center)).fold(0.0, f64::max).sqrt();
    // Begin with half that radius and grow for each point outside; keep the smaller sphere.
    let plain = (center, far(center));
    for point in points {
        let point = point.as_dvec3();
        let distance = point.distance(center);
        if distance > radius {
            if radius == 0.0 {
                radius = plain.1 * 0.5;
            }
            if distance > radius {
                let grown = (radius + distance) * 0.5;
                center += (point - center) * ((grown - radius) / distance);
                radius = grown;
            }
        }
    }
    let center = if far(center) < plain.1 { center } else { plain.0 }.as_vec3();
    Sphere::new(center, round_up(far(center.as_dvec3())))
}

/// The least `f32` that is not below `value`.
pub(crate) fn round_up(value: f64) -> f32 {
    let rounded = value as f32;
    if (rounded as f64) < value { rounded.next_up() } else { rounded }
}

/// The greatest `f32` that is not above `value`.
pub(crate) fn round_down(value: f64) -> f32 {
    -round_up(-value)
}

fn check_length(field: &'static str, value: f32) -> Result<(), ShapeError> {
    if (Shape::SMALLEST..=Shape::LARGEST).contains(&value) {
        Ok(())
    } else {
        Err(ShapeError::OutOfRange { field, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_shape_is_refused_by_name() {
        assert_eq!(Shape::sphere(-2.0).unwrap_err().to_string(), "`radius` is -2, expected 0.0001 to 100000 metres");
        assert!(Shape::cuboid(Vec3::new(1.0, f32::NAN, 1.0)).is_err());
        assert!(Shape::capsule(f32::INFINITY, 1.0).is_err());
        assert!(Shape::capsule(0.0, 1.0).is_ok());
        assert!(Shape::hull(&[Vec3::ZERO, Vec3::X, Vec3::Y]).is_err());
        assert!(Shape::hull(&[Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y]).is_err());
        assert!(Shape::hull(&[Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]).is_ok());
    }

    #[test]
    fn bounds_enclose() {
        let points = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 2.5, 3.0), Vec3::new(2.0, 9.0, 1.0), Vec3::ONE];
        let sphere = sphere_around(&points);
        for point in points {
            assert!(point.as_dvec3().distance(sphere.center.as_dvec3()) <= sphere.radius as f64);
        }
        assert_eq!(Bounds::of(&points), Bounds { min: Vec3::new(1.0, 1.0, 1.0), max: Vec3::new(4.0, 9.0, 3.0) });
        assert!(round_up(0.1) as f64 >= 0.1 && round_down(0.1) as f64 <= 0.1);
    }
}

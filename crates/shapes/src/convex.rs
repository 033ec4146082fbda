//! Convex cores: what all shapes are made of, before a radius is put around them.
//!
//! A sphere is a point with a radius, a capsule a segment with a radius; boxes, hulls and triangles of meshes have
//! none. Distances are computed between cores, then radii are subtracted.

use space::{DQuat, DVec3};

use super::closed::{self, ClosestPoints, OrientedBox};
use super::pose::WidePose;
use super::shape::Shape;
use super::solid::Hull;
use super::{parry, penetrate};
use space::Sphere;

/// A core in its own coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Core<'a> {
    /// A segment along y around a point; a point if `half` is zero.
    Bar {
        center: DVec3,
        half: f64,
    },
    Box {
        half: DVec3,
    },
    Hull(&'a Hull),
    Triangle([DVec3; 3]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded<'a> {
    pub core: Core<'a>,
    pub radius: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Convex<'a> {
    Bar([DVec3; 2]),
    Box(OrientedBox),
    Hull(PlacedHull<'a>),
    Triangle([DVec3; 3]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedHull<'a> {
    pub hull: &'a Hull,
    pub pose: WidePose,
}

/// The distance of two cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Separation {
    /// As far as the iteration got; zero when they touch.
    pub distance: f64,
    /// A proven lower bound.
    pub certain: f64,
    pub on_a: DVec3,
    pub on_b: DVec3,
    /// Unit vector from `a` to `b` along which they are apart by `certain`. Arbitrary when they touch.
    pub normal: DVec3,
}

impl<'a> Rounded<'a> {
    /// `None` for a mesh or balls.
    pub fn new(shape: &'a Shape) -> Option<Rounded<'a>> {
        let bar = |half: f32, radius: f32| {
            Some(Rounded { core: Core::Bar { center: DVec3::ZERO, half: half as f64 }, radius: radius as f64 })
        };
        match shape {
            Shape::Sphere { radius } => bar(0.0, *radius),
            Shape::Capsule { half_height, radius } => bar(*half_height, *radius),
            Shape::Box { half } => Some(Rounded { core: Core::Box { half: half.as_dvec3() }, radius: 0.0 }),
            Shape::Hull(hull) => Some(Rounded { core: Core::Hull(hull), radius: 0.0 }),
            Shape::Mesh(_) | Shape::Balls(_) => None,
        }
    }

    pub fn ball(sphere: Sphere) -> Rounded<'a> {
        Rounded { core: Core::Bar { center: sphere.center.as_dvec3(), half: 0.0 }, radius: sphere.radius as f64 }
    }
}

impl<'a> Core<'a> {
    pub fn place(&self, pose: &WidePose) -> Convex<'a> {
        let at = |point: DVec3| pose.position + pose.rotation * point;
        match *self {
            Core::Bar { center, half } => {
                let middle = at(center);
                if half == 0.0 {
                    return Convex::Bar([middle, middle]);
                }
                let along = pose.rotation * (DVec3::Y * half);
                Convex::Bar([middle - along, middle + along])
            }
            Core::Box { half } => Convex::Box(OrientedBox { center: pose.position, axes: pose.rotation.axes(), half }),
            Core::Hull(hull) => Convex::Hull(PlacedHull { hull, pose: *pose }),
            Core::Triangle(corners) => Convex::Triangle(corners.map(at)),
        }
    }

    /// The distance of its farthest point from the line through the origin along `axis`.
    pub fn reach_from(&self, axis: DVec3) -> f64 {
        let off = |point: DVec3| point.cross(axis).length();
        match self {
            &Core::Bar { center, half } => off(center + DVec3::Y * half).max(off(center - DVec3::Y * half)),
            Core::Box { half } => {
                let flip = |x: f64, y: f64| off(DVec3::new(half.x * x, half.y * y, half.z));
                flip(1.0, 1.0).max(flip(-1.0, 1.0)).max(flip(1.0, -1.0)).max(flip(-1.0, -1.0))
            }
            Core::Hull(hull) => hull.vertices().iter().map(|vertex| off(vertex.as_dvec3())).fold(0.0, f64::max),
            Core::Triangle(corners) => corners.iter().map(|&corner| off(corner)).fold(0.0, f64::max),
        }
    }

    /// A rough size, relative to which errors are measured.
    pub fn size(&self) -> f64 {
        match self {
            Core::Bar { half, .. } => *half,
            Core::Box { half } => half.length(),
            Core::Hull(hull) => hull.sphere.radius as f64,
            Core::Triangle([a, b, c]) => a.distance(*b).max(a.distance(*c)),
        }
    }

    /// Its box in its own coordinates: centre and half sides.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        match self {
            Core::Bar { center, half } => (*center, DVec3::Y * *half),
            Core::Box { half } => (DVec3::ZERO, *half),
            Core::Hull(hull) => {
                let bounds = hull.bounds;
                let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
                ((min + max) * 0.5, (max - min) * 0.5)
            }
            Core::Triangle([a, b, c]) => {
                let (min, max) = (a.min(*b).min(*c), a.max(*b).max(*c));
                ((min + max) * 0.5, (max - min) * 0.5)
            }
        }
    }

    /// A box around it in `pose`: centre and half sides.
    pub fn bounds_in(&self, pose: &WidePose) -> (DVec3, DVec3) {
        let (center, half) = self.bounds();
        (pose.position + pose.rotation * center, turned_half(pose.rotation, half))
    }
}

/// Half the sides of the axis-aligned box around a turned box.
pub(crate) fn turned_half(rotation: DQuat, half: DVec3) -> DVec3 {
    let [x, y, z] = rotation.axes();
    x.abs() * half.x + y.abs() * half.y + z.abs() * half.z
}

impl Convex<'_> {
    /// Its farthest point along `direction`: the support function.
    pub fn farthest(&self, direction: DVec3) -> DVec3 {
        let best = |points: &[DVec3]| {
            let mut best = points[0];
            for &point in &points[1..] {
                if point.dot(direction) > best.dot(direction) {
                    best = point;
                }
            }
            best
        };
        match self {
            Convex::Bar(ends) => best(ends),
            Convex::Triangle(corners) => best(corners),
            Convex::Box(block) => {
                let side = |axis: usize| block.axes[axis] * block.half[axis].copysign(block.axes[axis].dot(direction));
                block.center + side(0) + side(1) + side(2)
            }
            Convex::Hull(placed) => {
                let local = placed.pose.rotation.conjugate() * direction;
                let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
                for vertex in placed.hull.vertices() {
                    let vertex = vertex.as_dvec3();
                    let along = vertex.dot(local);
                    if along > best.0 {
                        best = (along, vertex);
                    }
                }
                placed.pose.position + placed.pose.rotation * best.1
            }
        }
    }

    pub fn center(&self) -> DVec3 {
        match self {
            Convex::Bar([p, q]) => (*p + *q) * 0.5,
            Convex::Box(block) => block.center,
            Convex::Triangle([a, b, c]) => (*a + *b + *c) / 3.0,
            Convex::Hull(placed) => placed.pose.position + placed.pose.rotation * placed.hull.sphere.center.as_dvec3(),
        }
    }
}

/// The distance of `b` beyond `a` along a unit vector: a lower bound of their distance.
pub(crate) fn apart_along(a: &Convex<'_>, b: &Convex<'_>, normal: DVec3) -> f64 {
    (b.farthest(-normal) - a.farthest(normal)).dot(normal)
}

/// Distance and closest points of two cores.
pub(crate) fn separation(a: &Convex<'_>, b: &Convex<'_>) -> Separation {
    let near = match (a, b) {
        (Convex::Hull(_), _) | (_, Convex::Hull(_)) => return parry::separation(a, b),
        (Convex::Bar(a), Convex::Bar(b)) => closed::segments(*a, *b),
        (Convex::Bar(a), Convex::Box(b)) => closed::segment_box(*a, b),
        (Convex::Box(a), Convex::Bar(b)) => closed::segment_box(*b, a).swapped(),
        (Convex::Bar(a), Convex::Triangle(b)) => closed::segment_triangle(*a, *b),
        (Convex::Triangle(a), Convex::Bar(b)) => closed::segment_triangle(*b, *a).swapped(),
        (Convex::Box(a), Convex::Box(b)) => closed::boxes(a, b),
        (Convex::Box(a), Convex::Triangle(b)) => closed::box_triangle(a, *b),
        (Convex::Triangle(a), Convex::Box(b)) => closed::box_triangle(b, *a).swapped(),
        (Convex::Triangle(a), Convex::Triangle(b)) => closed::triangles(*a, *b),
    };
    Separation::closed(near)
}

impl Separation {
    fn closed(near: ClosestPoints) -> Separation {
        let distance = near.squared.sqrt();
        let normal = (near.on_b - near.on_a).try_normalize().unwrap_or(DVec3::Y);
        // Coordinates are relative to the first shape, so 1e-13 of them exceeds all rounding.
        let scale = near.on_a.abs().max_element().max(near.on_b.abs().max_element());
        let certain = if near.squared == 0.0 { 0.0 } else { (distance - 1e-13 * scale).max(0.0) };
        Separation { distance, certain, on_a: near.on_a, on_b: near.on_b, normal }
    }

    pub fn swapped(self) -> Separation {
        Separation { on_a: self.on_b, on_b: self.on_a, normal: -self.normal, ..self }
    }
}

/// The shortest translation of `b` that separates two touching cores: depth and unit normal.
pub(crate) fn penetration(a: &Convex<'_>, b: &Convex<'_>) -> (f64, DVec3) {
    match (a, b) {
        (Convex::Hull(_), _) | (_, Convex::Hull(_)) => parry::penetration(a, b),
        _ => penetrate::least_way_out(a, b),
    }
}

//! Proximity queries about a pair of shapes (paper 002, section 1.6), one call each, at a level of precision.
//!
//! An invalid pose or shape has no answer. What is not known to be apart counts as touching: such shapes intersect,
//! their distance is zero and their first contact is at once.

use space::{DVec3, Vec3};

use super::advance;
use super::geometry::{ClosestParts, Geometry, around, nearest};
use super::pose::{Pose, RigidMotion, WidePose};
use super::shape::{Shape, round_down};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    BoundingSphere,
    /// Meshes with a sphere-tree are the balls of this level, or of their own where that is coarser; other shapes are
    /// exact, as closed forms cost no more than a ball. What is reported apart is apart; what is reported close is at
    /// most that far apart plus the errors of the balls.
    Level(u8),
    #[default]
    Exact,
}

/// A distance known to within an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approximate {
    /// In metres; zero when they touch.
    pub distance: f32,
    /// The true distance differs by no more than this, in metres.
    pub error: f32,
}

/// The shortest translation that ends an overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Of the second shape, in metres.
    pub depth: f32,
    /// Unit vector from the first shape to the second.
    pub normal: Vec3,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// In metres; zero when they touch or overlap.
    pub distance: f32,
    /// The point of the first shape, in the world. In an overlap, a point that is deep inside the second.
    pub on_a: Vec3,
    /// The point of the second shape, in the world.
    pub on_b: Vec3,
    /// Unit vector from the first to the second; in an overlap, the way out for the second.
    pub normal: Vec3,
    pub feature_a: Feature,
    pub feature_b: Feature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A shape without corners, or an unknown part.
    Surface,
    /// A corner of a box or hull. Corners of a box are numbered by the sum of 1 for +x, 2 for +y, 4 for +z.
    Vertex(u32),
    Edge(u32, u32),
    /// A face of a box (0 and 1 for -x and +x, 2 and 3 for y, 4 and 5 for z), or a triangle of a hull's surface.
    Face(u32),
    Triangle(u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// From 0 to 1; rounded down.
    pub time: f32,
    /// Unit vector from the first shape to the second.
    pub normal: Vec3,
    /// The point of the first shape that is then closest to the second, in the world.
    pub on_a: Vec3,
    /// The point of the second shape that is then closest to the first, in the world.
    pub on_b: Vec3,
}

struct Pair<'a> {
    a: Geometry<'a>,
    at: WidePose,
    b: Geometry<'a>,
    bt: WidePose,
}

impl<'a> Pair<'a> {
    /// `None` for an invalid pose or shape.
    fn new(a: &'a Shape, at: &Pose, b: &'a Shape, bt: &Pose, precision: Precision) -> Option<Pair<'a>> {
        let sensible = at.is_valid() && bt.is_valid() && a.check().is_ok() && b.check().is_ok();
        sensible.then(|| Pair {
            a: Geometry::new(a, precision),
            at: WidePose::from(at),
            b: Geometry::new(b, precision),
            bt: WidePose::from(bt),
        })
    }

    fn nearest(&self, within: f64, error: f64) -> Option<ClosestParts> {
        nearest(&self.a, &self.at, &self.b, &self.bt, within, error)
    }
}

/// Whether the shapes have a point in common; touching counts.
pub fn intersects(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, precision: Precision) -> bool {
    let Some(pair) = Pair::new(a, at, b, bt, precision) else {
        return true;
    };
    pair.nearest(0.0, f64::INFINITY).is_some_and(|found| found.gap() <= 0.0)
}

/// Whether the shapes are closer than `distance`. No shapes are closer than zero or less, even if they overlap.
pub fn closer_than(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, distance: f32, precision: Precision) -> bool {
    let Some(pair) = Pair::new(a, at, b, bt, precision) else {
        return true;
    };
    if distance.is_nan() {
        return true;
    }
    distance > 0.0 && pair.nearest(distance as f64, 0.0).is_some_and(|found| found.gap() < distance as f64)
}

/// The distance of the shapes; zero when they touch or overlap.
pub fn distance(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, precision: Precision) -> f32 {
    distance_within(a, at, b, bt, 0.0, precision).distance
}

/// The distance to within `error` metres, where that is less work; the result tells the error that was kept.
pub fn distance_within(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, error: f32, precision: Precision) -> Approximate {
    let Some(pair) = Pair::new(a, at, b, bt, precision) else {
        return Approximate { distance: 0.0, error: f32::INFINITY };
    };
    let error = if error.is_nan() { 0.0 } else { error.max(0.0) as f64 };
    // Bounding spheres give an interval for the distance; its middle may be good enough.
    if error > 0.0 {
        let (first, second) = (a.bounding_sphere(), b.bounding_sphere());
        let (near, far) = around(&pair.at, &pair.bt);
        let centers =
            (far.position + far.rotation * second.center.as_dvec3()).distance(near.rotation * first.center.as_dvec3());
        let radii = first.radius as f64 + second.radius as f64;
        if radii <= error && centers > radii {
            return Approximate { distance: centers as f32, error: round_up_error(radii, centers) };
        }
    }
    let Some(found) = pair.nearest(f64::INFINITY, error) else {
        return Approximate { distance: 0.0, error: f32::INFINITY };
    };
    let distance = found.gap().max(0.0);
    // Skipped triangles are nearer by `error` at most; iterations know their own bound.
    let inexact = found.separation.distance - found.separation.certain;
    let skipped = if found.part_a.is_some() || found.part_b.is_some() { error } else { 0.0 };
    Approximate { distance: distance as f32, error: round_up_error(inexact + skipped, distance) }
}

/// Includes the rounding of the distance itself.
fn round_up_error(error: f64, distance: f64) -> f32 {
    super::shape::round_up(error + distance * 6e-8)
}

/// The shortest translation of the second shape that ends an overlap, so that the shapes only touch. For a mesh it is
/// the way out of its deepest triangle.
pub fn penetration(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, precision: Precision) -> Option<Penetration> {
    let pair = Pair::new(a, at, b, bt, precision)?;
    let (first_at, second_at) = around(&pair.at, &pair.bt);
    let (depth, normal) = advance::deepest(&pair.a, &first_at, &pair.b, &second_at)?;
    Some(Penetration { depth: depth as f32, normal: normal.as_vec3() })
}

/// The closest points of the shapes, or their overlap. Invalid shapes or poses give the positions.
pub fn closest(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, precision: Precision) -> Closest {
    let nowhere = Closest {
        distance: 0.0,
        on_a: at.position,
        on_b: bt.position,
        normal: Vec3::Y,
        feature_a: Feature::Surface,
        feature_b: Feature::Surface,
    };
    let Some(pair) = Pair::new(a, at, b, bt, precision) else {
        return nowhere;
    };
    let Some(found) = pair.nearest(f64::INFINITY, 0.0) else {
        return nowhere;
    };
    let separation = &found.separation;
    let (first_at, second_at) = around(&pair.at, &pair.bt);
    let normal = if separation.distance > 0.0 {
        separation.normal
    } else {
        advance::deepest(&pair.a, &first_at, &pair.b, &second_at).map_or(DVec3::Y, |(_, normal)| normal)
    };
    let on_a = separation.on_a + normal * found.radius_a;
    let on_b = separation.on_b - normal * found.radius_b;
    let feature = |body: &Geometry<'_>, part: Option<u32>, pose: &WidePose, towards: DVec3| match (part, body) {
        (Some(triangle), _) => Feature::Triangle(triangle),
        (None, Geometry::Convex(rounded)) => rounded.core.feature(pose.rotation.conjugate() * towards),
        (None, Geometry::Mesh(_) | Geometry::Balls(_)) => Feature::Surface,
    };
    Closest {
        distance: found.gap().max(0.0) as f32,
        on_a: (pair.at.position + on_a).as_vec3(),
        on_b: (pair.at.position + on_b).as_vec3(),
        normal: normal.as_vec3(),
        feature_a: feature(&pair.a, found.part_a, &first_at, normal),
        feature_b: feature(&pair.b, found.part_b, &second_at, -normal),
    }
}

/// When moving shapes first come closer than `gap`: never later than they do, and as close to it as rounding allows.
///
/// Shapes that begin closer than `gap` are in contact at once if they approach. If they separate or keep their distance
/// they are not: otherwise a blocked object could never leave. Shapes that overlap are in contact at once.
pub fn first_contact(
    a: &Shape,
    a_motion: &RigidMotion,
    b: &Shape,
    b_motion: &RigidMotion,
    gap: f32,
    precision: Precision,
) -> Option<Contact> {
    let sensible = a_motion.is_valid() && b_motion.is_valid() && a.check().is_ok() && b.check().is_ok();
    if !sensible || gap.is_nan() {
        let (on_a, on_b) = (a_motion.from.position, b_motion.from.position);
        return Some(Contact { time: 0.0, normal: Vec3::Y, on_a, on_b });
    }
    let (a, b) = (Geometry::new(a, precision), Geometry::new(b, precision));
    let meeting = advance::first_contact(&a, a_motion, &b, b_motion, (gap as f64).max(0.0))?;
    Some(Contact {
        time: round_down(meeting.time).max(0.0),
        normal: meeting.normal.as_vec3(),
        on_a: meeting.on_a.as_vec3(),
        on_b: meeting.on_b.as_vec3(),
    })
}

//! What applications ask of a pair of shapes (paper 002, section 1.6), one call each, at a level of precision.
//!
//! A pose that is not valid, and a shape that is none, cannot be answered about. What is not known to be apart counts as
//! touching: then shapes intersect, their distance is zero and their first contact is at once.

use space::{DVec3, Vec3};

use super::advance;
use super::body::{Body, Nearest, around, nearest};
use super::pose::{Motion, Pose, WidePose};
use super::shape::{Shape, round_down};

/// How precisely shapes are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Their bounding spheres stand for them.
    BoundingSphere,
    /// For what has a sphere-tree, the balls of this level, or of its own where that is coarser; all else is exact, as
    /// closed forms cost no more than a ball. What is called apart is apart; what is called close is no farther than
    /// that plus the errors of the balls.
    Level(u8),
    /// Their faces, edges and corners.
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

/// The way out of an overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// How far the second shape must be moved, in metres.
    pub depth: f32,
    /// Which way: a unit vector, from the first shape to the second.
    pub normal: Vec3,
}

/// Where two shapes are closest.
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
    /// What `on_a` lies on.
    pub feature_a: Feature,
    /// What `on_b` lies on.
    pub feature_b: Feature,
}

/// A part of a shape's surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The whole shape, for one without corners; or not known.
    Surface,
    /// A corner of a box or hull. Corners of a box are numbered by their sides: 1 for +x, 2 for +y, 4 for +z, added.
    Vertex(u32),
    /// Between two corners.
    Edge(u32, u32),
    /// A face of a box (0 and 1 for -x and +x, 2 and 3 for y, 4 and 5 for z), or a triangle of a hull's surface.
    Face(u32),
    /// A triangle of a mesh.
    Triangle(u32),
}

/// The first contact of two motions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// From 0 to 1, as the motions go; rounded down.
    pub time: f32,
    /// Unit vector from the first shape to the second.
    pub normal: Vec3,
    /// The point of the first shape that is closest to the second then, in the world.
    pub on_a: Vec3,
    /// The point of the second shape that is closest to the first then, in the world.
    pub on_b: Vec3,
}

/// Two shapes in their places: what every question is about.
struct Pair<'a> {
    a: Body<'a>,
    at: WidePose,
    b: Body<'a>,
    bt: WidePose,
}

impl<'a> Pair<'a> {
    /// `None` when the question makes no sense.
    fn new(a: &'a Shape, at: &Pose, b: &'a Shape, bt: &Pose, precision: Precision) -> Option<Pair<'a>> {
        let sensible = at.is_valid() && bt.is_valid() && a.check().is_ok() && b.check().is_ok();
        sensible.then(|| Pair {
            a: Body::new(a, precision),
            at: WidePose::from(at),
            b: Body::new(b, precision),
            bt: WidePose::from(bt),
        })
    }

    fn nearest(&self, within: f64, error: f64) -> Option<Nearest> {
        nearest(&self.a, &self.at, &self.b, &self.bt, within, error)
    }
}

/// Whether the shapes have a point in common. Touching counts.
pub fn intersects(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, precision: Precision) -> bool {
    let Some(pair) = Pair::new(a, at, b, bt, precision) else {
        return true;
    };
    pair.nearest(0.0, f64::INFINITY).is_some_and(|found| found.gap() <= 0.0)
}

/// Whether the shapes are closer to each other than `distance`, which need not be positive: shapes that overlap are
/// closer than zero by none.
pub fn closer_than(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, distance: f32, precision: Precision) -> bool {
    let Some(pair) = Pair::new(a, at, b, bt, precision) else {
        return true;
    };
    if distance.is_nan() {
        return true;
    }
    distance > 0.0 && pair.nearest(distance as f64, 0.0).is_some_and(|found| found.gap() < distance as f64)
}

/// How far the shapes are apart; zero when they touch or overlap.
pub fn distance(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, precision: Precision) -> f32 {
    distance_within(a, at, b, bt, 0.0, precision).distance
}

/// How far the shapes are apart, to within `error` metres where that is less work; the answer says what it kept to.
pub fn distance_within(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, error: f32, precision: Precision) -> Approximate {
    let Some(pair) = Pair::new(a, at, b, bt, precision) else {
        return Approximate { distance: 0.0, error: f32::INFINITY };
    };
    let error = if error.is_nan() { 0.0 } else { error.max(0.0) as f64 };
    // The bounding spheres leave an interval for the distance; its middle may be good enough already.
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
    // A mesh's parts that were not looked at are nearer by `error` at most; iterations know how far they may be off.
    let inexact = found.separation.distance - found.separation.certain;
    let skipped = if found.part_a.is_some() || found.part_b.is_some() { error } else { 0.0 };
    Approximate { distance: distance as f32, error: round_up_error(inexact + skipped, distance) }
}

/// Rounded up, with the rounding of the distance itself.
fn round_up_error(error: f64, distance: f64) -> f32 {
    super::shape::round_up(error + distance * 6e-8)
}

/// The way out, for shapes that overlap: how far and which way the second must be moved so that they only touch.
///
/// For a mesh it is the way out of the triangle that is deepest inside the other shape.
pub fn penetration(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, precision: Precision) -> Option<Penetration> {
    let pair = Pair::new(a, at, b, bt, precision)?;
    let (first_at, second_at) = around(&pair.at, &pair.bt);
    let (depth, normal) = advance::deepest(&pair.a, &first_at, &pair.b, &second_at)?;
    Some(Penetration { depth: depth as f32, normal: normal.as_vec3() })
}

/// Where the shapes are closest, or how they overlap. Shapes that cannot be asked about are where they are.
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
    let feature = |body: &Body<'_>, part: Option<u32>, pose: &WidePose, towards: DVec3| match (part, body) {
        (Some(triangle), _) => Feature::Triangle(triangle),
        (None, Body::Convex(rounded)) => rounded.core.feature(pose.rotation.conjugate() * towards),
        (None, Body::Mesh(_) | Body::Balls(_)) => Feature::Surface,
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

/// When the shapes first come closer than `gap` while they move: never later than they do, and as close to it as the
/// rounding allows. `None` when they do not.
///
/// Shapes that begin closer than `gap` are in contact at once if they approach. Shapes that part, or keep their
/// distance, are not: else one that was blocked could never leave. Shapes that overlap are in contact at once.
pub fn first_contact(
    a: &Shape,
    a_motion: &Motion,
    b: &Shape,
    b_motion: &Motion,
    gap: f32,
    precision: Precision,
) -> Option<Contact> {
    let sensible = a_motion.is_valid() && b_motion.is_valid() && a.check().is_ok() && b.check().is_ok();
    if !sensible || gap.is_nan() {
        let (on_a, on_b) = (a_motion.from.position, b_motion.from.position);
        return Some(Contact { time: 0.0, normal: Vec3::Y, on_a, on_b });
    }
    let (a, b) = (Body::new(a, precision), Body::new(b, precision));
    let meeting = advance::first_meeting(&a, a_motion, &b, b_motion, (gap as f64).max(0.0))?;
    Some(Contact {
        time: round_down(meeting.time).max(0.0),
        normal: meeting.normal.as_vec3(),
        on_a: meeting.on_a.as_vec3(),
        on_b: meeting.on_b.as_vec3(),
    })
}

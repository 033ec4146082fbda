//! The queries of [`proximity`] at the highest precision.
//!
//! Among spheres, boxes, capsules and meshes, results are right to the rounding to `f32`. Where a hull takes part, the
//! distance comes from an iteration and is at most a thousandth too large; a result that rules out contact is proven.

use super::pose::{Pose, RigidMotion};
use super::proximity::{self, Approximate, Closest, Contact, Penetration, Precision};
use super::shape::Shape;

/// Whether the shapes have a point in common; touching counts.
pub fn intersects(a: &Shape, at: &Pose, b: &Shape, bt: &Pose) -> bool {
    proximity::intersects(a, at, b, bt, Precision::Exact)
}

/// Whether the shapes are closer than `distance`.
pub fn closer_than(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, distance: f32) -> bool {
    proximity::closer_than(a, at, b, bt, distance, Precision::Exact)
}

/// The distance of the shapes; zero when they touch or overlap.
pub fn distance(a: &Shape, at: &Pose, b: &Shape, bt: &Pose) -> f32 {
    proximity::distance(a, at, b, bt, Precision::Exact)
}

/// The distance to within `error` metres, where that is less work.
pub fn distance_within(a: &Shape, at: &Pose, b: &Shape, bt: &Pose, error: f32) -> Approximate {
    proximity::distance_within(a, at, b, bt, error, Precision::Exact)
}

/// The shortest way out of an overlap.
pub fn penetration(a: &Shape, at: &Pose, b: &Shape, bt: &Pose) -> Option<Penetration> {
    proximity::penetration(a, at, b, bt, Precision::Exact)
}

/// Where the shapes are closest, or how they overlap.
pub fn closest(a: &Shape, at: &Pose, b: &Shape, bt: &Pose) -> Closest {
    proximity::closest(a, at, b, bt, Precision::Exact)
}

/// When moving shapes first come closer than `gap`: never later than they do.
pub fn first_contact(
    a: &Shape,
    a_motion: &RigidMotion,
    b: &Shape,
    b_motion: &RigidMotion,
    gap: f32,
) -> Option<Contact> {
    proximity::first_contact(a, a_motion, b, b_motion, gap, Precision::Exact)
}

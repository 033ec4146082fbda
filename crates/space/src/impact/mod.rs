//! First times of contact: when two moving things meet, in `f64`.
//!
//! A broad phase says who is near; these functions say when they touch. They are pure, take relative motion where
//! two things move, and do the same operations in the same order everywhere: two hosts that ask the same question
//! get the same bits.
//!
//! - [`spheres`]: two spheres in uniform motion, in closed form.
//! - [`accelerated`]: two spheres in accelerated motion, by steps that cannot jump over a contact.
//! - [`face`] and [`boxes`]: a sphere against a flat face, and against an axis-aligned box with its rounded edges.
//! - [`rounded`]: upright spheres, capsules and boxes against each other, in uniform motion, in closed form.

pub mod accelerated;
pub mod boxes;
pub mod face;
pub mod rounded;
pub mod spheres;

pub use accelerated::{Advance, Impact, Probe};

use crate::DVec3;

/// Motion with constant acceleration, as seen from where it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ballistic {
    /// Position at time zero, in metres.
    pub pos: DVec3,
    /// Velocity at time zero, in metres per second.
    pub vel: DVec3,
    /// Acceleration, in metres per second squared.
    pub acc: DVec3,
}

impl Ballistic {
    pub fn position(&self, t: f64) -> DVec3 {
        self.pos + self.vel * t + self.acc * (0.5 * t * t)
    }

    pub fn velocity(&self, t: f64) -> DVec3 {
        self.vel + self.acc * t
    }
}

/// A touch: when, and the direction in which the surface pushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Seconds after the motion's start.
    pub time: f64,
    /// Unit vector from the surface towards the sphere's centre.
    pub normal: DVec3,
}

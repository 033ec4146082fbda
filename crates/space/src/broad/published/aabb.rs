//! A sphere's box, and why comparing boxes never loses a pair.
//!
//! Spheres overlap by a test in f32, and f32 rounds; boxes are made of sums that round as well. Still no pair is lost
//! and no margin is needed, because rounding never changes the order of two numbers (it may make them equal):
//! - The test sums squares, so that passing it means that on each axis the rounded distance is less than the rounded
//!   sum of the radii. Then the exact distance is less than the exact sum.
//! - Then, exactly, each one's low end is below the other's high end, and as f32 numbers it is at most equal.
//!
//! So box ends are compared with `<=`. A cell's number, too, may be computed with any rounding, if only a higher place
//! never has a lower number.

use crate::Sphere;

/// The box around a sphere, as intervals on three axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Aabb {
    pub low: [f32; 3],
    pub high: [f32; 3],
}

impl Aabb {
    #[inline]
    pub fn of(sphere: Sphere) -> Aabb {
        let center = sphere.center.to_array();
        Aabb { low: center.map(|place| place - sphere.radius), high: center.map(|place| place + sphere.radius) }
    }

    /// Whether the spheres within may overlap. A dead row's box overlaps nothing.
    #[inline]
    pub fn overlaps(&self, other: &Aabb) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use proptest::prelude::*;

    proptest! {
        /// Neighbours that just overlap, or just do not, at any size and distance from the origin.
        #[test]
        fn who_overlaps_has_boxes_that_overlap(
            place in -1e9f32..1e9, exponent in -60i32..30, radius in 0f32..1.0, other in 0f32..1.0, ulps in -4i32..4,
        ) {
            let scale = 2f32.powi(exponent);
            let (radius, other) = (radius * scale, other * scale);
            let there = place + (radius + other);
            let there = f32::from_bits(there.to_bits().wrapping_add_signed(ulps));
            let at = |x: f32, radius: f32| Sphere::new(Vec3::new(x, 0.0, 0.0), radius);
            let (one, two) = (at(place, radius), at(there, other));
            prop_assert!(!one.overlaps(two) || Aabb::of(one).overlaps(&Aabb::of(two)));
        }
    }
}

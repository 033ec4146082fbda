//! A sphere, and the one definition of overlap that every method must reproduce.

use crate::Vec3;

/// A ball in space: an object's bounds, or an aura.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    pub center: Vec3,
    /// How far it reaches, in metres; zero is a point.
    pub radius: f32,
}

impl Sphere {
    /// The sphere around `center`. Whether the numbers make sense is checked where it enters a world.
    pub const fn new(center: Vec3, radius: f32) -> Sphere {
        Sphere { center, radius }
    }

    /// Whether the two share more than a point of their surfaces: touching exactly does not count.
    ///
    /// The operations and their order are part of the definition, and there is no fused multiply-add: every broad
    /// phase, wide or plain, gives the same bit.
    pub fn overlaps(self, other: Sphere) -> bool {
        let dx = self.center.x - other.center.x;
        let dy = self.center.y - other.center.y;
        let dz = self.center.z - other.center.z;
        let reach = self.radius + other.radius;
        dx * dx + dy * dy + dz * dz < reach * reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_exactly_is_not_overlapping() {
        let a = Sphere::new(Vec3::ZERO, 1.0);
        assert!(!a.overlaps(Sphere::new(Vec3::new(2.0, 0.0, 0.0), 1.0)));
        assert!(a.overlaps(Sphere::new(Vec3::new(1.999_999_9, 0.0, 0.0), 1.0)));
        assert!(!Sphere::new(Vec3::ZERO, 0.0).overlaps(Sphere::new(Vec3::ZERO, 0.0)));
    }
}

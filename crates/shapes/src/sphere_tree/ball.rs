//! A ball in `f64`, of which builders make trees.

use space::DVec3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    pub center: DVec3,
    pub radius: f64,
}

impl Ball {
    pub fn new(center: DVec3, radius: f64) -> Ball {
        Ball { center, radius }
    }

    /// Whether the point is in the ball. Every proof of coverage uses this expression.
    pub fn contains(&self, point: DVec3) -> bool {
        self.center.distance_squared(point) <= self.radius * self.radius
    }

    /// Whether the triangle is in the ball, which is convex, so its corners decide.
    pub fn contains_all(&self, corners: &[DVec3; 3]) -> bool {
        corners.iter().all(|&corner| self.contains(corner))
    }

    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * self.radius.powi(3)
    }

    /// The ball with this centre and the least radius that [`contains`](Ball::contains) the points, however it rounds.
    pub fn around(center: DVec3, points: impl IntoIterator<Item = DVec3>) -> Ball {
        let squared = points.into_iter().map(|point| center.distance_squared(point)).fold(0.0, f64::max);
        let mut radius = squared.sqrt();
        while radius * radius < squared {
            radius = radius.next_up();
        }
        Ball { center, radius }
    }

    /// The ball, enlarged as far as needed to contain the points.
    #[must_use]
    pub fn grown_to(&self, points: impl IntoIterator<Item = DVec3>) -> Ball {
        let needed = Ball::around(self.center, points);
        Ball { center: self.center, radius: self.radius.max(needed.radius) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    #[test]
    fn no_rounding_leaves_a_point_outside() {
        let mut random = Random::new(7);
        for _ in 0..10_000 {
            let center = random.in_ball().as_dvec3() / 3.0;
            let points = [0, 1, 2].map(|_| random.in_ball().as_dvec3() * 1.1);
            assert!(Ball::around(center, points).contains_all(&points), "{center} {points:?}");
        }
    }
}

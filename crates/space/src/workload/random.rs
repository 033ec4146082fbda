//! Seeded numbers for workloads, without a transcendental function of the platform: the same on every machine.

use crate::Vec3;
use oorandom::Rand32;

/// A seeded source of places, directions and sizes.
#[derive(Clone, Debug)]
pub struct Random(Rand32);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Rand32::new(seed))
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f32 {
        self.0.rand_float()
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// A whole number of `low..high`, or `low` when there is none.
    pub fn whole(&mut self, low: u32, high: u32) -> u32 {
        if low < high { self.0.rand_range(low..high) } else { low }
    }

    /// A point of the cube from 0 to `side`.
    pub fn point(&mut self, side: f32) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * side
    }

    /// A point of the unit ball.
    pub fn in_ball(&mut self) -> Vec3 {
        loop {
            let point = self.point(2.0) - Vec3::ONE;
            if point.length_squared() <= 1.0 {
                return point;
            }
        }
    }

    /// A vector of length one, every direction being equally likely.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let point = self.in_ball();
            if point.length_squared() > 1e-4 {
                return point.normalize();
            }
        }
    }

    /// A number between 1 and `ratio` whose logarithm is uniform.
    pub fn log_uniform(&mut self, ratio: f32) -> f32 {
        // ratio^u, bit by bit of u: square roots are exact to the last bit everywhere, powers are not.
        let mut bits = self.0.rand_u32() >> 8;
        let (mut value, mut root) = (1.0, f64::from(ratio));
        for _ in 0..24 {
            root = root.sqrt();
            if bits & (1 << 23) != 0 {
                value *= root;
            }
            bits <<= 1;
        }
        value as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_log_uniform() {
        let mut random = Random::new(1);
        let sizes: Vec<f32> = (0..10_000).map(|_| random.log_uniform(100.0)).collect();
        assert!(sizes.iter().all(|size| (1.0..=100.0).contains(size)));
        let small = sizes.iter().filter(|&&size| size < 10.0).count();
        assert!((4_800..5_200).contains(&small), "{small} of 10000 are below the geometric middle");
    }

    #[test]
    fn directions_have_length_one_and_no_favourite() {
        let mut random = Random::new(2);
        let mut sum = Vec3::ZERO;
        for _ in 0..10_000 {
            let direction = random.direction();
            assert!((direction.length() - 1.0).abs() < 1e-6);
            sum += direction;
        }
        assert!(sum.length() < 300.0, "{sum}");
    }
}

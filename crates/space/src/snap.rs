//! The grid that settled poses lie on: what is true is exactly what is sent.
//!
//! A world settles positions and rotations to values that a few whole numbers name, so that a receiver who is sent the
//! numbers has the truth, not something near it. Positions are multiples of [`STEP`], a power of two: within
//! [`Grid::REACH`] each of them, and the difference of any two, is a number that `f32` holds exactly. Rotations are
//! [`Turn`]s of 47 bits.

use crate::{DQuat, Quat, Vec3};

/// The distance of neighbouring grid points along an axis, in metres: a little less than a millimetre.
pub const STEP: f32 = 1.0 / STEPS_PER_METRE as f32;
pub const STEPS_PER_METRE: i32 = 1024;

/// A position on the grid, counted in steps from the world's zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GridPoint {
    pub x: i32,
    pub y: i32,
    pub z: i32,
}

impl GridPoint {
    pub const fn new(x: i32, y: i32, z: i32) -> GridPoint {
        GridPoint { x, y, z }
    }

    /// The grid point nearest to a position, or `None` where the position is not finite or beyond [`Grid::REACH`].
    pub fn nearest(position: Vec3) -> Option<GridPoint> {
        let limit = Grid::REACH as f32;
        // NaN is in no range.
        let is_within = |value: f32| (-limit..=limit).contains(&value);
        if !(is_within(position.x) && is_within(position.y) && is_within(position.z)) {
            return None;
        }
        // A product by a power of two is exact; so is the conversion, within reach.
        let steps = |value: f32| (f64::from(value) * f64::from(STEPS_PER_METRE)).round() as i32;
        Some(GridPoint::new(steps(position.x), steps(position.y), steps(position.z)))
    }

    /// Where it is, in metres: exactly, for points within [`Grid::REACH`].
    pub fn position(self) -> Vec3 {
        Vec3::new(self.x as f32 * STEP, self.y as f32 * STEP, self.z as f32 * STEP)
    }
}

/// The part of the grid that a world uses: its bounds, on the grid, and how many bits name a point of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    low: GridPoint,
    high: GridPoint,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// A corner that is not a number, or too far out for positions to be exact.
    #[error("bounds reach to {0}, expected corners within {reach} m of the world's zero", reach = Grid::REACH)]
    TooFar(Vec3),
    /// A box turned inside out, or thinner than a step.
    #[error("bounds from {low} to {high} leave no room, expected each coordinate of the second to be greater")]
    Empty { low: Vec3, high: Vec3 },
}

impl Grid {
    /// How far from the world's zero a corner of its bounds may be, per axis, in metres.
    pub const REACH: i32 = 8192;

    /// The grid within two corners, each taken to its nearest grid point.
    pub fn over(low: Vec3, high: Vec3) -> Result<Grid, GridError> {
        let low_point = GridPoint::nearest(low).ok_or(GridError::TooFar(low))?;
        let high_point = GridPoint::nearest(high).ok_or(GridError::TooFar(high))?;
        if low_point.x >= high_point.x || low_point.y >= high_point.y || low_point.z >= high_point.z {
            return Err(GridError::Empty { low, high });
        }
        Ok(Grid { low: low_point, high: high_point })
    }

    /// The corner with the smallest coordinates: the origin that indices count from.
    pub fn low(&self) -> GridPoint {
        self.low
    }

    pub fn high(&self) -> GridPoint {
        self.high
    }

    /// Whether a point lies within the bounds, their faces included.
    pub fn contains(&self, point: GridPoint) -> bool {
        (self.low.x..=self.high.x).contains(&point.x)
            && (self.low.y..=self.high.y).contains(&point.y)
            && (self.low.z..=self.high.z).contains(&point.z)
    }

    /// How many bits an index takes, per axis: at most 24.
    pub fn bits(&self) -> [u32; 3] {
        let bits = |low: i32, high: i32| 32 - ((high - low) as u32).leading_zeros();
        [bits(self.low.x, self.high.x), bits(self.low.y, self.high.y), bits(self.low.z, self.high.z)]
    }

    /// The point as three whole numbers counted from [`low`](Grid::low), or `None` outside the bounds.
    pub fn index(&self, point: GridPoint) -> Option<[u32; 3]> {
        self.contains(point)
            .then(|| [(point.x - self.low.x) as u32, (point.y - self.low.y) as u32, (point.z - self.low.z) as u32])
    }

    /// The point that three numbers name, or `None` outside the bounds: the numbers may come from anybody.
    pub fn point(&self, index: [u32; 3]) -> Option<GridPoint> {
        let along = |low: i32, high: i32, steps: u32| (steps <= (high - low) as u32).then(|| low + steps as i32);
        Some(GridPoint::new(
            along(self.low.x, self.high.x, index[0])?,
            along(self.low.y, self.high.y, index[1])?,
            along(self.low.z, self.high.z, index[2])?,
        ))
    }
}

/// A rotation that 47 bits name exactly: the largest of a quaternion's four numbers is left out, the other three are
/// rounded to one of 32,767 levels each. No rotation is farther than 0.01 degrees from its nearest turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn(u64);

impl Turn {
    pub const IDENTITY: Turn = Turn::from_levels(3, [0, 0, 0]);
    pub const BITS: u32 = 47;
    /// Levels on either side of zero.
    const LEVELS: i32 = 16_383;

    /// The turn nearest to a rotation. What is no rotation (not finite, or of no length) gives the identity.
    pub fn nearest(rotation: Quat) -> Turn {
        let again = |turn: Turn| Turn::rounded(turn.quat().as_dquat());
        let mut turn = Turn::rounded(rotation.as_dquat());
        if again(turn) == turn {
            return turn;
        }
        // Where two numbers are about equally large, leaving out the other one rounds differently, and two or three
        // turns lead to each other in a circle. All of them are near; the one with the smallest bits is meant,
        // whichever of them one comes from.
        for _ in 0..4 {
            turn = again(turn);
        }
        let mut smallest = turn;
        for _ in 0..4 {
            turn = again(turn);
            smallest = smallest.min(turn);
        }
        smallest
    }

    /// A rotation about the axis that points up, in radians.
    pub fn upright(heading: f32) -> Turn {
        if heading.is_finite() { Turn::nearest(Quat::from_rotation_y(heading)) } else { Turn::IDENTITY }
    }

    /// The rotation, of length one up to rounding; the same on every machine.
    pub fn quat(self) -> Quat {
        let (largest, levels) = self.levels();
        let value = |level: i32| f64::from(level) / f64::from(Turn::LEVELS) * std::f64::consts::FRAC_1_SQRT_2;
        let [a, b, c] = levels.map(value);
        let rest = (1.0 - (a * a + b * b + c * c)).max(0.0).sqrt();
        let mut numbers = [a, b, c, 0.0];
        numbers.copy_within(largest..3, largest + 1);
        numbers[largest] = rest;
        Quat::from_array(numbers.map(|number| number as f32))
    }

    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The turn that bits name, or `None` for bits that no turn has: they may come from anybody.
    pub fn from_bits(bits: u64) -> Option<Turn> {
        if bits >> Turn::BITS != 0 {
            return None;
        }
        let turn = Turn(bits);
        let (_, levels) = turn.levels();
        let is_in_range = levels.iter().all(|level| level.abs() <= Turn::LEVELS);
        (is_in_range && Turn::nearest(turn.quat()) == turn).then_some(turn)
    }

    fn rounded(rotation: DQuat) -> Turn {
        let length = rotation.length();
        if !(length.is_finite() && length > 1e-9) {
            return Turn::IDENTITY;
        }
        let numbers = rotation.to_array().map(|number| number / length);
        let mut largest = 3;
        for index in 0..3 {
            if numbers[index].abs() > numbers[largest].abs() {
                largest = index;
            }
        }
        // A quaternion and its negative are the same rotation: the one whose largest number is positive is meant.
        let sign = 1f64.copysign(numbers[largest]);
        let mut rest = [0; 3];
        let mut at = 0;
        for (index, number) in numbers.into_iter().enumerate() {
            if index != largest {
                let level = number * sign / std::f64::consts::FRAC_1_SQRT_2 * f64::from(Turn::LEVELS);
                rest[at] = (level.round() as i32).clamp(-Turn::LEVELS, Turn::LEVELS);
                at += 1;
            }
        }
        Turn::from_levels(largest as u64, rest)
    }

    const fn from_levels(largest: u64, levels: [i32; 3]) -> Turn {
        let [a, b, c] = levels;
        Turn(largest << 45 | Turn::offset(a) << 30 | Turn::offset(b) << 15 | Turn::offset(c))
    }

    const fn offset(level: i32) -> u64 {
        (level + Turn::LEVELS) as u64
    }

    fn levels(self) -> (usize, [i32; 3]) {
        let level = |shift: u32| (self.0 >> shift & 0x7fff) as i32 - Turn::LEVELS;
        ((self.0 >> 45) as usize & 3, [level(30), level(15), level(0)])
    }
}

impl Default for Turn {
    fn default() -> Turn {
        Turn::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_identity_is_exact() {
        assert_eq!(Turn::IDENTITY.quat(), Quat::IDENTITY);
        assert_eq!(Turn::nearest(Quat::IDENTITY), Turn::IDENTITY);
        assert_eq!(Turn::nearest(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)), Turn::IDENTITY);
        assert_eq!(Turn::nearest(Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)), Turn::IDENTITY);
    }

    #[test]
    fn bounds_that_make_no_grid_are_refused() {
        assert!(matches!(Grid::over(Vec3::ZERO, Vec3::splat(9000.0)), Err(GridError::TooFar(_))));
        assert!(matches!(Grid::over(Vec3::NAN, Vec3::ONE), Err(GridError::TooFar(_))));
        assert!(matches!(Grid::over(Vec3::ONE, Vec3::ONE), Err(GridError::Empty { .. })));
        let grid = Grid::over(Vec3::splat(-32.0), Vec3::splat(32.0)).unwrap();
        assert_eq!(grid.bits(), [17; 3]);
        assert_eq!(grid.point([65_537, 0, 0]), None);
    }

    /// Equal numbers are where the largest could be either: the rotations there are tried one by one.
    #[test]
    fn turns_stay_themselves_where_numbers_tie() {
        for scale in [1.0f32, 0.9999, 0.99999, 1.00001, 1.0001] {
            for mask in 1u32..16 {
                for signs in 0u32..16 {
                    let number = |bit: u32| {
                        let size = if mask >> bit & 1 == 1 { 1.0 } else { 0.0 };
                        let size = if bit == 1 { size * scale } else { size };
                        if signs >> bit & 1 == 1 { -size } else { size }
                    };
                    let rotation = Quat::from_xyzw(number(0), number(1), number(2), number(3)).normalize();
                    let turn = Turn::nearest(rotation);
                    assert_eq!(Turn::nearest(turn.quat()), turn, "{rotation}");
                    assert_eq!(Turn::from_bits(turn.bits()), Some(turn), "{rotation}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn grid_points_are_exact_in_single_precision(x in -8_388_608i32..=8_388_608, y in -8_388_608i32..=8_388_608) {
            let (point, other) = (GridPoint::new(x, y, -x), GridPoint::new(y, x, -y));
            prop_assert_eq!(GridPoint::nearest(point.position()), Some(point));
            let difference = point.position() - other.position();
            prop_assert_eq!(f64::from(difference.x), f64::from(x - y) / 1024.0);
        }

        #[test]
        fn indices_name_points(low in -500f32..0.0, size in 1f32..500.0, at in prop::array::uniform3(any::<u32>())) {
            let grid = Grid::over(Vec3::splat(low), Vec3::splat(low + size)).unwrap();
            match grid.point(at) {
                Some(point) => prop_assert_eq!(grid.index(point), Some(at)),
                None => prop_assert!((0..3).any(|axis| at[axis] > (size * 1024.0) as u32)),
            }
            let inside = at.map(|number| number % (size * 1000.0) as u32);
            let point = grid.point(inside).unwrap();
            prop_assert_eq!(grid.index(point), Some(inside));
            for (steps, bits) in inside.into_iter().zip(grid.bits()) {
                prop_assert!(steps < 1 << bits);
            }
        }

        #[test]
        fn turns_are_near_and_stay_themselves(numbers in prop::array::uniform4(-1f32..1.0)) {
            let rotation = Quat::from_array(numbers);
            prop_assume!(rotation.length() > 0.01);
            let rotation = rotation.normalize();
            let turn = Turn::nearest(rotation);
            prop_assert_eq!(Turn::nearest(turn.quat()), turn);
            prop_assert_eq!(Turn::from_bits(turn.bits()), Some(turn));
            let (one, other) = (rotation.as_dquat(), turn.quat().as_dquat());
            let chord = (one - other).length().min((one + other).length());
            prop_assert!(4.0 * (0.5 * chord).asin() < 0.01f64.to_radians(), "{} {}", rotation, turn.quat());
        }

        #[test]
        fn any_bits_are_a_turn_or_refused(bits in any::<u64>()) {
            for bits in [bits, bits >> 17] {
                if let Some(turn) = Turn::from_bits(bits) {
                    prop_assert_eq!(turn.bits(), bits);
                    prop_assert!((turn.quat().length() - 1.0).abs() < 1e-6);
                }
            }
        }
    }
}

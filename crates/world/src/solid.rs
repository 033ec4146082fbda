//! Upright solids on the grid, whose overlaps are tested exactly, in integers.
//!
//! A sphere, an upright capsule and an axis-aligned box are all a box (perhaps of no size) rounded by a radius (perhaps
//! zero). In grid steps all sizes and squared distances are integers, so that no test needs a tolerance.

use space::{DVec3, GridPoint};

/// The width of the skin, in grid steps: a body that an obstacle stops is within it.
pub const SKIN: i32 = 4;
/// The distance from a contact at which a motion ends, in steps. Rounding to the grid moves it by less than one.
pub(crate) const GAP: i32 = 3;
/// The least distance between two solids after a motion, in steps, unless they were closer before: half the skin.
pub(crate) const CLOSEST: i32 = SKIN / 2;

/// A rounded box around its centre, in grid steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RoundedBox {
    /// Half the edges of the box; zero for a sphere, `[0, h, 0]` for an upright capsule.
    pub core: [i32; 3],
    /// The radius of the rounding; zero for a box with sharp edges.
    pub radius: i32,
}

impl RoundedBox {
    /// Half the edges of the axis-aligned box around it.
    pub fn half_extents(self) -> [i32; 3] {
        self.core.map(|half| half + self.radius)
    }

    /// Whether two solids share more than their surfaces, exactly.
    pub fn overlaps(self, at: GridPoint, other: RoundedBox, other_at: GridPoint) -> bool {
        let joint = Joint::new(self, at, other, other_at);
        joint.is_overlap([0; 3])
    }

    /// Whether two solids are at least `gap` steps apart. It compares the squared distance of their boxes before
    /// rounding, which is an integer.
    pub fn is_apart(self, at: GridPoint, other: RoundedBox, other_at: GridPoint, gap: i32) -> bool {
        let joint = Joint::new(self, at, other, other_at);
        let reach = i64::from(joint.radius + gap);
        !joint.is_overlap([0; 3]) && joint.distance_squared([0; 3]) >= reach * reach
    }
}

/// The Minkowski sum of two solids: one of them is a point against the sum of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    /// From the centre of the other to that of this one.
    pub d: [i32; 3],
    pub core: [i32; 3],
    pub radius: i32,
}

impl Joint {
    pub fn new(solid: RoundedBox, at: GridPoint, other: RoundedBox, other_at: GridPoint) -> Joint {
        Joint {
            d: [at.x - other_at.x, at.y - other_at.y, at.z - other_at.z],
            core: [solid.core[0] + other.core[0], solid.core[1] + other.core[1], solid.core[2] + other.core[2]],
            radius: solid.radius + other.radius,
        }
    }

    /// From the box of the sum to the point, after a motion by `offset`: zero along the axes on which they meet.
    pub fn outside(&self, offset: [i32; 3]) -> [i64; 3] {
        let mut outside = [0; 3];
        for axis in 0..3 {
            let d = self.d[axis] + offset[axis];
            let beyond = i64::from(d.abs()) - i64::from(self.core[axis]);
            outside[axis] = if d < 0 { -beyond.max(0) } else { beyond.max(0) };
        }
        outside
    }

    pub fn distance_squared(&self, offset: [i32; 3]) -> i64 {
        let [x, y, z] = self.outside(offset);
        x * x + y * y + z * z
    }

    /// Whether a level motion by `v` steps, which ends at the rounded offset `to`, passes the other: it stays farther
    /// away than [`GAP`], and is not too close at the end. A yes is certain, a no is not.
    pub fn is_passed(&self, v: DVec3, to: [i32; 3]) -> bool {
        let reach = f64::from(self.radius + GAP);
        let [x, y, z] = self.d.map(f64::from);
        let half = self.core.map(f64::from);
        let is_beside = |from: f64, along: f64, half: f64| {
            let (low, high) = (from.min(from + along), from.max(from + along));
            low > half + reach || high < -half - reach
        };
        if is_beside(y, 0.0, half[1]) | is_beside(x, v.x, half[0]) | is_beside(z, v.z, half[2]) {
            // Rounding moves it by half a step, which is less than the gap.
            return true;
        }
        if half[0] != 0.0 || half[2] != 0.0 {
            return false;
        }
        // Seen from above, a point moves along a line past a circle, which is aside of it, behind it, or farther ahead
        // than the motion leads.
        let (square, within) = (v.x * v.x + v.z * v.z, reach * reach);
        let approach = x * v.x + z * v.z;
        let aside = x * v.z - z * v.x;
        let end = (x + v.x) * (x + v.x) + (z + v.z) * (z + v.z);
        let is_aside = aside * aside > square * within;
        let is_ahead = -approach > square && end > within * (1.0 + 1e-9);
        if x * x + z * z <= within || !(approach >= 0.0 || is_aside || is_ahead) {
            return false;
        }
        let closest = i64::from(self.radius + CLOSEST);
        self.distance_squared(to) >= (closest * closest).min(self.distance_squared([0; 3]))
    }

    pub fn is_overlap(&self, offset: [i32; 3]) -> bool {
        let reach = i64::from(self.radius);
        if reach > 0 {
            return self.distance_squared(offset) < reach * reach;
        }
        (0..3).all(|axis| (self.d[axis] + offset[axis]).abs() < self.core[axis])
    }
}

/// A box of grid points, corners included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GridBox {
    pub low: [i32; 3],
    pub high: [i32; 3],
}

impl GridBox {
    /// The box around a point, by half its edges.
    pub fn around(at: GridPoint, half: [i32; 3]) -> GridBox {
        GridBox {
            low: [at.x - half[0], at.y - half[1], at.z - half[2]],
            high: [at.x + half[0], at.y + half[1], at.z + half[2]],
        }
    }

    /// The box with `by` more steps on every side.
    #[must_use]
    pub fn grown(self, by: i32) -> GridBox {
        GridBox { low: self.low.map(|low| low.saturating_sub(by)), high: self.high.map(|high| high.saturating_add(by)) }
    }

    /// The longest motion of a body with the box `body` within this one, in steps.
    pub(crate) fn span(&self, body: &GridBox) -> f64 {
        let along = |axis: usize| {
            let (down, up) = (body.low[axis] - self.low[axis], self.high[axis] - body.high[axis]);
            f64::from(down.max(up).max(0))
        };
        (along(0) * along(0) + along(1) * along(1) + along(2) * along(2)).sqrt()
    }

    /// The most by which this box reaches beyond another one within it, in steps.
    pub(crate) fn excess(&self, inner: &GridBox) -> i32 {
        (0..3).map(|axis| (inner.low[axis] - self.low[axis]).max(self.high[axis] - inner.high[axis])).fold(0, i32::max)
    }

    /// The distance between two boxes along the axis where it is largest; at most zero if they meet.
    pub(crate) fn gap(&self, other: &GridBox) -> i32 {
        let along = |axis: usize| {
            let (above, below) = (self.low[axis] - other.high[axis], other.low[axis] - self.high[axis]);
            above.max(below)
        };
        along(0).max(along(1)).max(along(2))
    }

    /// Whether all of another box is in this one.
    pub fn contains(&self, other: &GridBox) -> bool {
        (0..3).all(|axis| self.low[axis] <= other.low[axis] && other.high[axis] <= self.high[axis])
    }

    /// Whether two boxes share a point; surfaces count.
    pub fn meets(&self, other: &GridBox) -> bool {
        (self.low[0] <= other.high[0])
            & (self.high[0] >= other.low[0])
            & (self.low[1] <= other.high[1])
            & (self.high[1] >= other.low[1])
            & (self.low[2] <= other.high[2])
            & (self.high[2] >= other.low[2])
    }

    /// Whether two boxes share more than their surfaces.
    pub fn overlaps(&self, other: &GridBox) -> bool {
        (0..3).all(|axis| self.low[axis] < other.high[axis] && self.high[axis] > other.low[axis])
    }

    /// The intersection of two boxes; `low` is beyond `high` if it is empty.
    #[must_use]
    pub fn within(&self, other: &GridBox) -> GridBox {
        GridBox {
            low: std::array::from_fn(|axis| self.low[axis].max(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].min(other.high[axis])),
        }
    }

    /// The smallest box around two.
    #[must_use]
    pub fn with(&self, other: &GridBox) -> GridBox {
        GridBox {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// The box with even corners around this one: its centre is on the grid.
    #[must_use]
    pub fn even(self) -> GridBox {
        GridBox { low: self.low.map(|low| low & !1), high: self.high.map(|high| high.saturating_add(high & 1)) }
    }

    /// This box less another one: at most six boxes, which share surfaces only.
    pub fn without(&self, other: &GridBox) -> Vec<GridBox> {
        if !self.overlaps(other) {
            return vec![*self];
        }
        let (mut rest, mut pieces) = (*self, Vec::new());
        for axis in 0..3 {
            if rest.low[axis] < other.low[axis] {
                let mut piece = rest;
                piece.high[axis] = other.low[axis];
                rest.low[axis] = other.low[axis];
                pieces.push(piece);
            }
            if rest.high[axis] > other.high[axis] {
                let mut piece = rest;
                piece.low[axis] = other.high[axis];
                rest.high[axis] = other.high[axis];
                pieces.push(piece);
            }
        }
        pieces
    }

    /// The box as a solid: exactly if its corners are even, else at most a step larger.
    pub fn as_solid(&self) -> (RoundedBox, GridPoint) {
        let GridBox { low, high } = self.even();
        let middle: [i32; 3] = std::array::from_fn(|axis| (low[axis] + high[axis]) / 2);
        let core: [i32; 3] = std::array::from_fn(|axis| (high[axis] - low[axis]) / 2);
        (RoundedBox { core, radius: 0 }, GridPoint::new(middle[0], middle[1], middle[2]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::impact::rounded;
    use space::workload::Random;

    const BALL: RoundedBox = RoundedBox { core: [0; 3], radius: 5 };
    const CRATE: RoundedBox = RoundedBox { core: [4, 4, 4], radius: 0 };
    const WALKER: RoundedBox = RoundedBox { core: [0, 6, 0], radius: 3 };

    #[test]
    fn a_motion_that_passes_another_solid_does_not_meet_it() {
        let (mut passed, mut met) = (0, 0);
        for seed in 0..200_000 {
            let mut random = Random::new(seed);
            let mut whole = |low: i32, high: i32| low + random.whole(0, (high - low) as u32) as i32;
            let wide = if whole(0, 4) == 0 { whole(0, 40) } else { 0 };
            let joint = Joint {
                d: [whole(-80, 80), whole(-80, 80), whole(-80, 80)],
                core: [wide, whole(0, 30), wide],
                radius: whole(1, 40),
            };
            let (x, z) = (f64::from(random.between(-60.0, 60.0)), f64::from(random.between(-60.0, 60.0)));
            // Some motions are along an axis, which chance alone would not give.
            let v = DVec3::new(if seed % 7 == 0 { 0.0 } else { x }, 0.0, if seed % 11 == 0 { 0.0 } else { z });
            if joint.is_overlap([0; 3]) {
                continue;
            }
            let to = [v.x.round() as i32, 0, v.z.round() as i32];
            let [start, half] = [joint.d, joint.core].map(|steps| DVec3::from_array(steps.map(f64::from)));
            let contact = rounded::contact(start, v, half, f64::from(joint.radius + GAP), 1.0);
            let closest = i64::from(joint.radius + CLOSEST);
            let floor = (closest * closest).min(joint.distance_squared([0; 3]));
            if joint.is_passed(v, to) {
                passed += 1;
                assert!(contact.is_none(), "seed {seed}: {joint:?} meets {v} at {contact:?}");
                assert!(joint.distance_squared(to) >= floor, "seed {seed}: {joint:?} is too close after {v}");
            } else if contact.is_some() {
                met += 1;
            }
        }
        assert!(passed > 50_000 && met > 5_000, "{passed} passed, {met} met");
    }

    #[test]
    fn touching_is_not_overlapping() {
        let at = GridPoint::new(0, 0, 0);
        assert!(!BALL.overlaps(at, BALL, GridPoint::new(6, 8, 0)));
        assert!(BALL.overlaps(at, BALL, GridPoint::new(6, 7, 0)));
        assert!(!CRATE.overlaps(at, CRATE, GridPoint::new(8, 0, 0)));
        assert!(CRATE.overlaps(at, CRATE, GridPoint::new(7, 7, 7)));
        assert!(!WALKER.overlaps(at, CRATE, GridPoint::new(7, 0, 0)));
        assert!(WALKER.overlaps(at, CRATE, GridPoint::new(6, 12, 0)));
        // Beside the corner, where a box around the walker would overlap.
        assert!(!WALKER.overlaps(at, CRATE, GridPoint::new(6, 12, 6)));
        assert!(BALL.is_apart(at, BALL, GridPoint::new(12, 0, 0), 2));
        assert!(!BALL.is_apart(at, BALL, GridPoint::new(12, 0, 0), 3));
    }
}

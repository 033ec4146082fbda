//! A ball among the cells of a layer: in which of them everybody overlaps it, and in which somebody may.
//!
//! An object is within its layer's reach of the place where it is entered, all of it and at any time. So a ball overlaps
//! nobody who is entered farther from it than that, and everybody who is entered at least as deep inside it. A line of cells
//! is cut into five: nobody, perhaps, everybody, perhaps, nobody.
//!
//! Invariant: rounding makes "perhaps" of both others, never the other way round.

use std::ops::RangeInclusive;

use crate::Vec3;

use super::lattice::{Layer, outward};
use super::tile::{Block, Cells};
use crate::Sphere;

/// A ball among the cells of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Ball<'a> {
    cells: &'a Cells,
    center: Vec3,
    /// Whoever overlaps the ball is entered within this distance of its centre.
    outer: f32,
    /// Whoever is entered within this distance overlaps it. Zero where that is nobody.
    inner: f32,
}

/// A line of cells through a ball, from the first to the last of each kind; `everybody` may be empty, and is within the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chord {
    pub perhaps: RangeInclusive<i32>,
    pub everybody: RangeInclusive<i32>,
}

/// What the arithmetic with distances can be off by, as a share of them, generously.
const ROUNDING: f32 = 1e-5;

impl Ball<'_> {
    /// A sphere among the cells of a layer.
    pub fn new(Sphere { center, radius }: Sphere, layer: &Layer) -> Ball<'_> {
        let farthest = center.abs() + radius + layer.reach;
        let outer = outward(radius + layer.reach, farthest);
        let inner = radius * (1.0 - ROUNDING) - outward(layer.reach, farthest);
        Ball { cells: &layer.cells, center, outer, inner: inner.max(0.0) }
    }

    /// All cells in which somebody may overlap it, and some more at the corners.
    pub fn block(&self) -> Block {
        self.cells.block(self.center - self.outer, self.center + self.outer)
    }

    /// The line of cells at `y` and `z`, unless nobody there overlaps it.
    #[inline]
    pub fn chord(&self, y: i32, z: i32) -> Option<Chord> {
        let (low, high) = self.cells.corners(Block { low: [0, y, z], high: [0, y, z] });
        let (low, high) = (low - self.center, high - self.center);
        let nearest = Vec3::ZERO.clamp(low, high);
        let farthest = low.abs().max(high.abs());
        let half2 = |radius: f32, off: Vec3| radius * radius - off.y * off.y - off.z * off.z;
        let outer = half2(self.outer, nearest);
        if outer < 0.0 {
            return None;
        }
        let (outer, inner) = (outer.sqrt(), half2(self.inner, farthest).max(0.0).sqrt());
        let cell = |x: f32| self.cells.cell(self.center.x + x);
        Some(Chord {
            perhaps: cell(-outer)..=cell(outer),
            everybody: cell(-inner).saturating_add(1)..=cell(inner).saturating_sub(1),
        })
    }
}

impl Chord {
    /// The part of it that is between two cells, both included: those before `everybody`, `everybody`, and those after.
    #[inline]
    pub fn within(&self, low: i32, high: i32) -> [RangeInclusive<i32>; 3] {
        let (first, last) = (low.max(*self.perhaps.start()), high.min(*self.perhaps.end()));
        let (from, to) = (first.max(*self.everybody.start()), last.min(*self.everybody.end()));
        if from > to {
            let none = last + 1..=last;
            return [first..=last, none.clone(), none];
        }
        [first..=from - 1, from..=to, to + 1..=last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::kinesphere::lattice::{Lattice, LayerPlan};
    use crate::workload::Random;

    /// Entered anywhere, and anywhere within reach of that: who is in a cell of everybody overlaps the ball, and who overlaps
    /// it is in a cell of everybody or of perhaps.
    #[test]
    fn everybody_and_perhaps_are_right() {
        let mut random = Random::new(3);
        let (mut certain, mut doubtful) = (0, 0);
        for round in 0..400 {
            let reach = random.log_uniform(30.0) * 0.1;
            let (edge, life) = (random.log_uniform(10.0), 8);
            let mut lattice = Lattice::default();
            lattice.add_layer(LayerPlan { least: reach, reach, edge, tile_bits: [3, 1, 1], life, plies: 1 });
            let layer = &lattice.layers[0];
            let far = [0.0, -40.0, 1e5][round % 3];
            let center = Vec3::splat(far) + random.in_ball() * 20.0;
            let sphere = Sphere::new(center, random.log_uniform(100.0) * 0.3);
            let ball = Ball::new(sphere, layer);
            for _ in 0..300 {
                let off = random.direction() * random.between(0.0, sphere.radius + 3.0 * reach);
                let [x, y, z] = layer.cells.cells(center + off);
                let chord = ball.chord(y, z);
                let is_in = |kind: fn(&Chord) -> &RangeInclusive<i32>| {
                    chord.as_ref().is_some_and(|chord| kind(chord).contains(&x))
                };
                let (everybody, perhaps) = (is_in(|chord| &chord.everybody), is_in(|chord| &chord.perhaps));
                let (nearest, farthest) = (off.length() - reach, off.length() + reach);
                let slack = (far.abs() + 100.0) * 2.0 * f32::EPSILON;
                assert!(!everybody || farthest < sphere.radius + slack, "round {round}: {off}");
                assert!(perhaps || nearest > sphere.radius - slack, "round {round}: {off}");
                assert!(perhaps || !everybody, "round {round}: {off}");
                (certain, doubtful) = (certain + usize::from(everybody), doubtful + usize::from(perhaps && !everybody));
            }
        }
        assert!(certain > 5_000 && doubtful > 5_000, "{certain} and {doubtful}");
    }

    #[test]
    fn a_line_is_cut_where_it_ends() {
        let chord = Chord { perhaps: -5..=5, everybody: -3..=2 };
        assert_eq!(chord.within(-9, 9), [-5..=-4, -3..=2, 3..=5]);
        let [before, everybody, after] = chord.within(-1, 9);
        assert!(before.is_empty() && (everybody, after) == (-1..=2, 3..=5));
        assert_eq!(chord.within(3, 4)[0], 3..=4);
        assert!(chord.within(3, 4)[1].is_empty() && chord.within(3, 4)[2].is_empty());
        assert!(chord.within(6, 9).iter().all(RangeInclusive::is_empty));
    }
}

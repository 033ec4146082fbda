//! The shortcut for walkers on level ground that slide along others, as in a crowd.
//!
//! Seen from above, upright capsules are circles. The outcome equals that of [`walk`](super::walk), bit for bit, as
//! `shortcuts_change_nothing` checks. A walker that may meet anything else takes the general path.

use shapes::Shape;
use space::DVec3;
use space::impact::rounded;

use super::Settler;
use super::stroll::Stride;
use super::sweep::{Other, Sweep, SweepHit};
use super::walk::{LIFT_TICKS, level};
use crate::objects::{Collider, EXACT, MOVABLE, SLIDING};
use crate::solid::{CLOSEST, GAP, Joint};

/// Capsules around a walker, by name: names break ties, rows never do.
#[derive(Debug, Default)]
pub(crate) struct Circles {
    near: Vec<Circle>,
    /// The number of sweeps in this tick.
    pub sweeps: u64,
}

/// A capsule beside a walker, seen from above.
#[derive(Clone, Copy, Debug)]
struct Circle {
    /// From its centre to the walker's, along x and z.
    d: [i32; 2],
    /// The sum of both radii.
    radius: i32,
    row: u32,
    name: u64,
    /// The least square distance that is allowed, in steps.
    floor: i64,
}

impl Settler<'_> {
    /// Moves a walker along others; returns false, and changes nothing, if it may meet anything but upright capsules.
    #[inline(never)]
    pub(super) fn weave(&mut self, row: u32, stride: Stride) -> bool {
        let index = row as usize;
        let body = &self.objects.body[index];
        let is_busy = self.tick < self.objects.drive[index].lift_until || self.scratch.narrow_budget.is_coarse(row);
        if is_busy || !body.is(SLIDING) || stride.v == DVec3::ZERO || !self.is_far_from_bounds(body) {
            return false;
        }
        self.scratch.circles.near.clear();
        for &other in self.scratch.neighbours.of(row) {
            let other_body = &self.objects.body[other as usize];
            if !other_body.block().meets(&body.reach) {
                continue;
            }
            match Circle::beside(body, other, other_body) {
                Some(circle) => self.scratch.circles.near.push(circle),
                None => return false,
            }
        }
        self.scratch.circles.near.sort_unstable_by_key(|circle| circle.name);
        let (to, hit) = self.scratch.circles.slide(self.shapes, [0; 3], stride.v, level);
        if let Some(hit) = hit
            && self.is_low(row, hit.other)
        {
            self.objects.drive[index].lift_until = self.tick + LIFT_TICKS;
        }
        self.take(row, Stride { to, ..stride }, hit);
        self.note(row, hit);
        true
    }

    /// Whether no motion of this tick reaches the bounds.
    fn is_far_from_bounds(&self, body: &Collider) -> bool {
        let (low, high, reach) = (self.grid.low(), self.grid.high(), &body.reach);
        let is_within = |axis: usize, low: i32, high: i32| {
            (reach.low[axis] >= low.saturating_add(GAP)) & (reach.high[axis] <= high.saturating_sub(GAP))
        };
        is_within(0, low.x, high.x) & is_within(2, low.z, high.z)
    }
}

impl Circle {
    /// The circle of an upright capsule on the same level; `None` for any other obstacle.
    #[inline]
    fn beside(body: &Collider, row: u32, other: &Collider) -> Option<Circle> {
        let Joint { d, core, radius } = Joint::new(body.solid, body.at, other.solid, other.at);
        let is_beside = core[0] == 0 && core[2] == 0 && d[1].abs() <= core[1] && !other.is(EXACT | MOVABLE);
        let mut circle = Circle { d: [d[0], d[2]], radius, row, name: other.name, floor: 0 };
        let closest = i64::from(radius + CLOSEST);
        circle.floor = (closest * closest).min(circle.distance_squared([0; 3]));
        (is_beside && circle.floor > 0).then_some(circle)
    }

    #[inline]
    fn distance_squared(&self, offset: [i32; 3]) -> i64 {
        let [x, z] = [self.d[0] + offset[0], self.d[1] + offset[2]].map(i64::from);
        x * x + z * z
    }
}

impl Sweep for Circles {
    #[inline]
    fn first(&mut self, _: &[Shape], from: [i32; 3], v: DVec3) -> Option<SweepHit> {
        self.sweeps += 1;
        let mut first: Option<SweepHit> = None;
        let mut until = 1.0;
        for circle in &self.near {
            let [x, z] = [circle.d[0] + from[0], circle.d[1] + from[2]].map(f64::from);
            let reach = f64::from(circle.radius + GAP);
            let passes_by = |one: f64, along: f64| one.min(one + along) > reach || one.max(one + along) < -reach;
            if passes_by(x, v.x) | passes_by(z, v.z) {
                continue;
            }
            if let Some(touch) = rounded::upright(DVec3::new(x, 0.0, z), v, 0.0, reach, until)
                && (touch.time < until || first.is_none() && touch.time <= until)
            {
                until = touch.time;
                first = Some(SweepHit { time: touch.time, normal: touch.normal, other: Other::Object(circle.row) });
            }
        }
        first
    }

    #[inline]
    fn violated(&self, _: &[Shape], offset: [i32; 3]) -> Option<usize> {
        self.near.iter().position(|circle| circle.distance_squared(offset) < circle.floor)
    }

    fn outside(&self, number: usize, offset: [i32; 3]) -> [i64; 3] {
        let d = self.near[number].d;
        [i64::from(d[0] + offset[0]), 0, i64::from(d[1] + offset[2])]
    }

    fn is_on_grid(&self, _: usize) -> bool {
        true
    }

    fn other(&self, number: usize) -> Other {
        Other::Object(self.near[number].row)
    }

    #[inline]
    fn within_bounds(&self, _: [i32; 3], to: [i32; 3]) -> [i32; 3] {
        to
    }
}

//! The shortcut for walkers on level ground that pass all others: most walkers in most ticks.
//!
//! The outcome equals that of [`walk`](super::walk), bit for bit, as `shortcuts_change_nothing` checks. A walker takes
//! the general path if a cheap test cannot show that nothing is in its way.

use space::{DVec3, GridPoint};

use super::sweep::{SweepHit, nearest};
use super::walk::kept_back;
use super::{Settler, limited};
use crate::objects::{AVATAR, Collider, Drive, EXACT, HOLDING};
use crate::solid::{GAP, Joint};

/// A motion on level ground: the wanted one, and where on the grid it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    pub v: DVec3,
    pub to: [i32; 3],
}

impl Settler<'_> {
    /// Moves a walker that passes all others; returns false, and changes nothing, if it may not pass one of them.
    #[inline(always)]
    pub(super) fn stroll(&mut self, row: u32, stride: Stride) -> bool {
        let body = &self.objects.body[row as usize];
        let passes = |&other: &u32| {
            let other = &self.objects.body[other as usize];
            !other.block().meets(&body.reach)
                || !other.is(EXACT)
                    && Joint::new(body.solid, body.at, other.solid, other.at).is_passed(stride.v, stride.to)
        };
        if !self.scratch.neighbours.of(row).iter().all(passes) {
            return false;
        }
        self.scratch.surroundings.sweeps += u64::from(stride.v != DVec3::ZERO);
        self.take(row, stride, None);
        true
    }

    /// The unhindered motion of a walker, if no fixed object can hinder it.
    #[inline]
    pub(super) fn stride(&mut self, row: u32) -> Option<Stride> {
        let index = row as usize;
        let (body, drive) = (&self.objects.body[index], &self.objects.drive[index]);
        let is_walker = body.flags & (AVATAR | HOLDING | EXACT) == AVATAR && drive.standing && !drive.jump;
        let (low, high, half) = (self.grid.low(), self.grid.high(), body.solid.half_extents());
        let is_on_ground = low.y + half[1] + GAP >= body.at.y;
        if !is_walker || !is_on_ground || self.spec.gravity == 0.0 {
            return None;
        }
        let v = self.level_wish(drive);
        let stride = Stride { v, to: [nearest(v.x), 0, nearest(v.z)] };
        let is_free = is_within(body, low, high, v) && !self.is_concerned(&body.reach);
        (is_free && self.is_clear_of_scenery(row)).then_some(stride)
    }

    /// A walker's wish and the remainder of earlier rounding, in steps.
    #[inline]
    pub(super) fn level_wish(&self, drive: &Drive) -> DVec3 {
        let wish = limited(drive.wish, self.spec.limits.speed) * self.steps_per_tick;
        DVec3::new(wish.x + f64::from(drive.rest[0]), 0.0, wish.z + f64::from(drive.rest[2]))
    }

    /// Moves a walker by a stride, which a contact may have cut short.
    #[inline(always)]
    pub(super) fn take(&mut self, row: u32, stride: Stride, hit: Option<SweepHit>) {
        let drive = &mut self.objects.drive[row as usize];
        drive.rest = kept_back(stride.v, stride.to, hit);
        drive.velocity[1] = 0.0;
        drive.awake = false;
        self.objects.set_on_object(row, false);
        self.objects.move_by(row, stride.to);
    }
}

/// Whether a level motion stays well within the bounds.
#[inline]
fn is_within(body: &Collider, low: GridPoint, high: GridPoint, v: DVec3) -> bool {
    let half = body.solid.half_extents();
    let is_within = |v: f64, at: i32, low: i32, high: i32, half: i32| {
        (f64::from((low + half - at + GAP).min(0)) <= v) & (v <= f64::from((high - half - at - GAP).max(0)))
    };
    is_within(v.x, body.at.x, low.x, high.x, half[0]) & is_within(v.z, body.at.z, low.z, high.z, half[2])
}

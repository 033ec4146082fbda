//! Walking along the ground, up and down steps; pushing, jumping, falling, flying.
//!
//! Steps are climbed as paper 002 describes for MDK2: a blocked path is lifted, followed, and lowered again.

use space::DVec3;

use super::sweep::{Other, Sweep, SweepHit};
use super::{Settler, limited};
use crate::objects::SLIDING;

/// The number of ticks for which a walker that met a low obstacle tries to step onto it.
pub(super) const LIFT_TICKS: u64 = 15;

impl Settler<'_> {
    pub(super) fn settle_avatar(&mut self, row: u32) {
        self.look_around(row);
        let drive = &self.objects.drive[row as usize];
        if self.spec.gravity == 0.0 {
            let wish = limited(drive.wish, self.spec.limits.speed) * self.steps_per_tick;
            self.fly(row, wish + DVec3::from_array(drive.rest.map(f64::from)));
        } else {
            self.walk(row, self.level_wish(drive));
        }
    }

    fn fly(&mut self, row: u32, v: DVec3) {
        let (to, hit) = self.along(row, v, |normal| normal);
        let drive = &mut self.objects.drive[row as usize];
        drive.rest = kept_back(v, to, hit);
        drive.awake = false;
        self.commit(row, to);
        self.note(row, hit);
    }

    fn walk(&mut self, row: u32, v: DVec3) {
        let (mut place, hit) = if v == DVec3::ZERO { ([0; 3], None) } else { self.along(row, v, level) };
        let mut drive = self.objects.drive[row as usize];
        drive.rest = kept_back(v, place, hit);
        // It does not climb while it jumps: the reach has room for one of them.
        if let Some(hit) = hit
            && drive.standing
            && !drive.jump
        {
            if self.tick < drive.lift_until {
                if let Some(stepped) = self.step_onto(v, place) {
                    place = stepped;
                    drive.lift_until = self.tick + LIFT_TICKS;
                }
            } else if self.is_low(row, hit.other) {
                drive.lift_until = self.tick + LIFT_TICKS;
            }
        }
        let mut carried = None;
        if drive.standing && drive.jump {
            drive.velocity[1] = self.spec.limits.jump_speed;
            drive.standing = false;
        } else if drive.standing {
            // Go down a step without falling, or confirm the ground.
            drive.velocity[1] = 0.0;
            if !self.scratch.surroundings.is_on_ground(place) {
                let down = DVec3::new(0.0, -self.step_height(), 0.0);
                let (lower, ground) = self.scratch.surroundings.advance(self.shapes, place, down);
                if ground.is_some_and(|ground| ground.normal.y > 0.3) {
                    place = lower;
                    carried = ground;
                } else {
                    drive.standing = false;
                }
            }
        }
        if !drive.standing {
            let fall = DVec3::new(0.0, f64::from(self.fall(&mut drive.velocity[1])), 0.0);
            let (to, blocked) = self.scratch.surroundings.slide(self.shapes, place, fall, |normal| normal);
            if let Some(blocked) = blocked {
                // Stopped from below, or wedged: in both cases something carries it.
                let is_down = fall.y < 0.0;
                if is_down && (blocked.normal.y > 0.3 || to == place) {
                    drive.standing = true;
                    carried = Some(blocked);
                    drive.velocity[1] = 0.0;
                } else if !is_down {
                    drive.velocity[1] = 0.0;
                }
            }
            place = to;
        }
        self.objects.set_on_object(row, matches!(carried, Some(SweepHit { other: Other::Object(_), .. })));
        drive.jump = false;
        // There is no event when a guest goes away from under it.
        let is_on_guest = matches!(carried, Some(SweepHit { other: Other::Beyond(_), .. }));
        drive.awake = !drive.standing || is_on_guest;
        self.objects.drive[row as usize] = drive;
        self.commit(row, place);
        self.note(row, hit);
    }

    /// Follows a path as the avatar's policy says, and pushes an object that is in the way.
    fn along(&mut self, row: u32, v: DVec3, normal_of: impl Fn(DVec3) -> DVec3) -> ([i32; 3], Option<SweepHit>) {
        let mut first = self.scratch.surroundings.first(self.shapes, [0; 3], v);
        if let Some(hit) = first
            && let Other::Object(other) = hit.other
        {
            let normal = level(hit.normal);
            let into = v.dot(normal) * (1.0 - hit.time);
            if normal.y == 0.0 && into < 0.0 && self.push(other, normal * into) {
                self.look_around(row);
                first = self.scratch.surroundings.first(self.shapes, [0; 3], v);
            }
        }
        if self.objects.body[row as usize].is(SLIDING) {
            self.scratch.surroundings.slide_from(self.shapes, [0; 3], v, first, normal_of)
        } else {
            self.scratch.surroundings.stop_at(self.shapes, [0; 3], v, first)
        }
    }

    /// Lifts the path, follows it, lowers it again; `None` if that leads no further than `reached`.
    fn step_onto(&mut self, v: DVec3, reached: [i32; 3]) -> Option<[i32; 3]> {
        let height = self.step_height();
        let (lifted, _) = self.scratch.surroundings.advance(self.shapes, [0; 3], DVec3::new(0.0, height, 0.0));
        if lifted[1] <= 0 {
            return None;
        }
        let (moved, _) = self.scratch.surroundings.slide(self.shapes, lifted, v, level);
        let down = DVec3::new(0.0, -f64::from(lifted[1]), 0.0);
        let (lowered, ground) = self.scratch.surroundings.advance(self.shapes, moved, down);
        let progress = |place: [i32; 3]| f64::from(place[0]) * v.x + f64::from(place[2]) * v.z;
        let is_further = progress(lowered) > progress(reached) + v.length();
        (is_further && ground.is_none_or(|ground| ground.normal.y > 0.3)).then_some(lowered)
    }

    /// Whether an obstacle may be low enough to step onto, by the box around it.
    pub(super) fn is_low(&self, row: u32, other: Other) -> bool {
        let body = &self.objects.body[row as usize];
        let feet = body.block().low[1];
        let top = match other {
            Other::Bounds | Other::Beyond(_) => return false,
            Other::Scenery(index) => {
                let other = &self.scenery.body[index as usize];
                if other.is(crate::objects::EXACT) {
                    return true;
                }
                other.block().high[1]
            }
            Other::Object(other) => self.objects.body[other as usize].block().high[1],
        };
        f64::from(top - feet) <= self.step_height()
    }

    fn step_height(&self) -> f64 {
        f64::from(self.spec.limits.step_height) * f64::from(space::snap::STEPS_PER_METRE)
    }

    /// Accelerates `speed` by gravity for a tick and returns the way of that tick, in steps.
    fn fall(&self, speed: &mut f32) -> f32 {
        let terminal = self.spec.limits.terminal_speed;
        *speed = (*speed - self.spec.gravity * self.tick_s).clamp(-terminal, terminal);
        *speed * self.steps_per_tick as f32
    }
}

/// A contact's normal for a walker, to which every obstacle is a wall.
pub(super) fn level(normal: DVec3) -> DVec3 {
    let level = DVec3::new(normal.x, 0.0, normal.z);
    if level.length_squared() < 1e-6 { normal } else { level.normalize() }
}

/// The remainder of rounding an unhindered motion, for the next tick; zero after a contact.
#[inline]
pub(super) fn kept_back(v: DVec3, to: [i32; 3], hit: Option<SweepHit>) -> [f32; 3] {
    if hit.is_some() {
        return [0.0; 3];
    }
    let rest = [v.x - f64::from(to[0]), v.y - f64::from(to[1]), v.z - f64::from(to[2])];
    rest.map(|steps| (steps as f32).clamp(-1.0, 1.0))
}

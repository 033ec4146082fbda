//! Settling: movers take their motions one after the other, in a fair order, each against the others as they are then.

mod narrow_budget;
mod order;
mod ride;
mod schedule;
mod stroll;
mod surroundings;
mod sweep;
mod walk;
mod weave;

pub(crate) use order::TurnOrder;
pub(crate) use ride::longest_arm;
pub(crate) use surroundings::CLOSEST_M;

use shapes::{Pose, RigidMotion, Shape, exact};
use space::bits::Bits;
use space::fetch_ahead;
use space::{DVec3, Grid, ObjectId, Quat, Turn, snap};

use crate::border::{Border, PlacedSolid};
use crate::neighbours::Neighbours;
use crate::objects::{AVATAR, Collider, EXACT, HELD, MOVABLE, Objects, ROUTED, SOLID};
use crate::outcome::{Met, Outcome};
use crate::propose::Proposals;
use crate::scenery::Scenery;
use crate::solid::{GridBox, Joint};
use crate::spec::{ContactPolicy, ObjectSpec, Route, Spec};
use narrow_budget::NarrowBudget;
use schedule::Schedule;
use surroundings::{ExactPair, Surroundings};
use sweep::{Other, Sweep, SweepHit};
use weave::Circles;

/// The share of its speed into a wall that a ball has after the bounce.
const RESTITUTION: f64 = 0.7;
/// The share of its speed along the ground that a ball keeps from tick to tick.
const ROLLING: f32 = 0.985;
/// An object slower than this is at rest, in metres per second.
const STILL: f32 = 0.05;

/// Memory that a tick needs and the next one uses again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub neighbours: Neighbours,
    pub schedule: Schedule,
    pub proposals: Proposals,
    /// The rows of the objects in `Outcome::moved`.
    pub moved: Vec<u32>,
    /// Whether no mover takes a shortcut.
    pub is_thorough: bool,
    narrow_budget: NarrowBudget,
    /// What the mover may meet, and the same for movers that meet upright capsules only.
    surroundings: Surroundings,
    circles: Circles,
    /// What a pushed object may meet.
    pushed: Surroundings,
    /// By row, whether the object was pushed in this tick.
    was_pushed: Vec<bool>,
    /// Rows of balls that were kicked, with the speed along the ground in metres per second.
    kicks: Vec<(u32, [f32; 2])>,
    /// Places in the list of movers of those that may meet another one, and their rows in the order of settling.
    crowded: Bits,
    order: Vec<u32>,
    /// Objects on the platform that moves, and those on top of them.
    riders: Vec<u32>,
    /// Boxes in which no motion has to do with the border.
    calm: Vec<GridBox>,
}

/// Settles one tick.
pub(crate) struct Settler<'a> {
    pub spec: &'a Spec,
    /// The duration of a tick in seconds, and one metre per second in steps per tick.
    pub tick_s: f32,
    pub steps_per_tick: f64,
    pub grid: Grid,
    pub shapes: &'a [Shape],
    pub scenery: &'a Scenery,
    pub objects: &'a mut Objects,
    /// The surroundings of this world, if it is a part of a larger one.
    pub border: Option<&'a Border>,
    pub tick: u64,
    pub outcome: &'a mut Outcome,
    pub scratch: &'a mut Scratch,
}

impl Settler<'_> {
    /// Settles every mover: first those that can meet no other, then the rest in this tick's order.
    pub fn settle_all(mut self) {
        let movers = std::mem::take(&mut self.scratch.proposals.movers);
        let mut crowded = std::mem::take(&mut self.scratch.crowded);
        let mut order = std::mem::take(&mut self.scratch.order);
        self.begin(&movers);
        self.settle_alone(&movers, &mut crowded);
        order.clear();
        TurnOrder::of_tick(self.tick, movers.len()).visit(&crowded, |index| order.push(movers[index]));
        self.settle_in_turn(&order);
        for (row, kick) in self.scratch.kicks.drain(..) {
            let drive = &mut self.objects.drive[row as usize];
            drive.velocity[0] += kick[0];
            drive.velocity[2] += kick[1];
            drive.awake = true;
        }
        let Scratch { surroundings, circles, pushed, .. } = &self.scratch;
        self.outcome.work.sweeps = surroundings.sweeps + circles.sweeps + pushed.sweeps;
        (self.scratch.proposals.movers, self.scratch.crowded, self.scratch.order) = (movers, crowded, order);
    }

    fn begin(&mut self, movers: &[u32]) {
        self.outcome.work.movers = movers.len() as u64;
        let Scratch { neighbours, narrow_budget, surroundings, circles, pushed, was_pushed, calm, .. } =
            &mut *self.scratch;
        was_pushed.clear();
        was_pushed.resize(self.objects.body.len(), false);
        (surroundings.sweeps, circles.sweeps, pushed.sweeps) = (0, 0, 0);
        *calm = self.border.map_or_else(Vec::new, Border::calm);
        let around = (self.shapes, self.scenery, &*self.objects, &*neighbours);
        narrow_budget.share_out(self.spec.limits.narrow_operations, self.tick, movers, around);
    }

    /// Settles one mover, or leaves it to a later tick.
    fn settle(&mut self, row: u32) {
        if self.border.is_some() && self.is_held(row) {
            return;
        }
        let is_settled = match self.stride(row) {
            Some(stride) => self.stroll(row, stride) || self.weave(row, stride),
            None => false,
        };
        if !is_settled {
            self.settle_with_care(row);
        }
    }

    #[inline(never)]
    fn settle_with_care(&mut self, row: u32) {
        if self.scratch.narrow_budget.is_coarse(row) {
            self.look_around(row);
            if self.scratch.surroundings.is_held() {
                self.outcome.work.put_off += 1;
                return;
            }
        }
        match self.objects.body[row as usize].flags & (AVATAR | MOVABLE | ROUTED) {
            AVATAR => self.settle_avatar(row),
            MOVABLE => self.settle_movable(row),
            ROUTED => self.settle_mover(row),
            other => unreachable!("an object is of one kind, not of {other:b}"),
        }
    }

    /// Settles the movers that can meet no other object. Their turn does not matter, so they come in the order of
    /// names, which mostly is that of memory. The places of all others in the list are put into `crowded`.
    fn settle_alone(&mut self, movers: &[u32], crowded: &mut Bits) {
        crowded.clear();
        crowded.grow(movers.len());
        for (index, &row) in movers.iter().enumerate() {
            let is_alone = |row: u32| self.scratch.neighbours.of(row).is_empty();
            if is_alone(row) && self.objects.held_by(row).is_none_or(is_alone) {
                self.settle(row);
            } else {
                crowded.insert(index);
            }
        }
    }

    /// Settles movers in this order, which jumps through memory. So it prefetches: a mover's own cache lines first,
    /// then, when its list of neighbours is there, theirs.
    fn settle_in_turn(&mut self, order: &[u32]) {
        const FAR: usize = 24;
        const NEAR: usize = 8;
        for (at, &row) in order.iter().enumerate() {
            if let Some(&far) = order.get(at + FAR) {
                fetch_ahead(&self.objects.body[far as usize]);
            }
            if let Some(&near) = order.get(at + NEAR) {
                fetch_ahead(&self.objects.drive[near as usize]);
                fetch_ahead(&self.objects.clear_until[near as usize]);
                for &other in self.scratch.neighbours.of(near) {
                    fetch_ahead(&self.objects.body[other as usize]);
                }
            }
            self.settle(row);
        }
    }

    /// Whether a motion within `reach` may cross the border or meet a guest.
    #[inline]
    fn is_concerned(&self, reach: &GridBox) -> bool {
        self.border
            .is_some_and(|border| !self.scratch.calm.iter().any(|calm| calm.contains(reach)) && border.concerns(reach))
    }

    /// Whether the border keeps an object, or the one that it holds, in its place.
    fn is_held(&self, row: u32) -> bool {
        let Some(border) = self.border else { return false };
        [Some(row), self.objects.held_by(row)].into_iter().flatten().any(|row| {
            let body = &self.objects.body[row as usize];
            let standing = PlacedSolid { object: self.objects.name(row), solid: body.solid, at: body.at };
            body.is(SOLID) && border.holds(&standing)
        })
    }

    /// Finds what a body, and the object that it holds, may meet.
    fn look_around(&mut self, row: u32) {
        let mut around = std::mem::take(&mut self.scratch.surroundings);
        around.clear();
        let holds = self.objects.held_by(row);
        self.look_around_part(&mut around, row, 0, holds);
        if let Some(held) = holds {
            self.look_around_part(&mut around, held, 1, Some(row));
        }
        around.arrange();
        self.scratch.surroundings = around;
    }

    fn look_around_part(&mut self, around: &mut Surroundings, row: u32, part: u8, except: Option<u32>) {
        let body = self.objects.body[row as usize];
        let (low, high, half) = (self.grid.low(), self.grid.high(), body.solid.half_extents());
        let at = [body.at.x, body.at.y, body.at.z];
        let to_low = [low.x + half[0] - at[0], low.y + half[1] - at[1], low.z + half[2] - at[2]];
        let to_high = [high.x - half[0] - at[0], high.y - half[1] - at[1], high.z - half[2] - at[2]];
        around.keep_within(to_low, to_high);
        if !body.is(SOLID) {
            return;
        }
        let Scratch { neighbours, schedule, narrow_budget, .. } = &mut *self.scratch;
        let is_coarse = narrow_budget.is_coarse(row);
        let work = &mut self.outcome.work;
        for &other in neighbours.of(row) {
            let other_body = &self.objects.body[other as usize];
            if Some(other) == except || !other_body.block().meets(&body.reach) {
                continue;
            }
            let joint = Joint::new(body.solid, body.at, other_body.solid, other_body.at);
            let key = (other_body.name, part);
            if (body.flags | other_body.flags) & EXACT == 0 {
                around.add(key, Other::Object(other), joint);
                continue;
            }
            let (mine, card) = (self.objects.card(row), self.objects.card(other));
            let (odometer, other_odometer) =
                (self.objects.drive[row as usize].odometer, self.objects.drive[other as usize].odometer);
            let (turn, other_turn) = (self.objects.turn[row as usize], self.objects.turn[other as usize]);
            let pair = ExactPair::new(mine.shape, body.at, turn, card.shape, other_body.at, other_turn);
            let names = (mine.id, card.id);
            if is_coarse {
                around.add_coarse(self.shapes, key, Other::Object(other), joint, pair, body.span(), work);
            } else if schedule.may_meet(self.shapes, names, &pair, odometer + other_odometer, body.span()) {
                around.add_exact(self.shapes, key, Other::Object(other), joint, pair, work);
            }
        }
        self.look_at_scenery(around, row, part);
        self.look_beyond(around, row, part);
    }

    /// Whether no fixed object can be met. Walls do not move: until the odometer shows that the body came as far as
    /// they were away, there is no need to look for them.
    #[inline]
    fn is_clear_of_scenery(&mut self, row: u32) -> bool {
        if self.scratch.is_thorough {
            return false;
        }
        let index = row as usize;
        let (body, odometer) = (&self.objects.body[index], self.objects.drive[index].odometer);
        let reached = odometer + i64::from(body.reach.excess(&body.block()));
        reached < self.objects.clear_until[index] || reached < self.look_for_scenery(index)
    }

    /// Measures anew up to which odometer reading a body is clear of fixed objects.
    #[inline(never)]
    fn look_for_scenery(&mut self, index: usize) -> i64 {
        let clearance = self.scenery.clearance(&self.objects.body[index].block());
        let until = self.objects.drive[index].odometer + i64::from(clearance);
        self.objects.clear_until[index] = until;
        until
    }

    fn look_at_scenery(&mut self, around: &mut Surroundings, row: u32, part: u8) {
        if self.is_clear_of_scenery(row) {
            return;
        }
        let body = self.objects.body[row as usize];
        let is_coarse = self.scratch.narrow_budget.is_coarse(row);
        let (objects, shapes, scenery) = (&*self.objects, self.shapes, self.scenery);
        let schedule = &mut self.scratch.schedule;
        let work = &mut self.outcome.work;
        scenery.near(&body.reach, |index| {
            let other: &Collider = &scenery.body[index as usize];
            if !other.is(SOLID) {
                return;
            }
            let joint = Joint::new(body.solid, body.at, other.solid, other.at);
            let id = scenery.id[index as usize];
            let key = (id.number(), part);
            if (body.flags | other.flags) & EXACT == 0 {
                around.add(key, Other::Scenery(index), joint);
                return;
            }
            let mine = objects.card(row);
            let (shape, turn) = (scenery.shape[index as usize], scenery.turn[index as usize]);
            let pair = ExactPair::new(mine.shape, body.at, objects.turn[row as usize], shape, other.at, turn);
            let odometer = objects.drive[row as usize].odometer;
            if is_coarse {
                around.add_coarse(shapes, key, Other::Scenery(index), joint, pair, body.span(), work);
            } else if schedule.may_meet(shapes, (mine.id, id), &pair, odometer, body.span()) {
                around.add_exact(shapes, key, Other::Scenery(index), joint, pair, work);
            }
        });
    }

    /// Adds guests, what stands in the object's rooms, and the walls around them. A solid that is not upright counts as
    /// the box around it.
    fn look_beyond(&self, around: &mut Surroundings, row: u32, part: u8) {
        let Some(border) = self.border else { return };
        let body = &self.objects.body[row as usize];
        let object = self.objects.name(row);
        let joint = |(solid, at)| Joint::new(body.solid, body.at, solid, at);
        for guest in border.guests.iter().filter(|guest| guest.meets(&body.reach)) {
            let id = guest.standing.object;
            for (number, obstacle) in guest.obstacles().enumerate() {
                around.add((id.number(), part + 2 * number as u8), Other::Beyond(id), joint(obstacle));
            }
        }
        for standing in border.standing_in_rooms(object).filter(|standing| standing.block().meets(&body.reach)) {
            let id = standing.object;
            around.add((id.number(), part), Other::Beyond(id), joint((standing.solid, standing.at)));
        }
        let mut number = u64::MAX;
        border.walls(object, &body.reach, |wall| {
            around.add((number, part), Other::Bounds, joint(wall.as_solid()));
            number -= 1;
        });
    }

    /// Moves a body, and the object that it holds, by an offset that was found free.
    fn commit(&mut self, row: u32, offset: [i32; 3]) {
        if offset == [0; 3] {
            return;
        }
        self.objects.move_by(row, offset);
        if let Some(held) = self.objects.held_by(row) {
            self.objects.move_by(held, offset);
        }
    }

    fn note(&mut self, row: u32, hit: Option<SweepHit>) {
        let Some(hit) = hit else { return };
        let mover = self.objects.name(row);
        self.outcome.contacts.push(Met { mover, other: self.name(hit.other) });
    }

    fn name(&self, other: Other) -> Option<ObjectId> {
        match other {
            Other::Bounds => None,
            Other::Scenery(index) => Some(self.scenery.id[index as usize]),
            Other::Object(row) => Some(self.objects.name(row)),
            Other::Beyond(object) => Some(object),
        }
    }

    /// A movable object falls, bounces, or comes to rest.
    fn settle_movable(&mut self, row: u32) {
        self.look_around(row);
        let policy = self.objects.card(row).policy;
        let (gravity, tick_s, terminal) = (self.spec.gravity, self.tick_s, self.spec.limits.terminal_speed);
        let mut drive = self.objects.drive[row as usize];
        drive.velocity[1] -= gravity * tick_s;
        let mut velocity = limited(drive.velocity, terminal);
        let v = velocity * self.steps_per_tick;
        let (to, hit) = match policy {
            ContactPolicy::Bounce => self.bounce(&mut velocity, v),
            ContactPolicy::Slide => {
                let (to, hit) = self.scratch.surroundings.slide(self.shapes, [0; 3], v, |normal| normal);
                if let Some(hit) = hit {
                    velocity -= hit.normal * velocity.dot(hit.normal).min(0.0);
                }
                (to, hit)
            }
            ContactPolicy::Block | ContactPolicy::PassThrough => {
                let (to, hit) = self.scratch.surroundings.advance(self.shapes, [0; 3], v);
                if hit.is_some() {
                    velocity = DVec3::ZERO;
                }
                (to, hit)
            }
        };
        let supported = hit.filter(|hit| hit.normal.y > 0.5);
        drive.standing = supported.is_some();
        self.objects.set_on_object(row, matches!(supported, Some(SweepHit { other: Other::Object(_), .. })));
        // There is no event when a guest goes away from under it.
        let is_on_guest = matches!(supported, Some(SweepHit { other: Other::Beyond(_), .. }));
        drive.velocity = velocity.as_vec3().to_array();
        if drive.standing {
            drive.velocity[0] *= ROLLING;
            drive.velocity[2] *= ROLLING;
        }
        let fall = gravity * tick_s;
        let speed_max = STILL.max(1.5 * fall * f32::from(drive.standing));
        let is_still = to == [0; 3] && drive.velocity.iter().all(|speed| speed.abs() < speed_max);
        // After a coarse test the support may not be there: then it does not come to rest.
        let is_coarse = self.scratch.narrow_budget.is_coarse(row);
        let is_at_rest = is_still && (drive.standing || gravity == 0.0) && !is_coarse;
        if is_at_rest {
            drive.velocity = [0.0; 3];
        }
        drive.awake = !is_at_rest || is_on_guest;
        self.objects.drive[row as usize] = drive;
        self.commit(row, to);
        if !is_at_rest {
            self.note(row, hit);
        }
    }

    /// Reflects a motion at each contact. `velocity` is in metres per second, `v` in steps.
    fn bounce(&mut self, velocity: &mut DVec3, v: DVec3) -> ([i32; 3], Option<SweepHit>) {
        let (mut place, mut rest, mut last) = ([0; 3], v, None);
        let slow = f64::from(self.spec.gravity * self.tick_s) * 2.0;
        for _ in 0..4 {
            let (to, hit) = self.scratch.surroundings.advance(self.shapes, place, rest);
            place = to;
            let Some(hit) = hit else { break };
            // A support matters more than a wall that it touched.
            last = match last {
                Some(SweepHit { normal, .. }) if normal.y > hit.normal.y => last,
                _ => Some(hit),
            };
            let into = velocity.dot(hit.normal);
            if into >= 0.0 {
                break;
            }
            // Gravity pulls a ball on the ground into it in every tick; that is no bounce.
            let kept = if -into <= slow { 0.0 } else { RESTITUTION };
            *velocity -= hit.normal * into * (1.0 + kept);
            rest *= 1.0 - hit.time;
            rest -= hit.normal * rest.dot(hit.normal) * (1.0 + kept);
            if rest.length_squared() < 0.25 {
                break;
            }
        }
        (place, last)
    }

    /// Turns a body on the spot as far as there is room; also returns whether that is all of the turn. Upright spheres
    /// and capsules are the same from all sides.
    fn spun(&mut self, row: u32, from: Turn, to: Turn) -> (Turn, bool) {
        let body = self.objects.body[row as usize];
        if !body.is(EXACT) || !body.is(SOLID) {
            return (to, true);
        }
        self.look_around(row);
        let position = body.at.position();
        let shape = &self.shapes[self.objects.card(row).shape as usize];
        let pose = |turn: Turn| Pose::new(position, turn.quat());
        let motion = RigidMotion::new(pose(from), pose(to));
        // Guests and walls were tested with the box around the body, which has room for every turn.
        let near = self.scratch.surroundings.near().iter().map(|near| near.other);
        let others: Vec<(u32, Pose)> = near.filter_map(|other| self.pose_of(other)).collect();
        // An object that stands on it or beside it is a gap away, and does not keep it from turning.
        let mut time = 1f32;
        for (other, at) in &others {
            if let Some(contact) =
                exact::first_contact(shape, &motion, &self.shapes[*other as usize], &RigidMotion::rest(*at), CLOSEST_M)
            {
                time = time.min(contact.time);
            }
        }
        let is_free = |turn: Turn| {
            others
                .iter()
                .all(|(other, at)| exact::distance(shape, &pose(turn), &self.shapes[*other as usize], at) >= CLOSEST_M)
        };
        if time >= 1.0 && is_free(to) {
            return (to, true);
        }
        for _ in 0..6 {
            let turn = Turn::nearest(motion.at(time).rotation);
            if is_free(turn) {
                return (turn, turn == to);
            }
            time *= 0.5;
        }
        (from, false)
    }

    /// The shape and the pose of an object of this world.
    fn pose_of(&self, other: Other) -> Option<(u32, Pose)> {
        let (body, shape, turn) = match other {
            Other::Bounds | Other::Beyond(_) => return None,
            Other::Scenery(index) => self.scenery.shaped(index as usize),
            Other::Object(row) => self.objects.shaped(row),
        };
        Some((shape, Pose::new(body.at.position(), turn.quat())))
    }

    /// Moves an object out of a mover's way, by at most `v` steps; returns whether it moved. An object is pushed once
    /// per tick and pushes no other.
    fn push(&mut self, pushed: u32, v: DVec3) -> bool {
        let body = &self.objects.body[pushed as usize];
        if !body.is(MOVABLE)
            || body.is(HELD)
            || self.is_held(pushed)
            || std::mem::replace(&mut self.scratch.was_pushed[pushed as usize], true)
        {
            return false;
        }
        let policy = self.objects.card(pushed).policy;
        self.objects.drive[pushed as usize].awake = true;
        if policy == ContactPolicy::Bounce {
            // A ball is kicked rather than shoved. It gets the speed after the tick, as its reach in this tick is
            // fixed.
            let kick = v / self.steps_per_tick * 1.3;
            self.scratch.kicks.push((pushed, [kick.x as f32, kick.z as f32]));
            return false;
        }
        self.scratch.swap_pushed();
        self.look_around(pushed);
        let (to, _) = self.scratch.surroundings.advance(self.shapes, [0; 3], v);
        self.scratch.swap_pushed();
        self.commit(pushed, to);
        to != [0; 3]
    }
}

impl Scratch {
    fn swap_pushed(&mut self) {
        std::mem::swap(&mut self.surroundings, &mut self.pushed);
    }
}

/// The motion of a routed object that is at `at`, in the tick after `phase`: the way in steps, its rotation, and
/// whether it is on its route then.
///
/// An object that was put down beside its route comes back at the speed of a walker, or of the route if that is faster:
/// the way back may be long, and a jump of one tick would surprise.
pub(crate) fn route_way(spec: &Spec, object: &ObjectSpec, route: &Route, phase: u64, at: DVec3) -> (DVec3, Quat, bool) {
    let (wanted, rotation) = route_pose(spec, object, route, phase + 1);
    let way = wanted - at;
    let walk = f64::from(spec.limits.speed) * f64::from(snap::STEPS_PER_METRE) / f64::from(spec.tick_rate);
    let length = way.length();
    if length <= walk {
        return (way, rotation, true);
    }
    // Places are rounded to the grid.
    let most = walk.max((wanted - route_pose(spec, object, route, phase).0).length() + 2.0);
    if length <= most { (way, rotation, true) } else { (way * (most / length), rotation, false) }
}

/// The place of a route at its clock `phase`, in steps, and the rotation.
fn route_pose(spec: &Spec, object: &ObjectSpec, route: &Route, phase: u64) -> (DVec3, Quat) {
    let seconds = phase as f64 / f64::from(spec.tick_rate);
    let (position, rotation) = route.pose(object.at, object.rotation, spec.gravity, seconds);
    (position * f64::from(snap::STEPS_PER_METRE), rotation)
}

#[inline]
fn limited(velocity: [f32; 3], most: f32) -> DVec3 {
    let velocity = DVec3::from_array(velocity.map(f64::from));
    // Well below the limit there is no need for a root.
    if velocity.length_squared() < 0.999 * f64::from(most) * f64::from(most) {
        return velocity;
    }
    let speed = velocity.length();
    if speed > f64::from(most) { velocity * (f64::from(most) / speed) } else { velocity }
}

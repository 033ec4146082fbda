//! Settling: everybody in turn, in an order that favours nobody, against the others as they stand at that moment.

mod attention;
mod motion;
mod order;
mod ride;
mod schedule;
mod stroll;
mod surroundings;
mod walk;
mod weave;

pub(crate) use attention::Attention;
pub(crate) use order::Order;
pub(crate) use ride::longest_arm;
pub(crate) use schedule::Schedule;
pub(crate) use surroundings::{CLOSEST_M, Surroundings};
pub(crate) use weave::Circles;

use shapes::{Pose, RigidMotion, Shape, exact};
use space::bits::Bits;
use space::fetch_ahead;
use space::{DVec3, Grid, ObjectId, Quat, Turn, snap};

use crate::border::{Border, PlacedSolid};
use crate::neighbours::Neighbours;
use crate::objects::{AVATAR, Collider, EXACT, HELD, MOVABLE, Objects, ROUTED, SOLID};
use crate::outcome::{Met, Outcome};
use crate::scenery::Scenery;
use crate::solid::{Block, Joint};
use crate::spec::{ObjectSpec, Policy, Route, Spec};
use motion::{Around, Hit, Other};
use surroundings::ExactPair;

/// The speed that a ball keeps of what it loses to a wall.
const RESTITUTION: f64 = 0.7;
/// The speed along the ground that a ball keeps from tick to tick.
const ROLLING: f32 = 0.985;
/// Slower than this is standing, in metres per second.
const STILL: f32 = 0.05;

/// Everything that settling looks at.
pub(crate) struct Settler<'a> {
    pub spec: &'a Spec,
    /// How long a tick is, in seconds, and how many steps per tick a metre per second is.
    pub tick_s: f32,
    pub steps_per_tick: f64,
    pub grid: Grid,
    pub shapes: &'a [Shape],
    pub scenery: &'a Scenery,
    pub objects: &'a mut Objects,
    pub neighbours: &'a Neighbours,
    pub schedule: &'a mut Schedule,
    /// Who is looked at coarsely in this tick.
    pub attention: &'a Attention,
    pub surroundings: &'a mut Surroundings,
    /// The same for those who only meet people.
    pub circles: &'a mut Circles,
    /// What a pushed object may meet.
    pub pushed: &'a mut Surroundings,
    /// Who has been pushed in this tick already.
    pub was_pushed: &'a mut [bool],
    /// Who has been kicked, and how fast: in metres per second, along the ground.
    pub kicks: &'a mut Vec<(u32, [f32; 2])>,
    /// Whether nobody takes a shortcut.
    pub is_thorough: bool,
    /// Who stands on the platform that moves, and who on them.
    pub riders: &'a mut Vec<u32>,
    /// Who may still be carried by a platform in this tick: its reach has room for that.
    pub may_ride: &'a mut [bool],
    /// What lies around this world, if it is a part of a larger one.
    pub border: Option<&'a Border>,
    /// Where nobody has to do with what lies around it.
    pub calm: Vec<Block>,
    pub tick: u64,
    pub outcome: &'a mut Outcome,
}

impl Settler<'_> {
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
        if self.attention.is_coarse(row) {
            self.look_around(row);
            if self.surroundings.is_held() {
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

    /// Settles whoever of the movers can meet nobody that moves: they need not wait for a turn, so they come in the order of
    /// names, which mostly is that of memory. The places of all others in the list are `crowded`.
    pub fn settle_alone(&mut self, movers: &[u32], crowded: &mut Bits) {
        crowded.clear();
        crowded.grow(movers.len());
        for (index, &row) in movers.iter().enumerate() {
            let is_alone = |row: u32| self.neighbours.of(row).is_empty();
            if is_alone(row) && self.objects.held_by(row).is_none_or(is_alone) {
                self.settle(row);
            } else {
                crowded.insert(index);
            }
        }
    }

    /// Settles everybody in this order. In a fair order they lie anywhere in memory, so what they need is fetched ahead: a
    /// mover's own lines first, then, when its list is there, those of its neighbours.
    pub fn settle_in_turn(&mut self, order: &[u32]) {
        const FAR: usize = 24;
        const NEAR: usize = 8;
        for (at, &row) in order.iter().enumerate() {
            if let Some(&far) = order.get(at + FAR) {
                let far = far as usize;
                fetch_ahead(&self.objects.body[far]);
                self.neighbours.fetch(far);
            }
            if let Some(&near) = order.get(at + NEAR) {
                fetch_ahead(&self.objects.drive[near as usize]);
                fetch_ahead(&self.objects.clear_until[near as usize]);
                for &other in self.neighbours.of(near) {
                    fetch_ahead(&self.objects.body[other as usize]);
                }
            }
            self.settle(row);
        }
    }

    /// Whether a motion within `reach` may have to do with others beyond the border, or with their objects here.
    #[inline]
    fn is_concerned(&self, reach: &Block) -> bool {
        self.border.is_some_and(|border| !self.calm.iter().any(|calm| calm.contains(reach)) && border.concerns(reach))
    }

    /// Whether the border keeps somebody, or what it holds, where it is.
    fn is_held(&self, row: u32) -> bool {
        let Some(border) = self.border else { return false };
        [Some(row), self.objects.held_by(row)].into_iter().flatten().any(|row| {
            let body = &self.objects.body[row as usize];
            let standing = PlacedSolid { object: self.objects.name(row), solid: body.solid, at: body.at };
            body.is(SOLID) && border.holds(&standing)
        })
    }

    /// Looks who may be met by a body and by what it holds.
    fn look_around(&mut self, row: u32) {
        let mut around = std::mem::take(self.surroundings);
        around.clear();
        let holds = self.objects.held_by(row);
        self.look_around_part(&mut around, row, 0, holds);
        if let Some(held) = holds {
            self.look_around_part(&mut around, held, 1, Some(row));
        }
        around.arrange();
        *self.surroundings = around;
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
        let reach = self.objects.body[row as usize].reach;
        let is_coarse = self.attention.is_coarse(row);
        let work = &mut self.outcome.work;
        for &other in self.neighbours.of(row) {
            let other_body = &self.objects.body[other as usize];
            if Some(other) == except || !other_body.block().meets(&reach) {
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
            } else if self.schedule.may_meet(self.shapes, names, &pair, odometer + other_odometer, body.span()) {
                around.add_exact(self.shapes, key, Other::Object(other), joint, pair, work);
            }
        }
        self.look_at_scenery(around, row, part);
        self.look_beyond(around, row, part);
    }

    /// Whether nothing that is fixed can be met. Walls do not come closer: who has come less far than they are away need not
    /// look for them.
    #[inline]
    fn is_clear_of_scenery(&mut self, row: u32) -> bool {
        if self.is_thorough {
            return false;
        }
        let index = row as usize;
        let (body, odometer) = (&self.objects.body[index], self.objects.drive[index].odometer);
        let reached = odometer + i64::from(body.reach.excess(&body.block()));
        reached < self.objects.clear_until[index] || reached < self.look_for_scenery(index)
    }

    /// Finds anew until when somebody is clear of everything fixed.
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
        let is_coarse = self.attention.is_coarse(row);
        let (objects, shapes, schedule, scenery) = (&*self.objects, self.shapes, &mut *self.schedule, self.scenery);
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

    /// Looks at what is kept for others, and at where this one has no room. What is not upright counts as the box around it.
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

    /// Puts a body, and what it holds, at an offset that was found free.
    fn commit(&mut self, row: u32, offset: [i32; 3]) {
        if offset == [0; 3] {
            return;
        }
        self.objects.move_by(row, offset);
        if let Some(held) = self.objects.held_by(row) {
            self.objects.move_by(held, offset);
        }
    }

    fn note(&mut self, row: u32, hit: Option<Hit>) {
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

    /// A shared object: it falls, it bounces or comes to rest.
    fn settle_movable(&mut self, row: u32) {
        self.look_around(row);
        let policy = self.objects.card(row).policy;
        let (gravity, tick_s, terminal) = (self.spec.gravity, self.tick_s, self.spec.limits.terminal_speed);
        let mut drive = self.objects.drive[row as usize];
        drive.velocity[1] -= gravity * tick_s;
        let mut velocity = limited(drive.velocity, terminal);
        let v = velocity * self.steps_per_tick;
        let (to, hit) = match policy {
            Policy::Bounce => self.bounce(&mut velocity, v),
            Policy::Slide => {
                let (to, hit) = self.surroundings.slide(self.shapes, [0; 3], v, |normal| normal);
                if let Some(hit) = hit {
                    velocity -= hit.normal * velocity.dot(hit.normal).min(0.0);
                }
                (to, hit)
            }
            Policy::Block | Policy::PassThrough => {
                let (to, hit) = self.surroundings.advance(self.shapes, [0; 3], v);
                if hit.is_some() {
                    velocity = DVec3::ZERO;
                }
                (to, hit)
            }
        };
        let supported = hit.filter(|hit| hit.normal.y > 0.5);
        drive.standing = supported.is_some();
        self.objects.set_on_object(row, matches!(supported, Some(Hit { other: Other::Object(_), .. })));
        // Nobody tells when what another node moves goes away from under it.
        let is_on_guest = matches!(supported, Some(Hit { other: Other::Beyond(_), .. }));
        drive.velocity = velocity.as_vec3().to_array();
        if drive.standing {
            drive.velocity[0] *= ROLLING;
            drive.velocity[2] *= ROLLING;
        }
        let fall = gravity * tick_s;
        let is_still =
            drive.velocity.iter().all(|speed| speed.abs() < STILL.max(1.5 * fall * f32::from(drive.standing)));
        // A body that something blocks from below and that did not get anywhere has come to rest.
        // What it was seen to rest on coarsely may not be there.
        let is_at_rest =
            to == [0; 3] && is_still && (drive.standing || gravity == 0.0) && !self.attention.is_coarse(row);
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

    /// Reflects a motion at whatever it meets. `velocity` is in metres per second, `v` in steps.
    fn bounce(&mut self, velocity: &mut DVec3, v: DVec3) -> ([i32; 3], Option<Hit>) {
        let (mut place, mut rest, mut last) = ([0; 3], v, None);
        let slow = f64::from(self.spec.gravity * self.tick_s) * 2.0;
        for _ in 0..4 {
            let (to, hit) = self.surroundings.advance(self.shapes, place, rest);
            place = to;
            let Some(hit) = hit else { break };
            // What carries it matters more than what it brushed against.
            last = match last {
                Some(Hit { normal, .. }) if normal.y > hit.normal.y => last,
                _ => Some(hit),
            };
            let into = velocity.dot(hit.normal);
            if into >= 0.0 {
                break;
            }
            // A ball on the ground is pulled into it in every tick; that is no bounce.
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

    /// How far a body can turn on the spot. Of upright solids a ball and a capsule are the same from all sides.
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
        // Beyond a border the box around it counts, which is as wide however it is turned.
        let is_here = |other: &Other| matches!(other, Other::Scenery(_) | Other::Object(_));
        let others: Vec<(u32, Pose)> = self
            .surroundings
            .near()
            .iter()
            .map(|near| near.other)
            .filter(is_here)
            .map(|other| self.pose_of(other))
            .collect();
        // Whoever stands on it or beside it is a gap away, and does not keep it from turning.
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

    fn pose_of(&self, other: Other) -> (u32, Pose) {
        match other {
            Other::Bounds | Other::Beyond(_) => unreachable!("only what is here has a pose"),
            Other::Scenery(index) => {
                let index = index as usize;
                let pose = Pose::new(self.scenery.body[index].at.position(), self.scenery.turn[index].quat());
                (self.scenery.shape[index], pose)
            }
            Other::Object(row) => {
                let (body, turn) = (&self.objects.body[row as usize], self.objects.turn[row as usize]);
                (self.objects.card(row).shape, Pose::new(body.at.position(), turn.quat()))
            }
        }
    }

    /// Moves what stands in a mover's way, by at most `v` steps, and returns whether it gave way. One object per tick,
    /// no chains.
    fn push(&mut self, pushed: u32, v: DVec3) -> bool {
        if !self.objects.body[pushed as usize].is(MOVABLE) {
            return false;
        }
        if self.objects.body[pushed as usize].is(HELD)
            || self.is_held(pushed)
            || std::mem::replace(&mut self.was_pushed[pushed as usize], true)
        {
            return false;
        }
        let policy = self.objects.card(pushed).policy;
        self.objects.drive[pushed as usize].awake = true;
        if policy == Policy::Bounce {
            // A ball is kicked rather than shoved: it goes its own way, from the next tick on, as its reach in this
            // one is settled.
            let kick = v / self.steps_per_tick * 1.3;
            self.kicks.push((pushed, [kick.x as f32, kick.z as f32]));
            return false;
        }
        std::mem::swap(self.surroundings, self.pushed);
        self.look_around(pushed);
        let (to, _) = self.surroundings.advance(self.shapes, [0; 3], v);
        std::mem::swap(self.surroundings, self.pushed);
        self.commit(pushed, to);
        to != [0; 3]
    }
}

/// Where a route takes its object in the tick after `phase`, which stands at `at`: the way, in steps, how it is to be turned, and
/// whether it is where the route wants it then.
///
/// Who was put down beside its way comes back no faster than somebody walks, unless the route itself is faster: the way back
/// may be long, and nobody who looks on could follow it in one tick.
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

/// Where a route wants its object to be, in steps, and how turned.
fn route_pose(spec: &Spec, object: &ObjectSpec, route: &Route, phase: u64) -> (DVec3, Quat) {
    let seconds = phase as f64 / f64::from(spec.tick_rate);
    let (position, rotation) = route.pose(object.at, object.rotation, spec.gravity, seconds);
    (position * f64::from(snap::STEPS_PER_METRE), rotation)
}

#[inline]
fn limited(velocity: [f32; 3], most: f32) -> DVec3 {
    let velocity = DVec3::from_array(velocity.map(f64::from));
    // Well below there is no need for a root.
    if velocity.length_squared() < 0.999 * f64::from(most) * f64::from(most) {
        return velocity;
    }
    let speed = velocity.length();
    if speed > f64::from(most) { velocity * (f64::from(most) / speed) } else { velocity }
}

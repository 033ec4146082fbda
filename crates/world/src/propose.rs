//! The motion that each object wants in this tick, and its reach: the box around every way in which it can end.

use std::sync::OnceLock;

use space::workload::Wishes;
use space::{DVec3, Grid, Turn, snap};

use crate::objects::{AVATAR, Collider, EXACT, HELD, MOVABLE, Objects, ROUTED};
use crate::settle::{longest_arm, route_way};
use crate::solid::{GridBox, SKIN};
use crate::spec::{ContactPolicy, ObjectKind, Spec};

/// Room for the roundings of a tick, and for tests beyond the end of a motion, in steps.
const SLACK: i32 = SKIN + 8;
/// The speed of the crowd, in metres per second.
const CROWD_SPEED: f32 = 1.6;
/// A seeker of the crowd aims at its target once in this number of ticks.
const AIM_TICKS: u64 = 8;
/// A seeker stands still at this distance from its target, in metres.
const CONTENT: f32 = 1.0;

/// The least and the greatest offsets of a motion, in steps.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    low: [f64; 3],
    high: [f64; 3],
}

impl Extent {
    /// Makes room for a motion that slides along obstacles. `Sweep::slide` never lengthens it nor turns it back, so
    /// that it ends within half a ball.
    fn add_slide(&mut self, v: DVec3) {
        let (square, ahead) = (v.length_squared(), v.length());
        for axis in 0..3 {
            self.add_half(axis, v[axis], ahead, (square - v[axis] * v[axis]).max(0.0).sqrt());
        }
    }

    /// The same within the ground plane.
    fn add_level_slide(&mut self, v: DVec3) {
        let ahead = (v.x * v.x + v.z * v.z).sqrt();
        self.add_half(0, v.x, ahead, v.z.abs());
        self.add_half(2, v.z, ahead, v.x.abs());
    }

    /// The same for a motion straight up or down.
    fn add_upright_slide(&mut self, v: f64) {
        for (axis, along) in [(0, 0.0), (1, v), (2, 0.0)] {
            self.add_half(axis, along, v.abs(), v.abs() - along.abs());
        }
    }

    /// Makes room along an axis for half a ball: `ahead` of the motion, and `back` for its width.
    fn add_half(&mut self, axis: usize, along: f64, ahead: f64, back: f64) {
        self.low[axis] -= if along >= 0.0 { back } else { ahead };
        self.high[axis] += if along >= 0.0 { ahead } else { back };
    }

    /// Makes room for a motion that ends on its straight line.
    fn add_line(&mut self, v: DVec3) {
        for axis in 0..3 {
            self.low[axis] += v[axis].min(0.0);
            self.high[axis] += v[axis].max(0.0);
        }
    }

    /// Makes room on all sides.
    fn add_ball(&mut self, radius: f64) {
        for axis in 0..3 {
            self.low[axis] -= radius;
            self.high[axis] += radius;
        }
    }

    fn around(&self, block: GridBox) -> GridBox {
        let mut reach = block;
        for axis in 0..3 {
            // The cast rounds towards zero: one more.
            reach.low[axis] += self.low[axis] as i32 - 1 - SLACK;
            reach.high[axis] += self.high[axis] as i32 + 1 + SLACK;
        }
        reach
    }
}

/// The objects that may move in a tick.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    /// Rows of the objects that want to move, in the order of names.
    pub movers: Vec<u32>,
    /// By row: these, and the objects that may be carried.
    pub is_mover: Vec<bool>,
    /// By row, whether a platform may carry the object.
    pub may_ride: Vec<bool>,
}

/// Finds the movers and sets the reach of each object.
#[inline(never)]
pub(crate) fn propose(
    spec: &Spec,
    grid: Grid,
    tick: u64,
    mut wishes: Option<&mut Wishes>,
    objects: &mut Objects,
    proposals: &mut Proposals,
) {
    let Proposals { movers, is_mover, may_ride } = proposals;
    for flags in [&mut *is_mover, &mut *may_ride] {
        flags.clear();
        flags.resize(objects.body.len(), false);
    }
    movers.clear();
    let proposer = Proposer::new(spec, grid, tick);
    let ride = objects.routed.iter().map(|&row| proposer.ride(objects, row)).fold(0.0, f64::max);
    for index in 0..objects.by_id.len() {
        let row = objects.by_id[index].1;
        let flags = objects.body[row as usize].flags;
        if flags & HELD != 0 {
            // It moves with its holder.
            continue;
        }
        let extent = match flags & (AVATAR | MOVABLE | ROUTED) {
            AVATAR => {
                if let (Some(seeker), Some(wishes)) = (objects.seeker[row as usize], wishes.as_deref_mut()) {
                    proposer.seek(objects, row, seeker, wishes);
                }
                proposer.avatar(objects, row)
            }
            MOVABLE => proposer.movable(objects, row),
            _ => Some(proposer.route(objects, row)),
        };
        if extent.is_some() {
            is_mover[row as usize] = true;
            movers.push(row);
        }
        let mut extent = extent.unwrap_or_default();
        if flags & MOVABLE != 0 {
            proposer.allow_push(&mut extent);
        }
        if ride > 0.0 && objects.on_object.contains(row as usize) {
            // Its support may be a platform, or ride on one.
            extent.add_ball(ride);
            is_mover[row as usize] = true;
            may_ride[row as usize] = true;
        }
        objects.set_reach(row, |body| extent.around(body.block()));
        if let Some(held) = objects.held_by(row) {
            objects.set_reach(held, |body| extent.around(body.block()));
            is_mover[held as usize] |= is_mover[row as usize];
        }
    }
}

struct Proposer<'a> {
    spec: &'a Spec,
    grid: Grid,
    tick: u64,
    /// Steps per tick of one metre per second.
    scale: f64,
    tick_s: f32,
    step_height: f64,
}

impl<'a> Proposer<'a> {
    fn new(spec: &'a Spec, grid: Grid, tick: u64) -> Proposer<'a> {
        let per_metre = f64::from(snap::STEPS_PER_METRE);
        Proposer {
            spec,
            grid,
            tick,
            scale: per_metre / f64::from(spec.tick_rate),
            tick_s: 1.0 / spec.tick_rate as f32,
            step_height: f64::from(spec.limits.step_height) * per_metre,
        }
    }

    /// Sets the wish of an avatar of the crowd.
    fn seek(&self, objects: &mut Objects, row: u32, seeker: u32, wishes: &mut Wishes) {
        if self.tick < objects.drive[row as usize].wish_until {
            return;
        }
        let place = wishes.place(seeker as usize, self.tick);
        let mut way = place - objects.body[row as usize].at.position();
        if self.spec.gravity > 0.0 {
            way.y = 0.0;
        }
        let distance = way.length();
        let speed = CROWD_SPEED.min(self.spec.limits.speed);
        let wish = if distance > CONTENT { way * (speed / distance) } else { space::Vec3::ZERO };
        // It faces its way, for those who watch.
        if distance > CONTENT {
            objects.turn[row as usize] = heading(libm::atan2f(way.x, way.z));
        }
        let drive = &mut objects.drive[row as usize];
        drive.wish = wish.to_array();
        drive.wish_until = self.tick + AIM_TICKS - (self.tick + u64::from(seeker)) % AIM_TICKS;
    }

    fn avatar(&self, objects: &mut Objects, row: u32) -> Option<Extent> {
        let body = objects.body[row as usize];
        let drive = &mut objects.drive[row as usize];
        if self.tick >= drive.wish_until {
            drive.wish = [0.0; 3];
        }
        let wants = drive.wish != [0.0; 3] || drive.jump || drive.awake;
        if !wants {
            drive.rest = [0.0; 3];
            return None;
        }
        let wish = DVec3::from_array(drive.wish.map(f64::from)) * self.scale;
        let mut extent = Extent::default();
        extent.add_ball(2.0);
        if self.spec.gravity == 0.0 {
            extent.add_slide(wish);
            return Some(extent);
        }
        extent.add_level_slide(wish);
        if drive.standing && !drive.jump {
            let is_on_ground = body.block().low[1] <= self.grid.low().y + SKIN;
            extent.low[1] -= if is_on_ground { 0.0 } else { self.step_height };
            extent.high[1] += if self.tick < drive.lift_until { self.step_height } else { 0.0 };
            // Without ground under its feet it begins to fall.
            extent.add_upright_slide(-f64::from(self.spec.gravity * self.tick_s) * self.scale);
        } else {
            let terminal = self.spec.limits.terminal_speed;
            let speed = if drive.standing { self.spec.limits.jump_speed } else { drive.velocity[1] };
            let speed = (speed - self.spec.gravity * self.tick_s).clamp(-terminal, terminal);
            extent.add_upright_slide(f64::from(speed) * self.scale);
        }
        Some(extent)
    }

    fn movable(&self, objects: &Objects, row: u32) -> Option<Extent> {
        let drive = &objects.drive[row as usize];
        if !drive.awake {
            return None;
        }
        let mut velocity = DVec3::from_array(drive.velocity.map(f64::from));
        velocity.y -= f64::from(self.spec.gravity * self.tick_s);
        let v = velocity * self.scale;
        let mut extent = Extent::default();
        match objects.card(row).policy {
            ContactPolicy::Bounce => extent.add_ball(v.length() + 2.0),
            _ => extent.add_slide(v),
        }
        Some(extent)
    }

    /// Makes room for a push, as far as a walker moves in a tick, but not downwards.
    fn allow_push(&self, extent: &mut Extent) {
        let push = f64::from(self.spec.limits.speed) * self.scale + 2.0;
        for axis in [0, 2] {
            extent.low[axis] -= push;
            extent.high[axis] += push;
        }
    }

    fn route(&self, objects: &Objects, row: u32) -> Extent {
        let card = objects.card(row);
        let mut extent = Extent::default();
        let object = &self.spec.objects[card.shape as usize];
        if let ObjectKind::Moving(route) = &object.kind {
            let body = &objects.body[row as usize];
            extent.add_line(route_way(self.spec, object, route, card.phase, place(body)).0);
            if body.is(EXACT) {
                extent.add_ball(f64::from(SKIN));
            }
        }
        extent
    }

    /// The longest way by which a platform may carry its riders, in steps.
    fn ride(&self, objects: &Objects, row: u32) -> f64 {
        let card = objects.card(row);
        let object = &self.spec.objects[card.shape as usize];
        let ObjectKind::Moving(route) = &object.kind else { return 0.0 };
        let body = &objects.body[row as usize];
        let (way, ..) = route_way(self.spec, object, route, card.phase, place(body));
        let around = route.radians_per_s() / f64::from(self.spec.tick_rate) * longest_arm(body);
        way.length() + around + 2.0
    }
}

fn place(body: &Collider) -> DVec3 {
    DVec3::new(f64::from(body.at.x), f64::from(body.at.y), f64::from(body.at.z))
}

/// The nearest of 256 turns about the upright axis: users turn by these, and the wire takes one byte for them.
fn heading(radians: f32) -> Turn {
    const HEADINGS: usize = 256;
    const RADIANS: f32 = std::f32::consts::TAU / HEADINGS as f32;
    static TURNS: OnceLock<[Turn; HEADINGS]> = OnceLock::new();
    let turns = TURNS.get_or_init(|| std::array::from_fn(|part| Turn::upright(part as f32 * RADIANS)));
    turns[floor(f64::from(radians / RADIANS) + 0.5).rem_euclid(HEADINGS as i32) as usize]
}

/// [`f64::floor`], which is a function call on processors without an instruction for it.
fn floor(number: f64) -> i32 {
    let whole = number as i32;
    whole - i32::from(f64::from(whole) > number)
}

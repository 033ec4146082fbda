//! The obstacles that a body, and the object that it holds, may meet in a tick: objects and scenery of any shape,
//! bounds, guests and walls.

use shapes::{Pose, Precision, RigidMotion, Shape, proximity};
use space::impact::rounded;
use space::{DVec3, GridPoint, Turn, snap};

use super::sweep::{Other, Sweep, SweepHit};
use crate::outcome::TickWork;
use crate::solid::{CLOSEST, GAP, Joint};

#[derive(Clone, Copy, Debug)]
pub(crate) struct NearSolid {
    /// Its name, and the part of the body that may meet it: they break ties, rows never do.
    pub key: (u64, u8),
    pub other: Other,
    pub joint: Joint,
    /// The least square distance that is allowed, in steps: [`CLOSEST`], or the one at the start if that is less.
    floor: i64,
    /// The index of a narrow-phase test, for shapes that are not upright.
    exact: Option<u32>,
}

/// A narrow-phase test of two shapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactPair {
    pub shape: u32,
    pub at: GridPoint,
    pub turn: Turn,
    pub other_shape: u32,
    pub other_at: GridPoint,
    pub other_turn: Turn,
    /// The least distance that is allowed, in metres.
    least: f32,
    /// Whether both are tested exactly or by a coarser shape.
    precision: Precision,
}

/// The obstacles of a body, and the room that the bounds leave it.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    near: Vec<NearSolid>,
    exact: Vec<ExactPair>,
    /// The least and the greatest offset from where it stands.
    room: ([i32; 3], [i32; 3]),
    /// Whether a coarse test could not prove any place free but this one.
    is_held: bool,
    /// The number of sweeps in this tick.
    pub sweeps: u64,
}

/// Half the skin, in metres.
pub(crate) const CLOSEST_M: f32 = CLOSEST as f32 * snap::STEP;

impl Surroundings {
    pub fn clear(&mut self) {
        self.near.clear();
        self.exact.clear();
        self.room = ([i32::MIN; 3], [i32::MAX; 3]);
        self.is_held = false;
    }

    /// Whether the body has to stay in its place.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Keeps a part of the body within bounds: offsets from its centre to the least and the greatest place.
    pub fn keep_within(&mut self, to_low: [i32; 3], to_high: [i32; 3]) {
        for axis in 0..3 {
            self.room.0[axis] = self.room.0[axis].max((to_low[axis] + GAP).min(0));
            self.room.1[axis] = self.room.1[axis].min((to_high[axis] - GAP).max(0));
        }
    }

    pub fn add(&mut self, key: (u64, u8), other: Other, joint: Joint) {
        let reach = i64::from(joint.radius + CLOSEST);
        let floor = (reach * reach).min(joint.distance_squared([0; 3]));
        self.near.push(NearSolid { key, other, joint, floor, exact: None });
    }

    pub fn add_exact(
        &mut self,
        shapes: &[Shape],
        key: (u64, u8),
        other: Other,
        joint: Joint,
        mut pair: ExactPair,
        work: &mut TickWork,
    ) {
        let is_tree = |shape: u32| matches!(shapes[shape as usize], Shape::Balls(_));
        if is_tree(pair.shape) || is_tree(pair.other_shape) {
            work.by_tree += 1;
        } else {
            work.by_shape += 1;
        }
        let distance = pair.distance(shapes, [0; 3]);
        pair.least = if distance >= CLOSEST_M { CLOSEST_M } else { (distance - 1e-5).max(0.0) };
        self.push_exact(key, other, joint, pair);
    }

    /// The same with bounding spheres, or with the first level of a sphere-tree if those overlap. If these overlap too,
    /// the body is held in its place, which is free.
    #[expect(clippy::too_many_arguments, reason = "all of them describe one pair")]
    pub fn add_coarse(
        &mut self,
        shapes: &[Shape],
        key: (u64, u8),
        other: Other,
        joint: Joint,
        mut pair: ExactPair,
        span: f64,
        work: &mut TickWork,
    ) {
        pair.precision = Precision::BoundingSphere;
        let mut distance = pair.distance(shapes, [0; 3]);
        if distance >= CLOSEST_M {
            work.by_sphere += 1;
            // Too far away for this tick.
            if f64::from(distance) * f64::from(snap::STEPS_PER_METRE) > span + f64::from(2 * GAP) {
                return;
            }
        } else {
            let has_tree = |shape: u32| match &shapes[shape as usize] {
                Shape::Balls(_) => true,
                Shape::Mesh(mesh) => mesh.sphere_tree().is_some(),
                _ => false,
            };
            let is_worth_it = has_tree(pair.shape) || has_tree(pair.other_shape);
            let is_exact =
                |shape: u32| matches!(&shapes[shape as usize], Shape::Mesh(mesh) if mesh.sphere_tree().is_none());
            pair.precision = Precision::Level(1);
            if is_worth_it && !is_exact(pair.shape) && !is_exact(pair.other_shape) {
                work.by_tree += 1;
                distance = pair.distance(shapes, [0; 3]);
            }
        }
        if distance < CLOSEST_M {
            self.is_held = true;
            self.room = ([0; 3], [0; 3]);
            return;
        }
        pair.least = CLOSEST_M;
        self.push_exact(key, other, joint, pair);
    }

    fn push_exact(&mut self, key: (u64, u8), other: Other, joint: Joint, pair: ExactPair) {
        self.near.push(NearSolid { key, other, joint, floor: 0, exact: Some(self.exact.len() as u32) });
        self.exact.push(pair);
    }

    /// Sorts the obstacles into an order that does not depend on how they were found.
    pub fn arrange(&mut self) {
        self.near.sort_unstable_by_key(|near| near.key);
    }

    pub fn near(&self) -> &[NearSolid] {
        &self.near
    }

    /// Whether the bottom of the bounds carries the body.
    pub fn is_on_ground(&self, offset: [i32; 3]) -> bool {
        offset[1] <= self.room.0[1]
    }
}

impl Sweep for Surroundings {
    fn first(&mut self, shapes: &[Shape], from: [i32; 3], v: DVec3) -> Option<SweepHit> {
        self.sweeps += 1;
        let mut first: Option<SweepHit> = None;
        let mut until = 1.0;
        for near in &self.near {
            let Joint { d, core, radius } = near.joint;
            let start = [d[0] + from[0], d[1] + from[1], d[2] + from[2]].map(f64::from);
            let reach = f64::from(radius + GAP);
            let half = core.map(f64::from);
            let passes_by = |axis: usize| {
                let (one, other) = (start[axis], start[axis] + v[axis]);
                let limit = half[axis] + reach;
                one.min(other) > limit || one.max(other) < -limit
            };
            if passes_by(0) | passes_by(2) | passes_by(1) {
                continue;
            }
            let found = match near.exact {
                None => rounded::contact(DVec3::from_array(start), v, DVec3::from_array(half), reach, until)
                    .map(|touch| (touch.time, touch.normal)),
                Some(index) => self.exact[index as usize].contact(shapes, from, v),
            };
            if let Some((time, normal)) = found
                && (time < until || first.is_none() && time <= until)
            {
                until = time;
                first = Some(SweepHit { time, normal, other: near.other });
            }
        }
        for axis in 0..3 {
            let (low, high) = (f64::from(self.room.0[axis]), f64::from(self.room.1[axis]));
            let place = f64::from(from[axis]);
            let limit = if v[axis] > 0.0 { high } else { low };
            let beyond = (place + v[axis] - limit) * v[axis];
            if v[axis] != 0.0 && beyond > 0.0 {
                let time = ((limit - place) / v[axis]).max(0.0);
                if time < until {
                    until = time;
                    let mut normal = DVec3::ZERO;
                    normal[axis] = -v[axis].signum();
                    first = Some(SweepHit { time, normal, other: Other::Bounds });
                }
            }
        }
        first
    }

    fn violated(&self, shapes: &[Shape], offset: [i32; 3]) -> Option<usize> {
        self.near.iter().position(|near| match near.exact {
            None => {
                near.joint.distance_squared(offset) < near.floor || near.floor == 0 && near.joint.is_overlap(offset)
            }
            Some(index) => {
                let pair = &self.exact[index as usize];
                let outside = near.joint.distance_squared(offset);
                let apart = i64::from(near.joint.radius + CLOSEST);
                outside < apart * apart && pair.distance(shapes, offset) < pair.least
            }
        })
    }

    fn outside(&self, number: usize, offset: [i32; 3]) -> [i64; 3] {
        self.near[number].joint.outside(offset)
    }

    fn is_on_grid(&self, number: usize) -> bool {
        self.near[number].exact.is_none()
    }

    fn other(&self, number: usize) -> Other {
        self.near[number].other
    }

    fn within_bounds(&self, from: [i32; 3], to: [i32; 3]) -> [i32; 3] {
        std::array::from_fn(|axis| {
            let (low, high) = (self.room.0[axis].min(from[axis]), self.room.1[axis].max(from[axis]));
            to[axis].clamp(low, high)
        })
    }
}

impl ExactPair {
    pub fn new(shape: u32, at: GridPoint, turn: Turn, other_shape: u32, other_at: GridPoint, other_turn: Turn) -> Self {
        ExactPair { shape, at, turn, other_shape, other_at, other_turn, least: CLOSEST_M, precision: Precision::Exact }
    }

    pub fn distance(&self, shapes: &[Shape], offset: [i32; 3]) -> f32 {
        let (a, b) = (&shapes[self.shape as usize], &shapes[self.other_shape as usize]);
        proximity::distance(a, &self.pose(offset), b, &self.other_pose(), self.precision)
    }

    /// The time of the first contact of a motion by `v` steps, and the normal there.
    pub fn contact(&self, shapes: &[Shape], from: [i32; 3], v: DVec3) -> Option<(f64, DVec3)> {
        let start = self.pose(from);
        let end = Pose::new((start.position.as_dvec3() + v * f64::from(snap::STEP)).as_vec3(), start.rotation);
        let (a, b) = (&shapes[self.shape as usize], &shapes[self.other_shape as usize]);
        let gap = GAP as f32 * snap::STEP;
        let (motion, rest) = (RigidMotion::new(start, end), RigidMotion::rest(self.other_pose()));
        let contact = proximity::first_contact(a, &motion, b, &rest, gap, self.precision)?;
        Some((f64::from(contact.time), -contact.normal.as_dvec3()))
    }

    fn pose(&self, offset: [i32; 3]) -> Pose {
        let at = GridPoint::new(self.at.x + offset[0], self.at.y + offset[1], self.at.z + offset[2]);
        Pose::new(at.position(), self.turn.quat())
    }

    fn other_pose(&self) -> Pose {
        Pose::new(self.other_at.position(), self.other_turn.quat())
    }
}

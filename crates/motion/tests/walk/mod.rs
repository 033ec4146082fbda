//! Random owners' motions, shared by the tests of several laws.
#![allow(dead_code, reason = "not every law needs every helper")]

use kinesphere_motion::scene::{CollisionScene, SceneObject, SceneShape};
use kinesphere_motion::state::{Flags, KinematicState, Sequence, Update};
use kinesphere_motion::trend::Trend;
use kinesphere_motion::{Algorithm, rotation};
use space::workload::Random;
use space::{DQuat, DVec3, NodeId, ObjectId, Time};

/// A vector of length up to `size`.
pub fn vector(random: &mut Random, size: f32) -> DVec3 {
    (random.in_ball() * size).as_dvec3()
}

pub fn orientation(random: &mut Random) -> DQuat {
    rotation::turned_by(vector(random, 3.0), 1.0)
}

pub fn state(random: &mut Random, stamp: Time) -> KinematicState {
    KinematicState {
        stamp,
        pos: vector(random, 20.0),
        vel: vector(random, 8.0),
        acc: vector(random, 5.0),
        rot: orientation(random),
        angvel: vector(random, 2.0),
    }
}

pub fn update(seq: u32, algorithm: Algorithm, state: KinematicState) -> Update {
    Update {
        owner: NodeId::new(1),
        object: ObjectId::new(1).unwrap(),
        seq: Sequence::new(seq),
        algorithm,
        state,
        trend: Trend { before: state.acc * 0.5, first: 1.5, second: -0.7, ..Trend::default() },
        flags: Flags::NONE,
    }
}

pub fn algorithms() -> impl Iterator<Item = Algorithm> {
    Algorithm::DIS.into_iter().chain([Algorithm::PositionHistory, Algorithm::Trend])
}

/// A room with a pillar.
pub fn room() -> CollisionScene {
    let wall = |axis: DVec3, side: f64| {
        let half = DVec3::splat(31.0) - axis * 30.0;
        SceneObject::standing(SceneShape::Cuboid(half), axis * (side * 31.0))
    };
    let mut objects: Vec<SceneObject> =
        [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|axis| [wall(axis, -1.0), wall(axis, 1.0)]).collect();
    objects.push(SceneObject::standing(SceneShape::Ball(3.0), DVec3::new(8.0, -5.0, 2.0)));
    objects.push(SceneObject::standing(SceneShape::Cuboid(DVec3::new(2.0, 6.0, 1.0)), DVec3::new(-9.0, 4.0, -7.0)));
    CollisionScene::new(objects).unwrap()
}

/// A smooth random walk: acceleration changes at random moments, `frame` by `frame`.
pub struct Walk {
    pub state: KinematicState,
    random: Random,
    acceleration_max: f32,
    left: u32,
}

impl Walk {
    pub fn new(seed: u64, acceleration_max: f32) -> Walk {
        let mut random = Random::new(seed);
        let state = KinematicState { acc: DVec3::ZERO, ..state(&mut random, Time::default()) };
        Walk { state, random, acceleration_max, left: 0 }
    }

    /// Moves on by exactly one frame.
    pub fn step(&mut self, frame_us: i64) -> KinematicState {
        if self.left == 0 {
            self.left = self.random.whole(5, 60);
            // Bang-bang: always at the limit, in a new direction.
            self.state.acc = (self.random.direction() * self.acceleration_max).as_dvec3();
        }
        self.left -= 1;
        let dt = frame_us as f64 * 1e-6;
        let KinematicState { pos, vel, acc, .. } = self.state;
        self.state.pos = pos + vel * dt + acc * (0.5 * dt * dt);
        self.state.vel = vel + acc * dt;
        self.state.rot = rotation::advanced(self.state.rot, self.state.angvel, dt);
        self.state.stamp = self.state.stamp + frame_us;
        self.state
    }
}

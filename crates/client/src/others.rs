//! Other objects, as a client sees them: predicted from the last update, bounces off walls included, and shown without
//! jumps.

use std::collections::BTreeMap;

use motion::collision_prediction::Response;
use motion::company::predict_together;
use motion::convergence::{ConvergenceSettings, Display, Shown};
use motion::state::{Flags, Sequence};
use motion::trend::Trend;
use motion::{Algorithm, CollisionScene, KinematicState, Replica, ReplicaSettings, Update};
use space::{DVec3, GridPoint, NodeId, Time, Turn};
use wire::session::Entered;
use wire::state::Body;
use wire::{CollisionShape, Handle};

use super::walk::{metres, motion_velocity};

/// How others are predicted and shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OthersSettings {
    /// How the shown state follows the predicted one.
    pub convergence: ConvergenceSettings,
    /// For how many objects at most collisions with each other are predicted: the cost is quadratic.
    pub company_max: usize,
    /// The order of the extrapolation.
    pub algorithm: Algorithm,
}

impl Default for OthersSettings {
    fn default() -> OthersSettings {
        OthersSettings {
            convergence: ConvergenceSettings { blend_us: 100_000, ..ConvergenceSettings::default() },
            company_max: 32,
            algorithm: Algorithm::Fvw,
        }
    }
}

/// One object that is heard.
#[derive(Clone, Debug)]
pub struct OtherObject {
    pub entered: Entered,
    /// The tick of the roster that introduced it: in datagrams of earlier ticks its handle meant another object.
    since: u64,
    /// The tick, place and turn of the last update.
    pub confirmed: (u64, GridPoint, Turn),
    replica: Replica,
    display: Display,
    /// The last tick and velocity, to see acceleration.
    velocity: (u64, DVec3),
    acceleration: DVec3,
}

/// All others, by handle.
#[derive(Clone, Debug)]
pub struct Others {
    settings: OthersSettings,
    others: BTreeMap<Handle, OtherObject>,
    scene: CollisionScene,
}

impl Others {
    pub fn new(settings: OthersSettings) -> Others {
        Others { settings, others: BTreeMap::new(), scene: CollisionScene::empty() }
    }

    /// Sets the fixed objects.
    pub fn set_scene(&mut self, scene: CollisionScene) {
        self.scene = scene;
    }

    pub fn len(&self) -> usize {
        self.others.len()
    }

    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// All of them, by handle.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &OtherObject)> {
        self.others.iter().map(|(&handle, other)| (handle, other))
    }

    /// An object entered. False if its handle was in use: then the server is wrong.
    pub fn enter(&mut self, entered: Entered, tick: u64, at: Time, tick_us: u32) -> bool {
        // A ball within the solid: a ball around it would be pushed out of what it stands beside.
        let radius = match &entered.shape {
            CollisionShape::Sphere { radius } | CollisionShape::Capsule { radius, .. } => *radius,
            CollisionShape::Box { half } => half.iter().copied().fold(f32::INFINITY, f32::min),
            CollisionShape::Model { .. } => 0.0,
        };
        let replica = Replica::new(ReplicaSettings {
            radius: f64::from(radius),
            // An object that meets a wall goes on along it.
            response: Response { restitution: 0.0, ..Response::default() },
            extrapolation_us_max: 1_000_000,
            timeout_us: 5_000_000,
            ..ReplicaSettings::default()
        });
        let body = Body { place: entered.place, turn: entered.turn, motion: entered.motion, is_elsewhere: true };
        let handle = entered.handle;
        let mut other = OtherObject {
            since: tick,
            confirmed: (tick, entered.place, entered.turn),
            entered,
            replica,
            display: Display::new(self.settings.convergence),
            velocity: (0, DVec3::ZERO),
            acceleration: DVec3::ZERO,
        };
        other.hear(&body, tick, at, at, tick_us, self.settings.algorithm, &self.scene);
        self.others.insert(handle, other).is_none()
    }

    /// An object left. False if there was none.
    pub fn leave(&mut self, handle: Handle) -> bool {
        self.others.remove(&handle).is_some()
    }

    /// Takes in where an object was after a tick, which was at `at` by the server's clock; it is `now` by the same. A
    /// body that is not known, or older than the last update, is ignored.
    pub fn hear(&mut self, handle: Handle, body: &Body, tick: u64, at: Time, now: Time, tick_us: u32) {
        if let Some(other) = self.others.get_mut(&handle).filter(|other| tick > other.since && tick > other.confirmed.0)
        {
            other.hear(body, tick, at, now, tick_us, self.settings.algorithm, &self.scene);
        }
    }

    /// Where each object is shown at a moment of the server's clock.
    pub fn show(&mut self, now: Time, shown: &mut Vec<(Handle, Shown)>) {
        shown.clear();
        let Others { settings, others, scene } = self;
        if (2..=settings.company_max).contains(&others.len()) {
            let mut replicas: Vec<_> = others.values_mut().map(|other| (&mut other.replica, now)).collect();
            let together = predict_together(&mut replicas, scene);
            for ((handle, other), predicted) in others.iter().zip(together.predicted) {
                let radius = other.replica.settings().radius;
                let Some(predicted) = predicted else { continue };
                shown.push((*handle, other.display.shown(now, &predicted, radius, scene)));
            }
            return;
        }
        for (handle, other) in others {
            shown.extend(other.show(now, scene).map(|shown| (*handle, shown)));
        }
    }
}

impl OtherObject {
    #[expect(clippy::too_many_arguments, reason = "a body, its three times, and what predicting needs")]
    fn hear(
        &mut self,
        body: &Body,
        tick: u64,
        at: Time,
        now: Time,
        tick_us: u32,
        algorithm: Algorithm,
        scene: &CollisionScene,
    ) {
        let before = self.show(now, scene);
        let vel = motion_velocity(body.motion, tick_us);
        self.accelerate(tick, vel, tick_us, body.is_elsewhere);
        let rot = body.turn.quat().as_dquat();
        let (pos, acc, angvel) = (metres(body.place), self.acceleration, DVec3::ZERO);
        let flags = if body.is_elsewhere { Flags::TELEPORT } else { Flags::NONE };
        let update = Update {
            owner: NodeId::new(0),
            object: self.entered.object,
            seq: Sequence::new(tick as u32),
            algorithm,
            state: KinematicState { stamp: at, pos, vel, acc, rot, angvel },
            trend: Trend::default(),
            flags,
        };
        if self.replica.handle(&update, scene).is_err() {
            return;
        }
        self.confirmed = (tick, body.place, body.turn);
        if let (Some(before), Some(after)) = (before, self.replica.predict(now, scene)) {
            self.display.updated(now, before, &after, body.is_elsewhere);
        }
    }

    /// How the velocity changes, smoothed: a walker that turns goes on turning for a while.
    fn accelerate(&mut self, tick: u64, vel: DVec3, tick_us: u32, is_elsewhere: bool) {
        let (last_tick, last) = std::mem::replace(&mut self.velocity, (tick, vel));
        let ticks = tick.saturating_sub(last_tick);
        if is_elsewhere || last_tick == 0 || ticks == 0 || ticks > 8 {
            self.acceleration = DVec3::ZERO;
            return;
        }
        let seen = (vel - last) * (1e6 / (ticks as f64 * f64::from(tick_us)));
        // A start, stop or bounce says nothing about what comes next.
        let is_kink = seen.length() > ACCELERATION_MAX || vel == DVec3::ZERO;
        let weight = 1.0 - ACCELERATION_KEPT.powi(ticks as i32);
        self.acceleration = if is_kink { DVec3::ZERO } else { self.acceleration * (1.0 - weight) + seen * weight };
    }

    fn show(&mut self, now: Time, scene: &CollisionScene) -> Option<Shown> {
        let predicted = self.replica.predict(now, scene)?;
        Some(self.display.shown(now, &predicted, self.replica.settings().radius, scene))
    }
}

/// The weight of the earlier acceleration after another tick.
const ACCELERATION_KEPT: f64 = 0.8;
/// A larger change is no turn but an end of motion, in metres per second squared.
const ACCELERATION_MAX: f64 = 12.0;

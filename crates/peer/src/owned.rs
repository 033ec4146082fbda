//! An object that this peer moves, and its dead reckoning.

use motion::adaptive::{Adaptive, MovingBall};
use motion::collision_prediction::{CollisionMode, Trajectory};
use motion::curve::Curve;
use motion::owner::{Collision, OwnerFrame};
use motion::state::Unbelievable;
use motion::{CollisionScene, KinematicState, Owner, Update};
use space::impact::Ballistic;
use space::{DVec3, NodeId, ObjectId, Time};
use wire::peer::{Owns, name};

use super::settings::PeerSettings;
use super::steps;

/// A steered ball that bounces off the scene as its replicas do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteeredBall {
    pub radius: f64,
    /// By the peer's own clock.
    pub state: KinematicState,
}

impl SteeredBall {
    /// Moves to a later time under its acceleration. Returns its last bounce, if there was one.
    pub fn advance(&mut self, to: Time, settings: &PeerSettings, scene: &CollisionScene) -> Option<Collision> {
        let KinematicState { stamp, pos, vel, acc, .. } = self.state;
        let dt = to.seconds_since(stamp);
        self.state.stamp = to;
        if dt <= 0.0 {
            return None;
        }
        let response = settings.replica(self.radius).response;
        let mut trajectory = Trajectory::new(stamp, Curve::Ballistic(Ballistic { pos, vel, acc }), self.radius);
        trajectory.plan(dt, CollisionMode::Exact, &response, scene);
        let there = trajectory.at(dt);
        (self.state.pos, self.state.vel) = (there.pos, there.vel.clamp_length_max(settings.speed_max));
        let last = trajectory.contacts().take_while(|&contact| contact <= dt).last()?;
        let vel_before = vel + acc * last;
        Some(Collision { normal: (there.vel - vel_before).normalize_or(DVec3::Y), vel_before })
    }

    pub fn mover(&self) -> MovingBall {
        let KinematicState { pos, vel, acc, .. } = self.state;
        MovingBall { pos, vel, acc, radius: self.radius }
    }
}

/// An object of this peer.
#[derive(Clone, Debug)]
pub struct Owned {
    pub object: ObjectId,
    /// The radius of its area of interest, in metres.
    pub aura: f32,
    pub body: SteeredBall,
    owner: Owner,
    adaptive: Adaptive,
    collision: Option<Collision>,
    newest: Option<Update>,
    /// When the newest update was sent to all peers.
    told_all: Option<Time>,
    /// The velocity at which it walks, and until when it moves freely after a bounce instead.
    wish: Option<DVec3>,
    thrown_until: Option<Time>,
}

/// After a bounce an object moves freely for this time, in microseconds, before it walks again.
const THROWN_US: i64 = 400_000;

/// The updates of an object that are to be sent in a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sendings {
    /// To peers that hear it: the update, and the last one again.
    pub near: [Option<Update>; 2],
    /// To all other peers.
    pub far: Option<Update>,
}

impl Owned {
    /// An object that was not announced yet.
    pub fn new(node: NodeId, object: ObjectId, aura: f32, body: SteeredBall, settings: &PeerSettings) -> Owned {
        let ghost = settings.replica(body.radius);
        Owned {
            object,
            aura,
            body,
            owner: Owner::new(node, object, settings.algorithm, settings.sending(), ghost, steps::round),
            adaptive: Adaptive::new(settings.tracking),
            collision: None,
            newest: None,
            told_all: None,
            wish: None,
            thrown_until: None,
        }
    }

    pub fn announcement(&self) -> Owns {
        Owns { index: name::index(self.object), radius: self.body.radius as f32, aura: self.aura }
    }

    pub fn walk(&mut self, velocity: DVec3) {
        self.wish = Some(velocity);
    }

    /// Moves to a later time.
    pub fn advance(&mut self, now: Time, settings: &PeerSettings, scene: &CollisionScene) {
        if let Some(wish) = self.wish.filter(|_| self.thrown_until.is_none_or(|until| now >= until)) {
            (self.body.state.vel, self.body.state.acc) = (wish, DVec3::ZERO);
            self.thrown_until = None;
        }
        let collision = self.body.advance(now, settings, scene);
        if collision.is_some() {
            self.thrown_until = Some(now + THROWN_US);
        }
        self.collision = collision.or(self.collision);
    }

    /// Sets its state after a contact. Peers that hear it receive that at once.
    pub fn deflect(&mut self, body: SteeredBall) {
        let normal = (body.state.vel - self.body.state.vel).normalize_or(DVec3::Y);
        self.collision = Some(Collision { normal, vel_before: self.body.state.vel });
        self.body = body;
        self.thrown_until = Some(body.state.stamp + THROWN_US);
    }

    /// What to send, given the proximity of the closest remote object.
    pub fn frame(
        &mut self,
        proximity: f64,
        settings: &PeerSettings,
        scene: &CollisionScene,
    ) -> Result<Sendings, Unbelievable> {
        let limit = self.adaptive.limit(proximity);
        let now = self.body.state.stamp;
        let OwnerFrame { update, repeat, .. } =
            self.owner.frame(&self.body.state, self.collision.take(), limit, scene)?;
        self.newest = update.or(self.newest);
        let is_due = self.told_all.is_none_or(|told| now - told >= settings.heartbeat_us);
        let far = self.newest.filter(|_| is_due);
        if is_due {
            self.told_all = Some(now);
        }
        Ok(Sendings { near: [update, repeat.filter(|_| update.is_none())], far })
    }

    pub fn newest(&self) -> Option<Update> {
        self.newest
    }
}

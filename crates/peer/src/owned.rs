//! An object that this peer moves: how it moves, and what its observers believe.

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

/// A ball that is steered, and bounces off the scene as its replicas do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteeredBall {
    /// Its radius, in metres.
    pub radius: f64,
    /// Where it is and how it moves, by the peer's own clock.
    pub state: KinematicState,
}

impl SteeredBall {
    /// Moves on to a later moment under the acceleration that its state has. Says what it bounced off, if anything.
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

    /// As those see it who ask what is close.
    pub fn mover(&self) -> MovingBall {
        let KinematicState { pos, vel, acc, .. } = self.state;
        MovingBall { pos, vel, acc, radius: self.radius }
    }
}

/// An object of this peer.
#[derive(Clone, Debug)]
pub struct Owned {
    /// Its name.
    pub object: ObjectId,
    /// How far it hears and is heard, in metres.
    pub aura: f32,
    /// How it moves.
    pub body: SteeredBall,
    owner: Owner,
    adaptive: Adaptive,
    /// What it met in this frame.
    collision: Option<Collision>,
    newest: Option<Update>,
    /// When the newest update went to everybody.
    told_all: Option<Time>,
    /// The velocity that its user wants, if it walks; and until when it is thrown back.
    wish: Option<DVec3>,
    thrown_until: Option<Time>,
}

/// Whoever bounced off something follows its user again after this, in microseconds.
const THROWN_US: i64 = 400_000;

/// What is to be sent of an object in a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sendings {
    /// To those who hear it.
    pub near: [Option<Update>; 2],
    /// To all others.
    pub far: Option<Update>,
}

impl Owned {
    /// An object that nobody has heard of.
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

    /// How others are told that it is there.
    pub fn announcement(&self) -> Owns {
        Owns { index: name::index(self.object), radius: self.body.radius as f32, aura: self.aura }
    }

    /// Is moved by its user, from now on.
    pub fn walk(&mut self, velocity: DVec3) {
        self.wish = Some(velocity);
    }

    /// Moves on.
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

    /// Is somewhere else, or moves otherwise, from now on: those who hear it must know at once.
    pub fn deflect(&mut self, body: SteeredBall) {
        let normal = (body.state.vel - self.body.state.vel).normalize_or(DVec3::Y);
        self.collision = Some(Collision { normal, vel_before: self.body.state.vel });
        self.body = body;
        self.thrown_until = Some(body.state.stamp + THROWN_US);
    }

    /// What to send, given how close the closest object of another peer is.
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

    /// What observers believe: for those who did not hear it yet.
    pub fn newest(&self) -> Option<Update> {
        self.newest
    }
}

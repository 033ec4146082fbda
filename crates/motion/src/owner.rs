//! The owner's side of dead reckoning: an update is sent when observers' predictions are too far from the truth.
//!
//! ```text
//! each frame:  truth ──compare──▶ ghost        error ≤ limit: send nothing
//!                        │                     error > limit: update ─▶ wire ─┬▶ ghost
//!                        └────────────────────────────────────────────────────┴▶ observers' replicas
//! ```
//!
//! The ghost is the same [`Replica`] that observers have, fed with each message as the wire rounds it. After each frame
//! it is within the limit.

use space::{DVec3, NodeId, ObjectId, Time};

use crate::dead_reckoning::Algorithm;
use crate::replica::{Predicted, Replica, ReplicaSettings};
use crate::rotation;
use crate::scene::CollisionScene;
use crate::state::{Flags, KinematicState, Sequence, Unbelievable, Update, believable};
use crate::trend::{Prior, Trend, TrendFit};

/// Whether an update is sent before the error exceeds the limit, because a message takes time to arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lead {
    /// Send when the error exceeds the limit.
    #[default]
    Off,
    /// Send when the error would exceed the limit on arrival if its velocity and acceleration stayed as they are.
    Extrapolated {
        /// The expected time to arrival.
        us: i64,
    },
    /// Send when, on arrival, an update made now would differ from what observers predict then by more than the limit.
    Foreseen {
        /// The expected time to arrival.
        us: i64,
    },
}

/// Whether an update is sent again in the next frame, with the same sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    Never,
    /// Updates about collisions, as their loss would cause the largest errors.
    #[default]
    Events,
    /// All updates: for links that lose messages.
    Always,
}

/// When an owner sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendRule {
    /// The limit on the error of the orientation, in radians.
    pub limit_rot: f64,
    /// The longest time without an update.
    pub heartbeat_us: i64,
    /// After a collision, an update is sent at once if the ghost's velocity is off by more than this, in metres per
    /// second. `None`: collisions are not treated specially.
    pub event_dv: Option<f64>,
    pub lead: Lead,
    /// The limit is halved after this time without an update and is a third after twice that: an object that moves as
    /// predicted can afford more precise ones. `None`: the limit is constant.
    pub halving_us: Option<i64>,
    pub repeat: Repeat,
    /// The prior of the trend's fit, for [`Algorithm::Trend`].
    pub prior: Prior,
}

impl Default for SendRule {
    fn default() -> SendRule {
        SendRule {
            limit_rot: 3.0_f64.to_radians(),
            heartbeat_us: 5_000_000,
            event_dv: Some(0.5),
            lead: Lead::Off,
            halving_us: None,
            repeat: Repeat::Events,
            prior: Prior::default(),
        }
    }
}

/// A collision that the owner has resolved in this frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// The normal of the surface that was hit.
    pub normal: DVec3,
    /// The velocity just before.
    pub vel_before: DVec3,
}

/// Why an update is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendReason {
    First,
    /// Observers will not predict the outcome of a collision.
    Event,
    /// The error of the position exceeds its limit.
    Position,
    /// The error of the orientation exceeds its limit.
    Orientation,
    /// The error of the position will exceed its limit when a message arrives: see [`Lead`].
    Lead,
    /// `heartbeat_us` have passed.
    Heartbeat,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnerFrame {
    /// To be sent to all observers.
    pub update: Option<Update>,
    /// The last frame's update, to be sent again.
    pub repeat: Option<Update>,
    /// Why `update` is sent.
    pub reason: Option<SendReason>,
    /// The distance between ghost and truth before the update, in metres; zero before the first.
    pub error_pos: f64,
    /// The angle between their orientations, in radians.
    pub error_rot: f64,
}

/// An object, at the host that moves it.
#[derive(Clone, Debug)]
pub struct Owner {
    id: NodeId,
    object: ObjectId,
    algorithm: Algorithm,
    rule: SendRule,
    /// An update as it is after encoding and decoding.
    round: fn(&Update) -> Update,
    ghost: Replica,
    seq: Sequence,
    last_sent: Option<Time>,
    repeat: Option<Update>,
    fit: TrendFit,
}

impl Owner {
    /// An owner that has sent nothing yet. `round` is what encoding and decoding do to an update, so that the ghost
    /// gets what observers get; the identity if encoding is exact.
    pub fn new(
        id: NodeId,
        object: ObjectId,
        algorithm: Algorithm,
        rule: SendRule,
        ghost: ReplicaSettings,
        round: fn(&Update) -> Update,
    ) -> Owner {
        Owner {
            id,
            object,
            algorithm,
            round,
            ghost: Replica::new(ghost),
            seq: Sequence::default(),
            last_sent: None,
            repeat: None,
            fit: TrendFit::new(rule.prior),
            rule,
        }
    }

    /// Sets the next sequence number, for a host that takes over an object.
    pub fn start_from(&mut self, seq: Sequence) {
        self.seq = seq;
    }

    /// Compares the truth with the ghost and decides what to send. `limit` bounds the error of the position, in metres;
    /// `collision` is what the owner has resolved in this frame.
    ///
    /// A truth with invalid numbers is refused: nothing is sent, and the ghost stays as it was.
    pub fn frame(
        &mut self,
        truth: &KinematicState,
        collision: Option<Collision>,
        limit: f64,
        scene: &CollisionScene,
    ) -> Result<OwnerFrame, Unbelievable> {
        let now = truth.stamp;
        let limit = self.aged(limit, now);
        believable(&self.update_of(truth, Flags::NONE, Trend::default()), &self.ghost.settings().limits)?;
        if self.algorithm == Algorithm::Trend {
            self.observe(truth, collision);
        }
        let (mut reason, mut error_pos, mut error_rot) = (Some(SendReason::First), 0.0, 0.0);
        if let Some(ghost) = self.ghost.predict(now, scene) {
            error_pos = (truth.pos - ghost.pos).length();
            error_rot = rotation::angle_between(truth.rot, ghost.rot);
            reason = if self.is_event(truth, &ghost, collision) {
                Some(SendReason::Event)
            } else if error_pos > limit {
                Some(SendReason::Position)
            } else if error_rot > self.rule.limit_rot {
                Some(SendReason::Orientation)
            } else if self.error_on_arrival(truth, &ghost, scene) > limit {
                Some(SendReason::Lead)
            } else {
                self.is_due(now).then_some(SendReason::Heartbeat)
            };
        }
        let repeat = self.repeat.take();
        let update = reason.map(|reason| self.send(truth, reason, scene)).transpose()?;
        Ok(OwnerFrame { update, repeat, reason, error_pos, error_rot })
    }

    /// Makes an update and feeds the ghost with it.
    fn send(
        &mut self,
        truth: &KinematicState,
        reason: SendReason,
        scene: &CollisionScene,
    ) -> Result<Update, Unbelievable> {
        let mut flags = Flags::NONE;
        if reason == SendReason::Event {
            flags = flags.with(Flags::DISCONTINUITY);
        }
        if truth.is_at_rest() {
            flags = flags.with(Flags::AT_REST);
        }
        let update = (self.round)(&self.update_of(truth, flags, self.trend()));
        // Encoding may round a number out of range.
        believable(&update, &self.ghost.settings().limits)?;
        self.ghost.handle(&update, scene).expect("the owner's next update is newer and believable");
        self.seq = self.seq.next();
        self.last_sent = Some(truth.stamp);
        let is_repeated = match self.rule.repeat {
            Repeat::Never => false,
            Repeat::Events => reason == SendReason::Event,
            Repeat::Always => true,
        };
        self.repeat = is_repeated.then_some(update);
        Ok(update)
    }

    /// What an observer without delay predicts.
    pub fn ghost(&mut self, at: Time, scene: &CollisionScene) -> Option<Predicted> {
        self.ghost.predict(at, scene)
    }

    /// The limit after some time without an update: see [`SendRule::halving_us`].
    fn aged(&self, limit: f64, now: Time) -> f64 {
        match (self.rule.halving_us, self.last_sent) {
            (Some(halving_us), Some(last)) if now > last => {
                limit / (1.0 + (now - last) as f64 / halving_us.max(1) as f64)
            }
            _ => limit,
        }
    }

    fn observe(&mut self, truth: &KinematicState, collision: Option<Collision>) {
        if let Some(Collision { normal, vel_before }) = collision {
            let mirrored = vel_before - normal * (2.0 * vel_before.dot(normal));
            // The history stays valid across a bounce as predicted, mirrored; any other collision starts a new motion.
            let is_elastic = (mirrored - truth.vel).length() <= 0.05 * (1.0 + truth.vel.length());
            self.fit.bounced(normal, truth.acc, is_elastic);
        }
        self.fit.observe(truth.stamp, truth.acc);
    }

    /// Whether a collision's outcome differs from the prediction by more than `event_dv`.
    fn is_event(&self, truth: &KinematicState, ghost: &Predicted, collision: Option<Collision>) -> bool {
        let surprise = (truth.vel - ghost.vel).length();
        collision.is_some() && self.rule.event_dv.is_some_and(|event_dv| surprise > event_dv)
    }

    /// Whether a heartbeat is due. It is after the clock went back.
    fn is_due(&self, now: Time) -> bool {
        self.last_sent.is_some_and(|last| now - last >= self.rule.heartbeat_us || now < last)
    }

    fn error_on_arrival(&self, truth: &KinematicState, ghost: &Predicted, scene: &CollisionScene) -> f64 {
        match self.rule.lead {
            Lead::Off => 0.0,
            Lead::Extrapolated { us } => {
                let lead = us as f64 * 1e-6;
                let error = (truth.pos - ghost.pos)
                    + (truth.vel - ghost.vel) * lead
                    + (truth.acc - ghost.acc) * (0.5 * lead * lead);
                error.length()
            }
            Lead::Foreseen { us } => {
                let update = self.update_of(truth, Flags::NONE, self.trend());
                let (mut fresh, mut held) = (self.ghost.clone(), self.ghost.clone());
                if fresh.handle(&(self.round)(&update), scene).is_err() {
                    return 0.0;
                }
                let arrival = truth.stamp + us;
                match (fresh.predict(arrival, scene), held.predict(arrival, scene)) {
                    (Some(fresh), Some(held)) => (fresh.pos - held.pos).length(),
                    _ => 0.0,
                }
            }
        }
    }

    fn trend(&self) -> Trend {
        if self.algorithm == Algorithm::Trend { self.fit.fit() } else { Trend::default() }
    }

    fn update_of(&self, truth: &KinematicState, flags: Flags, trend: Trend) -> Update {
        Update {
            owner: self.id,
            object: self.object,
            seq: self.seq,
            algorithm: self.algorithm,
            state: *truth,
            trend,
            flags,
        }
    }
}

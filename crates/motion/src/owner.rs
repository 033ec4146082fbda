//! The owner's side: send when what observers see has drifted too far from the truth, and not before.
//!
//! The owner keeps a ghost, the same [`Replica`] that observers keep, fed with the messages as they come out of the
//! wire. Each frame it compares the ghost with the truth. Right after a frame the ghost is within the limit, or a
//! message was suppressed and counted.

use space::{DVec3, NodeId, ObjectId, Time};

use crate::dead_reckoning::Algorithm;
use crate::replica::{Predicted, Replica, ReplicaSettings};
use crate::rotation;
use crate::scene::Scene;
use crate::state::{Flags, KinematicState, Sequence, Unbelievable, Update, believable};
use crate::trend::{Prior, Trend, TrendFit};
use space::token_bucket::{Allowance, TokenBucket};

/// Whether to send ahead of need, because a message takes time to arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lead {
    /// Send when the error is there.
    #[default]
    Off,
    /// Send when the error, going on with its present speed and acceleration, would exceed the limit on arrival.
    Extrapolated {
        /// The expected time to arrival.
        us: i64,
    },
    /// Send when an update made now would, on arrival, be farther than the limit from what observers believe then.
    Foreseen {
        /// The expected time to arrival.
        us: i64,
    },
}

/// Whether to send an update twice, in this frame and the next, with the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// Once is enough.
    Never,
    /// After a collision: much depends on it.
    #[default]
    Events,
    /// Always: the link is known to lose messages.
    Always,
}

/// When to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendRule {
    /// Orientations may differ by this many radians.
    pub limit_rot: f64,
    /// Something is sent at least this often.
    pub heartbeat_us: i64,
    /// After a collision, a velocity that differs from the ghost's by more than this is sent at once, in metres per
    /// second; `None` makes collisions nothing special.
    pub event_dv: Option<f64>,
    /// Whether to send ahead.
    pub lead: Lead,
    /// After this much silence the limit is halved, after twice as much it is a third: who moves as predicted has
    /// messages to spare for being exact. `None` keeps the limit as it is.
    pub halving_us: Option<i64>,
    /// Whether updates are sent twice.
    pub repeat: Repeat,
    /// How much may be sent; `None` is without bound.
    pub allowance: Option<Allowance>,
    /// What the trend's fit believes beforehand, for [`Algorithm::Trend`].
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
            allowance: None,
            prior: Prior::default(),
        }
    }
}

/// A collision that the owner resolved in this frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// The normal of the surface that was hit.
    pub normal: DVec3,
    /// The velocity just before.
    pub vel_before: DVec3,
}

/// Why something is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing was sent before.
    First,
    /// A collision went otherwise than observers will predict.
    Event,
    /// The position has drifted.
    Position,
    /// The orientation has drifted.
    Orientation,
    /// The position will have drifted when a message arrives.
    Lead,
    /// It is time.
    Heartbeat,
}

/// What an owner finds when it compares the truth with its ghost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Why there is something to send.
    pub reason: Option<Reason>,
    /// The error as a multiple of its limit; infinite for what cannot wait.
    pub urgency: f64,
    /// How far the ghost was from the truth, in metres; zero before the first update.
    pub error_pos: f64,
    /// The same for orientation, in radians.
    pub error_rot: f64,
}

/// What came of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// To be sent to all observers.
    pub update: Option<Update>,
    /// Last frame's update, to be sent once more.
    pub repeat: Option<Update>,
    /// What the owner found when the frame began.
    pub look: Look,
    /// Whether the allowance was used up, so that nothing is sent although there is a reason.
    pub is_suppressed: bool,
}

/// The one host that moves an object.
#[derive(Clone, Debug)]
pub struct Owner {
    id: NodeId,
    object: ObjectId,
    algorithm: Algorithm,
    rule: SendRule,
    /// What the wire does to an update: the codec's round trip.
    round: fn(&Update) -> Update,
    ghost: Replica,
    seq: Sequence,
    last_sent: Option<Time>,
    repeat: Option<Update>,
    bucket: Option<TokenBucket>,
    fit: TrendFit,
    suppressed: u64,
}

impl Owner {
    /// An owner that has sent nothing yet. `round` is what the wire does to an update, so that the ghost sees what
    /// observers will see: the identity where nothing is lost.
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
            bucket: rule.allowance.map(TokenBucket::new),
            fit: TrendFit::new(rule.prior),
            suppressed: 0,
            rule,
        }
    }

    /// Starts counting updates from here: for those who take an object over.
    pub fn start_from(&mut self, seq: Sequence) {
        self.seq = seq;
    }

    /// Compares the truth with what observers see, and says what to send. `limit` is how far the two may differ, in
    /// metres; `collision` is what the owner resolved in this frame.
    ///
    /// A truth that is no number is refused: nothing is sent, and the ghost stays as it was.
    pub fn frame(
        &mut self,
        truth: &KinematicState,
        collision: Option<Collision>,
        limit: f64,
        scene: &Scene,
    ) -> Result<Frame, Unbelievable> {
        let look = self.look(truth, collision, limit, scene)?;
        let mut frame = Frame { update: None, repeat: self.repeat(), look, is_suppressed: false };
        if let Some(reason) = look.reason {
            if self.bucket.as_mut().is_some_and(|bucket| !bucket.take(truth.stamp)) {
                self.suppress();
                frame.is_suppressed = true;
            } else {
                frame.update = Some(self.send(truth, reason, scene)?);
            }
        }
        Ok(frame)
    }

    /// The first half of [`Owner::frame`], for hosts whose objects share an allowance: whether there is a reason to send,
    /// and how urgent it is. To be followed by [`Owner::send`] or [`Owner::suppress`] when there is one.
    pub fn look(
        &mut self,
        truth: &KinematicState,
        collision: Option<Collision>,
        limit: f64,
        scene: &Scene,
    ) -> Result<Look, Unbelievable> {
        let now = truth.stamp;
        let limit = self.aged(limit, now);
        believable(&self.update_of(truth, Flags::NONE, Trend::default()), &self.ghost.settings().limits)?;
        if self.algorithm == Algorithm::Trend {
            self.observe(truth, collision);
        }
        let Some(ghost) = self.ghost.predict(now, scene) else {
            return Ok(Look { reason: Some(Reason::First), urgency: f64::INFINITY, error_pos: 0.0, error_rot: 0.0 });
        };
        let error_pos = (truth.pos - ghost.pos).length();
        let error_rot = rotation::angle_between(truth.rot, ghost.rot);
        let limit_rot = self.rule.limit_rot;
        let reason = if self.is_event(truth, &ghost, collision) {
            Some(Reason::Event)
        } else if error_pos > limit {
            Some(Reason::Position)
        } else if error_rot > limit_rot {
            Some(Reason::Orientation)
        } else if self.error_on_arrival(truth, &ghost, scene) > limit {
            Some(Reason::Lead)
        } else {
            self.is_due(now).then_some(Reason::Heartbeat)
        };
        let urgency = if reason == Some(Reason::Event) {
            f64::INFINITY
        } else {
            (error_pos / limit.max(f64::MIN_POSITIVE)).max(error_rot / limit_rot.max(f64::MIN_POSITIVE))
        };
        Ok(Look { reason, urgency, error_pos, error_rot })
    }

    /// The update for a frame that [`Owner::look`] found reason to send. The ghost has it at once.
    pub fn send(&mut self, truth: &KinematicState, reason: Reason, scene: &Scene) -> Result<Update, Unbelievable> {
        let mut flags = Flags::NONE;
        if reason == Reason::Event {
            flags = flags.with(Flags::DISCONTINUITY);
        }
        if truth.is_at_rest() {
            flags = flags.with(Flags::AT_REST);
        }
        let update = (self.round)(&self.update_of(truth, flags, self.trend()));
        // The wire may round a number out of range; then nothing was sent either.
        believable(&update, &self.ghost.settings().limits)?;
        self.ghost.handle(&update, scene).expect("the owner's next update is newer and believable");
        self.seq = self.seq.next();
        self.last_sent = Some(truth.stamp);
        let is_repeated = match self.rule.repeat {
            Repeat::Never => false,
            Repeat::Events => reason == Reason::Event,
            Repeat::Always => true,
        };
        self.repeat = is_repeated.then_some(update);
        Ok(update)
    }

    /// Nothing may be sent, although there is a reason: counted.
    pub fn suppress(&mut self) {
        self.suppressed += 1;
    }

    /// Last frame's update, if it is to be sent once more.
    pub fn repeat(&mut self) -> Option<Update> {
        self.repeat.take()
    }

    /// Where observers without delay see the object.
    pub fn ghost(&mut self, at: Time, scene: &Scene) -> Option<Predicted> {
        self.ghost.predict(at, scene)
    }

    /// How often a message was held back for want of a token.
    pub fn suppressed(&self) -> u64 {
        self.suppressed
    }

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
            // A bounce as predicted keeps what was learned; anything else starts a new motion.
            let is_elastic = (mirrored - truth.vel).length() <= 0.05 * (1.0 + truth.vel.length());
            self.fit.bounced(normal, truth.acc, is_elastic);
        }
        self.fit.observe(truth.stamp, truth.acc);
    }

    /// Whether a collision went so much otherwise than observers will predict that they must hear of it now.
    fn is_event(&self, truth: &KinematicState, ghost: &Predicted, collision: Option<Collision>) -> bool {
        let surprise = (truth.vel - ghost.vel).length();
        collision.is_some() && self.rule.event_dv.is_some_and(|event_dv| surprise > event_dv)
    }

    /// Whether it is time for a sign of life. A clock that went back has no heartbeat to wait for.
    fn is_due(&self, now: Time) -> bool {
        self.last_sent.is_some_and(|last| now - last >= self.rule.heartbeat_us || now < last)
    }

    fn error_on_arrival(&self, truth: &KinematicState, ghost: &Predicted, scene: &Scene) -> f64 {
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

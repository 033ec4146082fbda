//! A predicted copy of an object that another host moves. The owner keeps one too, its ghost, to know what observers see.

use space::{DQuat, DVec3, Time};

use crate::collision_prediction::{CollisionMode, Course, Response};
use crate::curve::Motion;
use crate::dead_reckoning::Algorithm;
use crate::position_history::HistorySettings;
use crate::scene::Scene;
use crate::state::{Limits, Update};
use crate::track::{Receipt, Rejected, Track, TrackCounts};

/// How a replica predicts. Owner and observers of an object must hold equal settings, or the ghost is no ghost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicaSettings {
    /// The radius of the object's bounding sphere.
    pub radius: f64,
    /// Whether and how collisions with the scene are predicted.
    pub collisions: CollisionMode,
    /// What a collision does.
    pub response: Response,
    /// Microseconds after a stamp at which the replica comes to rest: a heartbeat, and a second more.
    pub extrapolation_us_max: i64,
    /// Microseconds after a stamp at which the replica is stale: 2.4 heartbeats.
    pub timeout_us: i64,
    /// What is believed.
    pub limits: Limits,
    /// How positions are fitted.
    pub history: HistorySettings,
}

impl Default for ReplicaSettings {
    fn default() -> ReplicaSettings {
        ReplicaSettings {
            radius: 0.5,
            collisions: CollisionMode::Exact,
            response: Response::default(),
            extrapolation_us_max: 6_000_000,
            timeout_us: 12_000_000,
            limits: Limits::default(),
            history: HistorySettings::default(),
        }
    }
}

/// Where a replica is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// Metres.
    pub pos: DVec3,
    /// Metres per second.
    pub vel: DVec3,
    /// Metres per second squared.
    pub acc: DVec3,
    /// Turns the body's axes into the world's.
    pub rot: DQuat,
}

/// A predicted copy. Its state at a moment is a pure function of the updates taken in and of the scene.
#[derive(Clone, Debug)]
pub struct Replica {
    settings: ReplicaSettings,
    track: Track,
    course: Option<Course>,
}

impl Replica {
    /// Knows nothing yet.
    pub fn new(settings: ReplicaSettings) -> Replica {
        Replica { settings, track: Track::new(settings.limits, settings.history), course: None }
    }

    /// Takes in an update. One that precedes a predicted bounce makes the prediction start again from its stamp; one
    /// that follows it replaces everything.
    pub fn handle(&mut self, update: &Update, scene: &Scene) -> Result<Receipt, Rejected> {
        let is_new_motion =
            update.algorithm == Algorithm::PositionHistory && self.has_bounced(update.state.stamp, scene);
        let receipt = self.track.handle(update, is_new_motion)?;
        if let (Some(start), Some(curve)) = (self.track.stamp(), self.track.curve()) {
            self.course = Some(Course::new(start, curve, self.settings.radius));
        }
        Ok(receipt)
    }

    /// Where the object is at a moment of its owner's clock; `None` before the first update.
    ///
    /// Takes `&mut self` only to remember the bounces it has worked out.
    pub fn predict(&mut self, at: Time, scene: &Scene) -> Option<Predicted> {
        let dt = self.plan(at, scene)?;
        let update = self.track.newest()?;
        if dt == 0.0 {
            let state = &update.state;
            return Some(Predicted { pos: state.pos, vel: state.vel, acc: state.acc, rot: state.rot });
        }
        let Motion { pos, vel, acc } = self.course.as_ref()?.at(dt);
        let rot = self.track.orientation(dt)?;
        if at - update.state.stamp > self.settings.extrapolation_us_max {
            return Some(Predicted { pos, vel: DVec3::ZERO, acc: DVec3::ZERO, rot });
        }
        Some(Predicted { pos, vel, acc, rot })
    }

    /// Whether nothing has been heard for so long that it takes no part in predictions and decisions.
    pub fn is_stale(&self, at: Time) -> bool {
        self.track.stamp().is_none_or(|stamp| at - stamp > self.settings.timeout_us)
    }

    /// The newest update.
    pub fn newest(&self) -> Option<&Update> {
        self.track.newest()
    }

    /// The planned path, for those who add collisions that only this host predicts.
    pub fn course(&self) -> Option<&Course> {
        self.course.as_ref()
    }

    /// How it predicts.
    pub fn settings(&self) -> &ReplicaSettings {
        &self.settings
    }

    /// How often what happened.
    pub fn counts(&self) -> TrackCounts {
        self.track.counts()
    }

    /// Works out the bounces up to `at` and returns the seconds since the stamp, within what is extrapolated.
    pub fn plan(&mut self, at: Time, scene: &Scene) -> Option<f64> {
        let update = self.track.newest()?;
        let elapsed_us = (at - update.state.stamp).clamp(0, self.settings.extrapolation_us_max);
        let dt = elapsed_us as f64 * 1e-6;
        let response = self.response();
        if let Some(course) = &mut self.course {
            course.plan(dt, self.settings.collisions, &response, scene);
        }
        Some(dt)
    }

    /// What a bounce does: the owner of a trend says what becomes of the acceleration.
    pub fn response(&self) -> Response {
        match self.track.newest() {
            Some(update) if update.algorithm == Algorithm::Trend => {
                Response { acceleration: update.trend.bounce, ..self.settings.response }
            }
            _ => self.settings.response,
        }
    }

    /// Whether a bounce is predicted before `stamp`.
    fn has_bounced(&mut self, stamp: Time, scene: &Scene) -> bool {
        let Some(dt) = self.plan(stamp, scene) else { return false };
        self.course.as_ref().is_some_and(|course| course.contacts().any(|contact| contact <= dt))
    }
}

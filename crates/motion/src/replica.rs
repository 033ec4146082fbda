//! Replicas: predicted copies of objects that other hosts move. An owner has one of its own object, its ghost.

use space::{DQuat, DVec3, Time};

use crate::collision_prediction::{CollisionMode, Response, Trajectory};
use crate::curve::Kinematics;
use crate::dead_reckoning::Algorithm;
use crate::position_history::HistorySettings;
use crate::scene::CollisionScene;
use crate::state::{StateLimits, Update};
use crate::track::{Receipt, Rejected, Track};

/// How a replica predicts. The ghost equals observers' replicas only if owner and observers have equal settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicaSettings {
    /// The radius of the object's bounding sphere.
    pub radius: f64,
    /// How collisions with the scene are predicted.
    pub collisions: CollisionMode,
    /// How a collision changes the motion.
    pub response: Response,
    /// The replica stops this many microseconds after the stamp: a heartbeat and a second.
    pub extrapolation_us_max: i64,
    /// The replica is stale this many microseconds after the stamp: 2.4 heartbeats.
    pub timeout_us: i64,
    /// The largest numbers of valid updates.
    pub limits: StateLimits,
    /// How positions are fitted, for [`Algorithm::PositionHistory`].
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
            limits: StateLimits::default(),
            history: HistorySettings::default(),
        }
    }
}

/// The predicted state of a replica, in metres and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    pub pos: DVec3,
    pub vel: DVec3,
    pub acc: DVec3,
    /// Rotates the body's axes to the world's.
    pub rot: DQuat,
}

/// A predicted copy. Its state at a moment is a function of the updates taken in and of the scene.
#[derive(Clone, Debug)]
pub struct Replica {
    settings: ReplicaSettings,
    track: Track,
    trajectory: Option<Trajectory>,
}

impl Replica {
    /// A replica without updates.
    pub fn new(settings: ReplicaSettings) -> Replica {
        Replica { settings, track: Track::new(settings.limits, settings.history), trajectory: None }
    }

    /// Takes in an update. The trajectory is planned anew from its stamp.
    pub fn handle(&mut self, update: &Update, scene: &CollisionScene) -> Result<Receipt, Rejected> {
        let is_new_motion =
            update.algorithm == Algorithm::PositionHistory && self.has_bounced(update.state.stamp, scene);
        let receipt = self.track.handle(update, is_new_motion)?;
        if let (Some(start), Some(curve)) = (self.track.stamp(), self.track.curve()) {
            self.trajectory = Some(Trajectory::new(start, curve, self.settings.radius));
        }
        Ok(receipt)
    }

    /// The predicted state at a moment of the owner's clock; `None` before the first update. Planned bounces are kept.
    pub fn predict(&mut self, at: Time, scene: &CollisionScene) -> Option<Predicted> {
        let dt = self.plan(at, scene)?;
        let update = self.track.newest()?;
        if dt == 0.0 {
            let state = &update.state;
            return Some(Predicted { pos: state.pos, vel: state.vel, acc: state.acc, rot: state.rot });
        }
        let Kinematics { pos, vel, acc } = self.trajectory.as_ref()?.at(dt);
        let rot = self.track.orientation(dt)?;
        if at - update.state.stamp > self.settings.extrapolation_us_max {
            return Some(Predicted { pos, vel: DVec3::ZERO, acc: DVec3::ZERO, rot });
        }
        Some(Predicted { pos, vel, acc, rot })
    }

    /// Whether the newest update is older than `timeout_us`, so that the replica takes no part in
    /// collisions and decisions.
    pub fn is_stale(&self, at: Time) -> bool {
        self.track.stamp().is_none_or(|stamp| at - stamp > self.settings.timeout_us)
    }

    pub fn newest(&self) -> Option<&Update> {
        self.track.newest()
    }

    /// The planned path, to which a host may add collisions that only it predicts.
    pub fn trajectory(&self) -> Option<&Trajectory> {
        self.trajectory.as_ref()
    }

    pub fn settings(&self) -> &ReplicaSettings {
        &self.settings
    }

    /// Plans the bounces up to `at`. Returns the seconds since the stamp, at most `extrapolation_us_max`.
    pub fn plan(&mut self, at: Time, scene: &CollisionScene) -> Option<f64> {
        let update = self.track.newest()?;
        let elapsed_us = (at - update.state.stamp).clamp(0, self.settings.extrapolation_us_max);
        let dt = elapsed_us as f64 * 1e-6;
        let response = self.response();
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.plan(dt, self.settings.collisions, &response, scene);
        }
        Some(dt)
    }

    /// How a bounce changes the motion. Updates of [`Algorithm::Trend`] say what becomes of the acceleration.
    pub fn response(&self) -> Response {
        match self.track.newest() {
            Some(update) if update.algorithm == Algorithm::Trend => {
                Response { acceleration: update.trend.bounce, ..self.settings.response }
            }
            _ => self.settings.response,
        }
    }

    /// Whether a bounce is predicted before `stamp`.
    fn has_bounced(&mut self, stamp: Time, scene: &CollisionScene) -> bool {
        let Some(dt) = self.plan(stamp, scene) else { return false };
        self.trajectory.as_ref().is_some_and(|trajectory| trajectory.contacts().any(|contact| contact <= dt))
    }
}

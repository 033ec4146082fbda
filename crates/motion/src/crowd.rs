//! Many replicas of equal size, in columns: a million are predicted per tick.
//!
//! ```text
//! elapsed ≤ clear[row]?  yes: evaluate the parabola        no contact until then, known from a search of the scene
//!                        no:  ask the row's Trajectory     half a second more of it is planned
//! ```
//!
//! Between updates most replicas meet nothing, so the scene is searched once per span of half a second, and not once
//! per frame. The results equal those of [`Trajectory`], bit for bit.

use space::impact::Ballistic;
use space::{DVec3, Time};

use crate::collision_prediction::{CollisionMode, Response, Trajectory};
use crate::curve::Curve;
use crate::scene::CollisionScene;

/// Replicas of equal size with constant acceleration and exact collision prediction.
#[derive(Clone, Debug)]
pub struct Crowd {
    radius: f64,
    response: Response,
    extrapolation_us_max: i64,
    start: Vec<Time>,
    motion: Vec<Ballistic>,
    /// There is no contact up to this many seconds after the start. Later ones are unknown or in `trajectories`.
    clear: Vec<f64>,
    /// The trajectories of rows with a known contact.
    trajectories: Vec<Option<Box<Trajectory>>>,
}

impl Crowd {
    pub fn new(radius: f64, response: Response, extrapolation_us_max: i64) -> Crowd {
        Crowd {
            radius,
            response,
            extrapolation_us_max,
            start: Vec::new(),
            motion: Vec::new(),
            clear: Vec::new(),
            trajectories: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Adds a replica and returns its row.
    pub fn insert(&mut self, start: Time, motion: Ballistic) -> usize {
        self.start.push(start);
        self.motion.push(motion);
        self.clear.push(0.0);
        self.trajectories.push(None);
        self.start.len() - 1
    }

    pub fn update(&mut self, row: usize, start: Time, motion: Ballistic) {
        self.start[row] = start;
        self.motion[row] = motion;
        self.clear[row] = 0.0;
        self.trajectories[row] = None;
    }

    /// The positions of all rows at a moment.
    pub fn predict(&mut self, at: Time, scene: &CollisionScene, places: &mut Vec<DVec3>) {
        places.clear();
        places.reserve(self.len());
        for row in 0..self.len() {
            let dt = self.elapsed(row, at);
            let place = if dt <= self.clear[row] { self.motion[row].position(dt) } else { self.look(row, dt, scene) };
            places.push(place);
        }
    }

    /// The positions of all rows at a moment, without the scene.
    pub fn extrapolate(&self, at: Time, places: &mut Vec<DVec3>) {
        places.clear();
        places.reserve(self.len());
        for row in 0..self.len() {
            places.push(self.motion[row].position(self.elapsed(row, at)));
        }
    }

    /// The number of rows with a known contact.
    pub fn bounced(&self) -> usize {
        self.trajectories.iter().filter(|trajectory| trajectory.is_some()).count()
    }

    /// Discards all plans: the next prediction starts from the updates.
    pub fn forget(&mut self) {
        self.clear.fill(0.0);
        self.trajectories.fill(None);
    }

    fn elapsed(&self, row: usize, at: Time) -> f64 {
        (at - self.start[row]).clamp(0, self.extrapolation_us_max) as f64 * 1e-6
    }

    #[cold]
    fn look(&mut self, row: usize, dt: f64, scene: &CollisionScene) -> DVec3 {
        if let Some(trajectory) = &mut self.trajectories[row] {
            trajectory.plan(dt, CollisionMode::Exact, &self.response, scene);
            return trajectory.at(dt).pos;
        }
        let curve = Curve::Ballistic(self.motion[row]);
        let mut trajectory = Trajectory::clear_until(self.start[row], curve, self.radius, self.clear[row]);
        trajectory.plan(dt, CollisionMode::Exact, &self.response, scene);
        let place = trajectory.at(dt).pos;
        let first = trajectory.contacts().next();
        match first {
            None => self.clear[row] = trajectory.planned_s(),
            Some(contact) => {
                // At the contact itself the trajectory decides.
                self.clear[row] = contact.next_down().max(0.0);
                self.trajectories[row] = Some(Box::new(trajectory));
            }
        }
        place
    }
}

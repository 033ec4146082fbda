//! A million replicas at once: columns for the many that fly free, a course for the few that have met something.
//!
//! Between updates most replicas meet nothing. So the scene is asked once per span of half a second, not once per
//! frame, and what is remembered is only until when the way is known to be clear. The answer is that of
//! [`Course`], bit for bit.

use space::impact::Ballistic;
use space::{DVec3, Time};

use crate::collision_prediction::{CollisionMode, Course, Response};
use crate::curve::Curve;
use crate::scene::Scene;

/// Replicas of equal size that move by dead reckoning in the world's axes, with exact collision prediction.
#[derive(Clone, Debug)]
pub struct Crowd {
    radius: f64,
    response: Response,
    extrapolation_us_max: i64,
    start: Vec<Time>,
    motion: Vec<Ballistic>,
    /// Up to so many seconds after the start there is no contact; what lies beyond is not known yet, or in `courses`.
    clear: Vec<f64>,
    /// For those that have a contact behind them, or ahead within what was planned.
    courses: Vec<Option<Box<Course>>>,
}

impl Crowd {
    /// Nobody yet.
    pub fn new(radius: f64, response: Response, extrapolation_us_max: i64) -> Crowd {
        Crowd {
            radius,
            response,
            extrapolation_us_max,
            start: Vec::new(),
            motion: Vec::new(),
            clear: Vec::new(),
            courses: Vec::new(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Adds a replica and returns its row.
    pub fn insert(&mut self, start: Time, motion: Ballistic) -> usize {
        self.start.push(start);
        self.motion.push(motion);
        self.clear.push(0.0);
        self.courses.push(None);
        self.start.len() - 1
    }

    /// An update: from here on the replica goes on from another state.
    pub fn update(&mut self, row: usize, start: Time, motion: Ballistic) {
        self.start[row] = start;
        self.motion[row] = motion;
        self.clear[row] = 0.0;
        self.courses[row] = None;
    }

    /// Where everybody is at a moment, row by row.
    pub fn predict(&mut self, at: Time, scene: &Scene, places: &mut Vec<DVec3>) {
        places.clear();
        places.reserve(self.len());
        for row in 0..self.len() {
            let dt = self.elapsed(row, at);
            let place = if dt <= self.clear[row] { self.motion[row].position(dt) } else { self.look(row, dt, scene) };
            places.push(place);
        }
    }

    /// Where everybody would be if there were nothing to collide with.
    pub fn extrapolate(&self, at: Time, places: &mut Vec<DVec3>) {
        places.clear();
        places.reserve(self.len());
        for row in 0..self.len() {
            places.push(self.motion[row].position(self.elapsed(row, at)));
        }
    }

    /// How many have a contact behind them or ahead.
    pub fn bounced(&self) -> usize {
        self.courses.iter().filter(|course| course.is_some()).count()
    }

    /// Forgets what was planned: the next prediction starts from the updates.
    pub fn forget(&mut self) {
        self.clear.fill(0.0);
        self.courses.fill(None);
    }

    fn elapsed(&self, row: usize, at: Time) -> f64 {
        (at - self.start[row]).clamp(0, self.extrapolation_us_max) as f64 * 1e-6
    }

    #[cold]
    fn look(&mut self, row: usize, dt: f64, scene: &Scene) -> DVec3 {
        if let Some(course) = &mut self.courses[row] {
            course.plan(dt, CollisionMode::Exact, &self.response, scene);
            return course.at(dt).pos;
        }
        let curve = Curve::Ballistic(self.motion[row]);
        let mut course = Course::clear_until(self.start[row], curve, self.radius, self.clear[row]);
        course.plan(dt, CollisionMode::Exact, &self.response, scene);
        let place = course.at(dt).pos;
        let first = course.contacts().next();
        match first {
            None => self.clear[row] = course.planned_s(),
            Some(contact) => {
                // Up to the contact itself; at it, the course knows better.
                self.clear[row] = contact.next_down().max(0.0);
                self.courses[row] = Some(Box::new(course));
            }
        }
        place
    }
}

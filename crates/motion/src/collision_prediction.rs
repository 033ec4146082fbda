//! Collision prediction for replicas: a replica bounces off the scene without a message.
//!
//! A [`Trajectory`] is the path from an update's stamp on, with its bounces off scene objects. It is planned from the
//! stamp in spans of fixed length, so the result for a moment depends on the update and the scene only, and not on the
//! frames for which an observer asked before.

use space::{DVec3, Time};

use crate::curve::{AccelerationPolicy, Curve, Kinematics};
use crate::scene::CollisionScene;

/// How a bounce changes the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// The share of the speed along the normal that is kept: 1 is elastic, 0 sticks.
    pub restitution: f64,
    /// The share of the speed along the surface that is lost.
    pub friction: f64,
    pub acceleration: AccelerationPolicy,
}

impl Default for Response {
    fn default() -> Response {
        Response { restitution: 1.0, friction: 0.0, acceleration: AccelerationPolicy::Mirror }
    }
}

impl Response {
    /// The velocity after the contact with a surface of this normal; velocities are relative to the surface.
    pub fn velocity(&self, vel: DVec3, normal: DVec3) -> DVec3 {
        let into = vel.dot(normal);
        let bounced = vel - normal * ((1.0 + self.restitution) * into);
        if self.friction == 0.0 {
            return bounced;
        }
        let along = bounced - normal * bounced.dot(normal);
        bounced - along * self.friction.clamp(0.0, 1.0)
    }
}

/// How collisions with the scene are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionMode {
    Off,
    /// At the time of contact.
    #[default]
    Exact,
    /// As in paper 001: overlaps are tested at the observer's frames, and the replica bounces where it has penetrated.
    Discrete {
        /// The time of one of the observer's frames.
        frame_at: Time,
        /// The length of a frame, in microseconds.
        frame_us: i64,
    },
}

/// The most contacts of a trajectory; the replica stays at the last one.
pub const CONTACTS_MAX: usize = 8;
/// Contacts are searched for in spans of this length, so that few scene objects are near each.
const SPAN_S: f64 = 0.5;

/// The path from `from` on, in seconds after the trajectory's start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leg {
    from: f64,
    curve: Curve,
}

/// A replica's path from the stamp of an update on, with its contacts as far as it is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    start: Time,
    radius: f64,
    first: Curve,
    /// One for each contact, which starts there.
    later: Vec<Leg>,
    planned: f64,
}

impl Trajectory {
    pub fn new(start: Time, curve: Curve, radius: f64) -> Trajectory {
        Trajectory { start, radius, first: curve, later: Vec::new(), planned: 0.0 }
    }

    /// The trajectory of a ball without contacts for `planned` seconds, a whole number of spans.
    pub(crate) fn clear_until(start: Time, curve: Curve, radius: f64, planned: f64) -> Trajectory {
        Trajectory { planned, ..Trajectory::new(start, curve, radius) }
    }

    pub fn start(&self) -> Time {
        self.start
    }

    /// Contacts are known up to this many seconds after the start.
    pub fn planned_s(&self) -> f64 {
        self.planned
    }

    /// The time of each planned contact, in seconds after the start.
    pub fn contacts(&self) -> impl Iterator<Item = f64> + '_ {
        self.later.iter().map(|leg| leg.from)
    }

    /// Finds the contacts up to `dt` seconds after the start.
    pub fn plan(&mut self, dt: f64, mode: CollisionMode, response: &Response, scene: &CollisionScene) {
        match mode {
            CollisionMode::Off => self.planned = self.planned.max(dt),
            CollisionMode::Exact => {
                while self.planned < dt && !self.is_stopped() {
                    self.plan_span(response, scene);
                }
            }
            CollisionMode::Discrete { frame_at, frame_us } => self.plan_frames(dt, frame_at, frame_us, response, scene),
        }
    }

    /// The motion `dt` seconds after the start, with the planned contacts.
    pub fn at(&self, dt: f64) -> Kinematics {
        let dt = dt.max(0.0);
        if self.later.is_empty() {
            return self.first.at(dt);
        }
        let leg = self.leg_at(dt);
        leg.curve.at(dt - leg.from)
    }

    /// Changes the velocity `dt` seconds after the start and discards later contacts.
    pub fn deflect(&mut self, dt: f64, vel: DVec3, normal: DVec3, policy: AccelerationPolicy) {
        let leg = self.leg_at(dt);
        let curve = if self.later.len() + 1 < CONTACTS_MAX {
            leg.curve.deflected(dt - leg.from, vel, normal, policy)
        } else {
            Curve::still(self.at(dt).pos)
        };
        self.later.retain(|leg| leg.from <= dt);
        self.later.push(Leg { from: dt, curve });
        self.planned = dt;
    }

    /// Whether it has `CONTACTS_MAX` contacts and so ends at the last one.
    pub fn is_stopped(&self) -> bool {
        self.later.len() >= CONTACTS_MAX
    }

    /// An upper bound of the acceleration between two moments of one leg.
    pub fn acceleration_max(&self, from: f64, to: f64) -> f64 {
        let leg = self.leg_at(from);
        leg.curve.acceleration_max((from - leg.from).max(0.0), to - leg.from)
    }

    /// The leg at a moment; at a contact, the one that starts there.
    fn leg_at(&self, dt: f64) -> Leg {
        let before = self.later.iter().rev().find(|leg| leg.from <= dt);
        before.copied().unwrap_or(Leg { from: 0.0, curve: self.first })
    }

    fn last_leg(&self) -> Leg {
        self.later.last().copied().unwrap_or(Leg { from: 0.0, curve: self.first })
    }

    /// Plans up to the next contact or the end of a span.
    fn plan_span(&mut self, response: &Response, scene: &CollisionScene) {
        let leg = self.last_leg();
        let (from, to) = (self.planned - leg.from, self.planned - leg.from + SPAN_S);
        let (low, high) = leg.curve.reach(from, to);
        // Slightly wider, so that rounding in the index hides no contact.
        let margin = self.radius + 1e-6;
        let leg_start = self.start + micros(leg.from);
        let mut first = None;
        scene.near(low - margin, high + margin, |index| {
            let object = &scene.objects()[index];
            let touch = object.contact(leg_start, &leg.curve, self.radius, from, to);
            if let Some(touch) = touch
                && first.is_none_or(|(known, known_index): (space::impact::Touch, usize)| {
                    (touch.time, index) < (known.time, known_index)
                })
            {
                first = Some((touch, index));
            }
        });
        let Some((touch, index)) = first else {
            self.planned += SPAN_S;
            return;
        };
        let at = leg.from + touch.time;
        let carried = scene.objects()[index].vel;
        let vel = response.velocity(leg.curve.at(touch.time).vel - carried, touch.normal) + carried;
        self.deflect(at, vel, touch.normal, response.acceleration);
    }

    /// Tests for overlaps at each of an observer's frames up to `dt`: see [`CollisionMode::Discrete`].
    fn plan_frames(&mut self, dt: f64, frame_at: Time, frame_us: i64, response: &Response, scene: &CollisionScene) {
        let frame_us = frame_us.max(1);
        loop {
            if self.is_stopped() {
                return;
            }
            // The first frame that is not planned yet.
            let seen = (self.start + micros(self.planned)) - frame_at;
            let frame = frame_at + (seen.div_euclid(frame_us) + 1) * frame_us;
            let at = frame.seconds_since(self.start);
            if at > dt {
                return;
            }
            self.planned = at;
            let leg = self.last_leg();
            let here = leg.curve.at(at - leg.from);
            let mut bounce: Option<(usize, DVec3)> = None;
            scene.near(here.pos - self.radius, here.pos + self.radius, |index| {
                let object = &scene.objects()[index];
                let (gap, normal) = object.separation(frame, here.pos, self.radius);
                let is_earlier = bounce.is_none_or(|(known, _)| index < known);
                if gap < 0.0 && (here.vel - object.vel).dot(normal) < 0.0 && is_earlier {
                    bounce = Some((index, normal));
                }
            });
            if let Some((index, normal)) = bounce {
                let carried = scene.objects()[index].vel;
                let vel = response.velocity(here.vel - carried, normal) + carried;
                self.deflect(at, vel, normal, response.acceleration);
            }
        }
    }
}

fn micros(seconds: f64) -> i64 {
    libm::rint(seconds * 1e6) as i64
}

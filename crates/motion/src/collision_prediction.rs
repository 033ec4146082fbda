//! Remote collision prediction: a replica that meets a wall bounces, and nobody has to send anything.
//!
//! A [`Course`] is the path from an update's stamp onwards, with the bounces off scene objects worked out and kept.
//! It is planned from the stamp in spans of fixed length, whoever asks and however often: the answer for a moment
//! depends on the update and the scene, not on the frames at which an observer happened to look.

use space::{DVec3, Time};

use crate::curve::{AccelerationPolicy, Curve, Motion};
use crate::scene::Scene;

/// How a bounce changes motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// The share of the speed along the normal that is given back: 1 keeps the energy, 0 sticks.
    pub restitution: f64,
    /// The share of the speed along the surface that is lost.
    pub friction: f64,
    /// What becomes of the acceleration.
    pub acceleration: AccelerationPolicy,
}

impl Default for Response {
    fn default() -> Response {
        Response { restitution: 1.0, friction: 0.0, acceleration: AccelerationPolicy::Mirror }
    }
}

impl Response {
    /// The velocity after touching a surface with this normal, relative to that surface.
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

/// Whether and how collisions are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionMode {
    /// Not at all.
    Off,
    /// At the contact time.
    #[default]
    Exact,
    /// As in Ohlenburg's paper: tested at an observer's frames, and turned round at the place already penetrated.
    Discrete {
        /// A moment at which the observer has a frame.
        frame_at: Time,
        /// Microseconds from frame to frame.
        frame_us: i64,
    },
}

/// Bounces that one evaluation follows; after that the replica stays at the last contact.
pub const CONTACTS_MAX: usize = 8;
/// Contacts of an exact course are looked for in spans of this length, so that few scene objects are near each.
const SPAN_S: f64 = 0.5;

/// A path that starts at `from`, seconds after the course's start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leg {
    from: f64,
    curve: Curve,
}

/// A replica's path from the stamp of an update, as far as it has been planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    start: Time,
    radius: f64,
    first: Curve,
    /// The legs after each contact.
    later: Vec<Leg>,
    planned: f64,
}

impl Course {
    /// The course of a ball of this radius.
    pub fn new(start: Time, curve: Curve, radius: f64) -> Course {
        Course { start, radius, first: curve, later: Vec::new(), planned: 0.0 }
    }

    /// The course of a ball that is known to meet nothing for so many seconds: a whole number of spans.
    pub(crate) fn clear_until(start: Time, curve: Curve, radius: f64, planned: f64) -> Course {
        Course { planned, ..Course::new(start, curve, radius) }
    }

    /// The stamp from which it was planned.
    pub fn start(&self) -> Time {
        self.start
    }

    /// Seconds from the start up to which contacts are known.
    pub fn planned_s(&self) -> f64 {
        self.planned
    }

    /// When each contact happens, in seconds from the start, as far as planned.
    pub fn contacts(&self) -> impl Iterator<Item = f64> + '_ {
        self.later.iter().map(|leg| leg.from)
    }

    /// Finds the contacts up to `dt` seconds after the start.
    pub fn plan(&mut self, dt: f64, mode: CollisionMode, response: &Response, scene: &Scene) {
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

    /// Where it is, `dt` seconds after the start. Contacts beyond what was planned are not in it.
    pub fn at(&self, dt: f64) -> Motion {
        let dt = dt.max(0.0);
        if self.later.is_empty() {
            return self.first.at(dt);
        }
        let leg = self.leg_at(dt);
        leg.curve.at(dt - leg.from)
    }

    /// Turns the course, `dt` seconds after the start, to another velocity, and forgets what was planned after that.
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

    /// Whether it has used up its contacts and stays where the last one was.
    pub fn is_stopped(&self) -> bool {
        self.later.len() >= CONTACTS_MAX
    }

    /// A box around the ball's way between two moments, in seconds after the start.
    pub fn reach(&self, from: f64, to: f64) -> (DVec3, DVec3) {
        let leg = self.leg_at(from);
        let ends = self.later.iter().map(|leg| leg.from).find(|&start| start > from).unwrap_or(to).min(to);
        let (mut low, mut high) = leg.curve.reach(from - leg.from, ends - leg.from);
        for (index, leg) in self.later.iter().enumerate().filter(|(_, leg)| leg.from > from && leg.from <= to) {
            let end = self.later.get(index + 1).map_or(to, |next| next.from.min(to));
            let (a, b) = leg.curve.reach(0.0, end - leg.from);
            (low, high) = (low.min(a), high.max(b));
        }
        (low - self.radius, high + self.radius)
    }

    /// The largest acceleration of the leg that is under way at `from`, up to a later moment of the same leg.
    pub fn acceleration_max(&self, from: f64, to: f64) -> f64 {
        let leg = self.leg_at(from);
        leg.curve.acceleration_max((from - leg.from).max(0.0), to - leg.from)
    }

    /// The leg that is under way at a moment, and at a contact the one that starts there.
    fn leg_at(&self, dt: f64) -> Leg {
        let before = self.later.iter().rev().find(|leg| leg.from <= dt);
        before.copied().unwrap_or(Leg { from: 0.0, curve: self.first })
    }

    fn last_leg(&self) -> Leg {
        self.later.last().copied().unwrap_or(Leg { from: 0.0, curve: self.first })
    }

    /// Plans up to the next contact, or to the end of a span.
    fn plan_span(&mut self, response: &Response, scene: &Scene) {
        let leg = self.last_leg();
        let (from, to) = (self.planned - leg.from, self.planned - leg.from + SPAN_S);
        let (low, high) = leg.curve.reach(from, to);
        // Wider by a hair, so that rounding in the index cannot hide a touch.
        let margin = self.radius + 1e-6;
        let leg_start = self.start + micros(leg.from);
        let mut first = None;
        scene.near(low - margin, high + margin, |index| {
            let object = &scene.objects()[index];
            // What stands needs no clock: the leg's start need not fall on a microsecond.
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

    /// Looks at each of an observer's frames up to `dt`, as the paper does.
    fn plan_frames(&mut self, dt: f64, frame_at: Time, frame_us: i64, response: &Response, scene: &Scene) {
        let frame_us = frame_us.max(1);
        loop {
            if self.is_stopped() {
                return;
            }
            // The first frame after what has been looked at.
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

/// Whole microseconds, as stamps have them.
fn micros(seconds: f64) -> i64 {
    libm::rint(seconds * 1e6) as i64
}

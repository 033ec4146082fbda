//! Collisions among replicas, as one observer predicts them for itself.
//!
//! Two hosts hold different replicas, so they predict different collisions among them: what comes out here is for the
//! eyes of one observer, and never enters a ghost. An observer's own objects take no part; that is what
//! [`decision`](crate::decision) is for.

use space::impact::{Advance, Impact, Probe};
use space::{DVec3, Time};

use crate::collision_prediction::{CONTACTS_MAX, Course};
use crate::curve::Motion;
use crate::replica::{Predicted, Replica};
use crate::scene::Scene;

/// What a viewer can see: the points on the inner side of all planes.
#[derive(Clone, Debug)]
pub struct View {
    /// Normals that point inwards, and the offsets along them: inside is `normal · p >= offset`.
    pub planes: Vec<(DVec3, f64)>,
    /// By how much more than that counts as seen, in metres.
    pub margin: f64,
}

impl View {
    /// Whether a ball is wholly outside, margin included.
    pub fn excludes(&self, center: DVec3, radius: f64) -> bool {
        self.planes.iter().any(|&(normal, offset)| normal.dot(center) + radius + self.margin < offset)
    }
}

/// What an observer predicts for all its replicas together.
#[derive(Clone, Debug, Default)]
pub struct Together {
    /// Each replica's state, in the order given; `None` before its first update.
    pub predicted: Vec<Option<Predicted>>,
    /// Collisions among replicas since their stamps.
    pub contacts: usize,
    /// Pairs that were not looked at because nobody could see them.
    pub culled: usize,
}

/// Predicts all replicas at a moment, bounces among them included. `is_near_own` says of a replica that it may meet an
/// object of this host, and so is never culled.
pub fn predict_together(
    replicas: &mut [Replica],
    at: Time,
    scene: &Scene,
    view: Option<&View>,
    is_near_own: impl Fn(usize) -> bool,
) -> Together {
    let mut all: Vec<(&mut Replica, Time)> = replicas.iter_mut().map(|replica| (replica, at)).collect();
    predict_by_clocks(&mut all, scene, view, is_near_own)
}

/// The same for replicas of several owners, each with the moment by its owner's clock.
pub fn predict_by_clocks(
    replicas: &mut [(&mut Replica, Time)],
    scene: &Scene,
    view: Option<&View>,
    is_near_own: impl Fn(usize) -> bool,
) -> Together {
    let mut together = Together {
        predicted: replicas.iter_mut().map(|(replica, at)| replica.predict(*at, scene)).collect(),
        ..Together::default()
    };
    let mut courses: Vec<Option<Course>> =
        replicas.iter().map(|(replica, at)| replica.course().filter(|_| !replica.is_stale(*at)).cloned()).collect();
    let seen = |index: usize| {
        let course = courses[index].as_ref()?;
        let (low, high) = course.reach(0.0, replicas[index].1.seconds_since(course.start()).max(0.0));
        let (center, radius) = ((low + high) * 0.5, 0.5 * (high - low).length());
        let is_excluded = view.is_some_and(|view| view.excludes(center, radius)) && !is_near_own(index);
        Some((low, high, !is_excluded))
    };
    let ways: Vec<Option<(DVec3, DVec3, bool)>> = (0..replicas.len()).map(seen).collect();
    let mut meetings: Vec<Meeting> = Vec::new();
    for first in 0..replicas.len() {
        for second in first + 1..replicas.len() {
            let (Some(one), Some(other)) = (ways[first], ways[second]) else { continue };
            if !one.2 && !other.2 {
                together.culled += 1;
                continue;
            }
            meetings.push(Meeting { first, second, next: None });
        }
    }
    for meeting in &mut meetings {
        meeting.look(&courses, replicas);
    }
    // Each contact uses up one of the eight that two courses have.
    for _ in 0..replicas.len() * CONTACTS_MAX {
        let Some((since, first, second)) = meetings
            .iter()
            .filter_map(|meeting| meeting.next.map(|next| (next, meeting.first, meeting.second)))
            .min_by(|one, other| one.0.total_cmp(&other.0).then((one.1, one.2).cmp(&(other.1, other.2))))
        else {
            break;
        };
        together.contacts += 1;
        bounce(&mut courses, replicas, (first, second), since, scene);
        for meeting in &mut meetings {
            if [meeting.first, meeting.second].iter().any(|index| [first, second].contains(index)) {
                meeting.look(&courses, replicas);
            }
        }
    }
    for (index, course) in courses.iter().enumerate().filter(|_| together.contacts > 0) {
        if let (Some(course), Some(predicted)) = (course, &mut together.predicted[index]) {
            let (replica, at) = &replicas[index];
            let dt = seconds(*at, course, replica);
            let Motion { pos, vel, acc } = course.at(dt);
            *predicted = Predicted { pos, vel, acc, rot: predicted.rot };
        }
    }
    together
}

/// Replicas and moments, as they were given.
type Timed<'a> = (&'a mut Replica, Time);

/// A pair that may collide. Times are seconds before the moment, negated: all courses share that one clock.
struct Meeting {
    first: usize,
    second: usize,
    next: Option<f64>,
}

impl Meeting {
    fn look(&mut self, courses: &[Option<Course>], replicas: &[Timed<'_>]) {
        self.next = None;
        let (Some(one), Some(other)) = (&courses[self.first], &courses[self.second]) else { return };
        if one.is_stopped() && other.is_stopped() {
            return;
        }
        let [(first, first_at), (second, second_at)] = [&replicas[self.first], &replicas[self.second]];
        let radius = first.settings().radius + second.settings().radius;
        // The two start at different stamps: a moment is so long before now, and so long after each stamp.
        let (age_one, age_other) = (first_at.seconds_since(one.start()), second_at.seconds_since(other.start()));
        let begin = -age_one.min(age_other);
        // Between contacts both move smoothly; across one they may not.
        let mut edges: Vec<f64> =
            one.contacts().map(|t| t - age_one).chain(other.contacts().map(|t| t - age_other)).collect();
        edges.retain(|&edge| edge > begin && edge < 0.0);
        edges.push(0.0);
        edges.sort_by(f64::total_cmp);
        let mut start = begin;
        for edge in edges {
            // Just inside the interval, so that each leg is asked about itself.
            let inside = 0.5 * (start + edge);
            let acceleration = one.acceleration_max(inside + age_one, edge + age_one)
                + other.acceleration_max(inside + age_other, edge + age_other);
            let search = Advance { from: start, to: edge, acceleration, tolerance: 1e-9 * (1.0 + radius) };
            let found = search.find(|t| {
                let (a, b) = (one.at(t + age_one), other.at(t + age_other));
                let (d, v) = (a.pos - b.pos, a.vel - b.vel);
                let distance = d.length();
                Probe { gap: distance - radius, rate: if distance > 0.0 { d.dot(v) / distance } else { -v.length() } }
            });
            if let Impact::At(time) = found {
                self.next = Some(time);
                return;
            }
            start = edge;
        }
    }
}

/// Two equal masses exchange what they have along the line between them.
fn bounce(
    courses: &mut [Option<Course>],
    replicas: &[Timed<'_>],
    (first, second): (usize, usize),
    since: f64,
    scene: &Scene,
) {
    let place = |index: usize, courses: &[Option<Course>]| {
        let course = courses[index].as_ref().expect("only pairs with courses meet");
        let dt = since + replicas[index].1.seconds_since(course.start());
        (dt, course.at(dt))
    };
    let (dt_one, one) = place(first, courses);
    let (dt_other, other) = place(second, courses);
    let normal = (one.pos - other.pos).normalize_or(DVec3::Y);
    let restitution = 0.5 * (replicas[first].0.response().restitution + replicas[second].0.response().restitution);
    let push = normal * (0.5 * (1.0 + restitution) * (one.vel - other.vel).dot(normal));
    for (index, dt, vel, normal) in
        [(first, dt_one, one.vel - push, normal), (second, dt_other, other.vel + push, -normal)]
    {
        let course = courses[index].as_mut().expect("only pairs with courses meet");
        let (replica, at) = &replicas[index];
        let response = replica.response();
        course.deflect(dt, vel, normal, response.acceleration);
        course.plan(seconds(*at, course, replica), replica.settings().collisions, &response, scene);
    }
}

/// Seconds from a course's start to `at`, within what is extrapolated.
fn seconds(at: Time, course: &Course, replica: &Replica) -> f64 {
    (at - course.start()).clamp(0, replica.settings().extrapolation_us_max) as f64 * 1e-6
}

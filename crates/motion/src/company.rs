//! Collisions between replicas, as one observer predicts them for display.
//!
//! Two hosts hold different replicas and so predict different collisions between them. The results are shown by
//! one observer and never enter a ghost. An observer's own objects take no part: [`decision`](crate::decision)
//! is for those.

use space::impact::{Advance, Impact, Probe};
use space::{DVec3, Time};

use crate::collision_prediction::{CONTACTS_MAX, Trajectory};
use crate::curve::Kinematics;
use crate::replica::{Predicted, Replica};
use crate::scene::CollisionScene;

/// The prediction of several replicas, including their collisions with each other.
#[derive(Clone, Debug, Default)]
pub struct Together {
    /// The state of each replica, in the order given; `None` before its first update.
    pub predicted: Vec<Option<Predicted>>,
    /// The number of collisions between replicas since their stamps.
    pub contacts: usize,
}

/// A replica, and the moment to predict it for, by its owner's clock.
pub type Timed<'a> = (&'a mut Replica, Time);

/// Predicts several replicas, each at a moment of its owner's clock, with bounces off each other. Each pair of replicas
/// is searched for its first contact; the earliest contact of all is resolved, the pairs of the two replicas are
/// searched again, and so on.
pub fn predict_together(replicas: &mut [Timed<'_>], scene: &CollisionScene) -> Together {
    let mut together = Together {
        predicted: replicas.iter_mut().map(|(replica, at)| replica.predict(*at, scene)).collect(),
        ..Together::default()
    };
    let mut trajectories: Vec<Option<Trajectory>> =
        replicas.iter().map(|(replica, at)| replica.trajectory().filter(|_| !replica.is_stale(*at)).cloned()).collect();
    let there: Vec<usize> = (0..replicas.len()).filter(|&index| trajectories[index].is_some()).collect();
    let mut meetings: Vec<Meeting> = Vec::new();
    for (place, &first) in there.iter().enumerate() {
        meetings.extend(there[place + 1..].iter().map(|&second| Meeting { first, second, next: None }));
    }
    for meeting in &mut meetings {
        meeting.look(&trajectories, replicas);
    }
    // Each contact uses up one of the CONTACTS_MAX of two trajectories.
    for _ in 0..replicas.len() * CONTACTS_MAX {
        let Some((since, first, second)) = meetings
            .iter()
            .filter_map(|meeting| meeting.next.map(|next| (next, meeting.first, meeting.second)))
            .min_by(|one, other| one.0.total_cmp(&other.0).then((one.1, one.2).cmp(&(other.1, other.2))))
        else {
            break;
        };
        together.contacts += 1;
        bounce(&mut trajectories, replicas, (first, second), since, scene);
        for meeting in &mut meetings {
            if [meeting.first, meeting.second].iter().any(|index| [first, second].contains(index)) {
                meeting.look(&trajectories, replicas);
            }
        }
    }
    for (index, trajectory) in trajectories.iter().enumerate().filter(|_| together.contacts > 0) {
        if let (Some(trajectory), Some(predicted)) = (trajectory, &mut together.predicted[index]) {
            let (replica, at) = &replicas[index];
            let Kinematics { pos, vel, acc } = trajectory.at(seconds(*at, trajectory, replica));
            *predicted = Predicted { pos, vel, acc, rot: predicted.rot };
        }
    }
    together
}

/// A pair of replicas that may collide. Trajectories start at different stamps, so contacts are in seconds relative to
/// the moment of prediction, and not positive.
struct Meeting {
    first: usize,
    second: usize,
    next: Option<f64>,
}

impl Meeting {
    /// Finds the next contact.
    fn look(&mut self, trajectories: &[Option<Trajectory>], replicas: &[Timed<'_>]) {
        self.next = None;
        let (Some(one), Some(other)) = (&trajectories[self.first], &trajectories[self.second]) else { return };
        if one.is_stopped() && other.is_stopped() {
            return;
        }
        let [(first, first_at), (second, second_at)] = [&replicas[self.first], &replicas[self.second]];
        let radius = first.settings().radius + second.settings().radius;
        let (age_one, age_other) = (first_at.seconds_since(one.start()), second_at.seconds_since(other.start()));
        let begin = -age_one.min(age_other);
        // Motion is smooth only between the contacts of either: each leg is searched separately.
        let mut edges: Vec<f64> =
            one.contacts().map(|t| t - age_one).chain(other.contacts().map(|t| t - age_other)).collect();
        edges.retain(|&edge| edge > begin && edge < 0.0);
        edges.push(0.0);
        edges.sort_by(f64::total_cmp);
        let mut start = begin;
        for edge in edges {
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

/// Two bodies of equal mass exchange momentum along the line between their centres.
fn bounce(
    trajectories: &mut [Option<Trajectory>],
    replicas: &[Timed<'_>],
    (first, second): (usize, usize),
    since: f64,
    scene: &CollisionScene,
) {
    let place = |index: usize, trajectories: &[Option<Trajectory>]| {
        let trajectory = trajectories[index].as_ref().expect("only pairs with trajectories meet");
        let dt = since + replicas[index].1.seconds_since(trajectory.start());
        (dt, trajectory.at(dt))
    };
    let (dt_one, one) = place(first, trajectories);
    let (dt_other, other) = place(second, trajectories);
    let normal = (one.pos - other.pos).normalize_or(DVec3::Y);
    let restitution = 0.5 * (replicas[first].0.response().restitution + replicas[second].0.response().restitution);
    let push = normal * (0.5 * (1.0 + restitution) * (one.vel - other.vel).dot(normal));
    for (index, dt, vel, normal) in
        [(first, dt_one, one.vel - push, normal), (second, dt_other, other.vel + push, -normal)]
    {
        let trajectory = trajectories[index].as_mut().expect("only pairs with trajectories meet");
        let (replica, at) = &replicas[index];
        let response = replica.response();
        trajectory.deflect(dt, vel, normal, response.acceleration);
        trajectory.plan(seconds(*at, trajectory, replica), replica.settings().collisions, &response, scene);
    }
}

/// Seconds from the start of a trajectory to `at`, at most as far as the replica extrapolates.
fn seconds(at: Time, trajectory: &Trajectory, replica: &Replica) -> f64 {
    (at - trajectory.start()).clamp(0, replica.settings().extrapolation_us_max) as f64 * 1e-6
}

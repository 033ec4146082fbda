//! Bots: objects that walk about without a user.

use space::workload::Random;
use space::{DVec3, Time};

/// The least and the most time that a direction is kept, in microseconds.
const STRAIGHT_US: [u32; 2] = [1_000_000, 4_000_000];

/// Walks straight for a while, then in another direction: with a probability of a third towards the nearest object, so
/// that there are contacts.
#[derive(Clone, Debug)]
pub struct Wanderer {
    random: Random,
    speed: f64,
    velocity: DVec3,
    until: Option<Time>,
}

impl Wanderer {
    /// A wanderer at a speed in metres per second.
    pub fn new(seed: u64, speed: f64) -> Wanderer {
        Wanderer { random: Random::new(seed), speed, velocity: DVec3::ZERO, until: None }
    }

    /// The velocity to walk at, given its position and that of the nearest other object.
    pub fn wish(&mut self, now: Time, here: DVec3, next: Option<DVec3>) -> DVec3 {
        if self.until.is_none_or(|until| now >= until) {
            self.until = Some(now + i64::from(self.random.whole(STRAIGHT_US[0], STRAIGHT_US[1])));
            let towards = next.map(|next| DVec3::new(next.x - here.x, 0.0, next.z - here.z));
            let angle = f64::from(self.random.between(0.0, std::f32::consts::TAU));
            let anywhere = DVec3::new(libm::cos(angle), 0.0, libm::sin(angle));
            let is_drawn = self.random.unit() < 1.0 / 3.0;
            let way = towards.filter(|_| is_drawn).map_or(anywhere, |towards| towards.normalize_or(anywhere));
            self.velocity = way * self.speed;
        }
        self.velocity
    }
}

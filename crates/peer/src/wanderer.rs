//! Company: somebody who walks about without being told.

use space::workload::Random;
use space::{DVec3, Time};

/// A course is kept for so long, in microseconds.
const COURSE_US: [u32; 2] = [1_000_000, 4_000_000];

/// Walks straight on for a while, then elsewhere; every third time towards whoever is next, so that people meet.
#[derive(Clone, Debug)]
pub struct Wanderer {
    random: Random,
    speed: f64,
    velocity: DVec3,
    until: Option<Time>,
}

impl Wanderer {
    /// The wanderer that this seed stands for, at this pace in metres per second.
    pub fn new(seed: u64, speed: f64) -> Wanderer {
        Wanderer { random: Random::new(seed), speed, velocity: DVec3::ZERO, until: None }
    }

    /// The velocity that it wants at a moment, being here; `next` is who is next to it.
    pub fn wish(&mut self, now: Time, here: DVec3, next: Option<DVec3>) -> DVec3 {
        if self.until.is_none_or(|until| now >= until) {
            self.until = Some(now + i64::from(self.random.whole(COURSE_US[0], COURSE_US[1])));
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

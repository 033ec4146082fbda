//! A plan in the making.
//!
//! To weigh all ideas takes as long as a few ticks of a small world, and is done again and again where nothing pays. So it is
//! done in several ticks, with some slacks in each of them. Meanwhile the world stays as it was, or nearly so.

use super::mood::SLACKS;
use super::plan::{Census, Plan};
use super::scout::Outlook;

/// A plan in the making.
#[derive(Debug)]
pub struct Planning {
    outlook: Outlook,
    limit: f64,
    /// How many slacks were weighed.
    weighed: usize,
    best: Option<Plan>,
}

/// So many slacks are weighed in a tick.
const TOGETHER: usize = 2;

impl Planning {
    /// Begins to look for a plan that costs less than `limit`, per object and tick.
    pub fn new(outlook: Outlook, limit: f64) -> Planning {
        Planning { outlook, limit, weighed: 0, best: None }
    }

    /// Whether nothing has been weighed yet.
    pub fn is_new(&self) -> bool {
        self.weighed == 0
    }

    /// Whether everything has.
    pub fn is_over(&self) -> bool {
        self.weighed == SLACKS.len()
    }

    /// Weighs some more.
    pub fn go_on(&mut self, census: &mut Census) {
        let next = (self.weighed + TOGETHER).min(SLACKS.len());
        census.improve(&mut self.best, self.weighed..next, self.outlook, self.limit);
        self.weighed = next;
    }

    /// The best plan of those that were weighed, if any pays.
    pub fn plan(self) -> Option<Plan> {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;
    use crate::{Sphere, Spheres, Vec3};

    /// What comes of it is what would have if all had been weighed at once.
    #[test]
    fn a_plan_made_in_parts_is_the_same() {
        let mut made = 0;
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let mut spheres = Spheres::new();
            for _ in 0..2_000 {
                spheres.insert(Sphere::new(random.point(55.0), random.log_uniform(4.0))).unwrap();
            }
            let velocities: Vec<Vec3> =
                (0..2_000).map(|_| random.direction() * 0.1 * random.log_uniform(10.0)).collect();
            let mut census = Census::default();
            census.take(&spheres, 2_000, |row| velocities[row]);
            let outlook = Outlook {
                off_line: random.between(0.0, 0.1),
                off_place: random.between(0.1, 1.0),
                ..Outlook::default()
            };
            let limit = f64::from(random.between(100.0, 1_200.0));
            let mut at_once = None;
            census.improve(&mut at_once, 0..SLACKS.len(), outlook, limit);
            let mut planning = Planning::new(outlook, limit);
            while !planning.is_over() {
                planning.go_on(&mut census);
            }
            made += usize::from(at_once.is_some());
            assert_eq!(planning.plan(), at_once, "seed {seed}");
        }
        println!("{made} plans");
        assert!((20..=80).contains(&made), "{made} plans");
    }
}

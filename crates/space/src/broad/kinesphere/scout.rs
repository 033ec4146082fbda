//! Looks out, while pairs are found without courses, for a time when courses would pay.
//!
//! A sample of the objects is followed for a few ticks. How far most of them get off a straight line, and how far from
//! where they were, tells how long courses would last; the [plan](super::plan) weighs that.

use crate::Vec3;

use super::mood::size;
use crate::Spheres;
use crate::bits::Bits;

/// Ticks that a sample is followed for.
pub const FOLLOWED: usize = 4;
/// Objects in a sample, at least and at most, and objects per one of them: in a small world too, looking out and planning
/// may not take much longer than a tick.
const SAMPLE: (usize, usize) = (64, 1024);
const OBJECTS_PER_SAMPLE: usize = 48;

/// Who gets off its line by this share of its size, and so many times as far as most, has turned.
const TURNED: f32 = 0.05;
const UNLIKE: f32 = 4.0;

/// Follows a sample of objects.
#[derive(Debug, Default)]
pub struct Scout {
    rows: Vec<u32>,
    /// `FOLLOWED + 1` places of each row, tick after tick.
    places: Vec<Vec3>,
    /// Scratch: how far each got.
    strays: Vec<f32>,
}

/// How far objects get within [`FOLLOWED`] ticks, as a share of their size; three in four get no farther.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlook {
    /// From the line through their first two places.
    pub off_line: f32,
    /// From their first place.
    pub off_place: f32,
    /// The share of all who turn in a tick, unlike most: whatever the slack, they stray before long.
    pub turn: f32,
}

/// Of so many rows, some that stand for all.
pub fn sample(rows: &Bits, count: usize) -> impl Iterator<Item = usize> + '_ {
    let size = (count / OBJECTS_PER_SAMPLE).clamp(SAMPLE.0, SAMPLE.1);
    rows.every(count.div_ceil(size))
}

impl Scout {
    /// Starts over.
    pub fn reset(&mut self) {
        self.rows.clear();
        self.places.clear();
    }

    /// Notes where the sample is. After a few ticks it has an outlook, and starts over.
    pub fn observe(&mut self, spheres: &Spheres) -> Option<Outlook> {
        if self.rows.is_empty() {
            self.rows.extend(sample(spheres.alive(), spheres.len()).map(|row| row as u32));
        }
        let columns = spheres.columns();
        self.places.extend(self.rows.iter().map(|&row| columns.sphere(row as usize).center));
        if self.places.len() < self.rows.len() * (FOLLOWED + 1) || self.rows.is_empty() {
            return None;
        }
        let off_place = self.most(spheres, |places| farthest((1..=FOLLOWED).map(|tick| places[tick] - places[0])));
        let off_line = self.most(spheres, |places| {
            let step = places[1] - places[0];
            farthest((2..=FOLLOWED).map(|tick| places[tick] - places[0] - step * tick as f32))
        });
        // A line is known from one step, and may be left with each of those that follow.
        let turns = (self.rows.len() * (FOLLOWED - 1)) as f32;
        let turned = self.strays.iter().filter(|&&off| off > TURNED.max(UNLIKE * off_line)).count();
        let turn = turned as f32 / turns;
        self.reset();
        Some(Outlook { off_line, off_place, turn })
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 4 + self.places.capacity() * size_of::<Vec3>() + self.strays.capacity() * 4
    }

    /// How far three in four get, by some measure of squared distances.
    fn most(&mut self, spheres: &Spheres, measure: impl Fn(&[Vec3; FOLLOWED + 1]) -> f32) -> f32 {
        let count = self.rows.len();
        self.strays.clear();
        for (index, &row) in self.rows.iter().enumerate() {
            let places: [Vec3; FOLLOWED + 1] = std::array::from_fn(|tick| self.places[tick * count + index]);
            let step = (places[1] - places[0]).length_squared().sqrt();
            let size = size(spheres.columns().radius[row as usize], step);
            let worst = measure(&places);
            // What rounding alone may do says nothing about how an object moves.
            let rounding = places[0].abs().max_element() * (8.0 * f32::EPSILON);
            let off = if worst <= rounding * rounding { 0.0 } else { worst };
            self.strays.push(if off == 0.0 { 0.0 } else { off.sqrt() / size });
        }
        let decisive = (count - 1) * 3 / 4;
        *self.strays.select_nth_unstable_by(decisive, f32::total_cmp).1
    }
}

/// The longest of these, squared. Who was removed or replaced meanwhile is NaN at some time, and counts as unsteady.
fn farthest(ways: impl Iterator<Item = Vec3>) -> f32 {
    ways.map(|way| way.length_squared()).fold(0.0, |farthest, next| if next <= farthest { farthest } else { next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Motion, Random, Settings, Workload};
    use crate::{Slot, Sphere};

    fn outlook(motion: Motion) -> Outlook {
        let mut workload = Workload::new(Settings { motion, objects: 3_000, ..Settings::default() }).unwrap();
        let mut scout = Scout::default();
        loop {
            if let Some(outlook) = scout.observe(workload.spheres()) {
                return outlook;
            }
            workload.step();
        }
    }

    #[test]
    fn the_scout_tells_motions_apart() {
        assert!(outlook(Motion::Uniform).off_line < 1e-3);
        assert!(outlook(Motion::Static).off_place == 0.0);
        assert!((0.01..0.05).contains(&outlook(Motion::Turning).off_line));
        let jitter = outlook(Motion::Jitter);
        assert!(jitter.off_place < jitter.off_line && jitter.off_place < 0.3, "{jitter:?}");
        assert!(outlook(Motion::Teleport).off_line > 1.0);
    }

    /// In a world where all go straight, but one in twenty turns in a tick.
    #[test]
    fn the_scout_counts_who_turns() {
        for seed in 0..10 {
            let mut random = Random::new(seed);
            let mut spheres = Spheres::new();
            let mut velocities: Vec<Vec3> = (0..20_000).map(|_| random.direction() * 0.1).collect();
            for _ in &velocities {
                spheres.insert(Sphere::new(random.point(100.0), 1.0)).unwrap();
            }
            let mut scout = Scout::default();
            let outlook = loop {
                if let Some(outlook) = scout.observe(&spheres) {
                    break outlook;
                }
                spheres.end_tick();
                for (row, velocity) in velocities.iter_mut().enumerate() {
                    if random.whole(0, 20) == 0 {
                        *velocity = random.direction() * 0.1;
                    }
                    let slot = Slot::new(row as u32);
                    spheres.move_to(slot, spheres.get(slot).unwrap().center + *velocity).unwrap();
                }
            };
            assert!((0.03..0.07).contains(&outlook.turn), "seed {seed}: {outlook:?}");
        }
    }
}

//! Those who strayed, in this tick: out of their tiles, onto other courses, and into the tiles where these lead.
//!
//! Most of the time goes into looking: for an object's row in its tile, at what it did, for its next tile. All of that is
//! far apart in memory, and nothing is changed by it; so it is done for all strays first, by several threads at once, and
//! written down in a [`Departure`] each. Only then do they leave, one after the other. They come in again while the tiles
//! that are due are being renewed; those who belong there have to wait until that is done.
//!
//! Invariant: whoever strayed has one version more afterwards, whatever became of it and whoever had its slot meanwhile.

use crate::Vec3;
use rayon::prelude::*;

use super::agenda::LOOK_AHEAD;
use super::course::{Course, Courses};
use super::following::Following;
use super::mood::{Mood, Stray};
use super::moving::{Lodging, Whereabouts, entered};
use crate::{Slot, Spheres};

/// What one needs is fetched while so many before it are looked at.
const AHEAD: usize = 4;

/// What becomes of somebody who strayed.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    row: u32,
    /// Where it was, if it was anywhere.
    from: Option<Whereabouts>,
    /// What it does next, unless it is gone for good.
    next: Option<Next>,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    mood: Mood,
    course: Course,
    lodging: Option<Lodging>,
}

impl Following {
    /// Takes all who strayed out of their tiles, and gives those who are still there another course.
    pub(super) fn see_strays_off(&mut self, spheres: &Spheres) {
        // Those of one tile after another: what they touch is then still in cache.
        let homes = &self.homes;
        self.strayed.sort_unstable_by_key(|&row| (homes[row as usize], row));
        let mut departures = std::mem::take(&mut self.departures);
        departures.clear();
        if self.threads < 2 {
            departures.extend((0..self.strayed.len()).map(|index| self.departure(index, spheres)));
        } else {
            const TOGETHER: usize = 64;
            let strayed = (0..self.strayed.len()).into_par_iter().with_min_len(TOGETHER);
            strayed.map(|index| self.departure(index, spheres)).collect_into_vec(&mut departures);
        }
        for &Departure { row, from, next } in &departures {
            if let Some(from) = from {
                self.leave(row, from);
            }
            match next {
                Some(Next { mood, course, .. }) => {
                    self.moods[row as usize] = mood.to_byte();
                    self.courses.set(row, self.now, course);
                }
                None => self.courses.clear(row),
            }
        }
        self.departures = departures;
    }

    /// Lets them into the tiles where their courses lead, as far as these are there and not being renewed.
    pub(super) fn take_strays_in(&mut self) {
        self.homeless.clear();
        for index in 0..self.departures.len() {
            let Departure { row, next, .. } = self.departures[index];
            if let Some(Next { lodging, .. }) = next
                && !self.move_into(lodging)
            {
                self.homeless.push(row);
            }
        }
    }

    fn departure(&self, index: usize, spheres: &Spheres) -> Departure {
        if let Some(&later) = self.strayed.get(index + AHEAD) {
            self.courses.fetch(later, spheres.columns());
        }
        let row = self.strayed[index];
        let next = spheres.is_alive(Slot::new(row)).then(|| {
            let columns = spheres.columns();
            let (mood, course) = self.next_course(row, spheres);
            let lodging = self.lodging(|middle| {
                let course = Courses::once_set(row, self.now, course, (middle as i64 - self.now as i64) as f32);
                entered(row, course, columns.radius[row as usize])
            });
            Next { mood, course, lodging }
        });
        Departure { row, from: self.whereabouts(row), next }
    }

    /// The course of an object that strayed, or has just come into the world.
    fn next_course(&self, row: u32, spheres: &Spheres) -> (Mood, Course) {
        let sphere = spheres.columns().sphere(row as usize);
        let old = self.courses.at(row, self.now, 0.0);
        // What somebody else did whose slot it was says nothing about a newcomer.
        let (mood, velocity) = if old.place.is_finite() && !spheres.was_taken_in_this_tick(Slot::new(row)) {
            Mood::from_byte(self.moods[row as usize]).after(Stray {
                place: sphere.center,
                expected: old.place,
                velocity: old.velocity,
                slack: old.slack,
                age: self.courses.age(row, self.now).max(1),
                radius: sphere.radius,
            })
        } else {
            (Mood::new(0), Vec3::ZERO)
        };
        let slack = mood.slack(sphere.radius, velocity);
        // Who keeps to its place for longer than any tile lives stands, if only because of rounding it does not quite.
        let stands = velocity.length_squared().sqrt() * LOOK_AHEAD as f32 <= slack;
        (mood, Course { place: sphere.center, velocity: if stands { Vec3::ZERO } else { velocity }, slack })
    }
}

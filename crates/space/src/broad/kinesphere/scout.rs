//! Looks out, while pairs are found without courses, for a time when courses would pay.
//!
//! A sample of the objects is followed for a few ticks. If most of them keep to straight lines, or hardly get away from
//! where they were, courses will last, and the scout says with which slack. If they teleport, nothing will.

use glam::Vec3;

use super::mood::SLACKS;
use crate::Spheres;

/// Ticks that a sample is followed for.
const FOLLOWED: usize = 4;
/// Objects in a sample.
const SAMPLE: usize = 1024;

/// Follows a sample of objects.
#[derive(Debug, Default)]
pub struct Scout {
    rows: Vec<u32>,
    /// `FOLLOWED + 1` places of each row, tick after tick.
    places: Vec<Vec3>,
    /// Scratch: how far each strayed, as a share of its size.
    strays: Vec<(f32, f32)>,
}

/// How objects move, as far as the scout can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Along lines, with this level of [`SLACKS`].
    Lines(usize),
    /// About the same place, with the widest slack.
    Milling,
}

impl Scout {
    /// Starts over.
    pub fn reset(&mut self) {
        self.rows.clear();
        self.places.clear();
    }

    /// Notes where the sample is. After a few ticks it either has an outlook or starts over.
    pub fn observe(&mut self, spheres: &Spheres) -> Option<Outlook> {
        if self.rows.is_empty() {
            let every = spheres.len().div_ceil(SAMPLE).max(1);
            self.rows.extend(spheres.alive().iter().step_by(every).map(|row| row as u32));
        }
        let columns = spheres.columns();
        self.places.extend(self.rows.iter().map(|&row| columns.sphere(row as usize).center));
        if self.places.len() < self.rows.len() * (FOLLOWED + 1) || self.rows.is_empty() {
            return None;
        }
        let outlook = self.judge(spheres);
        self.reset();
        outlook
    }

    fn judge(&mut self, spheres: &Spheres) -> Option<Outlook> {
        let count = self.rows.len();
        self.strays.clear();
        for (index, &row) in self.rows.iter().enumerate() {
            let place = |tick: usize| self.places[tick * count + index];
            let step = place(1) - place(0);
            let size = spheres.columns().radius[row as usize].max(step.length());
            let off_line = (2..=FOLLOWED).map(|tick| (place(tick) - place(0) - step * tick as f32).length());
            let off_place = (1..=FOLLOWED).map(|tick| (place(tick) - place(0)).length());
            let share = |distance: f32| if distance == 0.0 { 0.0 } else { distance / size };
            // An object that was removed or replaced meanwhile has NaN somewhere: it counts as unsteady.
            let worst = |distances: &mut dyn Iterator<Item = f32>| {
                distances.map(share).fold(0.0, |worst: f32, next| if next <= worst { worst } else { next })
            };
            self.strays.push((worst(&mut off_line.into_iter()), worst(&mut off_place.into_iter())));
        }
        // Three of four must keep to it.
        let decisive = (count - 1) * 3 / 4;
        let line = *self.strays.select_nth_unstable_by(decisive, |a, b| a.0.total_cmp(&b.0)).1;
        let milling = *self.strays.select_nth_unstable_by(decisive, |a, b| a.1.total_cmp(&b.1)).1;
        let widest = SLACKS[SLACKS.len() - 1];
        if milling.1 < line.0 && milling.1 < widest {
            Some(Outlook::Milling)
        } else {
            // A line that is off by this much after four ticks will be off by more: leave room.
            SLACKS.iter().position(|&slack| line.0 * 1.5 < slack).map(Outlook::Lines)
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 4 + self.places.capacity() * size_of::<Vec3>() + self.strays.capacity() * 8
    }
}

//! How steadily an object moves, and so what course to give it next.
//!
//! A narrow slack decides almost every meeting without looking at positions, but only suits objects that keep to their
//! lines. Whoever leaves a course soon after it was set gets more slack, whoever kept one for long gets less; whoever
//! gets nowhere for all its moving is best expected to stand. So each object finds what serves it, and nothing has to
//! be tuned.

use glam::Vec3;

use super::course::Course;

/// What is known about an object's manners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mood {
    /// Which of [`SLACKS`] it needs.
    level: u8,
    /// Whether its velocity is a guess, made in the tick in which it strayed.
    guessed: bool,
    /// Whether its last course was a short one: one may be bad luck, two in a row are not.
    warned: bool,
}

/// Slack at each level, as a share of the object's size.
pub const SLACKS: [f32; 4] = [0.01, 0.06, 0.25, 0.6];

/// A course that did not last for so many ticks was too narrow.
const SHORT: u8 = 8;
/// A course that lasted for more was wide enough, perhaps too wide.
const LONG: u8 = 40;
/// Within so many ticks, the mean since the course was set tells the velocity best.
const RECENT: u8 = 3;

impl Mood {
    /// The mood of somebody who needs this level of slack.
    pub fn new(level: usize) -> Mood {
        Mood { level: level.min(SLACKS.len() - 1) as u8, guessed: false, warned: false }
    }

    /// The slack for an object of this radius and velocity. Where the size is nothing, the step is what counts.
    pub fn slack(self, radius: f32, velocity: Vec3) -> f32 {
        SLACKS[self.level as usize] * radius.max(velocity.length())
    }

    /// Which of [`SLACKS`] is in use.
    pub fn level(self) -> usize {
        self.level as usize
    }

    /// The next course of an object that was found at `place`, and its next mood. `old` is its course as seen from the
    /// tick before, `age` the ticks since that was set, `start` where it was then.
    pub fn next(self, place: Vec3, old: Course, start: Vec3, age: u8, radius: f32) -> (Mood, Vec3) {
        let age = age.max(1);
        let was_standing = old.velocity == Vec3::ZERO;
        let travelled = (place - start).length();
        let mut mood = self;
        if self.guessed && age < SHORT {
            // The guess was poor, not the object unsteady: since then it has told its true velocity.
            mood.guessed = false;
            return (mood, (place - start) / f32::from(age));
        }
        mood.warned = age < SHORT && !self.warned;
        if age < SHORT && self.warned {
            mood.level = (self.level + 1).min(SLACKS.len() as u8 - 1);
        } else if age > LONG {
            mood.level = self.level.saturating_sub(1);
        }
        let widest = SLACKS[SLACKS.len() - 1] * radius;
        let gets_nowhere = if was_standing {
            self.level() == SLACKS.len() - 1 && age >= SHORT
        } else {
            age >= RECENT
                && self.level() >= 2
                && travelled < 0.5 * f32::from(age) * old.velocity.length()
                && travelled < widest
        };
        if gets_nowhere {
            return (Mood::new(SLACKS.len() - 1), Vec3::ZERO);
        }
        if age <= RECENT || (mood.level >= 2 && age < LONG) {
            (mood, (place - start) / f32::from(age))
        } else {
            mood.guessed = true;
            (mood, place - old.place)
        }
    }

    /// The mood as one byte, and back.
    pub fn to_byte(self) -> u8 {
        self.level | u8::from(self.guessed) << 7 | u8::from(self.warned) << 6
    }

    /// The mood that [`Mood::to_byte`] wrote.
    pub fn from_byte(byte: u8) -> Mood {
        Mood { level: byte & 0x3F, guessed: byte >> 7 == 1, warned: byte >> 6 & 1 == 1 }
    }
}

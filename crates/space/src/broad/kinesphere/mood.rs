//! How steadily an object moves, and so what course to give it next.
//!
//! A narrow slack decides almost every meeting without looking at positions, but only suits objects that keep to their
//! lines. Whoever leaves one course after another soon gets more slack, whoever keeps one for long gets less; whoever
//! gets nowhere for all its moving is best expected to stand. So each object finds what serves it, and nothing has to
//! be tuned.

use crate::Vec3;

use super::course::drift;

/// What is known about an object's manners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mood {
    /// Which of [`SLACKS`] it needs.
    level: u8,
    /// Whether its velocity is a guess, made in the tick in which it turned.
    guessed: bool,
    /// Whether its last course was a short one: one may be bad luck, two in a row are not.
    warned: bool,
}

/// How an object left its course.
#[derive(Clone, Copy, Debug)]
pub struct Stray {
    /// Where it is.
    pub place: Vec3,
    /// Where it was expected.
    pub expected: Vec3,
    /// The velocity it was expected to have.
    pub velocity: Vec3,
    /// How far off it was allowed to be.
    pub slack: f32,
    /// How many ticks ago the course was set; at least one.
    pub age: u8,
    /// The object's radius.
    pub radius: f32,
}

/// Slack at each level, as a share of the object's size.
pub const SLACKS: [f32; 6] = [0.007, 0.05, 0.15, 0.4, 0.7, 1.0];

/// The size of an object that slack is a share of: its radius, or where that is next to nothing a share of its step. No more of
/// it, for an object with so much slack is as large as that to all who look for meetings.
pub fn size(radius: f32, step: f32) -> f32 {
    radius.max(0.1 * step)
}

/// A course that did not last for so many ticks was too narrow.
const SHORT: u8 = 8;
/// A course that lasted for more was wide enough, perhaps too wide.
const LONG: u8 = 40;

impl Mood {
    /// The mood of somebody who needs this level of slack.
    pub fn new(level: usize) -> Mood {
        Mood { level: level.min(SLACKS.len() - 1) as u8, guessed: false, warned: false }
    }

    /// Which of [`SLACKS`] is in use.
    pub fn level(self) -> usize {
        self.level as usize
    }

    /// The slack for an object of this radius and velocity.
    pub fn slack(self, radius: f32, velocity: Vec3) -> f32 {
        SLACKS[self.level()] * size(radius, velocity.length_squared().sqrt())
    }

    /// The mood and the velocity of somebody who strayed.
    pub fn after(self, stray: Stray) -> (Mood, Vec3) {
        let age = f32::from(stray.age);
        let off = stray.place - stray.expected;
        // Where it was when the course was set, which is exactly on the line.
        let mut travelled = off + stray.velocity * age;
        if travelled.length_squared().sqrt() <= drift(stray.expected.abs().max(stray.place.abs()).max_element()) {
            // Whoever did not move at all would seem to, for ever, far from the origin.
            travelled = Vec3::ZERO;
        }
        if self.guessed && stray.age < SHORT {
            // The guess was poor, not the object unsteady: since then it has told its true velocity.
            return (Mood { guessed: false, ..self }, travelled / age);
        }
        let mut mood = Mood { guessed: false, warned: stray.age < SHORT && !self.warned, ..self };
        if stray.age < SHORT && self.warned {
            mood.level = (self.level + 1).min(SLACKS.len() as u8 - 1);
        } else if stray.age > LONG {
            mood.level = self.level.saturating_sub(1);
        }
        let speed = stray.velocity.length_squared().sqrt();
        let way = travelled.length_squared().sqrt();
        let is_milling = if speed == 0.0 {
            self.level() == SLACKS.len() - 1 && stray.age >= SHORT
        } else {
            self.level() >= 2 && stray.age >= 3 && way < 0.5 * age * speed && way < stray.radius
        };
        if is_milling {
            return (Mood::new(SLACKS.len() - 1), Vec3::ZERO);
        }
        if stray.age <= 3 {
            (mood, travelled / age)
        } else if off.length_squared() < 2.25 * stray.slack * stray.slack {
            (mood, bent(stray.velocity, off, age))
        } else {
            mood.guessed = true;
            (mood, turned(stray.velocity, off))
        }
    }

    /// The mood of somebody who kept to a course and was found `off` it by so much when its tile fell due.
    pub fn after_keeping(self, off: f32, slack: f32) -> Mood {
        let narrower = self.level.saturating_sub(1);
        let is_calm = off * SLACKS[self.level()] < 0.5 * slack * SLACKS[narrower as usize];
        Mood { level: if is_calm { narrower } else { self.level }, ..self }
    }

    /// The mood as one byte.
    pub fn to_byte(self) -> u8 {
        self.level | u8::from(self.guessed) << 7 | u8::from(self.warned) << 6
    }

    /// The mood that [`Mood::to_byte`] wrote.
    pub fn from_byte(byte: u8) -> Mood {
        Mood { level: byte & 0x3F, guessed: byte >> 7 == 1, warned: byte >> 6 & 1 == 1 }
    }
}

/// The velocity of somebody who got off a line little by little: on a steady bend the error grows with the square of the
/// time, so the velocity has changed by twice the mean; on a line with a wrong velocity by just the mean. In between,
/// both get better every time.
pub fn bent(velocity: Vec3, off: Vec3, age: f32) -> Vec3 {
    velocity + off * (1.5 / age)
}

/// The velocity of somebody who turned since the last tick and got off its line by so much.
///
/// Most things that turn keep their speed. Then, whenever within the tick it happened and whether a wall was in the way
/// or a mind was changed, the velocity changes along the way it got off, and so by being mirrored there. Where this does
/// not fit, the last step tells, though it may be part old and part new.
fn turned(velocity: Vec3, off: Vec3) -> Vec3 {
    let along = velocity.dot(off) / off.length_squared();
    if along < -0.499 { velocity - off * (2.0 * along) } else { velocity + off }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stray(place: f32, velocity: f32, slack: f32, age: u8) -> Stray {
        Stray {
            place: Vec3::new(place, 0.0, 0.0),
            expected: Vec3::ZERO,
            velocity: Vec3::new(velocity, 0.0, 0.0),
            slack,
            age,
            radius: 1.0,
        }
    }

    #[test]
    fn a_mood_fits_into_a_byte() {
        for level in 0..SLACKS.len() {
            for (guessed, warned) in [(false, false), (true, false), (false, true), (true, true)] {
                let mood = Mood { guessed, warned, ..Mood::new(level) };
                assert_eq!(Mood::from_byte(mood.to_byte()), mood);
            }
        }
    }

    #[test]
    fn one_short_course_is_forgiven_and_two_are_not() {
        let (once, _) = Mood::new(0).after(stray(0.1, 0.1, 0.01, 5));
        assert_eq!(once.level(), 0);
        let mut again = once;
        again.guessed = false;
        assert_eq!(again.after(stray(0.1, 0.1, 0.01, 5)).0.level(), 1);
    }

    #[test]
    fn a_long_course_narrows_the_slack() {
        assert_eq!(Mood::new(2).after(stray(0.2, 0.1, 0.15, 100)).0.level(), 1);
        assert_eq!(Mood::new(2).after_keeping(0.01, 0.15).level(), 1);
        assert_eq!(Mood::new(2).after_keeping(0.14, 0.15).level(), 2);
    }

    #[test]
    fn who_turned_and_kept_its_speed_is_seen_through() {
        let velocity = Vec3::new(0.06, 0.08, 0.0);
        let bounced = Vec3::new(0.06, -0.08, 0.0);
        let changed_its_mind = Vec3::new(0.0, 0.0, -0.1);
        for (before, after) in [(0.0, bounced), (0.3, bounced), (0.9, bounced), (0.0, changed_its_mind)] {
            let step = velocity * before + after * (1.0 - before);
            let guess = turned(velocity, step - velocity);
            assert!((guess - after).length() < 1e-6, "{before} {after}: {guess}");
        }
        let stopped = turned(velocity, -velocity);
        assert!((stopped + velocity).length() < 1e-6, "an elastic bounce and a stop look alike: {stopped}");
        let sped_up = turned(velocity, velocity);
        assert_eq!(sped_up, velocity * 2.0);
    }

    #[test]
    fn after_a_guess_an_object_is_taken_at_its_word() {
        let (guess, velocity) = Mood::new(0).after(stray(-0.2, 0.1, 0.01, 60));
        assert!((velocity.x - -0.1).abs() < 1e-6 && guess.guessed);
        let (sure, velocity) = guess.after(stray(0.06, -0.1, 0.01, 2));
        assert!((velocity.x - -0.07).abs() < 1e-6 && !sure.guessed);
    }

    #[test]
    fn who_gets_nowhere_is_expected_to_stand() {
        let (mood, velocity) = Mood::new(3).after(stray(-0.5, 0.1, 0.4, 6));
        assert_eq!((mood.level(), velocity), (SLACKS.len() - 1, Vec3::ZERO));
    }
}

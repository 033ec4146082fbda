//! How much slack an object's flight plans need, and which velocity its next plan has.
//!
//! A narrow slack decides almost every pair without looking at positions, but an unsteady object soon departs from such
//! a plan. An object whose plans are short gets more slack; an object whose plans are long gets less.

use super::flight_plans::drift;
use crate::Vec3;

/// What is known about how steadily an object moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tolerance {
    level: u8,
    /// The velocity is a guess, made in the tick in which the object turned.
    is_guessed: bool,
    /// The last plan was short. The level rises after two short plans in a row.
    is_warned: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Where the object is, and where it was expected.
    pub place: Vec3,
    pub expected: Vec3,
    pub velocity: Vec3,
    pub slack: f32,
    /// The plan's age in ticks, at least one.
    pub age: u8,
}

/// Slack at each level, as a share of the object's [`size`].
pub const SLACKS: [f32; 6] = [0.007, 0.05, 0.15, 0.4, 0.7, 1.0];

/// A plan that was kept for fewer ticks was too narrow.
const SHORT: u8 = 8;
/// A plan that was kept for more ticks was wide enough, perhaps too wide.
const LONG: u8 = 40;

/// The size that slack is a share of: the radius, or a share of the step if the radius is next to nothing. Not more of
/// the step, since slack makes an object larger to the search.
pub fn size(radius: f32, step: f32) -> f32 {
    radius.max(0.1 * step)
}

impl Tolerance {
    pub fn new(level: usize) -> Tolerance {
        Tolerance { level: level.min(SLACKS.len() - 1) as u8, is_guessed: false, is_warned: false }
    }

    pub fn level(self) -> usize {
        self.level as usize
    }

    /// The slack for an object of this radius and velocity.
    pub fn slack(self, radius: f32, velocity: Vec3) -> f32 {
        SLACKS[self.level()] * size(radius, velocity.length_squared().sqrt())
    }

    /// The tolerance and the velocity of the next plan.
    pub fn after_departure(self, departure: Departure) -> (Tolerance, Vec3) {
        let Departure { place, expected, velocity, slack, age } = departure;
        let ticks = f32::from(age);
        let off = place - expected;
        // When the plan was made the object was exactly on its line.
        let mut travelled = off + velocity * ticks;
        if travelled.length_squared().sqrt() <= drift(expected.abs().max(place.abs()).max_element()) {
            // Far from the origin rounding alone would make a standing object seem to move.
            travelled = Vec3::ZERO;
        }
        if self.is_guessed && age < SHORT {
            // The guess was poor. The way since then tells the true velocity.
            return (Tolerance { is_guessed: false, ..self }, travelled / ticks);
        }
        let mut next = Tolerance { is_guessed: false, is_warned: age < SHORT && !self.is_warned, ..self };
        if age < SHORT && self.is_warned {
            next.level = (self.level + 1).min(SLACKS.len() as u8 - 1);
        } else if age > LONG {
            next.level = self.level.saturating_sub(1);
        }
        if age <= 3 {
            (next, travelled / ticks)
        } else if off.length_squared() < 2.25 * slack * slack {
            (next, bent(velocity, off, ticks))
        } else {
            next.is_guessed = true;
            (next, turned(velocity, off))
        }
    }

    /// The tolerance of an object that kept to its plan and was found so far off its line when its tile was renewed.
    pub fn after_keeping(self, off: f32, slack: f32) -> Tolerance {
        let narrower = self.level.saturating_sub(1);
        let is_calm = off * SLACKS[self.level()] < 0.5 * slack * SLACKS[narrower as usize];
        Tolerance { level: if is_calm { narrower } else { self.level }, ..self }
    }

    pub fn to_byte(self) -> u8 {
        self.level | u8::from(self.is_guessed) << 7 | u8::from(self.is_warned) << 6
    }

    pub fn from_byte(byte: u8) -> Tolerance {
        Tolerance { level: byte & 0x3F, is_guessed: byte >> 7 == 1, is_warned: byte >> 6 & 1 == 1 }
    }
}

/// The velocity of an object that got off its line little by little. On a steady bend the error grows with the square
/// of the time, and the velocity has changed by twice the mean; with a wrong velocity by the mean. 1.5 improves both.
pub fn bent(velocity: Vec3, off: Vec3, ticks: f32) -> Vec3 {
    velocity + off * (1.5 / ticks)
}

/// The velocity of an object that turned since the last tick and got `off` its line.
///
/// An object that keeps its speed, bounced off a wall or not, changes its velocity along the way it got off: the
/// velocity is mirrored there, whenever within the tick it turned. Where that does not fit, the last step is the best
/// guess.
fn turned(velocity: Vec3, off: Vec3) -> Vec3 {
    let along = velocity.dot(off) / off.length_squared();
    if along < -0.499 { velocity - off * (2.0 * along) } else { velocity + off }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(place: f32, velocity: f32, slack: f32, age: u8) -> Departure {
        Departure { place: Vec3::X * place, expected: Vec3::ZERO, velocity: Vec3::X * velocity, slack, age }
    }

    #[test]
    fn one_short_plan_is_forgiven_two_are_not_and_a_long_one_narrows_the_slack() {
        let (once, _) = Tolerance::new(0).after_departure(departure(0.1, 0.1, 0.01, 5));
        let again = Tolerance::from_byte(Tolerance { is_guessed: false, ..once }.to_byte());
        assert_eq!((once.level(), again.after_departure(departure(0.1, 0.1, 0.01, 5)).0.level()), (0, 1));
        assert_eq!(Tolerance::new(2).after_departure(departure(0.2, 0.1, 0.15, 100)).0.level(), 1);
        assert_eq!(Tolerance::new(2).after_keeping(0.01, 0.15).level(), 1);
        assert_eq!(Tolerance::new(2).after_keeping(0.14, 0.15).level(), 2);
    }

    #[test]
    fn a_turn_that_keeps_the_speed_is_understood() {
        let velocity = Vec3::new(0.06, 0.08, 0.0);
        let bounced = Vec3::new(0.06, -0.08, 0.0);
        let elsewhere = Vec3::new(0.0, 0.0, -0.1);
        for (before, after) in [(0.0, bounced), (0.3, bounced), (0.9, bounced), (0.0, elsewhere)] {
            let step = velocity * before + after * (1.0 - before);
            let guess = turned(velocity, step - velocity);
            assert!((guess - after).length() < 1e-6, "{before} {after:?}: {guess:?}");
        }
        assert_eq!(turned(velocity, velocity), velocity * 2.0, "it sped up");
    }

    #[test]
    fn after_a_guess_the_way_tells_the_velocity() {
        let (guess, velocity) = Tolerance::new(0).after_departure(departure(-0.2, 0.1, 0.01, 60));
        assert!((velocity.x - -0.1).abs() < 1e-6 && guess.is_guessed);
        let (sure, velocity) = guess.after_departure(departure(0.06, -0.1, 0.01, 2));
        assert!((velocity.x - -0.07).abs() < 1e-6 && !sure.is_guessed);
    }
}

//! A client's own avatar: moved at once by its own inputs, and corrected by what the server confirms.
//!
//! The server says which input was the last that is in a state. From that state the inputs since are applied again; what
//! comes out is where the avatar is predicted to be when the newest of them has arrived. A correction is shown little by
//! little, unless it is a leap.

use std::collections::VecDeque;

use space::DVec3;
use wire::InputStep;
use wire::input::is_newer;

use super::walk::{Ground, Walker};

/// Inputs kept at most: two seconds, at 30 a second. What the server has not answered by then it will not.
pub const INPUTS_MAX: usize = 64;
/// A correction larger than this is shown at once, in metres.
const SNAP_DISTANCE: f64 = 3.0;
/// The share of a correction that is left after a step.
const CORRECTION_LEFT: f64 = 0.8;

/// The own avatar.
#[derive(Clone, Debug)]
pub struct Own {
    confirmed: Walker,
    /// The newest input that is in the confirmed state.
    acknowledged: u32,
    /// Those that are not, by number.
    inputs: VecDeque<(u32, InputStep)>,
    predicted: Walker,
    /// From what is predicted to what is shown.
    correction: DVec3,
    seconds: f64,
    /// How far the last confirmation was from what had been predicted for it, in metres.
    surprise: f64,
}

impl Own {
    /// Stands somewhere.
    pub fn new(pos: DVec3, newest: u32, seconds: f64) -> Own {
        let walker = Walker::standing(pos);
        Own {
            confirmed: walker,
            acknowledged: newest,
            inputs: VecDeque::new(),
            predicted: walker,
            correction: DVec3::ZERO,
            seconds,
            surprise: 0.0,
        }
    }

    /// Applies an input, and remembers it until the server has answered it.
    pub fn input(&mut self, number: u32, step: InputStep, ground: &Ground) {
        if self.inputs.len() == INPUTS_MAX {
            self.inputs.pop_front();
        }
        self.inputs.push_back((number, step));
        self.predicted = ground.step(self.predicted, step.wish(), step.is_jump, self.seconds);
        self.correction *= CORRECTION_LEFT;
    }

    /// The server's word: where the avatar was with this input in force.
    pub fn confirm(&mut self, walker: Walker, acknowledged: u16, ground: &Ground) {
        // The number nearest to the last one that ends in these bits.
        let ahead = acknowledged.wrapping_sub(self.acknowledged as u16) as i16;
        self.acknowledged = self.acknowledged.wrapping_add_signed(i32::from(ahead));
        while self.inputs.front().is_some_and(|&(number, _)| !is_newer(number, self.acknowledged)) {
            self.inputs.pop_front();
        }
        self.confirmed = walker;
        let mut predicted = walker;
        for (_, step) in &self.inputs {
            predicted = ground.step(predicted, step.wish(), step.is_jump, self.seconds);
        }
        let offset = self.predicted.pos - predicted.pos;
        self.surprise = offset.length();
        self.correction += offset;
        if self.correction.length() > SNAP_DISTANCE {
            self.correction = DVec3::ZERO;
        }
        self.predicted = predicted;
    }

    /// The newest inputs, the newest first, at most so many: those that the server may not have.
    pub fn unanswered(&self, most: usize) -> impl Iterator<Item = (u32, InputStep)> + '_ {
        self.inputs.iter().rev().take(most).copied()
    }

    /// Where it is by the last word of the server.
    pub fn confirmed(&self) -> &Walker {
        &self.confirmed
    }

    /// The newest input that the server has answered.
    pub fn acknowledged(&self) -> u32 {
        self.acknowledged
    }

    /// Where it will be when the server has taken in all inputs.
    pub fn predicted(&self) -> &Walker {
        &self.predicted
    }

    /// Where it is shown.
    pub fn shown(&self) -> DVec3 {
        self.predicted.pos + self.correction
    }

    /// How far the last word of the server was from what had been expected, in metres.
    pub fn surprise(&self) -> f64 {
        self.surprise
    }
}

//! A client's own avatar: moved at once by its own inputs, and corrected by what the server confirms (prediction and
//! reconciliation).
//!
//! The server says which input was the last that is in a state. The client applies the later inputs to that state
//! again; the result is where the avatar will be when the newest of them has arrived. A small correction is shown
//! gradually, a large one at once.

use std::collections::VecDeque;

use space::DVec3;
use wire::InputStep;
use wire::input::is_newer;

use super::walk::{Ground, Walker};

/// The most inputs that are kept: two seconds, at 30 per second.
pub const INPUTS_MAX: usize = 64;
/// A correction larger than this is shown at once, in metres.
const SNAP_DISTANCE: f64 = 3.0;
/// The share of a correction that is left after a step.
const CORRECTION_LEFT: f64 = 0.8;

/// The own avatar.
#[derive(Clone, Debug)]
pub struct PredictedAvatar {
    confirmed: Walker,
    /// The newest input that is in the confirmed state.
    acknowledged: u32,
    /// Inputs that are not in it yet, by number.
    inputs: VecDeque<(u32, InputStep)>,
    predicted: Walker,
    /// From what is predicted to what is shown.
    correction: DVec3,
    seconds: f64,
    /// The distance of the last confirmation from what had been predicted for it, in metres.
    surprise: f64,
}

impl PredictedAvatar {
    /// An avatar at rest.
    pub fn new(pos: DVec3, newest: u32, seconds: f64) -> PredictedAvatar {
        let walker = Walker::standing(pos);
        PredictedAvatar {
            confirmed: walker,
            acknowledged: newest,
            inputs: VecDeque::new(),
            predicted: walker,
            correction: DVec3::ZERO,
            seconds,
            surprise: 0.0,
        }
    }

    /// Applies an input, and keeps it until the server has answered it.
    pub fn input(&mut self, number: u32, step: InputStep, ground: &Ground) {
        if self.inputs.len() == INPUTS_MAX {
            self.inputs.pop_front();
        }
        self.inputs.push_back((number, step));
        self.predicted = ground.step(self.predicted, step.wish(), step.is_jump, self.seconds);
        self.correction *= CORRECTION_LEFT;
    }

    /// Takes in the server's confirmation: where the avatar was after this input.
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

    /// The newest `most` inputs, newest first: those that the server may not have.
    pub fn unanswered(&self, most: usize) -> impl Iterator<Item = (u32, InputStep)> + '_ {
        self.inputs.iter().rev().take(most).copied()
    }

    /// Where it is by the last confirmation.
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

    /// The distance of the last confirmation from what had been predicted, in metres.
    pub fn surprise(&self) -> f64 {
        self.surprise
    }
}

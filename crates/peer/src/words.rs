//! What users of peers say to each other: to everybody who is connected, and no more often than people talk.

use std::collections::VecDeque;

use space::{NodeId, Time};

/// Words that nobody has asked for yet, at most; the oldest are lost.
const WAITING_MAX: usize = 64;
/// So often a user may speak.
const OFTEN: usize = 10;
/// Within this time, in microseconds.
const WITHIN_US: i64 = 10_000_000;

/// What somebody said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Whose user; `None` if it was the own.
    pub node: Option<NodeId>,
    /// What.
    pub text: String,
}

/// What was said and not asked for yet.
#[derive(Clone, Debug, Default)]
pub struct Said(VecDeque<Words>);

impl Said {
    /// One more.
    pub fn push(&mut self, words: Words) {
        if self.0.len() == WAITING_MAX {
            self.0.pop_front();
        }
        self.0.push_back(words);
    }

    /// The oldest.
    pub fn take(&mut self) -> Option<Words> {
        self.0.pop_front()
    }
}

/// When somebody spoke last, and how often.
#[derive(Clone, Debug, Default)]
pub struct Pace(VecDeque<Time>);

impl Pace {
    /// Whether somebody may speak now; if so, it counts.
    pub fn may_speak(&mut self, now: Time) -> bool {
        while self.0.front().is_some_and(|&spoke| now - spoke > WITHIN_US) {
            self.0.pop_front();
        }
        let may = self.0.len() < OFTEN;
        if may {
            self.0.push_back(now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_talks_without_end_has_to_pause() {
        let mut pace = Pace::default();
        let at = |ms: i64| Time::from_micros(ms * 1_000);
        assert_eq!((0..50).filter(|&moment| pace.may_speak(at(moment * 10))).count(), OFTEN);
        assert!(!pace.may_speak(at(10_000)) && pace.may_speak(at(10_001)));
    }
}

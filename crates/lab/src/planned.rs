//! Something that will happen in a simulation, in the order of time, then of planning: no run depends on anything else.

use std::cmp::Ordering;

use space::Time;

/// What will happen, and when.
#[derive(Clone, Debug)]
pub struct Planned<What> {
    /// When.
    pub at: Time,
    /// How many were planned before.
    pub number: u64,
    /// What.
    pub what: What,
}

impl<What> PartialEq for Planned<What> {
    fn eq(&self, other: &Planned<What>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<What> Eq for Planned<What> {}

impl<What> PartialOrd for Planned<What> {
    fn partial_cmp(&self, other: &Planned<What>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<What> Ord for Planned<What> {
    fn cmp(&self, other: &Planned<What>) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

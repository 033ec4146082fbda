//! What will happen in a simulation, in the order of time, then of planning: no run depends on anything else.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use space::Time;

/// All that is planned.
#[derive(Debug)]
pub struct Calendar<What> {
    queue: BinaryHeap<Reverse<Planned<What>>>,
    planned: u64,
}

impl<What> Calendar<What> {
    /// Nothing is planned yet.
    pub fn new() -> Calendar<What> {
        Calendar { queue: BinaryHeap::new(), planned: 0 }
    }

    /// Something will happen then.
    pub fn plan(&mut self, at: Time, what: What) {
        self.planned += 1;
        self.queue.push(Reverse(Planned { at, number: self.planned, what }));
    }

    /// What happens next, and when.
    pub fn next(&mut self) -> Option<(Time, What)> {
        self.queue.pop().map(|Reverse(Planned { at, what, .. })| (at, what))
    }
}

#[derive(Debug)]
struct Planned<What> {
    at: Time,
    /// How many were planned before.
    number: u64,
    what: What,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_orders_and_then_who_planned_first() {
        let mut calendar = Calendar::new();
        for (at, what) in [(2, "third"), (1, "first"), (2, "fourth"), (1, "second")] {
            calendar.plan(Time::from_micros(at), what);
        }
        let order: Vec<&str> = std::iter::from_fn(|| calendar.next()).map(|(_, what)| what).collect();
        assert_eq!(order, ["first", "second", "third", "fourth"]);
    }
}

//! The event queue: events in the order of time, then of planning, so that a run depends on nothing else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use space::Time;

/// Events that are still to come.
#[derive(Debug)]
pub struct EventQueue<What> {
    order: BinaryHeap<Reverse<(Time, u64)>>,
    events: BTreeMap<u64, What>,
    planned: u64,
}

impl<What> Default for EventQueue<What> {
    fn default() -> EventQueue<What> {
        EventQueue { order: BinaryHeap::new(), events: BTreeMap::new(), planned: 0 }
    }
}

impl<What> EventQueue<What> {
    pub fn plan(&mut self, at: Time, what: What) {
        self.planned += 1;
        self.order.push(Reverse((at, self.planned)));
        self.events.insert(self.planned, what);
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<Time> {
        self.order.peek().map(|Reverse((at, _))| *at)
    }

    /// Removes the next event.
    pub fn pop(&mut self) -> Option<(Time, What)> {
        let Reverse((at, number)) = self.order.pop()?;
        self.events.remove(&number).map(|what| (at, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_as_they_were_planned() {
        let mut event_queue = EventQueue::default();
        for (at, what) in [(2, "third"), (1, "first"), (2, "fourth"), (1, "second")] {
            event_queue.plan(Time::from_micros(at), what);
        }
        let order: Vec<&str> = std::iter::from_fn(|| event_queue.pop()).map(|(_, what)| what).collect();
        assert_eq!(order, ["first", "second", "third", "fourth"]);
    }
}

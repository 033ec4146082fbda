//! How long it takes from the sending of an input to the moment when another user is told of its effect.

use std::collections::{BTreeMap, VecDeque};

use wire::State;

/// Inputs whose time of sending is remembered, per client.
const INPUTS_MAX: usize = 512;
/// Latencies that are kept; when there are more, every other one is dropped.
const LATENCIES_MAX: usize = 200_000;
/// What was applied is remembered for this many ticks after it was checked.
const REMEMBERED: u64 = 90;

/// One client's inputs.
#[derive(Debug, Default)]
struct Inputs {
    /// When inputs were sent: number and microseconds, rising.
    sent: VecDeque<(u32, i64)>,
    /// The newest input that is in a state, and of which tick that state was.
    acknowledged: Option<(u64, u32)>,
    /// For each tick: when the input was sent that it was the first to show.
    applied: BTreeMap<u64, i64>,
}

#[derive(Debug, Default)]
pub(super) struct Latencies {
    clients: Vec<Inputs>,
    /// A mover, a tick, and when a listener was told of it.
    receipts: VecDeque<(usize, u64, i64)>,
    kept_us: Vec<i64>,
    seen: u64,
    /// Of this many latencies one is kept.
    stride: u64,
}

impl Latencies {
    pub fn new(clients: usize) -> Latencies {
        Latencies { clients: (0..clients).map(|_| Inputs::default()).collect(), stride: 1, ..Latencies::default() }
    }

    /// A client was let in: what it sent before is not acknowledged any more.
    pub fn welcomed(&mut self, client: usize) {
        self.clients[client].acknowledged = None;
    }

    /// A client sent an input.
    pub fn moved(&mut self, client: usize, number: u32, now_us: i64) {
        let sent = &mut self.clients[client].sent;
        if sent.len() == INPUTS_MAX {
            sent.pop_front();
        }
        sent.push_back((number, now_us));
    }

    /// A client was told of its own avatar, and of the avatar of `mover` if there is one.
    pub fn told(&mut self, client: usize, state: &State, mover: Option<usize>, now_us: i64) {
        let tick = u64::from(state.head.tick);
        if let Some(own) = &state.head.own {
            self.clients[client].acknowledge(tick, own.acknowledged);
        }
        self.receipts.extend(mover.map(|mover| (mover, tick, now_us)));
    }

    /// Takes in all receipts of ticks before `checked`, of which nothing more is to come.
    pub fn settle(&mut self, checked: u64) {
        while let Some(&(mover, tick, received_us)) = self.receipts.front()
            && tick < checked
        {
            self.receipts.pop_front();
            if let Some(sent_us) = self.clients[mover].applied.get(&tick) {
                let latency_us = received_us - sent_us;
                self.keep(latency_us);
            }
        }
        let forgotten = checked.saturating_sub(REMEMBERED);
        for inputs in &mut self.clients {
            if inputs.applied.first_key_value().is_some_and(|(&first, _)| first < forgotten) {
                inputs.applied = inputs.applied.split_off(&forgotten);
            }
        }
    }

    /// Latencies count from now on: those of a crowd that was still coming in say little.
    pub fn forget(&mut self) {
        self.receipts.clear();
        self.kept_us.clear();
    }

    pub fn sorted_us(&self) -> Vec<i64> {
        let mut sorted = self.kept_us.clone();
        sorted.sort_unstable();
        sorted
    }

    fn keep(&mut self, latency_us: i64) {
        if self.seen.is_multiple_of(self.stride) {
            if self.kept_us.len() == LATENCIES_MAX {
                let mut number = 0;
                self.kept_us.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            self.kept_us.push(latency_us);
        }
        self.seen += 1;
    }
}

impl Inputs {
    /// Notes the newest input that the state after this tick contains.
    fn acknowledge(&mut self, tick: u64, low: u16) {
        let Some(&(newest, _)) = self.sent.back() else { return };
        let number = newest.wrapping_sub(u32::from((newest as u16).wrapping_sub(low)));
        if self.acknowledged.is_some_and(|(last_tick, last)| tick <= last_tick || number <= last) {
            return;
        }
        // Only the very next tick tells that this input was in it and not in one before, whose state was lost.
        let is_first = self.acknowledged.is_some_and(|(last_tick, _)| last_tick + 1 == tick);
        self.acknowledged = Some((tick, number));
        let at = self.sent.partition_point(|&(sent, _)| sent < number);
        if let Some(&(sent, sent_us)) = self.sent.get(at)
            && sent == number
            && is_first
        {
            self.applied.insert(tick, sent_us);
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::state::{Head, Own};

    use super::*;

    #[test]
    fn a_latency_is_from_the_movers_sending_to_the_listeners_receipt() {
        let mut latencies = Latencies::new(2);
        for tick in 3..300_u32 {
            for client in 0..2 {
                let now_us = i64::from(tick) * 33_333;
                latencies.moved(client, tick, now_us);
                let own = Some(Own { acknowledged: tick as u16, ..Own::default() });
                let state = State { head: Head { tick, own, ..Head::default() }, bodies: Vec::new() };
                latencies.told(client, &state, Some(1 - client), now_us + 20_000);
            }
            latencies.settle(u64::from(tick));
        }
        let sorted = latencies.sorted_us();
        assert!(sorted.len() > 100 && sorted.iter().all(|&latency| latency == 20_000), "{sorted:?}");
    }
}

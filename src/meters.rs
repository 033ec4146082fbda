//! Metrics of a server. `docs/operating.md` says what each number is.

use std::collections::BTreeMap;

use server::{Server, ServerCounts};
use wire::{LinkId, kind};

use crate::link::{Inbox, Outbox};
use crate::store::keeper::StoreKeeper;

/// How often queues are measured: to ask a thousand links how much waits takes a while.
const QUEUES_EVERY: u64 = 30;

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

/// Messages of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    messages: u64,
    bytes: u64,
}

/// Counts messages, and updates the metrics once per tick.
#[derive(Debug)]
pub struct Meters {
    /// By direction and by kind; a message of no known kind counts as kind 0.
    traffic: [[Traffic; 256]; 2],
    reported: ServerCounts,
}

impl Default for Meters {
    fn default() -> Meters {
        let traffic = [[Traffic::default(); 256]; 2];
        Meters { traffic, reported: ServerCounts::default() }
    }
}

impl Meters {
    /// Counts a message.
    pub fn passed(&mut self, direction: Direction, message: &[u8]) {
        let kind = message.first().copied().filter(|&kind| kind::name(kind).is_some()).unwrap_or(0);
        let traffic = &mut self.traffic[direction as usize][usize::from(kind)];
        traffic.messages += 1;
        traffic.bytes += message.len() as u64;
    }

    /// Updates the metrics.
    pub fn report(&mut self, server: &Server, inbox: &Inbox, outboxes: &BTreeMap<LinkId, Outbox>) {
        let (counts, was) = (server.counts(), self.reported);
        let count = |name: &'static str, now: u64, before: u64| metrics::counter!(name).increment(now - before);
        count("kinesphere_inputs_total", counts.inputs, was.inputs);
        count("kinesphere_rejected_total", counts.rejected, was.rejected);
        count("kinesphere_joined_total", counts.joined, was.joined);
        count("kinesphere_resumed_total", counts.resumed, was.resumed);
        count("kinesphere_refused_total", counts.refused, was.refused);
        count("kinesphere_dropped_total", counts.dropped, was.dropped);
        count("kinesphere_state_bodies_total", counts.sent.bodies, was.sent.bodies);
        count("kinesphere_state_bodies_waiting_total", counts.sent.waiting, was.sent.waiting);
        count("kinesphere_entered_total", server.audience().entered().len() as u64, 0);
        count("kinesphere_left_total", server.audience().left().len() as u64, 0);
        self.reported = counts;
        self.report_traffic();

        let gauge = |name: &'static str, value: usize| metrics::gauge!(name).set(value as f64);
        let world = server.world();
        metrics::gauge!("kinesphere_tick").set(world.tick().number() as f64);
        gauge("kinesphere_users", server.users().count());
        gauge("kinesphere_links", outboxes.len());
        gauge("kinesphere_objects", world.len());
        metrics::gauge!("kinesphere_pairs").set(world.outcome().work.pairs as f64);
        let work = world.outcome().work;
        for (level, looks) in [("sphere", work.by_sphere), ("tree", work.by_tree), ("shape", work.by_shape)] {
            metrics::counter!("kinesphere_narrow_total", "level" => level).increment(looks);
        }
        count("kinesphere_put_off_total", work.put_off, 0);
        gauge("kinesphere_hearings", server.audience().hearings());
        if counts.ticks.is_multiple_of(QUEUES_EVERY) {
            let waiting = outboxes.values().map(Outbox::waiting_count);
            let (datagrams, bytes) = waiting.fold((0, 0), |(one, two), (more, most)| (one + more, two + most));
            gauge("kinesphere_joining_users", server.queued());
            gauge("kinesphere_inbox_events", inbox.len());
            gauge("kinesphere_outbox_datagrams", datagrams);
            gauge("kinesphere_outbox_stream_bytes", bytes);
        }
    }

    fn report_traffic(&mut self) {
        for (direction, kinds) in ["in", "out"].into_iter().zip(&mut self.traffic) {
            for (kind, traffic) in kinds.iter_mut().enumerate().filter(|(_, traffic)| traffic.messages > 0) {
                let kind = kind::name(kind as u8).unwrap_or("none");
                let Traffic { messages, bytes } = std::mem::take(traffic);
                metrics::counter!("kinesphere_messages_total", "direction" => direction, "kind" => kind)
                    .increment(messages);
                metrics::counter!("kinesphere_bytes_total", "direction" => direction, "kind" => kind).increment(bytes);
            }
        }
    }
}

/// Registers counters with zero: a monitor that computes rates misses the first event of a counter that is not there
/// before.
pub fn begin() {
    for name in
        ["kinesphere_tick_overruns_total", "kinesphere_refused_at_gate_total", "kinesphere_log_lines_dropped_total"]
    {
        metrics::counter!(name).increment(0);
    }
    for direction in ["in", "out"] {
        metrics::counter!("kinesphere_link_datagrams_dropped_total", "direction" => direction).increment(0);
    }
    for transport in ["quic", "webtransport", "websocket"] {
        metrics::counter!("kinesphere_links_total", "transport" => transport).increment(0);
    }
}

/// Updates the metrics of the store.
pub fn report_keeping(keeper: &StoreKeeper) {
    let status = keeper.status();
    metrics::gauge!("kinesphere_store_paused").set(f64::from(u8::from(status.paused.is_some())));
    metrics::counter!("kinesphere_store_pauses_total").absolute(status.pauses);
    metrics::gauge!("kinesphere_store_waiting_bytes").set(status.waiting_bytes as f64);
    metrics::gauge!("kinesphere_store_flushed_tick").set(status.flushed_tick.unwrap_or(0) as f64);
}

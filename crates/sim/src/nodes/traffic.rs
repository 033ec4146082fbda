//! What goes between nodes, beside what a listener at the other end needed of it.

use std::collections::BTreeMap;

use interest::Aura;
use space::{GridPoint, ObjectId, Time, Turn};
use wire::ToNode;
use wire::cluster::Batch;

use crate::promises::distance;

/// Counts batches, and measures how old moves are when they are told.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// Batches, and those that were needed; their bytes likewise.
    pub batches: (u64, u64),
    pub bytes: (u64, u64),
    pub copy_bytes: u64,
    /// From a move to the tick at the other node that tells of it, in milliseconds.
    pub move_ms: Vec<f64>,
    /// Batches on their way, by sender, receiver and tick, and those that wait for a tick.
    sent_at: BTreeMap<(usize, usize, u64), Time>,
    waiting: BTreeMap<usize, Vec<Time>>,
    told: BTreeMap<(usize, usize, ObjectId), (GridPoint, Turn)>,
    asked: BTreeMap<(usize, usize, u64), u32>,
}

impl Traffic {
    /// `listeners` are the places of the users at the receiver, `reach` how far they hear, in metres.
    pub fn sent(&mut self, now: Time, [from, to]: [usize; 2], bytes: &[u8], listeners: &[GridPoint], reach: f32) {
        match ToNode::decode(bytes) {
            Ok(ToNode::Batch(batch)) => {
                self.batches.0 += 1;
                self.bytes.0 += bytes.len() as u64;
                if !batch.guests.is_empty() {
                    self.sent_at.insert((from, to, batch.tick), now);
                }
                let needed = self.needed([from, to], &batch, listeners, reach);
                if !(needed.guests.is_empty() && needed.asks.is_empty() && needed.answers.is_empty()) {
                    self.batches.1 += 1;
                    self.bytes.1 += ToNode::Batch(needed).encode().len() as u64;
                }
            }
            Ok(ToNode::Replicate(_)) => self.copy_bytes += bytes.len() as u64,
            _ => {}
        }
    }

    /// Moves that a listener hears, and what is asked and answered for the first time.
    fn needed(&mut self, [from, to]: [usize; 2], batch: &Batch, listeners: &[GridPoint], reach: f32) -> Batch {
        let mut needed = Batch { version: batch.version, tick: batch.tick, ..Batch::default() };
        for guest in &batch.guests {
            let Some(object) = ObjectId::new(guest.object) else { continue };
            let last = self.told.insert((from, to, object), (guest.place, guest.turn));
            let is_news = last != Some((guest.place, guest.turn));
            let is_heard = |at: &GridPoint| distance(*at, guest.place) <= f64::from(reach * Aura::HYSTERESIS);
            if is_news && listeners.iter().any(is_heard) {
                needed.guests.push(*guest);
            }
        }
        for ask in &batch.asks {
            if self.asked.insert((from, to, ask.object), ask.asked) != Some(ask.asked) {
                needed.asks.push(ask.clone());
            }
        }
        needed.answers = batch.answers.clone();
        needed
    }

    pub fn arrived(&mut self, from: usize, to: usize, bytes: &[u8]) {
        if let Ok(ToNode::Batch(batch)) = ToNode::decode(bytes)
            && let Some(sent) = self.sent_at.remove(&(from, to, batch.tick))
        {
            self.waiting.entry(to).or_default().push(sent);
        }
    }

    pub fn ticked(&mut self, now: Time, index: usize) {
        let waited = self.waiting.remove(&index).unwrap_or_default();
        self.move_ms.extend(waited.into_iter().map(|sent| (now - sent) as f64 * 1e-3));
        if self.sent_at.len() > 10_000 {
            self.sent_at.clear();
        }
    }
}

//! What a client was told of an object in the last tick, and if it was not told, why.

use space::ObjectId;
use space::snap::STEPS_PER_METRE;

use crate::Server;
use crate::fan_out::{is_due, urgency};

/// The state of an object's updates for a client that hears it, after the last tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateStatus {
    /// Whether the client is connected; if not, nothing is sent.
    pub is_connected: bool,
    /// The last tick whose datagram, or roster, told the client of it.
    pub told: u64,
    /// The last tick that changed anything about it.
    pub changed: u64,
    /// How urgent it is: ticks since it was told, divided by five metres and its distance.
    pub priority: f32,
    /// Bodies that the client was told of in the last tick.
    pub sent: usize,
    /// Bodies that were due in the last tick and had to wait for another.
    pub waiting: usize,
    /// If it is one of these, its place among them: 1 is next.
    pub rank: Option<usize>,
    /// Bytes of state that the client gets per tick.
    pub budget_bytes: usize,
}

impl Server {
    /// The state of an object's updates for the user of another; `None` if it is not heard, or not told of yet.
    pub fn attention(&self, listener: ObjectId, speaker: ObjectId) -> Option<UpdateStatus> {
        let session = self.sessions.get(&self.truth.owner(listener)?)?;
        let (own, slot) = (self.slots.slot(listener)?, self.slots.slot(speaker)?);
        let (tick, anchor) = (self.truth.tick(), self.bodies.place(own));
        let priority =
            |heard: &crate::Heard| urgency(tick.saturating_sub(heard.told), self.bodies.place(heard.slot), anchor);
        let asked = session.listener.heard().find(|heard| heard.slot == slot)?;
        let (mut sent, mut waiting, mut before) = (0, 0, 0);
        for heard in session.listener.heard() {
            if heard.told == tick {
                sent += 1;
            } else if is_due(heard, self.bodies.changed(heard.slot), tick) {
                waiting += 1;
                before += usize::from(priority(heard) > priority(asked));
            }
        }
        let changed = self.bodies.changed(slot);
        let is_waiting = asked.told < tick && is_due(asked, changed, tick);
        Some(UpdateStatus {
            is_connected: session.link.is_some(),
            told: asked.told,
            changed,
            priority: priority(asked) * STEPS_PER_METRE as f32,
            sent,
            waiting,
            rank: is_waiting.then_some(before + 1),
            budget_bytes: self.settings.limits.state_bytes_per_tick,
        })
    }
}

//! Grabbing, holding and releasing objects.
//!
//! Invariant: at most one avatar holds an object, and an avatar holds at most one object.

use space::{ObjectId, snap};

use crate::input::{Refusal, RefusalReason};
use crate::objects::{Drive, Kind};
use crate::outcome::{Held, Outcome};
use crate::settle::TurnOrder;
use crate::world::World;

impl World {
    /// Carries out the grabs of this tick, in this tick's order of settling.
    pub(crate) fn settle_grabs(&mut self, outcome: &mut Outcome) {
        if self.grabs.is_empty() {
            return;
        }
        let mut rank = vec![0usize; self.objects.by_id.len()];
        for (place, index) in TurnOrder::of_tick(self.tick.number(), rank.len()).iter().enumerate() {
            rank[index] = place;
        }
        let mut grabs = std::mem::take(&mut self.grabs);
        grabs.sort_by_key(|&(_, sequence, row, _)| {
            let id = self.objects.card(row).id;
            let index = self.objects.by_id.partition_point(|&(known, _)| known < id);
            (rank[index], sequence)
        });
        for (sender, sequence, row, object) in grabs.drain(..) {
            match self.grab(row, object) {
                Ok(held) => outcome.grabbed.push(held),
                Err(reason) => outcome.refused.push(Refusal { sender, sequence, reason }),
            }
        }
        outcome.refused.sort_by_key(|refusal| (refusal.sender, refusal.sequence));
        self.grabs = grabs;
    }

    /// Puts an object into an avatar's hands, if the avatar may hold it.
    pub(crate) fn grab(&mut self, row: u32, object: ObjectId) -> Result<Held, RefusalReason> {
        let target = self.objects.row(object).ok_or(RefusalReason::NotMovable)?;
        let (carrier, card) = (self.objects.card(row), self.objects.card(target));
        if card.kind != Kind::Movable {
            return Err(RefusalReason::NotMovable);
        }
        if carrier.holds.is_some() {
            return Err(RefusalReason::HandsFull);
        }
        if card.held_by.is_some() {
            return Err(RefusalReason::AlreadyHeld);
        }
        if !self.is_in_reach(row, target) {
            return Err(RefusalReason::OutOfReach);
        }
        let held = Held { carrier: carrier.id, object };
        self.objects.hold(row, target);
        let odometer = self.objects.drive[target as usize].odometer;
        self.objects.drive[target as usize] = Drive { odometer, ..Drive::default() };
        self.objects.set_on_object(target, false);
        Ok(held)
    }

    /// Whether an object is near enough to an avatar to be held.
    fn is_in_reach(&self, row: u32, target: u32) -> bool {
        let (one, other) = (&self.objects.body[row as usize], &self.objects.body[target as usize]);
        let reach = (self.spec.limits.grab_reach * snap::STEPS_PER_METRE as f32) as i32;
        !one.solid.is_apart(one.at, other.solid, other.at, reach)
    }

    /// Releases the object that an avatar holds.
    pub(crate) fn release(&mut self, row: u32) -> Option<Held> {
        let held = self.objects.let_go(row)?;
        self.objects.drive[held as usize].awake = true;
        Some(Held { carrier: self.objects.name(row), object: self.objects.name(held) })
    }
}

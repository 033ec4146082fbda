//! One tick of a node: what is due, a step of its world, and what that changes.

use space::Time;
use world::{GridBox, Input, World};

use super::lease::{BEAT_US, BEAT_US_MAX};
use super::part_of_world::Keep;
use super::{Cluster, Status};

/// An object goes to another node when its centre is this far in that node's space, in steps: an object that moves
/// along a border stays.
const HYSTERESIS: i32 = 400;
/// A node that did nothing for this long was suspended.
const ASLEEP_US: i64 = 400_000;
/// The most objects that are offered in one tick.
const OFFERS_PER_TICK: usize = 64;

impl Cluster {
    /// Takes a tick: does what is due and, if the node may act, a step of the world with these inputs. Returns whether
    /// it did.
    pub fn tick(&mut self, now: Time, world: &mut World, inputs: &[Input]) -> bool {
        self.tick += 1;
        self.wake(now, world);
        let may_act = self.may_act(now);
        if may_act {
            world.set_border(Some(self.part.border(&self.custody)));
            world.step(inputs);
            self.follow(now, world);
            self.hand_over(world);
            self.batch(world);
        } else {
            self.counts.frozen += 1;
        }
        self.collect();
        may_act
    }

    /// Does what is due without a step: for a witness, and for a node that may not act.
    pub fn wake(&mut self, now: Time, world: &mut World) {
        if self.status == Status::LeftOut {
            return;
        }
        if now - self.woke_at > ASLEEP_US {
            self.awake_since = now;
        }
        self.woke_at = now;
        self.agreement.wake(now);
        self.agree_with_itself(now, world);
        let members = self.members();
        if self.status == Status::Member && !self.agreement.is_changing() {
            self.lease.vouch_for_itself(now, &members);
        }
        self.lease.renew(&members);
        self.declare_all_on(now);
        self.part.grants.wake(now);
        self.part.guests.wake(now);
        // The more members, the rarer the heartbeats: what a node receives from all others must not grow as fast as
        // they do. But a lease has to be renewed before it has passed, even if a heartbeat is lost.
        let beat_us = (BEAT_US * (1 + members.len() as i64 / 32)).min(BEAT_US_MAX);
        if self.beat_at.is_none_or(|beat| now - beat >= beat_us) {
            self.beat_at = Some(now);
            self.beat(now, world);
            self.plan_ahead(now);
            self.agree_with_itself(now, world);
        }
        let mut keep = Keep { world, part: &mut self.part, now };
        if self.status == Status::Member && !self.settings.is_witness {
            self.custody.wake(now, &mut keep);
        }
        self.collect();
    }

    /// Follows what the step changed.
    pub(super) fn follow(&mut self, now: Time, world: &World) {
        let outcome = world.outcome();
        for joined in &outcome.joined {
            self.custody.begin(joined.object);
        }
        for left in &outcome.left {
            let seq = self.custody.seq(left.object).unwrap_or(0);
            self.custody.end(left.object, now);
            self.part.tenancies.part(left.object, seq);
        }
        for &moved in &outcome.moved {
            self.custody.touch(moved);
        }
        self.part.look(world, &self.custody);
    }

    /// Offers objects that have crossed into another node's space.
    pub(super) fn hand_over(&mut self, world: &mut World) {
        let mut offers = Vec::new();
        for object in world.dynamic() {
            let around = GridBox::around(object.at, [HYSTERESIS, 0, HYSTERESIS]);
            if self.part.leaves.iter().any(|leaf| leaf.meets(&around)) {
                continue;
            }
            if !self.custody.owns(object.id) || object.held_by.is_some() {
                continue;
            }
            let Some(to) = self.part.territory.owner(object.at) else { continue };
            let is_ready = self
                .heard
                .get(&to)
                .is_some_and(|(_, beat)| beat.version == self.plan().version && beat.awaiting.is_empty());
            // Rooms that two objects share have to be given back before one of them goes alone.
            let tenancies = &self.part.tenancies;
            let is_tied = tenancies.is_shared(object.id, object.holds)
                || object.holds.is_some_and(|load| tenancies.is_shared(load, Some(object.id)));
            if is_ready && !is_tied && self.declared.contains(&to) {
                offers.push((object.id, object.holds, to));
            }
            if offers.len() == OFFERS_PER_TICK {
                break;
            }
        }
        for (object, load, to) in offers {
            let keep = Keep { world, part: &mut self.part, now: Time::default() };
            if self.custody.offer(object, to, &keep) {
                self.counts.offered += 1;
                self.part.tenancies.forget(object);
                load.into_iter().for_each(|load| self.part.tenancies.forget(load));
            }
        }
    }
}

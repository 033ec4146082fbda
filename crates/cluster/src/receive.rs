//! What a node does about the messages of other nodes.

use space::{NodeId, ObjectId, Time};
use wire::ToNode;
use wire::cluster::{Batch, Beat, CLUSTER_VERSION, Declared, Member};
use world::World;

use super::grants::OwnSpace;
use super::lease::BEAT_US;
use super::long_list::Gathering;
use super::part_of_world::Keep;
use super::{Cluster, Status};

impl Cluster {
    /// Takes in a message of another node.
    pub fn handle(&mut self, now: Time, from: NodeId, message: &ToNode, world: &mut World) {
        if self.status == Status::LeftOut || from == self.settings.node {
            return;
        }
        match message {
            ToNode::Beat(beat) => self.hear_beat(now, from, beat),
            ToNode::Vouch { version, sent_us } if *version == self.plan().version => {
                let members = self.members();
                self.lease.answer(from, Time::from_micros(*sent_us), now, &members);
            }
            ToNode::Join { version, world, address, is_witness } => {
                if self.is_member(from) {
                    self.say(from, ToNode::Committed(self.plan().clone()));
                } else if *version == CLUSTER_VERSION && *world == self.settings.world {
                    let member = Member { node: from.number(), address: address.clone(), is_witness: *is_witness };
                    self.candidates.insert(from, (member, now));
                }
            }
            ToNode::Prepare { .. }
            | ToNode::Promise { .. }
            | ToNode::Accept { .. }
            | ToNode::Accepted { .. }
            | ToNode::Committed(_) => self.agree(now, from, message, world),
            ToNode::Declare { version, telling, piece, standing }
                if *version == self.plan().version && self.is_member(from) && !self.declared.contains(&from) =>
            {
                let gathered = self.gathered.entry(from).or_insert_with(Gathering::new);
                if let Some(standing) = gathered.take(*telling, *piece, standing) {
                    self.gathered.remove(&from);
                    self.declared.insert(from);
                    // Both nodes of a hand-over may declare its object; one that this node owns by now is dropped.
                    let is_foreign = |one: &Declared| ObjectId::new(one.object).is_some_and(|o| !self.custody.owns(o));
                    let foreign: Vec<Declared> = standing.into_iter().filter(is_foreign).collect();
                    self.part.grants.declare(&foreign, now);
                    self.complete();
                }
            }
            ToNode::Batch(batch) if batch.version == self.plan().version && self.is_member(from) => {
                self.hear_batch(now, from, batch);
            }
            ToNode::Introduce { objects } if self.is_member(from) => {
                let custody = &self.custody;
                let is_foreign = |one: &&wire::cluster::Introduced| {
                    ObjectId::new(one.object).is_some_and(|object| !custody.owns(object))
                };
                let objects: Vec<_> = objects.iter().filter(is_foreign).cloned().collect();
                self.part.guests.introduce(from, &objects, now);
            }
            _ if self.is_member(from) => {
                // Only a node that may act takes what is offered, and only from a node that has declared.
                let may_take = self.may_act(now) && self.declared.contains(&from);
                let mut keep = Keep { world, part: &mut self.part, now };
                self.custody.handle(now, from, message, may_take, &mut keep);
            }
            _ => {}
        }
        self.collect();
    }

    pub(super) fn hear_beat(&mut self, now: Time, from: NodeId, beat: &Beat) {
        if beat.version < self.plan().version {
            self.say(from, ToNode::Committed(self.plan().clone()));
        }
        if !self.is_member(from) {
            return;
        }
        self.heard.insert(from, (now, beat.clone()));
        if beat.version != self.plan().version || self.status != Status::Member {
            return;
        }
        // A node that half of the members suspect cannot keep its lease. Its lease is not supported: it is left out
        // sooner.
        let is_doomed = self.suspected_by(from) >= self.plan().members.len().div_ceil(2);
        if !self.agreement.is_changing() && !is_doomed && self.lease.vouch(from, now) {
            self.say(from, ToNode::Vouch { version: beat.version, sent_us: beat.sent_us });
        }
        self.custody.mourn(from, beat.version, &beat.adopting);
        if beat.awaiting.contains(&self.settings.node.number())
            && !self.telling.contains_key(&from)
            && self.declared_at.get(&from).is_none_or(|at| now - *at >= 2 * BEAT_US)
        {
            self.declare(now, from);
        }
    }

    pub(super) fn hear_batch(&mut self, now: Time, from: NodeId, batch: &Batch) {
        self.part.guests.hear(from, batch.tick, &batch.guests, now);
        for answer in &batch.answers {
            let seq = ObjectId::new(answer.object)
                .filter(|&object| self.custody.owns(object))
                .and_then(|object| self.custody.seq(object));
            self.part.tenancies.answer(from, answer, seq, self.tick);
        }
        if !self.may_act(now) || !self.declared.contains(&from) {
            return;
        }
        let ground = OwnSpace { home: &self.part.home, closed: &self.part.closed, own: &self.part.standing };
        for ask in &batch.asks {
            let is_own = ObjectId::new(ask.object).is_none_or(|object| self.custody.owns(object));
            if is_own {
                continue;
            }
            if let Some(answer) = self.part.grants.ask(ask, &ground, now) {
                let answers = self.answers.entry(from).or_default();
                answers.retain(|known| known.object != answer.object);
                answers.push(answer);
            }
        }
    }
}

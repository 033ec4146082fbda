//! What a node tells others: that it lives, what of its own is in their space, and in every tick one batch for each who needs
//! one.

use std::collections::BTreeMap;

use space::{NodeId, Time, snap};
use wire::ToNode;
use wire::cluster::{Batch, Beat, CLUSTER_VERSION, Declared};
use world::{Block, Kind, Model, Standing, World};

use super::ghosts::{self, Listeners, Speaker};
use super::grants::to_wire;
use super::part::bounds;
use super::tenancy::{AHEAD_TICKS, SOON_TICKS, Tenant};
use super::{Cluster, Status, balance};

impl Cluster {
    /// Says what of its own reaches into another's space.
    pub(super) fn declare(&mut self, now: Time, to: NodeId) {
        if self.settings.is_witness || self.status != Status::Member {
            return;
        }
        self.declared_at.insert(to, now);
        let leaves: Vec<Block> = self.part.territory.of_node(to).copied().collect();
        let reaches = |standing: &&Standing| leaves.iter().any(|leaf| leaf.overlaps(&standing.block()));
        let declared = |standing: &Standing| {
            let seq = self.custody.seq(standing.object)?;
            Some(Declared { object: standing.object.number(), seq, standing: to_wire(standing) })
        };
        let standing = self.part.standing.iter().filter(reaches).filter_map(declared).collect();
        self.say(to, ToNode::Declare { version: self.plan().version, standing });
    }

    pub(super) fn beat(&mut self, now: Time, world: &World) {
        if self.status == Status::Joining {
            let join = ToNode::Join {
                version: CLUSTER_VERSION,
                world: self.settings.world,
                address: self.settings.address.clone(),
                is_witness: self.settings.is_witness,
            };
            let all: Vec<NodeId> = self.reachable.iter().copied().collect();
            all.into_iter().for_each(|node| self.say(node, join.clone()));
            return;
        }
        let places: Vec<_> = self.part.standing.iter().map(|standing| standing.at).collect();
        let is_waiting = !self.part.closed.is_empty() || !self.part.is_complete;
        let awaiting = if is_waiting {
            self.others().iter().filter(|n| !self.declared.contains(n)).map(|n| n.number()).collect()
        } else {
            Vec::new()
        };
        let beat = Beat {
            version: self.plan().version,
            sent_us: now.micros(),
            tick: world.tick().number(),
            load: self.custody.own().count() as u32,
            lag: (self.lag_us(now) / 33_333).clamp(0, i64::from(u32::MAX)) as u32,
            half: balance::half(&self.part.territory, self.settings.node, &places),
            suspects: self.suspects(now),
            awaiting,
            adopting: self.custody.adopting().iter().map(|node| node.number()).collect(),
        };
        self.heard.insert(self.settings.node, (now, beat.clone()));
        for node in self.members() {
            if node != self.settings.node.number() {
                self.say(NodeId::new(node), ToNode::Beat(beat.clone()));
            }
        }
    }

    /// One batch for everybody who needs one.
    pub(super) fn batch(&mut self, world: &World) {
        let me = self.settings.node;
        let is_inside = |block: &Block| self.part.home.iter().any(|home| home.contains(block));
        let known = self.part.tenancies.objects();
        let mut tenants = Vec::new();
        for standing in &self.part.standing {
            let object = standing.object;
            let ahead = world.prospect(object, AHEAD_TICKS).unwrap_or_default();
            if is_inside(&ahead) && known.binary_search(&object).is_err() || !self.custody.owns(object) {
                continue;
            }
            let soon = world.prospect(object, SOON_TICKS).unwrap_or_default();
            let seq = self.custody.seq(object).unwrap_or(0);
            let mate = world.object(object).and_then(|view| view.holds.or(view.held_by));
            tenants.push(Tenant { standing: *standing, seq, soon, ahead, mate });
        }
        let mut asks = self.part.tenancies.ask(me, &tenants, &self.part.territory, self.tick);
        let reach = self.settings.reach * snap::STEPS_PER_METRE as f32;
        let soon = reach + ghosts::SOON_M * snap::STEPS_PER_METRE as f32;
        let speakers = self.speakers(world, soon);
        let listeners = self.part.ghosts.listeners();
        // Most others are too far away to hear anything: how many there are in all must not matter here.
        let reached = bounds(speakers.iter().map(|speaker| speaker.place)).grown(soon as i32);
        let mut others: BTreeMap<NodeId, Vec<Block>> = BTreeMap::new();
        for (other, leaf) in
            self.part.territory.leaves.iter().filter(|(other, leaf)| *other != me && leaf.meets(&reached))
        {
            others.entry(*other).or_default().push(leaf.grown(soon as i32));
        }
        let mut all_answers = std::mem::take(&mut self.answers);
        for &other in asks.keys().chain(all_answers.keys()) {
            others.entry(other).or_default();
        }
        let nobody = Listeners::default();
        for (other, leaves) in others {
            let asks = asks.remove(&other).unwrap_or_default();
            let answers = all_answers.remove(&other).unwrap_or_default();
            let listeners = listeners.get(&other).unwrap_or(&nobody);
            let is_near = |at| leaves.iter().any(|leaf| leaf.contains(&Block::around(at, [0; 3])));
            let name_of = |object| world.object(object).map_or_else(String::new, |object| object.name.to_owned());
            let (introduced, ghosts) =
                self.part.ghosts.tell(other, (&speakers, listeners), world.tick().number(), reach, is_near, name_of);
            if !introduced.is_empty() {
                self.say(other, ToNode::Introduce { objects: introduced });
            }
            if !(asks.is_empty() && answers.is_empty() && ghosts.is_empty()) {
                let batch = Batch { version: self.plan().version, tick: world.tick().number(), ghosts, asks, answers };
                self.say(other, ToNode::Batch(batch));
            }
        }
    }

    /// Own objects that somebody beyond a border may hear.
    pub(super) fn speakers(&self, world: &World, reach: f32) -> Vec<Speaker> {
        let objects = world.spec().objects.len() as u32;
        let inner = reach as i32;
        let is_deep = |at: space::GridPoint| {
            let around = Block::around(at, [inner, 0, inner]);
            self.part.home.iter().any(|home| home.contains(&around))
        };
        let speaker = |object: world::ObjectView<'_>| {
            if is_deep(object.at) || object.kind == Kind::Fixed {
                return None;
            }
            Some(Speaker {
                object: object.id,
                seq: self.custody.own_seq(object.id)?,
                place: object.at,
                turn: object.turn,
                model: match object.model {
                    Model::Object(model) => model,
                    Model::Avatar(avatar) => objects + avatar,
                },
                is_user: object.owner.is_some(),
            })
        };
        world.dynamic().filter_map(speaker).collect()
    }

    /// Counts a message that was sent, with its bytes.
    pub fn count(&mut self, message: &ToNode, bytes: usize) {
        let counts = match message {
            ToNode::Batch(_) => &mut self.counts.batches,
            ToNode::Beat(_) | ToNode::Vouch { .. } => &mut self.counts.beats,
            ToNode::Replicate(_) | ToNode::Replicated { .. } => &mut self.counts.copies,
            _ => &mut self.counts.events,
        };
        counts.0 += 1;
        counts.1 += bytes as u64;
    }
}

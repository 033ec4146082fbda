//! What a node sends unasked: heartbeats, a declaration of its objects in others' space, and in every tick one batch
//! for each node that needs one.

use std::collections::BTreeMap;

use space::{NodeId, Time, snap};
use wire::ToNode;
use wire::cluster::{Batch, Beat, CLUSTER_VERSION, Declared};
use world::{GridBox, Kind, Model, PlacedSolid, World};

use super::grants::to_wire;
use super::guests::{self, Listeners, Speaker};
use super::long_list::Pieces;
use super::part_of_world::bounds;
use super::tenancy::{AHEAD_TICKS, SOON_TICKS, Tenant};
use super::{Cluster, Status, balance};

/// A declaration that is being sent to another node in pieces.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    number: u64,
    standing: Pieces<Declared>,
    next: u32,
}

impl Cluster {
    /// Declares the own objects that reach into another node's space: the first piece now, one more with each wake.
    pub(super) fn declare(&mut self, now: Time, to: NodeId) {
        if self.settings.is_witness || self.status != Status::Member {
            return;
        }
        let leaves: Vec<GridBox> = self.part.territory.of_node(to).copied().collect();
        let reaches = |standing: &&PlacedSolid| leaves.iter().any(|leaf| leaf.overlaps(&standing.block()));
        let declared = |standing: &PlacedSolid| {
            let seq = self.custody.seq(standing.object)?;
            Some(Declared { object: standing.object.number(), seq, standing: to_wire(standing) })
        };
        let standing = self.part.standing.iter().filter(reaches).filter_map(declared).collect();
        self.tellings += 1;
        let telling = Declaration { number: self.tellings, standing: Pieces::new(standing), next: 0 };
        self.telling.insert(to, telling);
        self.declare_on(now, to);
    }

    /// Sends the next piece to each node that has not got all of them.
    pub(super) fn declare_all_on(&mut self, now: Time) {
        let all: Vec<NodeId> = self.telling.keys().copied().collect();
        all.into_iter().for_each(|to| self.declare_on(now, to));
    }

    fn declare_on(&mut self, now: Time, to: NodeId) {
        let version = self.plan().version;
        let Some(telling) = self.telling.get_mut(&to) else { return };
        if let Some((piece, standing)) = telling.standing.piece(telling.next) {
            telling.next += 1;
            self.declared_at.insert(to, now);
            let telling = telling.number;
            self.say(to, ToNode::Declare { version, telling, piece, standing });
        }
        if self.telling.get(&to).is_some_and(|telling| telling.next == telling.standing.count()) {
            self.telling.remove(&to);
        }
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

    /// Sends one batch to every node that needs one.
    pub(super) fn batch(&mut self, world: &World) {
        let me = self.settings.node;
        let is_inside = |block: &GridBox| self.part.home.iter().any(|home| home.contains(block));
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
        let soon = reach + guests::SOON_M * snap::STEPS_PER_METRE as f32;
        let speakers = self.speakers(world, soon);
        let listeners = self.part.guests.listeners();
        // Most nodes are too far away to hear anything: the cost must not grow with their number.
        let reached = bounds(speakers.iter().map(|speaker| speaker.place)).grown(soon as i32);
        let mut others: BTreeMap<NodeId, Vec<GridBox>> = BTreeMap::new();
        for (other, leaf) in
            self.part.territory.leaves.iter().filter(|(other, leaf)| *other != me && leaf.meets(&reached))
        {
            others.entry(*other).or_default().push(leaf.grown(soon as i32));
        }
        let mut all_answers = std::mem::take(&mut self.answers);
        for &other in asks.keys().chain(all_answers.keys()) {
            others.entry(other).or_default();
        }
        let none = Listeners::default();
        for (other, leaves) in others {
            let asks = asks.remove(&other).unwrap_or_default();
            let answers = all_answers.remove(&other).unwrap_or_default();
            let listeners = listeners.get(&other).unwrap_or(&none);
            let is_near = |at| leaves.iter().any(|leaf| leaf.contains(&GridBox::around(at, [0; 3])));
            let name_of = |object| world.object(object).map_or_else(String::new, |object| object.name.to_owned());
            let (introduced, guests) =
                self.part.guests.tell(other, (&speakers, listeners), world.tick().number(), reach, is_near, name_of);
            if !introduced.is_empty() {
                self.say(other, ToNode::Introduce { objects: introduced });
            }
            if !(asks.is_empty() && answers.is_empty() && guests.is_empty()) {
                let batch = Batch { version: self.plan().version, tick: world.tick().number(), guests, asks, answers };
                self.say(other, ToNode::Batch(batch));
            }
        }
    }

    /// Own objects that users beyond a border may hear.
    pub(super) fn speakers(&self, world: &World, reach: f32) -> Vec<Speaker> {
        let objects = world.spec().objects.len() as u32;
        let inner = reach as i32;
        let is_deep = |at: space::GridPoint| {
            let around = GridBox::around(at, [inner, 0, inner]);
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

    /// Counts a message that is sent.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use space::{GridPoint, ObjectId};
    use wire::cluster::Member;
    use world::RoundedBox;
    use world::spec::Plaza;

    use super::super::{ClusterSettings, territory};
    use super::*;

    /// Keeps out this bug: 70,000 objects were declared in one message, which no node can decode, and which was
    /// repeated until the link was closed. The connection breaks once, so that a part has to be sent again.
    #[test]
    fn any_number_of_objects_is_declared() {
        const OBJECTS: u64 = 70_000;
        let nodes = [1, 2].map(NodeId::new);
        let plaza = Plaza { side: 40.0, obstacles: 0, crates: 0, balls: 0, seekers: 0, seed: 3 };
        let spec = Arc::new(plaza.spec());
        let now = |beats: i64| Time::from_micros(beats * 33_333);
        let mut worlds = [0, 1].map(|_| World::empty(spec.clone()).unwrap());
        let member = |node: NodeId| Member { node: node.number(), address: String::new(), is_witness: false };
        let plan = territory::even(nodes.map(member).to_vec(), worlds[0].grid());
        let settings = |node| ClusterSettings {
            node,
            address: String::new(),
            is_witness: false,
            copies: 1,
            reach: 10.0,
            world: 1,
        };
        let [first, second] = &mut worlds;
        let mut teller = Cluster::founding(settings(nodes[0]), first, plan.clone(), now(0));
        let mut hearer = Cluster::founding(settings(nodes[1]), second, plan, now(0));
        let leaf = *hearer.part.territory.of_node(nodes[1]).next().unwrap();
        let at = GridPoint::new(leaf.low[0].max(-1_000_000) + 2_000, 0, leaf.low[2].max(-1_000_000) + 2_000);
        for number in 1..=OBJECTS {
            let object = ObjectId::new(number).unwrap();
            teller.custody.begin(object);
            teller.part.standing.push(PlacedSolid { object, solid: RoundedBox { core: [0; 3], radius: 300 }, at });
        }
        while hearer.poll().is_some() || teller.poll().is_some() {}
        teller.declare(now(0), nodes[1]);
        for wake in 1..600 {
            // Messages under way are lost with the connection.
            let is_cut = wake == 5;
            while let Some((_, message)) = teller.poll() {
                let bytes = wire::cluster::seal(1, Some(2), &message.encode());
                assert!(bytes.len() <= wire::cluster::NODE_MESSAGE_MAX / 4);
                if !is_cut {
                    let heard = wire::cluster::open(&bytes).expect("a node can read what another says");
                    let message = ToNode::decode(heard.message).expect("a node can read what another says");
                    hearer.handle(now(wake), nodes[0], &message, second);
                }
            }
            if hearer.declared.contains(&nodes[0]) {
                break;
            }
            hearer.wake(now(wake), second);
            while let Some((_, message)) = hearer.poll() {
                teller.handle(now(wake), nodes[1], &message, first);
            }
            teller.declare_all_on(now(wake));
        }
        assert!(hearer.declared.contains(&nodes[0]) && teller.tellings > 2, "told again, and whole");
        assert_eq!(hearer.part.grants.len() as u64, OBJECTS);
        assert!(hearer.gathered.is_empty() && teller.telling.is_empty(), "nothing is kept of it");
    }
}

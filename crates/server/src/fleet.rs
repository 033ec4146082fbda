//! A server that is one of several: what it does beyond serving a world of its own.
//!
//! The world's step is the cluster's. Objects that arrive bring their users' sessions with them; users whose avatars have
//! gone are sent after them. Objects of others that are near are heard as if they were here. Whoever says hello and is not
//! known is asked for among the others ([`door`](super::door)).

use std::collections::{BTreeMap, VecDeque};

use interest::{Aura, AuraError};
use space::{NodeId, ObjectId, Tick, Time};
use wire::cluster::{CLUSTER_VERSION, Plan};
use wire::session::ResumeKey;
use wire::{SERVERS_MAX, ToClient, ToNode};
use world::{Act, Input, World};

use super::door::Door;
use super::passport::Passport;
use super::session::Stage;
use super::truth::Seen;
use super::{Server, ServerSettings, is_same_key};
use cluster::territory::holders;
use cluster::{Cluster, ClusterSettings, NAME_BITS, Status};
use wire::{Effect, LinkId};

/// Who has gone to another server is shown where it was until the other tells of it, for so long at most.
const STAND_IN_US: i64 = 1_500_000;
/// Users are told that nothing moves after so long.
const STILL_US: i64 = 1_500_000;
/// Passports of those who are gone are looked for every so many ticks.
const TIDY_TICKS: u64 = 256;

/// What a server has that is one of several.
#[derive(Debug)]
pub(super) struct Fleet {
    pub(super) cluster: Cluster,
    pub(super) settings: ClusterSettings,
    pub(super) door: Door,
    pub(super) sends: VecDeque<(NodeId, ToNode)>,
    /// What is offered to others, as it was when it was last in this world.
    leaving: BTreeMap<ObjectId, Seen>,
    /// Who has gone, and since when it is shown where it was.
    gone: BTreeMap<ObjectId, Time>,
    /// The plan that users were told of, and since when it holds.
    plan: (u64, Time),
    /// Since when nothing moves, and whether users know.
    still: Option<(Time, bool)>,
    turned_away: Option<(u16, u64)>,
}

impl Fleet {
    /// Whether an avatar with this key has come, and waits for the next step to be let in. A server that may not act takes
    /// none: until it does, nobody else has that user, and nobody may take it for new.
    pub(super) fn is_arriving(&self, key: &ResumeKey) -> bool {
        let is_its = |passport: &[u8]| Passport::read(passport).is_ok_and(|one| is_same_key(&one.resume_key, key));
        self.cluster.part().arrived.iter().any(|(_, passport)| is_its(passport))
    }

    /// Whether the plan has held for a while, and all others are well: nobody's users are between two servers.
    pub(super) fn is_calm(&self, now: Time, calm_us: i64) -> bool {
        let is_well = |node: &NodeId| {
            self.cluster.heard_of(*node).is_some_and(|(at, beat)| {
                now - *at < 500_000
                    && beat.version == self.plan.0
                    && beat.suspects.is_empty()
                    && beat.adopting.is_empty()
            })
        };
        now - self.plan.1 > calm_us && self.others().iter().all(is_well) && self.cluster.custody().adopting().is_empty()
    }

    /// Other members with objects.
    pub(super) fn others(&self) -> Vec<NodeId> {
        holders(self.cluster.plan()).into_iter().filter(|&node| node != self.settings.node).collect()
    }

    /// Where a member's clients find it.
    pub(super) fn address_of(&self, node: NodeId) -> Option<&str> {
        let member = self.cluster.plan().members.iter().find(|member| member.node == node.number())?;
        Some(member.address.as_str()).filter(|address| !address.is_empty())
    }

    fn addresses(&self) -> Vec<String> {
        let plan: &Plan = self.cluster.plan();
        let servers = plan.members.iter().filter(|member| !member.is_witness && member.address.len() >= 4);
        servers.take(SERVERS_MAX).map(|member| member.address.clone()).collect()
    }
}

impl Server {
    /// A server that is one of several. Its world is what [`Cluster::first`] or [`Cluster::joining`] made of it.
    pub fn in_cluster(
        world: World,
        settings: ServerSettings,
        cluster: Cluster,
        cluster_settings: ClusterSettings,
        now: Time,
    ) -> Result<Server, AuraError> {
        let mut server = Server::new(world, settings, now)?;
        server.next_sender = (cluster_settings.node.number() << NAME_BITS) + 1;
        server.fleet = Some(Box::new(Fleet {
            plan: (0, now),
            cluster,
            settings: cluster_settings,
            door: Door::default(),
            sends: VecDeque::new(),
            leaving: BTreeMap::new(),
            gone: BTreeMap::new(),
            still: None,
            turned_away: None,
        }));
        Ok(server)
    }

    /// Its part in a cluster.
    pub fn cluster(&self) -> Option<&Cluster> {
        self.fleet.as_ref().map(|fleet| &fleet.cluster)
    }

    /// Another node can be reached from now on.
    pub fn node_connected(&mut self, node: NodeId) {
        if let Some(fleet) = &mut self.fleet {
            fleet.cluster.connected(node);
        }
    }

    /// Another node cannot be reached any more.
    pub fn node_disconnected(&mut self, node: NodeId) {
        if let Some(fleet) = &mut self.fleet {
            fleet.cluster.disconnected(node);
        }
    }

    /// What it wants to say to which other node.
    pub fn poll_node(&mut self) -> Option<(NodeId, ToNode)> {
        let fleet = self.fleet.as_mut()?;
        fleet.cluster.poll().or_else(|| fleet.sends.pop_front())
    }

    /// Counts what was sent to another node.
    pub fn sent_to_node(&mut self, message: &ToNode, bytes: usize) {
        if let Some(fleet) = &mut self.fleet {
            fleet.cluster.count(message, bytes);
        }
    }

    /// Why it cannot belong to the cluster it wanted to join: the version and the world's fingerprint that are asked for.
    pub fn turned_away(&self) -> Option<(u16, u64)> {
        self.fleet.as_ref()?.turned_away
    }

    /// Takes in what another node says.
    pub fn handle_node(&mut self, now: Time, from: NodeId, message: &ToNode) {
        let Some(mut fleet) = self.fleet.take() else { return };
        let is_member = fleet.cluster.plan().members.iter().any(|member| member.node == from.number());
        match message {
            ToNode::Hello { .. } => {}
            ToNode::TurnedAway { version, world } => {
                if fleet.cluster.status() == Status::Joining {
                    fleet.turned_away = Some((*version, *world));
                }
            }
            ToNode::Join { version, world, .. } if *version != CLUSTER_VERSION || *world != fleet.settings.world => {
                let refusal = ToNode::TurnedAway { version: CLUSTER_VERSION, world: fleet.settings.world };
                fleet.sends.push_back((from, refusal));
            }
            ToNode::Seek(seek) if is_member => {
                let sought = self.sought(&fleet, seek);
                fleet.sends.push_back((from, ToNode::Sought(sought)));
            }
            ToNode::Sought(sought) if is_member => fleet.door.answered(from, sought),
            ToNode::Said { object, name, text } if is_member => {
                let speaker = ObjectId::new(*object).filter(|object| self.truth.ghosts().contains_key(object));
                self.pass_on_foreign(speaker, name, text);
            }
            ToNode::Seek(_) | ToNode::Sought(_) | ToNode::Said { .. } => {}
            _ => fleet.cluster.handle(now, from, message, self.truth.world_mut()),
        }
        self.fleet = Some(fleet);
    }

    /// Whether the world may take a step now.
    pub(super) fn may_act(&self, now: Time) -> bool {
        self.fleet.as_ref().is_none_or(|fleet| fleet.cluster.may_act(now))
    }

    /// Takes the world's step, or does what is due without one; says which.
    pub(super) fn step(&mut self, now: Time, inputs: &[Input]) -> bool {
        let Some(fleet) = &mut self.fleet else {
            return self.truth.step(inputs, |world| {
                world.step(inputs);
                true
            });
        };
        let tick_us = self.truth.tick_us();
        let target = newest_tick(&fleet.cluster, now, tick_us);
        self.truth.step(inputs, |world| {
            // Ticks count alike in all worlds that exchange objects; who is behind leaves out numbers.
            if fleet.cluster.may_act(now) && world.tick().number() + 1 < target {
                world.catch_up(Tick::new(target - 1));
            }
            fleet.cluster.tick(now, world, inputs)
        })
    }

    /// What came and went between servers since the last tick.
    pub(super) fn follow_fleet(&mut self, now: Time, has_stepped: bool) {
        let Some(mut fleet) = self.fleet.take() else { return };
        // Only with a step: what was told of a tick does not change any more.
        if has_stepped {
            while let Some((object, to)) = fleet.cluster.part_mut().departed.pop_front() {
                self.depart(now, &mut fleet, object, to);
            }
            while let Some((object, passport)) = fleet.cluster.part_mut().arrived.pop_front() {
                self.arrive(now, &mut fleet, object, &passport);
            }
            self.stand_in(&mut fleet);
            self.follow_ghosts(now, &mut fleet);
            let offered = fleet.cluster.custody().leaving().map(|(object, _)| object);
            fleet.leaving = offered.filter_map(|object| Some((object, self.truth.seen(object)?))).collect();
        }
        self.note_passports(&mut fleet);
        if fleet.cluster.plan().version != fleet.plan.0 {
            fleet.plan = (fleet.cluster.plan().version, now);
            let message = ToClient::Servers { addresses: fleet.addresses() };
            let links: Vec<LinkId> = self.sessions.values().filter_map(|session| session.link).collect();
            links.into_iter().for_each(|link| self.tell(link, &message));
        }
        self.mind_door(now, &mut fleet);
        fleet.still = if has_stepped { None } else { fleet.still.or(Some((now, false))) };
        let is_new = matches!(fleet.still, Some((since, false)) if now - since > STILL_US);
        if let Some((_, is_known)) = fleet.still.as_mut().filter(|_| is_new) {
            *is_known = true;
            self.announce("This part of the world stands still until its server hears from the others again.");
        }
        self.fleet = Some(fleet);
    }

    /// Who serves this world, for somebody who was let in.
    pub(super) fn tell_servers(&mut self, link: LinkId) {
        let Some(addresses) = self.fleet.as_ref().map(|fleet| fleet.addresses()) else { return };
        self.tell(link, &ToClient::Servers { addresses });
    }

    /// What somebody said is said to other servers, too: some of their users may be near.
    pub(super) fn say_beyond(&mut self, object: ObjectId, name: &str, text: &str) {
        let Some(fleet) = &mut self.fleet else { return };
        for node in fleet.others() {
            let (name, text) = (name.to_owned(), text.to_owned());
            fleet.sends.push_back((node, ToNode::Said { object: object.number(), name, text }));
        }
    }

    /// Sends a link to another server.
    pub(super) fn redirect(&mut self, link: LinkId, address: &str) {
        self.tell(link, &ToClient::Redirect { address: address.to_owned() });
        self.effects.push_back(Effect::Close { link });
        self.links.remove(&link);
    }

    /// Another server where somebody may be let in who finds no room here: the one that decides about a spawn place.
    pub(super) fn elsewhere(&self) -> Option<String> {
        let fleet = self.fleet.as_ref()?;
        let spec = self.truth.world().spec();
        let middle = 0.5 * (spec.low + spec.high);
        let places = spec.spawns.iter().copied().chain([middle]).filter_map(space::GridPoint::nearest);
        let owners = places.filter_map(|place| fleet.cluster.territory().owner(place));
        let other = owners.filter(|&node| node != fleet.settings.node).find_map(|node| fleet.address_of(node));
        other.map(str::to_owned)
    }

    /// Sends everybody to other servers, if there are any.
    pub(super) fn send_everybody_on(&mut self) {
        let Some(fleet) = &self.fleet else { return };
        let addresses: Vec<String> =
            fleet.others().into_iter().filter_map(|node| fleet.address_of(node)).map(str::to_owned).collect();
        if addresses.is_empty() {
            return;
        }
        for (at, link) in self.links.keys().copied().collect::<Vec<_>>().into_iter().enumerate() {
            self.redirect(link, &addresses[at % addresses.len()]);
        }
    }

    /// The others have gone on without it: its users are sent to them, and it begins anew as `node`, with nothing.
    pub fn rejoin(&mut self, node: NodeId, now: Time) -> Result<(), AuraError> {
        self.send_everybody_on();
        let Some(fleet) = self.fleet.take() else { return Ok(()) };
        self.effects.extend(self.links.keys().map(|&link| Effect::Close { link }));
        let settings = ClusterSettings { node, ..fleet.settings.clone() };
        let mut world = World::empty(self.truth.world().spec().clone()).expect("it was made of this before");
        let cluster = Cluster::joining(settings.clone(), &mut world, now);
        let fresh = Server::in_cluster(world, self.settings, cluster, settings, now)?;
        let before = std::mem::replace(self, fresh);
        (self.effects, self.counts) = (before.effects, before.counts);
        Ok(())
    }

    /// An object came from another server, perhaps with a user.
    fn arrive(&mut self, now: Time, fleet: &mut Fleet, object: ObjectId, passport: &[u8]) {
        if self.truth.pose(object).is_none() {
            return;
        }
        let owner = self.truth.owner(object);
        fleet.gone.remove(&object);
        self.truth.ghosts_mut().remove(&object);
        let slot = match self.truth.slot(object) {
            Some(slot) => {
                let aura = self.aura(owner.is_some());
                self.audience.set_aura(slot, aura).expect("it was in the audience as a ghost");
                // It may not be where it was last seen: what was adopted is as its copy says, or at the nearest free place.
                if let Some((place, turn)) =
                    self.truth.pose(object).filter(|(place, _)| *place != self.bodies.place(slot))
                {
                    self.audience.move_to(slot, place.position()).expect("a settled place is within every world");
                    self.bodies.moved(slot, self.truth.tick(), place, turn, true);
                }
                slot
            }
            None => match self.show(object) {
                Ok(Some(slot)) => slot,
                _ => return,
            },
        };
        let Some(sender) = owner else { return };
        self.users.insert(slot, sender);
        if let Some(session) = self.sessions.get_mut(&sender) {
            session.stage = Stage::In { object, slot };
            return;
        }
        let passport = Passport::read(passport).ok().filter(|passport| passport.sender == sender);
        let Some(mut session) = passport.and_then(|passport| passport.session(now)) else {
            // Nobody can come back for it.
            let made_for = Tick::new(self.truth.tick());
            let sequence = self.truth.last_sequence(sender).map_or(1, |last| last.saturating_add(1));
            self.inputs.push(Input { sender, sequence, made_for, act: Act::Leave });
            return;
        };
        session.stage = Stage::In { object, slot };
        session.sequence = self.truth.last_sequence(sender).unwrap_or(0);
        self.names.entry(session.nickname.key()).or_insert(sender);
        self.sessions.insert(sender, session);
    }

    /// An object went to another server: its user is sent after it.
    fn depart(&mut self, now: Time, fleet: &mut Fleet, object: ObjectId, to: NodeId) {
        if self.truth.pose(object).is_some() {
            // It is back already.
            return;
        }
        let Some(slot) = self.truth.slot(object) else { return };
        self.users.remove(&slot);
        self.audience.set_aura(slot, self.aura(false)).expect("it was in the audience while it was here");
        if let Some(seen) = fleet.leaving.remove(&object) {
            self.truth.ghosts_mut().insert(object, seen);
        }
        if self.truth.ghosts().contains_key(&object) {
            fleet.gone.insert(object, now);
        } else {
            self.hide(object);
        }
        let is_its = |stage: Stage| matches!(stage, Stage::In { object: own, .. } if own == object);
        let found = self.sessions.values().find(|session| is_its(session.stage));
        let Some((sender, link)) = found.map(|session| (session.sender, session.link)) else { return };
        self.forget(sender);
        if let (Some(link), Some(address)) = (link, fleet.address_of(to)) {
            let address = address.to_owned();
            self.redirect(link, &address);
        }
    }

    /// What was offered to a server that died is in no world until it has found a place, here or elsewhere: until then it is
    /// shown where it was, in the row that it had. So whoever has a row is in the world or among the ghosts, and has one row.
    fn stand_in(&mut self, fleet: &mut Fleet) {
        for (object, _) in fleet.cluster.custody().leaving() {
            if self.truth.pose(object).is_none()
                && self.truth.slot(object).is_some()
                && let Some(seen) = fleet.leaving.remove(&object)
            {
                self.truth.ghosts_mut().insert(object, seen);
            }
        }
    }

    /// Objects of others, as they were last heard of.
    fn follow_ghosts(&mut self, now: Time, fleet: &mut Fleet) {
        let tick = self.truth.tick();
        let mut unknown = Vec::new();
        for (object, ghost) in fleet.cluster.part().ghosts.heard() {
            if self.truth.pose(object).is_some() {
                continue;
            }
            fleet.gone.remove(&object);
            let (place, turn) = (ghost.place, ghost.turn);
            match (self.truth.slot(object), self.truth.ghosts_mut().get_mut(&object)) {
                (Some(slot), Some(seen)) if (seen.place, seen.turn) != (place, turn) => {
                    if self.audience.move_to(slot, place.position()).is_ok() {
                        (seen.place, seen.turn) = (place, turn);
                        self.bodies.moved(slot, tick, place, turn, false);
                    }
                }
                (Some(_), _) => {}
                (None, _) => unknown.push((object, place, turn, ghost.model, ghost.name.clone())),
            }
        }
        for (object, place, turn, model, name) in unknown {
            let Some((kind, shape)) = self.truth.model(model, &name) else { continue };
            let Ok(slot) = self.audience.insert(place.position(), self.aura(false)) else { continue };
            self.truth.set_slot(object, slot);
            self.bodies.insert(slot, tick, place, turn);
            self.truth.ghosts_mut().insert(object, Seen { kind, name, shape, place, turn });
        }
        fleet.gone.retain(|_, since| now - *since < STAND_IN_US);
        let ghosts = &fleet.cluster.part().ghosts;
        let custody = fleet.cluster.custody();
        let is_over = |object: &&ObjectId| {
            ghosts.get(**object).is_none() && !fleet.gone.contains_key(object) && !custody.has(**object)
        };
        let over: Vec<ObjectId> = self.truth.ghosts().keys().filter(is_over).copied().collect();
        over.into_iter().for_each(|object| self.hide(object));
    }

    /// An object of another server is not heard any more.
    fn hide(&mut self, object: ObjectId) {
        self.truth.ghosts_mut().remove(&object);
        if let Some(slot) = self.truth.take_slot(object) {
            self.audience.remove(slot).expect("it was in the audience until now");
        }
    }

    /// What goes with each avatar if it changes hands, or if this server dies.
    fn note_passports(&mut self, fleet: &mut Fleet) {
        let passports = &mut fleet.cluster.part_mut().sessions;
        for session in self.sessions.values_mut() {
            let Stage::In { object, .. } = session.stage else { continue };
            if session.noted != Some(session.newest) || !passports.contains_key(&object) {
                session.noted = Some(session.newest);
                passports.insert(object, Passport::of(session));
            }
        }
        if self.counts.ticks.is_multiple_of(TIDY_TICKS) {
            let mut passports = std::mem::take(passports);
            passports.retain(|&object, _| fleet.cluster.custody().has(object));
            fleet.cluster.part_mut().sessions = passports;
        }
    }

    pub(super) fn aura(&self, is_user: bool) -> Aura {
        let ServerSettings { focus, nimbus, .. } = self.settings;
        if is_user { Aura::one_sided(focus, nimbus) } else { Aura::only_heard(nimbus) }
    }
}

/// The newest tick that another member must have come to by now.
fn newest_tick(cluster: &Cluster, now: Time, tick_us: i64) -> u64 {
    let plan = cluster.plan();
    let reached = |node: u64| {
        let (at, beat) = cluster.heard_of(NodeId::new(node))?;
        let is_fresh = beat.version == plan.version && now - *at < 1_000_000;
        is_fresh.then(|| beat.tick.saturating_add(((now - *at) / tick_us).max(0) as u64))
    };
    let others = plan.members.iter().filter(|member| !member.is_witness && member.node != cluster.node().number());
    others.filter_map(|member| reached(member.node)).max().unwrap_or(0)
}

//! What a server does beyond serving a world of its own, when it is a node of a cluster.
//!
//! The world's step is the cluster's. Objects that arrive bring their users' sessions with them; users whose avatars
//! went to another server are redirected there. Objects of other servers near the border are guests: they are heard as
//! if they were here.

use std::collections::{BTreeMap, VecDeque};

use interest::AuraError;
use space::{NodeId, ObjectId, Time};
use wire::cluster::{CLUSTER_VERSION, Plan};
use wire::session::ResumeKey;
use wire::{Channel, Effect, LinkId, SERVERS_MAX, ToClient, ToNode};
use world::World;

use cluster::territory::holders;
use cluster::{Cluster, ClusterSettings, NAME_BITS, Status};

use crate::passport::Passport;
use crate::receive::is_same_key;
use crate::seek::Seeking;
use crate::session::SessionStage;
use crate::truth::{Seen, Truth, model, seen_in};
use crate::{Server, ServerSettings};

/// For how long, at most, an object that went to another server is shown where it was, until that server tells of it.
const STAND_IN_US: i64 = 1_500_000;
/// Users are told that nothing moves after this time.
const STILL_US: i64 = 1_500_000;
/// How often passports of objects that are gone are removed.
const TIDY_TICKS: u64 = 256;

/// What a server of a cluster has in addition.
#[derive(Debug)]
pub(crate) struct Shared {
    pub cluster: Cluster,
    pub settings: ClusterSettings,
    pub seeking: Seeking,
    /// Objects of other servers that are heard here.
    pub guests: BTreeMap<ObjectId, Seen>,
    messages: VecDeque<(NodeId, ToNode)>,
    malformed: VecDeque<Effect>,
    /// Objects that are offered to other servers, as they were when they were last in this world.
    leaving: BTreeMap<ObjectId, Seen>,
    /// Guests that went from here to another server, and since when they are shown where they were.
    gone: BTreeMap<ObjectId, Time>,
    /// The version of the plan that users were told of, and since when it holds.
    plan: (u64, Time),
    /// Since when nothing moves, and whether users were told.
    still: Option<(Time, bool)>,
    turned_away: Option<(u16, u64)>,
}

impl Shared {
    pub fn send(&mut self, to: NodeId, message: ToNode) {
        self.messages.push_back((to, message));
    }

    /// Whether `poll` has something.
    pub fn has_messages(&self) -> bool {
        self.cluster.has_messages() || !self.messages.is_empty() || !self.malformed.is_empty()
    }

    /// The next message to another node.
    pub fn poll(&mut self) -> Option<Effect> {
        let Some((to, message)) = self.cluster.poll().or_else(|| self.messages.pop_front()) else {
            return self.malformed.pop_front();
        };
        let bytes = message.encode();
        self.cluster.count(&message, bytes.len());
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        Some(Effect::Send { to: to.into(), channel, bytes })
    }

    /// Whether an avatar with this key has arrived and waits for the next step to be let in. While this server may not
    /// act, no other server has that user, and none may take it for a new one.
    pub fn is_arriving(&self, key: &ResumeKey) -> bool {
        let is_its = |passport: &[u8]| Passport::read(passport).is_ok_and(|one| is_same_key(&one.resume_key, key));
        self.cluster.part().arrived.iter().any(|(_, passport)| is_its(passport))
    }

    /// Whether the plan has held for `calm_us` and no other node is suspected: no user is between two servers.
    pub fn is_calm(&self, now: Time, calm_us: i64) -> bool {
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

    /// Other members that hold objects.
    pub fn others(&self) -> Vec<NodeId> {
        holders(self.cluster.plan()).into_iter().filter(|&node| node != self.settings.node).collect()
    }

    /// The address at which clients reach a member.
    pub fn address_of(&self, node: NodeId) -> Option<&str> {
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
    /// A server of a cluster. Its world is what [`Cluster::first`] or [`Cluster::joining`] made of it.
    pub fn in_cluster(
        world: World,
        settings: ServerSettings,
        cluster: Cluster,
        cluster_settings: ClusterSettings,
        now: Time,
    ) -> Result<Server, AuraError> {
        let next_sender = (cluster_settings.node.number() << NAME_BITS) + 1;
        let shared = Shared {
            cluster,
            settings: cluster_settings,
            seeking: Seeking::default(),
            guests: BTreeMap::new(),
            messages: VecDeque::new(),
            malformed: VecDeque::new(),
            leaving: BTreeMap::new(),
            gone: BTreeMap::new(),
            plan: (0, now),
            still: None,
            turned_away: None,
        };
        let mut server = Server::with(Truth::Shared(world, Box::new(shared)), settings, &[], now)?;
        server.next_sender = next_sender;
        Ok(server)
    }

    /// Its part in a cluster.
    pub fn cluster(&self) -> Option<&Cluster> {
        self.truth.shared().map(|shared| &shared.cluster)
    }

    /// Why it cannot join the cluster: the protocol version and the world's fingerprint that the cluster has.
    pub fn turned_away(&self) -> Option<(u16, u64)> {
        self.truth.shared()?.turned_away
    }

    pub(crate) fn receive_from_node(&mut self, now: Time, from: NodeId, bytes: &[u8]) {
        let Truth::Shared(world, shared) = &mut self.truth else { return };
        let message = match ToNode::decode(bytes) {
            Ok(message) => message,
            Err(error) => return shared.malformed.push_back(Effect::Malformed { from, error }),
        };
        let is_member = shared.cluster.plan().members.iter().any(|member| member.node == from.number());
        match message {
            ToNode::Hello { .. } => {}
            ToNode::TurnedAway { version, world } => {
                if shared.cluster.status() == Status::Joining {
                    shared.turned_away = Some((version, world));
                }
            }
            ToNode::Join { version, world, .. } if version != CLUSTER_VERSION || world != shared.settings.world => {
                let refusal = ToNode::TurnedAway { version: CLUSTER_VERSION, world: shared.settings.world };
                shared.send(from, refusal);
            }
            ToNode::Seek(seek) if is_member => self.answer_seek(from, &seek),
            ToNode::Sought(sought) if is_member => shared.seeking.answered(from, &sought),
            ToNode::Said { object, name, text } if is_member => {
                let guest = ObjectId::new(object).filter(|object| shared.guests.contains_key(object));
                let Some(slot) = guest.and_then(|guest| self.slots.slot(guest)) else { return };
                let message = ToClient::Said { speaker: guest, name, text };
                self.links_of_listeners(slot).into_iter().for_each(|link| self.tell(link, &message));
            }
            ToNode::Seek(_) | ToNode::Sought(_) | ToNode::Said { .. } => {}
            message => shared.cluster.handle(now, from, &message, world),
        }
    }

    /// Follows what came and went between servers since the last tick.
    pub(crate) fn follow_cluster(&mut self, now: Time, has_stepped: bool) {
        // Only with a step: what was told of a tick does not change any more.
        if has_stepped {
            while let Some((object, to)) = self.part_mut().and_then(|part| part.departed.pop_front()) {
                self.depart(now, object, to);
            }
            while let Some((object, passport)) = self.part_mut().and_then(|part| part.arrived.pop_front()) {
                self.arrive(now, object, &passport);
            }
            self.show_offered();
            self.follow_guests(now);
        }
        self.note_passports();
        let Truth::Shared(world, shared) = &mut self.truth else { return };
        if has_stepped {
            let offered = shared.cluster.custody().leaving().map(|(object, _)| object);
            shared.leaving = offered.filter_map(|object| Some((object, seen_in(world, object)?))).collect();
        }
        let version = shared.cluster.plan().version;
        if version != shared.plan.0 {
            shared.plan = (version, now);
            let addresses = shared.addresses();
            self.tell_all(&ToClient::Servers { addresses });
        }
        self.look_after_seeking(now);
        let Some(shared) = self.truth.shared_mut() else { return };
        shared.still = if has_stepped { None } else { shared.still.or(Some((now, false))) };
        if let Some((since, is_told)) = &mut shared.still
            && !*is_told
            && now - *since > STILL_US
        {
            *is_told = true;
            self.announce("This part of the world stands still until its server hears from the others again.");
        }
    }

    fn part_mut(&mut self) -> Option<&mut cluster::Part> {
        self.truth.shared_mut().map(|shared| shared.cluster.part_mut())
    }

    /// Tells a user which servers there are.
    pub(crate) fn tell_servers(&mut self, link: LinkId) {
        let Some(addresses) = self.truth.shared().map(Shared::addresses) else { return };
        self.tell(link, &ToClient::Servers { addresses });
    }

    /// Passes on what a user said to the other servers, where listeners may be near.
    pub(crate) fn say_to_nodes(&mut self, object: ObjectId, name: &str, text: &str) {
        let Some(shared) = self.truth.shared_mut() else { return };
        for node in shared.others() {
            let (name, text) = (name.to_owned(), text.to_owned());
            shared.send(node, ToNode::Said { object: object.number(), name, text });
        }
    }

    /// Sends a client to another server.
    pub(crate) fn redirect(&mut self, link: LinkId, address: &str) {
        self.tell(link, &ToClient::Redirect { address: address.to_owned() });
        self.effects.push_back(Effect::Close { to: link.into() });
        self.links.remove(&link);
    }

    /// The address of another server that may let in a user for whom there is no room here: one with a spawn place.
    pub(crate) fn elsewhere(&self) -> Option<String> {
        let shared = self.truth.shared()?;
        let spec = self.world().spec();
        let middle = 0.5 * (spec.low + spec.high);
        let places = spec.spawns.iter().copied().chain([middle]).filter_map(space::GridPoint::nearest);
        let owners = places.filter_map(|place| shared.cluster.territory().owner(place));
        let other = owners.filter(|&node| node != shared.settings.node).find_map(|node| shared.address_of(node));
        other.map(str::to_owned)
    }

    /// Sends all clients to other servers, if there are any.
    pub(crate) fn redirect_all(&mut self) {
        let Some(shared) = self.truth.shared() else { return };
        let addresses: Vec<String> =
            shared.others().into_iter().filter_map(|node| shared.address_of(node)).map(str::to_owned).collect();
        if addresses.is_empty() {
            return;
        }
        for (at, link) in self.links.keys().copied().collect::<Vec<_>>().into_iter().enumerate() {
            self.redirect(link, &addresses[at % addresses.len()]);
        }
    }

    /// Starts anew as `node`, without objects, after the cluster has left this server out; its users are sent to the
    /// others.
    pub fn rejoin(&mut self, node: NodeId, now: Time) -> Result<(), AuraError> {
        self.redirect_all();
        let Some(shared) = self.truth.shared() else { return Ok(()) };
        self.effects.extend(self.links.keys().map(|&link| Effect::Close { to: link.into() }));
        let settings = ClusterSettings { node, ..shared.settings.clone() };
        let mut world = World::empty(self.world().spec().clone()).expect("it was made of this before");
        let mut cluster = Cluster::joining(settings.clone(), &mut world, now);
        shared.cluster.reachable().for_each(|other| cluster.connected(other));
        let fresh = Server::in_cluster(world, self.settings, cluster, settings, now)?;
        let before = std::mem::replace(self, fresh);
        (self.effects, self.counts) = (before.effects, before.counts);
        Ok(())
    }

    /// Takes an object that came from another server, with its user's session if it is an avatar.
    fn arrive(&mut self, now: Time, object: ObjectId, passport: &[u8]) {
        let Some((place, turn)) = self.truth.pose(object) else { return };
        let owner = self.truth.owner(object);
        if let Some(shared) = self.truth.shared_mut() {
            shared.gone.remove(&object);
            shared.guests.remove(&object);
        }
        let slot = match self.slots.slot(object) {
            Some(slot) => {
                let aura = self.settings.aura(owner.is_some());
                self.audience.set_aura(slot, aura).expect("it was in the audience as a guest");
                // An adopted object is where its copy says, or at the nearest free place.
                if place != self.bodies.place(slot) {
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
            session.stage = SessionStage::In { object, slot };
            return;
        }
        let passport = Passport::read(passport).ok().filter(|passport| passport.sender == sender);
        let Some(mut session) = passport.and_then(|passport| passport.session(now)) else {
            return self.leave_without_session(sender);
        };
        session.stage = SessionStage::In { object, slot };
        session.sequence = self.truth.last_sequence(sender).unwrap_or(0);
        self.names.entry(session.nickname.key()).or_insert(sender);
        self.sessions.insert(sender, session);
    }

    /// Makes an object that went to another server a guest, and sends its user after it.
    fn depart(&mut self, now: Time, object: ObjectId, to: NodeId) {
        if self.truth.pose(object).is_some() {
            // It is back already.
            return;
        }
        let Some(slot) = self.slots.slot(object) else { return };
        self.users.remove(&slot);
        self.audience.set_aura(slot, self.settings.aura(false)).expect("it was in the audience while it was here");
        let Some(shared) = self.truth.shared_mut() else { return };
        if let Some(seen) = shared.leaving.remove(&object) {
            shared.guests.insert(object, seen);
        }
        let address = shared.address_of(to).map(str::to_owned);
        if shared.guests.contains_key(&object) {
            shared.gone.insert(object, now);
        } else {
            self.hide(object);
        }
        let is_its = |stage: SessionStage| matches!(stage, SessionStage::In { object: own, .. } if own == object);
        let found = self.sessions.values().find(|session| is_its(session.stage));
        let Some((sender, link)) = found.map(|session| (session.sender, session.link)) else { return };
        self.forget(sender);
        if let (Some(link), Some(address)) = (link, address) {
            self.redirect(link, &address);
        }
    }

    /// Shows objects where they were that were offered to a server that died: they are in no world until they find a
    /// place, here or elsewhere. So each object with a row is in the world or a guest, and has one row.
    fn show_offered(&mut self) {
        let Truth::Shared(world, shared) = &mut self.truth else { return };
        for (object, _) in shared.cluster.custody().leaving() {
            if world.object(object).is_none()
                && self.slots.slot(object).is_some()
                && let Some(seen) = shared.leaving.remove(&object)
            {
                shared.guests.insert(object, seen);
            }
        }
    }

    /// Moves guests to where their servers last told they are; adds and removes guests.
    fn follow_guests(&mut self, now: Time) {
        let Truth::Shared(world, shared) = &mut self.truth else { return };
        let Shared { cluster, guests, gone, .. } = &mut **shared;
        let tick = world.tick().number();
        for (object, told) in cluster.part().guests.heard() {
            if world.object(object).is_some() {
                continue;
            }
            gone.remove(&object);
            let (place, turn) = (told.place, told.turn);
            match (self.slots.slot(object), guests.get_mut(&object)) {
                (Some(slot), Some(seen)) if (seen.place, seen.turn) != (place, turn) => {
                    if self.audience.move_to(slot, place.position()).is_ok() {
                        (seen.place, seen.turn) = (place, turn);
                        self.bodies.moved(slot, tick, place, turn, false);
                    }
                }
                (Some(_), _) => {}
                (None, _) => {
                    let Some((kind, shape)) = model(world, told.model, &told.name) else { continue };
                    let aura = self.settings.aura(false);
                    let Ok(slot) = self.audience.insert(place.position(), aura) else { continue };
                    self.slots.insert(object, slot);
                    self.bodies.insert(slot, tick, place, turn);
                    guests.insert(object, Seen { kind, name: told.name.clone(), shape, place, turn });
                }
            }
        }
        gone.retain(|_, since| now - *since < STAND_IN_US);
        let (heard, custody) = (&cluster.part().guests, cluster.custody());
        let is_over =
            |object: &&ObjectId| heard.get(**object).is_none() && !gone.contains_key(object) && !custody.has(**object);
        let over: Vec<ObjectId> = guests.keys().filter(is_over).copied().collect();
        over.into_iter().for_each(|object| self.hide(object));
    }

    /// Removes a guest.
    fn hide(&mut self, object: ObjectId) {
        self.truth.shared_mut().into_iter().for_each(|shared| drop(shared.guests.remove(&object)));
        if let Some(slot) = self.slots.remove(object) {
            self.audience.remove(slot).expect("it was in the audience until now");
        }
    }

    /// Writes the passport of each avatar: it goes with the avatar to the next server, or is a copy if this one dies.
    fn note_passports(&mut self) {
        let Some(shared) = self.truth.shared_mut() else { return };
        let passports = &mut shared.cluster.part_mut().sessions;
        for session in self.sessions.values_mut() {
            let SessionStage::In { object, .. } = session.stage else { continue };
            if session.noted != Some(session.newest) || !passports.contains_key(&object) {
                session.noted = Some(session.newest);
                passports.insert(object, Passport::of(session));
            }
        }
        if self.counts.ticks.is_multiple_of(TIDY_TICKS) {
            let mut passports = std::mem::take(passports);
            passports.retain(|&object, _| shared.cluster.custody().has(object));
            shared.cluster.part_mut().sessions = passports;
        }
    }
}

/// The newest tick that another member must have reached by now.
pub(crate) fn newest_tick(cluster: &Cluster, now: Time, tick_us: i64) -> u64 {
    let plan = cluster.plan();
    let reached = |node: u64| {
        let (at, beat) = cluster.heard_of(NodeId::new(node))?;
        let is_fresh = beat.version == plan.version && now - *at < 1_000_000;
        is_fresh.then(|| beat.tick.saturating_add(((now - *at) / tick_us).max(0) as u64))
    };
    let others = plan.members.iter().filter(|member| !member.is_witness && member.node != cluster.node().number());
    others.filter_map(|member| reached(member.node)).max().unwrap_or(0)
}

#![doc = include_str!("../README.md")]
//!
//! ## How it is made
//!
//! The server: it takes in what clients ask for, steps the world, and tells each client about its area of interest.
//!
//! ```text
//!  handle:  hello, moves ─▶ checked ─▶ inputs of the next tick      (a bad message is counted against its sender)
//!  wake:    inputs ─▶ world's step ─▶ areas of interest             (one tick)
//!  poll:    roster and state of each client, within its budget      (effects, to be carried out)
//! ```
//!
//! [`Server`] says in which order to call what. A server alone and a server of a cluster differ in one type, `Truth`;
//! what the second does in addition is in `shared.rs`, `seek.rs` and `passport.rs`.

#![forbid(unsafe_code)]

mod bodies;
mod fan_out;
mod forms;
mod heard;
pub mod inside;
pub mod limits;
mod link;
pub mod nickname;
mod passport;
mod receive;
mod seek;
mod session;
mod shared;
mod slots;
mod tick;
mod truth;
mod update_status;
pub mod watch;

pub use bodies::Bodies;
pub use fan_out::{FanOut, REPEAT_TICKS_MAX, Sent};
pub use heard::{Heard, HeardObjects};
pub use tick::TickPart;
pub use truth::shape_of;
pub use update_status::UpdateStatus;
/// What the API takes and returns.
pub use {interest, space, wire, world};

use std::collections::{BTreeMap, VecDeque};

use interest::{Audience, AudienceSettings, Aura, AuraError};
use space::{NodeId, ObjectId, Pair, Slot, Tick, Time};
use wire::scene::FixedObject;
use wire::{Channel, CloseReason, Effect, Endpoint, Event, LinkId, Participant, SessionRecord, ToClient};
use world::{Act, Input, World};

use self::limits::Limits;
use self::link::Link;
use self::nickname::Nickname;
use self::session::{Session, SessionStage};
use self::slots::SlotTable;
use self::truth::Truth;

/// Clients that one `poll` tells about the tick: their messages are sent while the next are still being written.
const TOLD_AT_ONCE: usize = 32;

/// Settings of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerSettings {
    pub limits: Limits,
    /// The radius of a user's focus, in metres.
    pub focus: f32,
    /// The radius of every object's nimbus, in metres. Focus and nimbus add up to the distance at which a user hears.
    pub nimbus: f32,
    /// A user hears an object until it is this many times farther away than where that began.
    pub hysteresis: f32,
}

impl Default for ServerSettings {
    fn default() -> ServerSettings {
        ServerSettings { limits: Limits::default(), focus: 20.0, nimbus: 0.0, hysteresis: Aura::HYSTERESIS }
    }
}

impl ServerSettings {
    fn aura(&self, is_user: bool) -> Aura {
        if is_user { Aura::one_sided(self.focus, self.nimbus) } else { Aura::only_heard(self.nimbus) }
    }
}

/// Counts since the start, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    pub ticks: u64,
    /// Inputs that the world was given.
    pub inputs: u64,
    /// Messages that could not be decoded, came too often, or asked for what cannot be.
    pub rejected: u64,
    pub joined: u64,
    pub resumed: u64,
    /// Users who were not let in.
    pub refused: u64,
    /// Users whose session the server ended.
    pub dropped: u64,
    pub sent: Sent,
    /// Messages to clients that are not state, and their bytes.
    pub messages: u64,
    pub message_bytes: u64,
}

/// A server as a state machine. Its methods are of four kinds:
///
/// - **In**: [`handle`](Participant::handle) takes an event of a link or of another node of the cluster;
///   [`wake`](Participant::wake) takes a tick once [`next_wake`](Participant::next_wake) has come.
/// - **Out**: [`poll`](Participant::poll) returns the next effect. After each call of another kind, call it until it
///   returns `None`: after a tick it also writes what clients are told of it, some clients at a time.
/// - **Commands**: what an operator or the driver wants, such as [`announce`](Server::announce),
///   [`drop_user`](Server::drop_user), [`stop`](Server::stop) and [`rejoin`](Server::rejoin).
/// - **Getters**: they change nothing and may be called at any time.
///
/// [`hello`](Server::hello) is `handle` for a driver that has decoded a hello to check it;
/// [`begin_tick`](Server::begin_tick) and [`tick`](Server::tick) are `wake` for one that measures the parts of a tick.
#[derive(Debug)]
pub struct Server {
    settings: ServerSettings,
    truth: Truth,
    /// What stands, as it is sent.
    fixed: Vec<FixedObject>,
    slots: SlotTable,
    audience: Audience,
    bodies: Bodies,
    fan_out: FanOut,
    links: BTreeMap<LinkId, Link>,
    sessions: BTreeMap<NodeId, Session>,
    /// By the case-folded keys of nicknames.
    names: BTreeMap<String, NodeId>,
    queue: VecDeque<NodeId>,
    /// The users whose avatars are in these slots.
    users: BTreeMap<Slot, NodeId>,
    next_sender: u64,
    inputs: Vec<Input>,
    next_tick: Time,
    /// When the last tick was.
    ticked: Time,
    /// Whether `poll` still has to tell clients of the last tick, and the last user for whom it has.
    is_telling: bool,
    told: Option<NodeId>,
    /// The clocks of objects that change their form, after the last tick.
    clocks: Vec<(Slot, u64)>,
    effects: VecDeque<Effect>,
    counts: ServerCounts,
}

impl Server {
    /// A server of this world; its first tick is at `now`.
    pub fn new(world: World, settings: ServerSettings, now: Time) -> Result<Server, AuraError> {
        Server::restore(world, settings, &[], now)
    }

    /// A server that continues a kept world with its sessions: their users can resume.
    pub fn restore(
        world: World,
        settings: ServerSettings,
        sessions: &[SessionRecord],
        now: Time,
    ) -> Result<Server, AuraError> {
        Server::with(Truth::Alone(world), settings, sessions, now)
    }

    fn with(
        truth: Truth,
        settings: ServerSettings,
        sessions: &[SessionRecord],
        now: Time,
    ) -> Result<Server, AuraError> {
        let mut server = Server {
            settings,
            fixed: truth.fixed_objects(),
            truth,
            slots: SlotTable::default(),
            audience: Audience::with(AudienceSettings {
                hysteresis: settings.hysteresis,
                ..AudienceSettings::default()
            })?,
            bodies: Bodies::new(),
            fan_out: FanOut::new(),
            links: BTreeMap::new(),
            sessions: BTreeMap::new(),
            names: BTreeMap::new(),
            queue: VecDeque::new(),
            users: BTreeMap::new(),
            next_sender: 1,
            inputs: Vec::new(),
            next_tick: now,
            ticked: now,
            is_telling: false,
            told: None,
            clocks: Vec::new(),
            effects: VecDeque::new(),
            counts: ServerCounts::default(),
        };
        let movers: Vec<ObjectId> = server.world().dynamic().map(|object| object.id).collect();
        for object in movers {
            server.show(object)?;
        }
        for record in sessions {
            server.revive(record, now);
        }
        let senders: Vec<NodeId> = server.world().dynamic().filter_map(|object| object.owner).collect();
        for sender in senders {
            server.next_sender = server.next_sender.max(sender.number() + 1);
            if !server.sessions.contains_key(&sender) {
                server.leave_without_session(sender);
            }
        }
        server.audience.update();
        Ok(server)
    }

    /// The world as it is.
    pub fn world(&self) -> &World {
        self.truth.world()
    }

    pub fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    pub fn counts(&self) -> ServerCounts {
        self.counts
    }

    /// Users with avatars: their number, nickname, avatar, and link; without a link they may still resume.
    pub fn users(&self) -> impl Iterator<Item = (NodeId, &str, ObjectId, Option<LinkId>)> {
        self.sessions.values().filter_map(|session| match session.stage {
            SessionStage::In { object, .. } => Some((session.sender, session.nickname.as_str(), object, session.link)),
            _ => None,
        })
    }

    /// The nickname of a link's user; `None` before the hello was accepted.
    pub fn speaker(&self, link: LinkId) -> Option<&Nickname> {
        let session = self.links.get(&link)?.session?;
        self.sessions.get(&session).map(|session| &session.nickname)
    }

    /// The areas of interest of all users.
    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// How many users wait to be let in.
    pub fn queued(&self) -> usize {
        self.queue.len() + self.truth.shared().map_or(0, |shared| shared.seeking.len())
    }

    /// Whether the user of one object is told of another object.
    pub fn hears(&self, listener: ObjectId, speaker: ObjectId) -> bool {
        let slots = self.slots.slot(listener).zip(self.slots.slot(speaker));
        slots.is_some_and(|(listener, speaker)| self.audience.hears(listener, speaker))
    }

    /// The objects that an object hears and those that hear it, unordered; `None` if there is no such object.
    pub fn hearing(&self, object: ObjectId) -> Option<(Vec<ObjectId>, Vec<ObjectId>)> {
        let slot = self.slots.slot(object)?;
        let objects = |slot| self.slots.object(slot);
        let hears = self.audience.heard_by(slot).filter_map(objects).collect();
        Some((hears, self.audience.listeners_of(slot).filter_map(objects).collect()))
    }

    /// The object in a row of the audience.
    pub fn object_of(&self, slot: Slot) -> Option<ObjectId> {
        self.slots.object(slot)
    }

    /// Pairs of users that hear each other, as ascending rows of the audience; `None` for more than `pairs_max`.
    pub fn mutual_hearings(&self, pairs_max: usize) -> Option<Vec<Pair>> {
        let mut pairs = Vec::new();
        for &one in self.users.keys() {
            for other in self.audience.heard_by(one).filter(|&other| other > one && self.users.contains_key(&other)) {
                if self.audience.hears(other, one) {
                    pairs.push(Pair::new(one, other));
                }
            }
            if pairs.len() > pairs_max {
                return None;
            }
        }
        Some(pairs)
    }

    /// Whether `poll` has effects that are ready. If not, it may still tell the next clients of the tick.
    pub fn has_effects(&self) -> bool {
        !self.effects.is_empty() || self.truth.shared().is_some_and(|shared| shared.has_messages())
    }

    /// Ends a user's session, with a sentence to read. False if there is no such user.
    pub fn drop_user(&mut self, sender: NodeId, reason: CloseReason, sentence: &str) -> bool {
        if !self.sessions.contains_key(&sender) {
            return false;
        }
        self.end_session(sender, reason, sentence.to_owned());
        true
    }

    /// Sends a text to all users.
    pub fn announce(&mut self, text: &str) {
        self.tell_all(&ToClient::Said { speaker: None, name: String::new(), text: text.to_owned() });
    }

    /// Ends all connections. Users can resume when the server comes back, or at once at another server of its cluster.
    pub fn stop(&mut self) {
        self.redirect_all();
        let refused = receive::refusal(CloseReason::Stopping, "The server stops; the world is kept.".to_owned());
        for link in self.links.keys().copied().collect::<Vec<_>>() {
            self.tell(link, &ToClient::Closed(refused.clone()));
            self.effects.push_back(Effect::Close { to: link.into() });
        }
        self.links.clear();
        self.sessions.values_mut().for_each(|session| session.link = None);
    }

    /// Puts an object into the audience.
    fn show(&mut self, object: ObjectId) -> Result<Option<Slot>, AuraError> {
        let Some((place, turn)) = self.truth.pose(object) else { return Ok(None) };
        let aura = self.settings.aura(self.truth.owner(object).is_some());
        let slot = self.audience.insert(place.position(), aura)?;
        self.slots.insert(object, slot);
        self.bodies.insert(slot, self.truth.tick(), place, turn);
        Ok(Some(slot))
    }

    /// Restores a session of before a restart.
    fn revive(&mut self, record: &SessionRecord, now: Time) {
        let sender = NodeId::new(record.sender);
        let (Ok(nickname), Some(object)) = (Nickname::new(&record.nickname), self.truth.avatar(sender)) else { return };
        let Some(slot) = self.slots.slot(object) else { return };
        self.names.insert(nickname.key(), sender);
        self.users.insert(slot, sender);
        let mut session = Session::new(sender, nickname, 0, record.resume_key, None, now);
        session.stage = SessionStage::In { object, slot };
        session.sequence = self.truth.last_sequence(sender).unwrap_or(0);
        self.sessions.insert(sender, session);
        self.next_sender = self.next_sender.max(record.sender + 1);
    }

    /// Lets an avatar leave for which there is no session: it cannot be resumed.
    fn leave_without_session(&mut self, sender: NodeId) {
        let made_for = Tick::new(self.truth.tick());
        let sequence = self.truth.last_sequence(sender).map_or(1, |last| last.saturating_add(1));
        self.inputs.push(Input { sender, sequence, made_for, act: Act::Leave });
    }

    fn tell(&mut self, link: LinkId, message: &ToClient) {
        let bytes = message.encode();
        self.counts.messages += 1;
        self.counts.message_bytes += bytes.len() as u64;
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        self.effects.push_back(Effect::Send { to: link.into(), channel, bytes });
    }

    fn tell_all(&mut self, message: &ToClient) {
        let links: Vec<LinkId> = self.sessions.values().filter_map(|session| session.link).collect();
        links.into_iter().for_each(|link| self.tell(link, message));
    }
}

impl Participant for Server {
    fn handle(&mut self, now: Time, event: Event<'_>) {
        match event {
            Event::Opened { from: Endpoint::Link(link), secret } => {
                let most = self.settings.limits.links;
                if self.links.len() >= most {
                    return self.refuse(link, CloseReason::Full, format!("The server has {most} connections already."));
                }
                self.links.insert(link, Link::new(now, secret, &self.settings.limits));
            }
            Event::Arrived { from: Endpoint::Link(link), channel, bytes } => self.receive(now, link, channel, bytes),
            Event::Closed { from: Endpoint::Link(link) } => {
                let Some(sender) = self.links.remove(&link).and_then(|link| link.session) else { return };
                let Some(session) = self.sessions.get_mut(&sender) else { return };
                if session.link == Some(link) {
                    (session.link, session.lost_at) = (None, now);
                }
                if session.stage == SessionStage::Queued {
                    self.forget(sender);
                }
            }
            Event::Opened { from: Endpoint::Node(node), .. } => {
                self.truth.shared_mut().into_iter().for_each(|shared| shared.cluster.connected(node));
            }
            Event::Arrived { from: Endpoint::Node(node), bytes, .. } => self.receive_from_node(now, node, bytes),
            Event::Closed { from: Endpoint::Node(node) } => {
                self.truth.shared_mut().into_iter().for_each(|shared| shared.cluster.disconnected(node));
            }
        }
    }

    fn wake(&mut self, now: Time) {
        if now >= self.next_tick {
            self.begin_tick(now, &mut |_| {});
        }
    }

    fn next_wake(&self) -> Time {
        self.next_tick
    }

    fn poll(&mut self) -> Option<Effect> {
        loop {
            let to_node = self.truth.shared_mut().and_then(|shared| shared.poll());
            if let Some(effect) = to_node.or_else(|| self.effects.pop_front()) {
                return Some(effect);
            }
            if !self.is_telling {
                return None;
            }
            self.tell_next(TOLD_AT_ONCE);
        }
    }
}

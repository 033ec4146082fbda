//! A server: takes in what clients ask for, steps the world, and tells each client what it may hear.
//!
//! Bytes that arrive are decoded, checked and become inputs of the next tick, or are counted against their sender; they
//! never reach the world as they are. When a tick is due the inputs are frozen, the world takes its step, the audience
//! says who entered and left whose aura, and every client gets its datagram.
//!
//! One that shares its world with others is that and a little more: `fleet.rs`, `door.rs` and `passport.rs`.

#![forbid(unsafe_code)]

mod attention;
mod bodies;
mod door;
mod fan_out;
mod fleet;
mod forms;
pub mod inside;
pub mod limits;
mod link;
mod listener;
pub mod nickname;
mod passport;
mod session;
mod tick;
mod truth;
pub mod watch;

pub use attention::Attention;
pub use bodies::Bodies;
pub use fan_out::{FanOut, REPEAT_TICKS_MAX, Sent};
pub use listener::{Heard, Listener};
pub use tick::Part;
pub use truth::shape as shape_of;

use std::collections::{BTreeMap, VecDeque};

use interest::{Audience, AudienceSettings, Aura, AuraError};
use space::{NodeId, ObjectId, Pair, Slot, Time};
use wire::session::ResumeKey;
use wire::{CloseReason, Hello, Moves, Refused, ToClient, ToServer, VERSION};
use world::{Act, Input, World};

use self::fleet::Fleet;
use self::link::Link;
use self::session::{Session, Stage};
use self::truth::Truth;
use crate::limits::Limits;
use crate::nickname::Nickname;
use wire::{Channel, Effect, Event, LinkId, Participant, SessionRecord};

/// How a server works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerSettings {
    /// How much it bears.
    pub limits: Limits,
    /// How far a user hears, in metres.
    pub focus: f32,
    /// How far everything is heard beyond that, in metres.
    pub nimbus: f32,
    /// Who is heard is heard up to so many times the distance at which that began.
    pub hysteresis: f32,
}

impl Default for ServerSettings {
    fn default() -> ServerSettings {
        ServerSettings { limits: Limits::default(), focus: 20.0, nimbus: 0.0, hysteresis: Aura::HYSTERESIS }
    }
}

/// What happened so far, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Ticks.
    pub ticks: u64,
    /// Inputs that the world was given.
    pub inputs: u64,
    /// Messages that were none, came too often, or asked for what cannot be.
    pub rejected: u64,
    /// Users who were let in.
    pub joined: u64,
    /// Users who came back.
    pub resumed: u64,
    /// Users who were not let in.
    pub refused: u64,
    /// Users who were sent away.
    pub dropped: u64,
    /// State datagrams, their bytes and bodies, and bodies that had to wait.
    pub sent: Sent,
    /// Other messages.
    pub messages: u64,
    /// Their bytes.
    pub message_bytes: u64,
}

/// A server.
#[derive(Debug)]
pub struct Server {
    settings: ServerSettings,
    truth: Truth,
    audience: Audience,
    bodies: Bodies,
    fan_out: FanOut,
    links: BTreeMap<LinkId, Link>,
    sessions: BTreeMap<NodeId, Session>,
    /// By nicknames, as readers who do not look at case see them.
    names: BTreeMap<String, NodeId>,
    queue: VecDeque<NodeId>,
    /// Whose avatar is in which row.
    users: BTreeMap<Slot, NodeId>,
    next_sender: u64,
    inputs: Vec<Input>,
    next_tick: Time,
    /// When the last tick was.
    ticked: Time,
    /// Who was the last to be told of it.
    told: Option<NodeId>,
    /// What the clocks of things that change their form showed after it.
    clocks: Vec<(Slot, u64)>,
    /// Whether the last tick moved nothing: then there is nothing to tell.
    is_still: bool,
    effects: VecDeque<Effect>,
    counts: ServerCounts,
    /// What it has to do with other servers of its world, if there are any.
    fleet: Option<Box<Fleet>>,
}

impl Server {
    /// A server of this world; its first tick is at `now`.
    pub fn new(world: World, settings: ServerSettings, now: Time) -> Result<Server, AuraError> {
        Server::restore(world, settings, &[], now)
    }

    /// A server that goes on with a world as it was, and with the sessions of before: their users can come back.
    pub fn restore(
        world: World,
        settings: ServerSettings,
        sessions: &[SessionRecord],
        now: Time,
    ) -> Result<Server, AuraError> {
        let mut server = Server {
            settings,
            truth: Truth::new(world),
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
            told: None,
            clocks: Vec::new(),
            is_still: false,
            effects: VecDeque::new(),
            counts: ServerCounts::default(),
            fleet: None,
        };
        for object in server.truth.movers() {
            server.show(object)?;
        }
        for record in sessions {
            server.revive(record, now);
        }
        let senders: Vec<NodeId> = server.truth.senders();
        // Whoever has an avatar and no record cannot come back for it.
        for sender in senders {
            server.next_sender = server.next_sender.max(sender.number() + 1);
            if !server.sessions.contains_key(&sender) {
                let made_for = space::Tick::new(server.truth.tick());
                let sequence = server.truth.last_sequence(sender).map_or(1, |last| last.saturating_add(1));
                server.inputs.push(Input { sender, sequence, made_for, act: Act::Leave });
            }
        }
        server.audience.update();
        Ok(server)
    }

    /// The world as it is.
    pub fn world(&self) -> &World {
        self.truth.world()
    }

    /// How it works.
    pub fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    /// What happened so far.
    pub fn counts(&self) -> ServerCounts {
        self.counts
    }

    /// Users who are in, and those who may come back, with their avatars.
    pub fn users(&self) -> impl Iterator<Item = (NodeId, &str, ObjectId, Option<LinkId>)> {
        self.sessions.values().filter_map(|session| match session.stage {
            Stage::In { object, .. } => Some((session.sender, session.nickname.as_str(), object, session.link)),
            _ => None,
        })
    }

    /// As whom a link speaks; none before its hello was let in.
    pub fn speaker(&self, link: LinkId) -> Option<&Nickname> {
        let session = self.links.get(&link)?.session?;
        self.sessions.get(&session).map(|session| &session.nickname)
    }

    /// Who hears whom.
    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// How many wait to be let in.
    pub fn queued(&self) -> usize {
        self.queue.len() + self.fleet.as_ref().map_or(0, |fleet| fleet.door.len())
    }

    /// Whether one object's user is told of another object.
    pub fn hears(&self, listener: ObjectId, speaker: ObjectId) -> bool {
        let slots = self.truth.slot(listener).zip(self.truth.slot(speaker));
        slots.is_some_and(|(listener, speaker)| self.audience.hears(listener, speaker))
    }

    /// Whom an object hears, and who hears it, in no particular order; none if there is no such object.
    pub fn hearing(&self, object: ObjectId) -> Option<(Vec<ObjectId>, Vec<ObjectId>)> {
        let slot = self.truth.slot(object)?;
        let objects = |slot| self.truth.object(slot);
        let hears = self.audience.heard_by(slot).filter_map(objects).collect();
        Some((hears, self.audience.listeners_of(slot).filter_map(objects).collect()))
    }

    /// The object in a row of the audience.
    pub fn object_of(&self, slot: Slot) -> Option<ObjectId> {
        self.truth.object(slot)
    }

    /// Users who hear each other, by the rows of the audience, ascending; none if there are more pairs than this.
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

    /// Sends a user away, with a sentence to read. False if there is no such user.
    pub fn drop_user(&mut self, sender: NodeId, reason: CloseReason, sentence: &str) -> bool {
        if !self.sessions.contains_key(&sender) {
            return false;
        }
        self.send_away(sender, reason, sentence.to_owned());
        true
    }

    /// Says something to everybody.
    pub fn announce(&mut self, text: &str) {
        let message = ToClient::Said { speaker: None, name: String::new(), text: text.to_owned() };
        let links: Vec<LinkId> = self.sessions.values().filter_map(|session| session.link).collect();
        links.into_iter().for_each(|link| self.tell(link, &message));
    }

    /// Ends all connections; users find their places again when the server comes back, or at once at another of its world.
    pub fn stop(&mut self) {
        self.send_everybody_on();
        let refused = refusal(CloseReason::Stopping, "The server stops; the world is kept.".to_owned());
        for link in self.links.keys().copied().collect::<Vec<_>>() {
            self.tell(link, &ToClient::Closed(refused.clone()));
            self.effects.push_back(Effect::Close { link });
        }
        self.links.clear();
        self.sessions.values_mut().for_each(|session| session.link = None);
    }

    /// Puts an object into the audience.
    fn show(&mut self, object: ObjectId) -> Result<Option<Slot>, AuraError> {
        let Some((place, turn)) = self.truth.pose(object) else { return Ok(None) };
        let aura = self.aura(self.truth.owner(object).is_some());
        let slot = self.audience.insert(place.position(), aura)?;
        self.truth.set_slot(object, slot);
        self.bodies.insert(slot, self.truth.tick(), place, turn);
        Ok(Some(slot))
    }

    /// A session of before a restart.
    fn revive(&mut self, record: &SessionRecord, now: Time) {
        let sender = NodeId::new(record.sender);
        let (Ok(nickname), Some(object)) = (Nickname::new(&record.nickname), self.truth.avatar(sender)) else { return };
        let Some(slot) = self.truth.slot(object) else { return };
        self.names.insert(nickname.key(), sender);
        self.users.insert(slot, sender);
        let mut session = Session::new(sender, nickname, 0, record.resume_key, None, now);
        session.stage = Stage::In { object, slot };
        session.sequence = self.truth.last_sequence(sender).unwrap_or(0);
        self.sessions.insert(sender, session);
        self.next_sender = self.next_sender.max(record.sender + 1);
    }

    fn tell(&mut self, link: LinkId, message: &ToClient) {
        let bytes = message.encode();
        self.counts.messages += 1;
        self.counts.message_bytes += bytes.len() as u64;
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        self.effects.push_back(Effect::Send { link, channel, bytes });
    }

    fn receive(&mut self, now: Time, id: LinkId, channel: Channel, bytes: &[u8]) {
        let Some(link) = self.links.get_mut(&id) else { return };
        if !link.admits(now, channel) {
            self.fault(now, id);
            return;
        }
        let session = link.session;
        if session.is_none()
            && let Some(version) = Hello::version_of(bytes).filter(|version| *version != VERSION)
        {
            let sentence =
                format!("This server speaks version {VERSION} of the protocol, you speak version {version}.");
            self.refuse(id, CloseReason::Version, sentence);
            return;
        }
        let message = match ToServer::decode(bytes) {
            Ok(message) if message.is_datagram() == (channel == Channel::Datagram) => message,
            _ => return self.fault(now, id),
        };
        let Some(sender) = session else {
            match message {
                ToServer::Hello(hello) => self.greet(now, id, &hello),
                _ => self.fault(now, id),
            }
            return;
        };
        let is_fine = self.ask(now, id, sender, message);
        if !is_fine {
            self.fault(now, id);
        } else if let Some(session) = self.sessions.get_mut(&sender) {
            session.heard_at = now;
        }
    }

    /// A message of somebody who said hello. False if it makes no sense.
    fn ask(&mut self, now: Time, id: LinkId, sender: NodeId, message: ToServer) -> bool {
        let Some(session) = self.sessions.get_mut(&sender) else { return true };
        match message {
            ToServer::Hello(_) => return false,
            ToServer::Ping { asked_us } => {
                let (tick, ticked_us) = (self.truth.tick() as u32, self.ticked.micros());
                let [received_us, replied_us] = [now.micros(); 2];
                self.tell(id, &ToClient::Pong { asked_us, received_us, replied_us, tick, ticked_us });
            }
            ToServer::Leave => {
                self.send_away(sender, CloseReason::Left, "Goodbye.".to_owned());
            }
            // Whoever is not in yet has nothing to say: the client may not know.
            _ if session.slot().is_none() => {}
            ToServer::Moves(moves) => return self.wish(now, sender, &moves),
            ToServer::Say { text } => {
                let text = text.trim();
                let is_readable = !text.is_empty() && !text.chars().any(char::is_control);
                if !is_readable {
                    return false;
                }
                self.input(sender, Act::Say { text: text.into() });
            }
            ToServer::Grab { object } => self.input(sender, Act::Grab { object }),
            ToServer::Release => self.input(sender, Act::Release),
        }
        true
    }

    fn input(&mut self, sender: NodeId, act: Act) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        let made_for = space::Tick::new(session.made_for);
        let sequence = session.next_sequence();
        self.inputs.push(Input { sender, sequence, made_for, act });
    }

    fn wish(&mut self, now: Time, sender: NodeId, moves: &Moves) -> bool {
        let (speed_max, tick) = (self.truth.speed_max(), self.truth.tick());
        let Some(session) = self.sessions.get_mut(&sender) else { return true };
        let was_behind = session.listener.untaken();
        if !session.listener.taken(moves.heard) {
            return false;
        }
        if session.listener.untaken() < was_behind {
            session.behind_since = Some(now);
        }
        let ahead = moves.newest.wrapping_sub(session.newest);
        if ahead == 0 || ahead > u32::MAX / 2 {
            // Doubled, or overtaken by a newer one.
            return true;
        }
        let new = &moves.steps[..moves.steps.len().min(ahead as usize)];
        let speed = |velocity: [i16; 3]| {
            let [x, y, z] = velocity.map(|part| f32::from(part) / wire::state::VELOCITY_PARTS as f32);
            (x * x + y * y + z * z).sqrt()
        };
        // Rounding to the wire's parts may add a little.
        if new.iter().any(|step| speed(step.velocity) > speed_max + 0.01) {
            return false;
        }
        session.newest = moves.newest;
        let mut wish = new[0];
        // A jump must not be lost because its datagram was.
        wish.is_jump = new.iter().any(|step| step.is_jump) || session.wish.is_some_and(|wish| wish.is_jump);
        session.wish = Some(wish);
        session.made_for = tick.saturating_add_signed(i64::from(moves.tick.wrapping_sub(tick as u32) as i32));
        true
    }

    fn greet(&mut self, now: Time, id: LinkId, hello: &Hello) {
        if let Some(key) = hello.resume
            && let Some(sender) = self.resumable(&key)
        {
            return self.resume(now, id, sender);
        }
        if !self.stand_at_door(now, id, hello) {
            self.greet_new(now, id, hello);
        }
    }

    /// Somebody who was not in before.
    fn greet_new(&mut self, now: Time, id: LinkId, hello: &Hello) {
        let nickname = match Nickname::new(&hello.nickname) {
            Ok(nickname) => nickname,
            Err(error) => return self.refuse(id, CloseReason::Nickname, error.to_string()),
        };
        let Limits { clients, join_queue, .. } = self.settings.limits;
        if self.names.contains_key(&nickname.key()) {
            let sentence = format!("Somebody is called {} already; choose another name.", nickname.as_str());
            return self.refuse(id, CloseReason::NicknameTaken, sentence);
        }
        let avatars = self.truth.avatars();
        if usize::from(hello.avatar) >= avatars {
            let sentence = format!("This world has {avatars} avatars, there is no number {}.", hello.avatar);
            return self.refuse(id, CloseReason::Avatar, sentence);
        }
        if self.sessions.len() >= clients {
            return self.refuse(
                id,
                CloseReason::Full,
                format!("The server is full: {clients} users. Try again later."),
            );
        }
        if self.queue.len() >= join_queue {
            let sentence = format!("{join_queue} users wait to be let in already. Try again in some seconds.");
            return self.refuse(id, CloseReason::Full, sentence);
        }
        let Some(link) = self.links.get_mut(&id) else { return };
        let sender = NodeId::new(self.next_sender);
        self.next_sender += 1;
        link.session = Some(sender);
        self.names.insert(nickname.key(), sender);
        self.sessions.insert(sender, Session::new(sender, nickname, hello.avatar, link.secret, Some(id), now));
        self.queue.push_back(sender);
    }

    /// Whose key this is, if its user is in.
    fn resumable(&self, key: &ResumeKey) -> Option<NodeId> {
        let found = self.sessions.values().find(|session| is_same_key(&session.resume_key, key));
        found.filter(|session| session.slot().is_some()).map(|session| session.sender)
    }

    fn resume(&mut self, now: Time, id: LinkId, sender: NodeId) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        let last = session.link;
        session.resume(id, now);
        if let Some(slot) = session.slot() {
            self.audience.heard_by(slot).for_each(|heard| session.listener.enter(heard));
        }
        if let Some(link) = self.links.get_mut(&id) {
            link.session = Some(sender);
        }
        if let Some(last) = last {
            self.links.remove(&last);
            let sentence = "Your session goes on over another connection.".to_owned();
            self.tell(last, &ToClient::Closed(refusal(CloseReason::Resumed, sentence)));
            self.effects.push_back(Effect::Close { link: last });
        }
        self.counts.resumed += 1;
        self.welcome(sender, true);
    }

    fn refuse(&mut self, id: LinkId, reason: CloseReason, sentence: String) {
        self.counts.refused += 1;
        self.tell(id, &ToClient::Refused(refusal(reason, sentence)));
        self.effects.push_back(Effect::Close { link: id });
        self.links.remove(&id);
    }

    /// Something came that should not.
    fn fault(&mut self, now: Time, id: LinkId) {
        self.counts.rejected += 1;
        let most = self.settings.limits.faults;
        let Some(link) = self.links.get_mut(&id) else { return };
        if link.fault(now) <= most {
            return;
        }
        let sentence = format!("More than {most} of your messages within a minute made no sense or came too fast.");
        match link.session {
            Some(sender) => self.send_away(sender, CloseReason::Misbehaved, sentence),
            None => self.refuse(id, CloseReason::Misbehaved, sentence),
        }
    }

    /// Ends a session: its avatar leaves with the next tick.
    fn send_away(&mut self, sender: NodeId, reason: CloseReason, sentence: String) {
        let Some(session) = self.sessions.get_mut(&sender) else { return };
        self.counts.dropped += u64::from(reason != CloseReason::Left);
        let link = session.link.take();
        if let Stage::In { slot, .. } = session.stage {
            self.users.remove(&slot);
        }
        if session.stage == Stage::Queued {
            self.forget(sender);
        } else {
            session.stage = Stage::Leaving;
        }
        if let Some(link) = link {
            self.links.remove(&link);
            self.tell(link, &ToClient::Closed(refusal(reason, sentence)));
            self.effects.push_back(Effect::Close { link });
        }
    }

    /// Nothing is left of a session.
    fn forget(&mut self, sender: NodeId) {
        if let Some(session) = self.sessions.remove(&sender) {
            let key = session.nickname.key();
            if self.names.get(&key) == Some(&sender) {
                self.names.remove(&key);
            }
            if let Some(slot) = session.slot() {
                self.users.remove(&slot);
            }
        }
        self.queue.retain(|queued| *queued != sender);
    }
}

impl Participant for Server {
    fn handle(&mut self, now: Time, event: Event<'_>) {
        match event {
            Event::Opened { link, secret } => {
                let most = self.settings.limits.links;
                if self.links.len() >= most {
                    return self.refuse(link, CloseReason::Full, format!("The server has {most} connections already."));
                }
                self.links.insert(link, Link::new(now, secret, &self.settings.limits));
            }
            Event::Arrived { link, channel, bytes } => self.receive(now, link, channel, bytes),
            Event::Closed { link } => {
                let Some(sender) = self.links.remove(&link).and_then(|link| link.session) else { return };
                let Some(session) = self.sessions.get_mut(&sender) else { return };
                if session.link == Some(link) {
                    (session.link, session.lost_at) = (None, now);
                }
                if session.stage == Stage::Queued {
                    self.forget(sender);
                }
            }
        }
    }

    fn wake(&mut self, now: Time) {
        if now >= self.next_tick {
            self.tick(now, &mut |_| {});
        }
    }

    fn next_wake(&self) -> Time {
        self.next_tick
    }

    fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }
}

fn refusal(reason: CloseReason, sentence: String) -> Refused {
    Refused { version: VERSION, reason, sentence }
}

/// Looks at all bytes, whatever the first ones are: how long it takes tells nothing about the key.
fn is_same_key(one: &ResumeKey, other: &ResumeKey) -> bool {
    one.iter().zip(other).fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}

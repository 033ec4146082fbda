#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! The client as a state machine: it says hello, moves its own avatar at once, and predicts the others.
//!
//! [`bot`] and [`hostile`] are clients that decide for themselves.

#![forbid(unsafe_code)]

pub mod bot;
pub mod hostile;
pub mod others;
pub mod own;
pub mod walk;

/// What the API takes and returns.
pub use {motion, space, wire};

pub use bot::Bot;
pub use hostile::Hostile;

use std::collections::VecDeque;

use motion::CollisionScene;
use motion::clock::{Clock, Exchange};
use motion::convergence::Shown;
use motion::scene::{SceneObject, SceneShape};
use space::{DVec3, ObjectId, Time, Vec3};
use wire::scene::FixedObject;
use wire::session::ResumeKey;
use wire::{CollisionShape, Handle, Hello, InputStep, Moves, Refused, State, ToClient, ToServer, VERSION, Welcome};

use self::others::{Others, OthersSettings};
use self::own::PredictedAvatar;
use self::walk::{Ground, Walker};
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant};

/// How often a client's first pings come, and how rarely later ones, in microseconds.
const PING_US: [i64; 2] = [200_000, 1_000_000];
/// How many pings come often.
const QUICK_PINGS: u32 = 8;
/// How often a client wakes before it knows the server's tick, in microseconds.
const FRAME_US: i64 = 33_333;
/// The most lines of chat that are kept.
const SAID_MAX: usize = 64;
/// The most fixed objects that a client keeps: more than any server sends.
const SOLIDS_MAX: usize = 65_536;
/// A server of a cluster that was silent for this long is given up for another, in microseconds. One that was greeted
/// may have to ask the others first.
const SILENCE_US: [i64; 2] = [2_000_000, 8_000_000];
/// After a sleep of this length, in microseconds, silence says nothing about the server.
const ASLEEP_US: i64 = 500_000;

/// Settings of a client.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    pub nickname: String,
    /// An index into the world's avatars.
    pub avatar: u8,
    /// The join token, if the server asks for one.
    pub token: Vec<u8>,
    /// How others are predicted and shown.
    pub others: OthersSettings,
    /// Inputs that are repeated in each datagram: one less may be lost in a row.
    pub repeats: usize,
}

impl ClientSettings {
    /// The default settings with this nickname.
    pub fn named(nickname: &str) -> ClientSettings {
        ClientSettings {
            nickname: nickname.to_owned(),
            avatar: 0,
            token: Vec::new(),
            others: OthersSettings::default(),
            repeats: 4,
        }
    }
}

/// How far a client has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// No connection. If it was in before, the next one resumes.
    Apart,
    /// It has said hello.
    Greeting,
    /// It is in.
    Joined,
    /// The server has refused it, or ended its session.
    Ended(Refused),
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// Messages that could not be decoded.
    pub bad: u64,
    pub states: u64,
    /// Bodies in them.
    pub bodies: u64,
    /// Bytes of them.
    pub state_bytes: u64,
    /// Rosters that contradict what was known: zero with a correct server.
    pub contradictions: u64,
    /// Times it was let in again.
    pub resumed: u64,
}

/// A line of chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// `None` when the server itself speaks.
    pub speaker: Option<ObjectId>,
    /// The speaker's nickname.
    pub name: String,
    pub text: String,
}

/// A client. Its driver calls [`handle`](Participant::handle) for each event of its link and
/// [`wake`](Participant::wake) when [`next_wake`](Participant::next_wake) has come, and after either carries out what
/// [`poll`](Participant::poll) returns. Commands such as [`intend`](Client::intend) and [`say`](Client::say) may come
/// at any time; after a loss of the link, [`next_address`](Client::next_address) says where to connect next.
#[derive(Clone, Debug)]
pub struct Client {
    settings: ClientSettings,
    link: Option<LinkId>,
    phase: Phase,
    resume_key: Option<ResumeKey>,
    greeted: Time,
    welcome: Option<Welcome>,
    clock: Clock,
    /// A tick, and when it was by the server's clock.
    tick_base: (u64, Time),
    newest_tick: u64,
    ground: Ground,
    solids: Vec<FixedObject>,
    own: Option<PredictedAvatar>,
    others: Others,
    heard: u16,
    intent: InputStep,
    number: u32,
    pings: u32,
    has_pong: bool,
    next_ping: Time,
    next_wake: Time,
    said: VecDeque<ChatLine>,
    grabbed: Option<(ObjectId, bool)>,
    /// The servers of this world, and which of them comes next if this one is silent.
    servers: Vec<String>,
    next_server: usize,
    /// Where it was redirected.
    redirect: Option<String>,
    heard_at: Time,
    effects: VecDeque<Effect>,
    counts: ClientCounts,
}

impl Client {
    /// A client without a connection.
    pub fn new(settings: ClientSettings) -> Client {
        Client {
            others: Others::new(settings.others),
            settings,
            link: None,
            phase: Phase::Apart,
            resume_key: None,
            greeted: Time::default(),
            welcome: None,
            clock: Clock::new(),
            tick_base: (0, Time::default()),
            newest_tick: 0,
            ground: Ground::default(),
            solids: Vec::new(),
            own: None,
            heard: 0,
            intent: InputStep::default(),
            number: 0,
            pings: 0,
            has_pong: false,
            next_ping: Time::default(),
            next_wake: Time::default(),
            said: VecDeque::new(),
            grabbed: None,
            servers: Vec::new(),
            next_server: 0,
            redirect: None,
            heard_at: Time::default(),
            effects: VecDeque::new(),
            counts: ClientCounts::default(),
        }
    }

    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// What the server said when it let the client in.
    pub fn welcome(&self) -> Option<&Welcome> {
        self.welcome.as_ref()
    }

    /// The own avatar.
    pub fn own(&self) -> Option<&PredictedAvatar> {
        self.own.as_ref()
    }

    /// All objects that are heard.
    pub fn others(&self) -> &Others {
        &self.others
    }

    /// The newest tick that a datagram told of.
    pub fn newest_tick(&self) -> u64 {
        self.newest_tick
    }

    /// Sets what the user wants from now on.
    pub fn intend(&mut self, step: InputStep) {
        self.intent = step;
    }

    /// Says something to users nearby.
    pub fn say(&mut self, text: &str) {
        self.tell(&ToServer::Say { text: text.to_owned() });
    }

    /// Asks to hold an object.
    pub fn grab(&mut self, object: ObjectId) {
        self.tell(&ToServer::Grab { object });
    }

    /// Releases what it holds.
    pub fn release(&mut self) {
        self.tell(&ToServer::Release);
    }

    /// Leaves for good.
    pub fn leave(&mut self) {
        self.tell(&ToServer::Leave);
        self.resume_key = None;
    }

    /// The next line of chat.
    pub fn next_said(&mut self) -> Option<ChatLine> {
        self.said.pop_front()
    }

    /// The answer to the last grab.
    pub fn grabbed(&self) -> Option<(ObjectId, bool)> {
        self.grabbed
    }

    /// The servers of this world, as far as it was told.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// Where to connect next: where it was redirected, or else another server of its world; `None` if it knows of no
    /// other than the one it came to.
    pub fn next_address(&mut self) -> Option<String> {
        if let Some(address) = self.redirect.take() {
            return Some(address);
        }
        if self.servers.len() < 2 {
            return None;
        }
        self.next_server = (self.next_server + 1) % self.servers.len();
        Some(self.servers[self.next_server].clone())
    }

    /// Whether it was redirected.
    pub fn is_redirected(&self) -> bool {
        self.redirect.is_some()
    }

    /// Whether it should connect to another server.
    fn is_deserted(&self, now: Time) -> bool {
        let patience_us = match self.phase {
            Phase::Joined => SILENCE_US[0],
            Phase::Greeting => SILENCE_US[1],
            _ => return false,
        };
        self.link.is_some() && self.servers.len() > 1 && now - self.heard_at > patience_us
    }

    pub fn counts(&self) -> ClientCounts {
        self.counts
    }

    /// Where the others are shown at a moment of the client's clock.
    pub fn show(&mut self, now: Time, shown: &mut Vec<(Handle, Shown)>) {
        let now = self.clock.owner_time(now);
        self.others.show(now, shown);
    }

    fn tell(&mut self, message: &ToServer) {
        let Some(link) = self.link else { return };
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        self.effects.push_back(Effect::Send { to: link.into(), channel, bytes: message.encode() });
    }

    fn receive(&mut self, now: Time, bytes: &[u8]) {
        self.heard_at = now;
        match ToClient::decode(bytes) {
            Ok(ToClient::Welcome(welcome)) => self.join(now, welcome),
            Ok(ToClient::Refused(refused) | ToClient::Closed(refused)) => self.phase = Phase::Ended(refused),
            Ok(ToClient::Scene(scene)) => self.stand(scene),
            Ok(ToClient::Roster(roster)) => self.enroll(roster),
            // A datagram that overtakes the welcome has handles that are not known yet; those of the last connection
            // meant other objects.
            Ok(ToClient::State(_)) if self.phase != Phase::Joined => {}
            Ok(ToClient::State(state)) => {
                self.counts.state_bytes += bytes.len() as u64;
                self.hear(now, &state);
            }
            Ok(ToClient::Said { speaker, name, text }) => {
                if self.said.len() == SAID_MAX {
                    self.said.pop_front();
                }
                self.said.push_back(ChatLine { speaker, name, text });
            }
            Ok(ToClient::Servers { addresses }) => {
                self.servers = addresses;
                // Clients that lose a server spread over the others.
                let own = self.welcome.as_ref().map_or(0, |welcome| welcome.own.number());
                self.next_server = (own % self.servers.len().max(1) as u64) as usize;
            }
            Ok(ToClient::Redirect { address }) => {
                self.redirect = Some(address);
                self.part();
            }
            Ok(ToClient::Grabbed { object, is_held }) => self.grabbed = Some((object, is_held)),
            // Forms are for drawing; what a client predicts is solid without them.
            Ok(ToClient::Forms(_)) => {}
            Ok(ToClient::Pong { asked_us, received_us, replied_us, tick, ticked_us }) => {
                if !self.has_pong {
                    // A welcome had to wait for a tick and for other users. Its time is forgotten at once, as a clock
                    // that is off by less than half a second takes long to be corrected.
                    self.clock = Clock::new();
                    self.has_pong = true;
                }
                let [asked, received, replied] = [asked_us, received_us, replied_us].map(Time::from_micros);
                self.clock.handle(Exchange { asked, received, replied, returned: now });
                let tick = self.whole_tick(tick);
                if tick >= self.tick_base.0 {
                    self.tick_base = (tick, Time::from_micros(ticked_us));
                }
            }
            Err(_) => self.counts.bad += 1,
        }
    }

    /// Ends the connection, to make another.
    fn part(&mut self) {
        self.effects.extend(self.link.map(|link| Effect::Close { to: link.into() }));
        self.phase = Phase::Apart;
    }

    fn join(&mut self, now: Time, welcome: Welcome) {
        if self.phase != Phase::Greeting {
            self.counts.contradictions += 1;
            return;
        }
        let at = Time::from_micros(welcome.time_us);
        self.clock = Clock::new();
        self.clock.handle(Exchange { asked: self.greeted, received: at, replied: at, returned: now });
        self.tick_base = (welcome.tick, at);
        self.newest_tick = welcome.tick;
        self.ground = Ground::new(welcome.walking, welcome.bounds, &welcome.shape);
        self.solids.clear();
        let seconds = f64::from(welcome.tick_us) * 1e-6;
        self.number = self.number.max(welcome.newest);
        self.own = Some(PredictedAvatar::new(walk::metres(welcome.place), welcome.newest, seconds));
        self.others = Others::new(self.settings.others);
        self.heard = 0;
        (self.pings, self.has_pong, self.next_ping) = (0, false, now);
        self.resume_key = Some(welcome.resume_key);
        self.counts.resumed += u64::from(welcome.is_resumed);
        self.welcome = Some(welcome);
        self.phase = Phase::Joined;
        self.next_wake = now;
    }

    fn stand(&mut self, scene: wire::Scene) {
        let Some(welcome) = &self.welcome else { return };
        for solid in scene.solids {
            if self.solids.len() == SOLIDS_MAX {
                break;
            }
            self.ground.add(&solid, &welcome.shape);
            self.solids.push(solid);
        }
        if scene.is_last
            && let Ok(scene) = CollisionScene::new(self.solids.iter().filter_map(scene_object).collect())
        {
            self.others.set_scene(scene);
        }
    }

    fn enroll(&mut self, roster: wire::Roster) {
        let Some(tick_us) = self.welcome.as_ref().map(|welcome| welcome.tick_us) else { return };
        let tick = self.whole_tick(roster.tick);
        let at = self.time_of(tick);
        let is_next = roster.number == self.heard.wrapping_add(1);
        self.counts.contradictions += u64::from(!is_next);
        self.heard = roster.number;
        for handle in roster.left {
            let was_there = self.others.leave(handle);
            self.counts.contradictions += u64::from(!was_there);
        }
        for entered in roster.entered {
            let is_new = self.others.enter(entered, tick, at, tick_us);
            self.counts.contradictions += u64::from(!is_new);
        }
    }

    fn hear(&mut self, now: Time, state: &State) {
        let Some(tick_us) = self.welcome.as_ref().map(|welcome| welcome.tick_us) else { return };
        self.counts.states += 1;
        self.counts.bodies += state.bodies.len() as u64;
        let tick = self.whole_tick(state.head.tick);
        let (at, server_now) = (self.time_of(tick), self.clock.owner_time(now));
        if let (Some(told), Some(own), true) = (&state.head.own, &mut self.own, tick > self.newest_tick) {
            let parts = f64::from(wire::state::VELOCITY_PARTS);
            let vertical = f64::from(told.velocity[1]) / parts;
            let pos = walk::metres(state.head.anchor);
            let is_grounded = told.is_grounded;
            let support = is_grounded.then_some(pos);
            own.confirm(Walker { pos, vertical, is_grounded, support }, told.acknowledged, &self.ground);
        }
        self.newest_tick = self.newest_tick.max(tick);
        for (handle, body) in &state.bodies {
            self.others.hear(*handle, body, tick, at, server_now, tick_us);
        }
    }

    /// The tick nearest to the newest known one that ends in these 32 bits.
    fn whole_tick(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.newest_tick as u32) as i32;
        self.newest_tick.saturating_add_signed(i64::from(ahead))
    }

    /// When a tick is by the server's clock.
    fn time_of(&self, tick: u64) -> Time {
        let tick_us = self.welcome.as_ref().map_or(FRAME_US, |welcome| i64::from(welcome.tick_us));
        let ticks = tick.wrapping_sub(self.tick_base.0) as i64;
        self.tick_base.1 + ticks.saturating_mul(tick_us)
    }

    fn move_on(&mut self, now: Time) {
        let server_now = self.clock.owner_time(now);
        let Some(own) = &mut self.own else { return };
        self.number = self.number.wrapping_add(1);
        own.input(self.number, self.intent, &self.ground);
        let steps: Vec<InputStep> =
            own.unanswered(self.settings.repeats.clamp(1, wire::input::STEPS_MAX)).map(|(_, step)| step).collect();
        let half_trip_us = self.clock.error_bound_us().unwrap_or(0);
        let tick_us = self.welcome.as_ref().map_or(FRAME_US, |welcome| i64::from(welcome.tick_us));
        let ticks = (server_now + half_trip_us - self.tick_base.1) / tick_us;
        let tick = self.tick_base.0.saturating_add_signed(ticks + 1) as u32;
        self.tell(&ToServer::Moves(Moves { heard: self.heard, tick, newest: self.number, steps }));
    }
}

impl Participant for Client {
    fn handle(&mut self, now: Time, event: Event<'_>) {
        match event {
            Event::Opened { from: Endpoint::Link(link), .. } => {
                self.link = Some(link);
                self.phase = Phase::Greeting;
                (self.greeted, self.heard_at) = (now, now);
                let ClientSettings { nickname, avatar, token, .. } = &self.settings;
                let (nickname, token) = (nickname.clone(), token.clone());
                let hello = Hello { version: VERSION, nickname, avatar: *avatar, token, resume: self.resume_key };
                self.tell(&ToServer::Hello(hello));
            }
            Event::Arrived { from: Endpoint::Link(link), bytes, .. } if self.link == Some(link) => {
                self.receive(now, bytes)
            }
            Event::Closed { from: Endpoint::Link(link) } if self.link == Some(link) => {
                self.link = None;
                if self.phase == Phase::Joined || self.phase == Phase::Greeting {
                    self.phase = Phase::Apart;
                }
            }
            _ => {}
        }
    }

    fn wake(&mut self, now: Time) {
        if now < self.next_wake {
            return;
        }
        let tick_us = self.welcome.as_ref().map_or(FRAME_US, |welcome| i64::from(welcome.tick_us));
        let late = now - self.next_wake;
        if late > ASLEEP_US {
            self.heard_at = (self.heard_at + late).min(now);
        }
        // Ticks keep their rhythm, unless the client slept for long.
        let next = self.next_wake + tick_us;
        self.next_wake = if next > now { next } else { now + tick_us };
        if self.is_deserted(now) {
            self.part();
        }
        if self.phase != Phase::Joined {
            return;
        }
        self.move_on(now);
        if now >= self.next_ping {
            self.pings += 1;
            self.next_ping = now + PING_US[usize::from(self.pings > QUICK_PINGS)];
            self.tell(&ToServer::Ping { asked_us: now.micros() });
        }
    }

    fn next_wake(&self) -> Time {
        self.next_wake
    }

    fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }
}

/// A fixed object, as prediction knows it: a ball, or a box along the axes, that is not larger than the solid. So a
/// prediction is not pushed out of where an object can be.
fn scene_object(solid: &FixedObject) -> Option<SceneObject> {
    let pos = walk::metres(solid.place);
    let is_turned = solid.turn != space::Turn::IDENTITY;
    let shape = match &solid.shape {
        CollisionShape::Sphere { radius } => SceneShape::Ball(f64::from(*radius)),
        CollisionShape::Box { half } if !is_turned => SceneShape::Cuboid(Vec3::from_array(*half).as_dvec3()),
        CollisionShape::Capsule { half_height, radius } if !is_turned => {
            let within = f64::from(*radius) * std::f64::consts::FRAC_1_SQRT_2;
            SceneShape::Cuboid(DVec3::new(within, f64::from(*half_height), within))
        }
        _ => return None,
    };
    Some(SceneObject::standing(shape, pos))
}

//! The page of a peer's own user. To the page, the peer looks like a small server.
//!
//! ```text
//! page ── Moves ──▶ Window ── walk ──▶ Peer's object USER
//! page ◀─ state ─── Window ◀─ own, seen ── Peer
//! ```
//!
//! At each tick the window sends all objects as the peer has them: its own exactly, others as predicted. There is one
//! user and so one page: the last that said hello. Unlike a server's, its states are one peer's view.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use space::{DVec3, GridPoint, ObjectId, Slot, Time, Turn};
use wire::pose::{heading, nearest_heading};
use wire::scene::{FixedObject, SOLIDS_MAX};
use wire::session::{Entered, EnteredKind, Refused, Roster, Walking, Welcome};
use wire::state::{Head, Own, VELOCITY_PARTS};
use wire::{CloseReason, CollisionShape, Handle, Hello, InputStep, Moves, Scene, ToClient, ToServer, VERSION};

use super::{Peer, Words, name, single};
use server::{Bodies, FanOut, HeardObjects};
use wire::input::is_newer;
use wire::{Channel, Effect, Endpoint, Event, LinkId};

/// The index of the object that the peer's user moves.
pub const USER: u32 = 1;
/// The most connections of pages.
const LINKS_MAX: usize = 16;
/// A connection is closed after this many invalid messages.
const FAULTS_MAX: u32 = 20;
/// Slower objects than this do not change their heading, in metres per second.
const STILL: f64 = 0.2;
/// Bytes of state per tick: enough for all objects of a peer.
const BUDGET: usize = 64 << 10;

#[derive(Clone, Debug)]
pub struct WindowSettings {
    /// The lowest and the highest corner of the world.
    pub bounds: [GridPoint; 2],
    pub solids: Vec<FixedObject>,
    pub walking: Walking,
    /// The length of a tick, in microseconds.
    pub tick_us: u32,
    /// The name of the own user.
    pub nickname: String,
}

/// The server side of a peer's page.
#[derive(Debug)]
pub struct Window {
    settings: WindowSettings,
    links: BTreeMap<LinkId, Link>,
    pane: Option<Pane>,
    bodies: Bodies,
    fan_out: FanOut,
    slots: BTreeMap<ObjectId, Slot>,
    objects: BTreeMap<Slot, Shown>,
    free: BTreeSet<Slot>,
    tick: u64,
    ticked: Time,
    next_tick: Time,
    effects: VecDeque<Effect>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    secret: [u8; 16],
    faults: u32,
}

#[derive(Clone, Debug)]
struct Shown {
    object: ObjectId,
    name: String,
    radius: f32,
    turn: Turn,
}

/// The page that is connected.
#[derive(Debug)]
struct Pane {
    link: LinkId,
    own: ObjectId,
    listener: HeardObjects,
    newest: u32,
    applied: u32,
    wish: Option<InputStep>,
    scene_at: Option<usize>,
}

impl Window {
    /// A window without a page.
    pub fn new(settings: WindowSettings, now: Time) -> Window {
        Window {
            settings,
            links: BTreeMap::new(),
            pane: None,
            bodies: Bodies::new(),
            fan_out: FanOut::new(),
            slots: BTreeMap::new(),
            objects: BTreeMap::new(),
            free: BTreeSet::new(),
            tick: 0,
            ticked: now,
            next_tick: now,
            effects: VecDeque::new(),
        }
    }

    /// Whether a page is connected.
    pub fn is_looked_through(&self) -> bool {
        self.pane.is_some()
    }

    /// Takes in an event of a page's link.
    pub fn handle(&mut self, now: Time, event: Event<'_>, peer: &mut Peer) {
        match event {
            Event::Opened { from: Endpoint::Link(link), secret } => {
                if self.links.len() >= LINKS_MAX {
                    return self.refuse(link, CloseReason::Full, "Too many pages are connected to this peer.");
                }
                self.links.insert(link, Link { secret, faults: 0 });
            }
            Event::Arrived { from: Endpoint::Link(link), channel, bytes } => {
                self.arrived(now, link, channel, bytes, peer)
            }
            Event::Closed { from: Endpoint::Link(link) } => {
                self.links.remove(&link);
                self.pane.take_if(|pane| pane.link == link);
            }
            _ => {}
        }
    }

    /// When the next tick is due.
    pub fn next_wake(&self) -> Time {
        self.next_tick
    }

    /// Takes a tick if one is due: the user's input goes to the peer, and the peer's state to the page.
    pub fn wake(&mut self, now: Time, peer: &mut Peer) {
        if now < self.next_tick {
            return;
        }
        let tick_us = i64::from(self.settings.tick_us);
        let next = self.next_tick + tick_us;
        self.next_tick = if next > now { next } else { now + tick_us };
        (self.tick, self.ticked) = (self.tick + 1, now);
        if let Some(pane) = &mut self.pane
            && let Some(step) = pane.wish.take()
        {
            pane.applied = pane.newest;
            let DVec3 { x, z, .. } = step.wish();
            peer.walk(USER, DVec3::new(x, 0.0, z));
        }
        self.look(now, peer);
        self.show(peer);
    }

    /// Sends words to the page.
    pub fn hear(&mut self, words: &Words, peer: &Peer) {
        let Some(link) = self.pane.as_ref().map(|pane| pane.link) else { return };
        let node = words.node.unwrap_or(peer.node());
        let called = peer.peers().find(|(other, ..)| Some(*other) == words.node);
        let name = called.map_or_else(|| self.settings.nickname.clone(), |(_, name, _)| name.to_owned());
        let speaker = name::object(node, USER);
        self.tell(link, &ToClient::Said { speaker, name, text: words.text.clone() });
    }

    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Closes all links, as the peer leaves.
    pub fn stop(&mut self) {
        for link in self.links.keys().copied().collect::<Vec<_>>() {
            self.close(link, CloseReason::Stopping, "This peer has left its world.");
        }
    }

    fn arrived(&mut self, now: Time, link: LinkId, channel: Channel, bytes: &[u8], peer: &mut Peer) {
        if !self.links.contains_key(&link) {
            return;
        }
        let is_greeted = self.pane.as_ref().is_some_and(|pane| pane.link == link);
        if !is_greeted && Hello::version_of(bytes).is_some_and(|version| version != VERSION) {
            return self.refuse(link, CloseReason::Version, "This peer speaks another version of the protocol.");
        }
        let is_fine = match ToServer::decode(bytes) {
            Ok(message) if message.is_datagram() == (channel == Channel::Datagram) => match message {
                ToServer::Hello(_) if !is_greeted => {
                    self.greet(link, peer);
                    true
                }
                // A ping may overtake the hello.
                ToServer::Ping { asked_us } => {
                    let [received_us, replied_us] = [now.micros(); 2];
                    let (tick, ticked_us) = (self.tick as u32, self.ticked.micros());
                    self.tell(link, &ToClient::Pong { asked_us, received_us, replied_us, tick, ticked_us });
                    true
                }
                ToServer::Moves(moves) if is_greeted => self.wanted(&moves),
                ToServer::Moves(_) => true,
                ToServer::Grab { object } if is_greeted => {
                    self.tell(link, &ToClient::Grabbed { object, is_held: false });
                    true
                }
                ToServer::Say { text } if is_greeted => {
                    if !peer.say(text, now) {
                        let text = "You speak too often: nobody heard that.".to_owned();
                        self.tell(link, &ToClient::Said { speaker: None, name: String::new(), text });
                    }
                    true
                }
                ToServer::Release if is_greeted => true,
                ToServer::Leave => {
                    self.close(link, CloseReason::Left, "Goodbye.");
                    true
                }
                _ => false,
            },
            _ => false,
        };
        if is_fine {
            return;
        }
        let Some(known) = self.links.get_mut(&link) else { return };
        known.faults += 1;
        if known.faults > FAULTS_MAX {
            self.close(link, CloseReason::Misbehaved, "Too many of your messages made no sense.");
        }
    }

    /// Welcomes a page, in place of the one before.
    fn greet(&mut self, link: LinkId, peer: &Peer) {
        let own = peer.own().find(|(object, _)| name::index(*object) == USER);
        let (Some((own, state)), Some(radius)) = (own, peer.radius(USER)) else {
            return self.refuse(
                link,
                CloseReason::NoRoom,
                "This peer has not found its place yet. Try again in a second.",
            );
        };
        if let Some(last) = self.pane.take() {
            self.close(last.link, CloseReason::Resumed, "Another page shows this peer now.");
        }
        let Some(known) = self.links.get(&link) else { return };
        let place = GridPoint::nearest(single(state.pos)).unwrap_or_default();
        let WindowSettings { bounds, walking, tick_us, ref nickname, .. } = self.settings;
        let welcome = Welcome {
            version: VERSION,
            resume_key: known.secret,
            is_resumed: false,
            own,
            nickname: nickname.clone(),
            tick: self.tick,
            tick_us,
            time_us: self.ticked.micros(),
            // A peer shows all objects that it has.
            aura: 4_096.0,
            walking,
            bounds,
            shape: CollisionShape::Sphere { radius },
            place,
            turn: Turn::IDENTITY,
            newest: 0,
        };
        let mut listener = HeardObjects::new();
        for (&slot, shown) in &self.objects {
            if shown.object != own {
                listener.enter(slot);
            }
        }
        self.pane = Some(Pane { link, own, listener, newest: 0, applied: 0, wish: None, scene_at: Some(0) });
        self.tell(link, &ToClient::Welcome(welcome));
    }

    fn wanted(&mut self, moves: &Moves) -> bool {
        let Some(pane) = &mut self.pane else { return true };
        if !pane.listener.taken(moves.heard) {
            return false;
        }
        if is_newer(moves.newest, pane.newest) {
            pane.newest = moves.newest;
            pane.wish = moves.steps.first().copied();
        }
        true
    }

    /// Takes over the peer's objects.
    fn look(&mut self, now: Time, peer: &Peer) {
        let tick = self.tick;
        let own = peer.own().filter_map(|(object, state)| {
            let radius = peer.radius(name::index(object))?;
            let elapsed_s = now.seconds_since(state.stamp).max(0.0);
            Some((object, self.settings.nickname.clone(), radius, state.pos + state.vel * elapsed_s, state.vel))
        });
        let others =
            peer.seen().map(|(object, user, radius, seen)| (object, user.to_owned(), radius, seen.pos, seen.vel));
        let mut there = BTreeSet::new();
        for (object, user, radius, pos, vel) in own.chain(others).collect::<Vec<_>>() {
            let Some(place) = GridPoint::nearest(single(pos)) else { continue };
            there.insert(object);
            let index = name::index(object);
            let name = if index == USER { user } else { format!("{user} {index}") };
            match self.slots.get(&object) {
                Some(&slot) => {
                    let Some(shown) = self.objects.get_mut(&slot) else { continue };
                    if DVec3::new(vel.x, 0.0, vel.z).length() > STILL {
                        shown.turn = heading(nearest_heading(libm::atan2(-vel.x, -vel.z) as f32));
                    }
                    // A peer's name is known only after its hello.
                    shown.name = name;
                    self.bodies.moved(slot, tick, place, shown.turn, false);
                }
                None => {
                    let next = Slot::new(self.objects.len() as u32);
                    let slot = self.free.pop_first().unwrap_or(next);
                    self.slots.insert(object, slot);
                    self.objects.insert(slot, Shown { object, name, radius, turn: Turn::IDENTITY });
                    self.bodies.insert(slot, tick, place, Turn::IDENTITY);
                    if let Some(pane) = self.pane.as_mut().filter(|pane| pane.own != object) {
                        pane.listener.enter(slot);
                    }
                }
            }
        }
        let gone: Vec<ObjectId> = self.slots.keys().copied().filter(|object| !there.contains(object)).collect();
        for object in gone {
            let Some(slot) = self.slots.remove(&object) else { continue };
            self.objects.remove(&slot);
            self.free.insert(slot);
            if let Some(pane) = &mut self.pane {
                pane.listener.leave(slot);
            }
        }
        self.bodies.settle(tick);
    }

    /// Sends scene, roster and state, as a server does.
    fn show(&mut self, peer: &Peer) {
        let tick = self.tick;
        let Window { pane: Some(pane), bodies, fan_out, objects, slots, effects, settings, .. } = self else { return };
        let link = pane.link;
        let mut tell = |message: ToClient| {
            effects.push_back(Effect::Send { to: link.into(), channel: Channel::Stream, bytes: message.encode() });
        };
        if let Some(at) = pane.scene_at {
            let end = settings.solids.len().min(at + SOLIDS_MAX / 4);
            let is_last = end == settings.solids.len();
            pane.scene_at = (!is_last).then_some(end);
            tell(ToClient::Scene(Scene { is_last, solids: settings.solids[at.min(end)..end].to_vec() }));
        }
        if pane.listener.is_behind() {
            let mut entered: Vec<(Handle, Slot)> = Vec::new();
            let (number, left) = pane.listener.tell(tick, wire::session::ROSTER_MAX, &mut entered);
            let introduce = |&(handle, slot): &(Handle, Slot)| {
                let Shown { object, name, radius, .. } = objects.get(&slot)?.clone();
                let body = bodies.body(slot);
                let (kind, shape) = (EnteredKind::Avatar, CollisionShape::Sphere { radius });
                let (place, turn, motion) = (body.place, body.turn, body.motion);
                Some(Entered { handle, object, kind, name, shape, place, turn, motion })
            };
            let entered = entered.iter().filter_map(introduce).collect();
            tell(ToClient::Roster(Roster { number, tick: tick as u32, left, entered }));
        }
        let (Some(&slot), Some((_, state))) = (slots.get(&pane.own), peer.own().find(|(own, _)| *own == pane.own))
        else {
            return;
        };
        let most = f64::from(i16::MAX);
        let part = |speed: f64| libm::rint(speed * f64::from(VELOCITY_PARTS)).clamp(-most, most) as i16;
        let own =
            Own { acknowledged: pane.applied as u16, velocity: state.vel.to_array().map(part), is_grounded: true };
        let head = Head { tick: tick as u32, anchor: bodies.place(slot), own: Some(own) };
        fan_out.run(&mut pane.listener, bodies, &head, tick, BUDGET, |bytes| {
            effects.push_back(Effect::Send { to: link.into(), channel: Channel::Datagram, bytes });
        });
    }

    fn tell(&mut self, link: LinkId, message: &ToClient) {
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        self.effects.push_back(Effect::Send { to: link.into(), channel, bytes: message.encode() });
    }

    fn refuse(&mut self, link: LinkId, reason: CloseReason, sentence: &str) {
        self.tell(link, &ToClient::Refused(refusal(reason, sentence)));
        self.part(link);
    }

    fn close(&mut self, link: LinkId, reason: CloseReason, sentence: &str) {
        self.tell(link, &ToClient::Closed(refusal(reason, sentence)));
        self.part(link);
    }

    fn part(&mut self, link: LinkId) {
        self.links.remove(&link);
        self.pane.take_if(|pane| pane.link == link);
        self.effects.push_back(Effect::Close { to: link.into() });
    }
}

fn refusal(reason: CloseReason, sentence: &str) -> Refused {
    Refused { version: VERSION, reason, sentence: sentence.to_owned() }
}

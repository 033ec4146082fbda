//! A peer: a participant of a world without a server.
//!
//! It moves its own objects and nobody else's; their [names](wire::peer::name) say whose they are. To those who hear an
//! object it sends when what they believe is no longer good enough, near collisions sooner, and to all others a sign of
//! life. What others move it predicts, bounces off the scene included. When an own object meets another peer's, one of the
//! two decides by a rule that both follow on the same numbers ([`encounter`]); the other waits, and all keep one verdict
//! ([`verdicts`]). Nothing that arrives is believed because it arrived: see [`tally`].
//!
//! The state machine is in four files by what it does: this one holds it, `arrivals` takes in messages, `frame` does what
//! is due, `contacts` settles who met whom.

#![forbid(unsafe_code)]

mod arrivals;
mod contacts;
pub mod encounter;
mod frame;
pub mod ground;
pub mod owned;
pub mod remote_object;
pub mod remote_peer;
pub mod settings;
pub mod steps;
pub mod tally;
pub mod verdicts;
pub mod wanderer;
pub mod window;
pub mod words;

use std::collections::{BTreeMap, VecDeque};

use interest::{Audience, Aura};
use motion::decision::{ObjectPair, Verdict};
use motion::{CollisionScene, KinematicState, Predicted};
use space::{DVec3, NodeId, ObjectId, Slot, Time, Vec3};
use wire::ToPeer;
use wire::peer::{PEER_VERSION, name};

use self::encounter::Encounter;
use self::owned::{Owned, SteeredBall};
use self::remote_object::RemoteObject;
use self::remote_peer::RemotePeer;
use self::settings::PeerSettings;
use self::tally::Tally;
use self::verdicts::AllVerdicts;
use self::words::{Pace, Said, Words};
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant};

/// Links at most: a mesh of more peers wants a server.
const LINKS_MAX: usize = 256;
/// Objects of one peer at most.
const OBJECTS_MAX: usize = 256;
/// Pairs that are looked after at most.
const ENCOUNTERS_MAX: usize = 16_384;
/// What happened and nobody asked for is kept up to so many.
const HAPPENINGS_MAX: usize = 4_096;

/// Who a peer is.
#[derive(Clone, Debug)]
pub struct NewPeer {
    /// Its number, 1 to [`name::NODE_MAX`].
    pub node: NodeId,
    /// What its user is called.
    pub name: String,
    /// How often it wakes, in microseconds.
    pub frame_us: i64,
    /// What all share.
    pub settings: PeerSettings,
}

/// Why a peer or an object of it cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// No peer has this number.
    #[error("{0} is no peer, expected 1 to {max}", max = name::NODE_MAX)]
    Node(NodeId),
    /// No object is counted so, or one already is.
    #[error("object index {0} is taken, or not 1 to {max}", max = name::INDEX_MAX)]
    Index(u32),
    /// A radius, aura, place or velocity that is not finite or not in range.
    #[error("object index {0} has a radius, aura, place or velocity that cannot be")]
    Nonsense(u32),
    /// Too many objects.
    #[error("a peer has at most {OBJECTS_MAX} objects")]
    TooMany,
}

/// What a new object of a peer is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewObject {
    /// How it is counted, from 1.
    pub index: u32,
    /// The radius of its ball, in metres.
    pub radius: f32,
    /// How far it hears and is heard, in metres.
    pub aura: f32,
    /// Where it is.
    pub place: DVec3,
    /// How it moves.
    pub velocity: DVec3,
}

/// Something that its user, or the lab, may want to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// A peer came.
    Joined(NodeId),
    /// A peer left, or fell silent.
    Left(NodeId),
    /// An own object met another's.
    Met {
        /// Which two.
        pair: ObjectPair,
        /// When, by the pair's clock.
        contact: Time,
    },
    /// This peer decided.
    Decided(Verdict),
    /// A verdict counts, as far as is known.
    Kept(Verdict),
    /// No verdict came in time: the response was dropped.
    Dropped {
        /// About which two.
        pair: ObjectPair,
        /// When they met, by the pair's clock.
        contact: Time,
    },
}

/// A participant of a world without a server.
#[derive(Debug)]
pub struct Peer {
    node: NodeId,
    name: String,
    frame_us: i64,
    settings: PeerSettings,
    scene: CollisionScene,
    /// Of the settings and the scene: whoever has others is in another world.
    world_hash: u64,
    links: BTreeMap<LinkId, RemotePeer>,
    by_node: BTreeMap<NodeId, LinkId>,
    own: BTreeMap<u32, Owned>,
    others: BTreeMap<ObjectId, RemoteObject>,
    encounters: BTreeMap<ObjectPair, Encounter>,
    verdicts: AllVerdicts,
    audience: Audience,
    slots: BTreeMap<ObjectId, Slot>,
    /// Whether somebody of a peer hears an own object.
    hearers: BTreeMap<u32, Vec<NodeId>>,
    /// Bounces among others' objects that were predicted in the last frame.
    bounces: u64,
    listened_at: Option<Time>,
    forgot_at: Option<Time>,
    effects: VecDeque<Effect>,
    happenings: VecDeque<Happening>,
    said: Said,
    pace: Pace,
    next_wake: Time,
    tally: Tally,
}

impl Peer {
    /// A peer alone in its scene.
    pub fn new(new: NewPeer, scene: CollisionScene, now: Time) -> Result<Peer, PeerError> {
        let NewPeer { node, name, frame_us, settings } = new;
        name::object(node, 1).ok_or(PeerError::Node(node))?;
        Ok(Peer {
            verdicts: AllVerdicts::new(settings.overlap_us),
            world_hash: world_hash(&settings, &scene),
            node,
            name,
            frame_us,
            settings,
            scene,
            links: BTreeMap::new(),
            by_node: BTreeMap::new(),
            own: BTreeMap::new(),
            others: BTreeMap::new(),
            encounters: BTreeMap::new(),
            audience: Audience::new(),
            slots: BTreeMap::new(),
            hearers: BTreeMap::new(),
            bounces: 0,
            listened_at: None,
            forgot_at: None,
            effects: VecDeque::new(),
            happenings: VecDeque::new(),
            said: Said::default(),
            pace: Pace::default(),
            next_wake: now,
            tally: Tally::default(),
        })
    }

    /// Brings an object into the world.
    pub fn add(&mut self, new: NewObject, now: Time) -> Result<ObjectId, PeerError> {
        let NewObject { index, radius, aura, place, velocity } = new;
        let object = name::object(self.node, index).ok_or(PeerError::Index(index))?;
        if self.own.contains_key(&index) {
            return Err(PeerError::Index(index));
        }
        if self.own.len() >= OBJECTS_MAX {
            return Err(PeerError::TooMany);
        }
        let is_size = |size: f32| (0.0..=4_096.0).contains(&size);
        let is_moving = velocity.is_finite() && velocity.length() <= self.settings.speed_max;
        let is_placed = place.is_finite() && place.abs().max_element() <= 16_384.0;
        if !(is_size(radius) && is_size(aura) && is_moving && is_placed) {
            return Err(PeerError::Nonsense(index));
        }
        let state = KinematicState { vel: velocity, ..KinematicState::at_rest(now, place) };
        let body = SteeredBall { radius: f64::from(radius), state };
        self.enter_audience(object, place, aura);
        let owned = Owned::new(self.node, object, aura, body, &self.settings);
        self.broadcast(&ToPeer::Owns(owned.announcement()));
        self.own.insert(index, owned);
        Ok(object)
    }

    /// Takes an own object out of the world. Says whether there was one.
    pub fn remove(&mut self, index: u32) -> bool {
        let Some(owned) = self.own.remove(&index) else { return false };
        self.forget_object(owned.object);
        self.hearers.remove(&index);
        self.broadcast(&ToPeer::Drops { index });
        true
    }

    /// Sets the acceleration of an own object, in metres per second squared: how its user steers it from now on. What is
    /// no number steers nothing.
    pub fn steer(&mut self, index: u32, acceleration: DVec3) {
        if let Some(owned) = self.own.get_mut(&index)
            && acceleration.is_finite()
        {
            owned.body.state.acc = acceleration.clamp_length_max(1_000.0);
        }
    }

    /// Lets an own object move with this velocity from now on, whenever it is free to: what it bounces off throws it back
    /// for a moment. What is no number moves nothing.
    pub fn walk(&mut self, index: u32, velocity: DVec3) {
        let speed_max = self.settings.speed_max;
        if let Some(owned) = self.own.get_mut(&index)
            && velocity.is_finite()
        {
            owned.walk(velocity.clamp_length_max(speed_max));
        }
    }

    /// Says goodbye, and forgets everybody.
    pub fn leave(&mut self) {
        self.broadcast(&ToPeer::Leave);
        for link in self.links.keys().copied().collect::<Vec<_>>() {
            self.part(link);
            self.effects.push_back(Effect::Close { to: link.into() });
        }
    }

    /// Who it is.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The rules that it follows.
    pub fn settings(&self) -> &PeerSettings {
        &self.settings
    }

    /// Its own objects and how they move.
    pub fn own(&self) -> impl Iterator<Item = (ObjectId, KinematicState)> + '_ {
        self.own.values().map(|owned| (owned.object, owned.body.state))
    }

    /// The objects of others, where they are in this frame.
    pub fn others(&self) -> impl Iterator<Item = (ObjectId, Predicted)> + '_ {
        self.others.values().filter_map(|other| Some((other.object, other.predicted()?)))
    }

    /// The same, with what their users are called and their radii in metres.
    pub fn seen(&self) -> impl Iterator<Item = (ObjectId, &str, f32, Predicted)> + '_ {
        self.others.values().filter_map(|other| {
            let user = self.neighbour(name::owner(other.object)).map_or("", |known| known.name.as_str());
            Some((other.object, user, other.radius as f32, other.predicted()?))
        })
    }

    /// The radius of an own object, in metres.
    pub fn radius(&self, index: u32) -> Option<f32> {
        self.own.get(&index).map(|owned| owned.body.radius as f32)
    }

    /// The peers that are there, and half the quickest round trip to each in microseconds.
    pub fn peers(&self) -> impl Iterator<Item = (NodeId, &str, Option<i64>)> + '_ {
        self.links.values().filter_map(|known| Some((known.node?, known.name.as_str(), known.latency_us())))
    }

    /// The peers that hear an own object.
    pub fn hearers(&self, index: u32) -> &[NodeId] {
        self.hearers.get(&index).map_or(&[], Vec::as_slice)
    }

    /// The verdicts that count, by pair and precedence.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + '_ {
        self.verdicts.counting()
    }

    /// Pairs that are watched.
    pub fn watched(&self) -> usize {
        self.encounters.values().filter(|encounter| encounter.is_watched()).count()
    }

    /// What happened since it was asked last.
    pub fn next_happening(&mut self) -> Option<Happening> {
        self.happenings.pop_front()
    }

    /// The own user says something, to everybody who is connected. `false` if that is too often, or too long.
    pub fn say(&mut self, text: String, now: Time) -> bool {
        let may = text.len() <= wire::session::SAID_MAX && self.pace.may_speak(now);
        if may {
            self.broadcast(&ToPeer::Says { text: text.clone() });
            self.said.push(Words { node: None, text });
        }
        may
    }

    /// What somebody said, and nobody has asked for yet.
    pub fn next_words(&mut self) -> Option<Words> {
        self.said.take()
    }

    /// How often what happened.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    fn neighbour(&self, node: NodeId) -> Option<&RemotePeer> {
        self.links.get(self.by_node.get(&node)?)
    }

    /// The time now by a pair's clock, that of its lower peer; `None` if that is not known.
    fn pair_time(&self, other: NodeId, now: Time) -> Option<Time> {
        if self.node < other {
            return Some(now);
        }
        self.neighbour(other).filter(|known| known.is_timed()).map(|known| known.time_there(now))
    }

    /// The epoch at a moment of a pair's clock.
    fn epoch(&self, pair_time: Time) -> u32 {
        let epoch = pair_time.micros().max(0) / self.settings.epoch_us.max(1);
        u32::try_from(epoch).unwrap_or(u32::MAX - 1)
    }

    fn happened(&mut self, happening: Happening) {
        if self.happenings.len() == HAPPENINGS_MAX {
            self.happenings.pop_front();
        }
        self.happenings.push_back(happening);
    }

    fn send(&mut self, link: LinkId, message: &ToPeer) {
        let channel = if message.is_datagram() { Channel::Datagram } else { Channel::Stream };
        self.send_bytes(link, channel, message.encode());
    }

    fn send_bytes(&mut self, link: LinkId, channel: Channel, bytes: Vec<u8>) {
        match channel {
            Channel::Datagram => self.tally.datagrams_sent += 1,
            Channel::Stream => self.tally.messages_sent += 1,
        }
        self.tally.bytes_sent += bytes.len() as u64;
        self.effects.push_back(Effect::Send { to: link.into(), channel, bytes });
    }

    /// To all who said hello.
    fn broadcast(&mut self, message: &ToPeer) {
        for link in self.by_node.values().copied().collect::<Vec<_>>() {
            self.send(link, message);
        }
    }

    fn hello(&self, now: Time) -> ToPeer {
        ToPeer::Hello(wire::peer::PeerHello {
            version: PEER_VERSION,
            node: self.node.number(),
            name: self.name.clone(),
            settings: self.world_hash,
            time_us: now.micros(),
        })
    }

    /// A link is gone, and with it the peer behind it and all its objects.
    fn part(&mut self, link: LinkId) {
        let Some(gone) = self.links.remove(&link) else { return };
        let Some(node) = gone.node else { return };
        self.by_node.remove(&node);
        let objects: Vec<ObjectId> = self.others.keys().copied().filter(|&other| name::owner(other) == node).collect();
        for object in objects {
            self.forget_object(object);
        }
        for hearers in self.hearers.values_mut() {
            hearers.retain(|&hearer| hearer != node);
        }
        self.happened(Happening::Left(node));
    }

    /// An object is gone, and with it every pair that it is in. A response that waited for a verdict stays as it is: there
    /// is nobody left to contest it.
    fn forget_object(&mut self, object: ObjectId) {
        self.others.remove(&object);
        let own = name::index(object);
        let is_own = name::owner(object) == self.node;
        self.encounters.retain(|_, encounter| encounter.other != object && !(is_own && encounter.own == own));
        if let Some(slot) = self.slots.remove(&object) {
            self.audience.remove(slot).expect("slots holds what is in the audience");
        }
    }

    /// Auras are widened by how far both sides get between two signs of life and a message's way: so that who comes near
    /// is heard before the plain auras meet.
    fn enter_audience(&mut self, object: ObjectId, place: DVec3, aura: f32) {
        let settings = &self.settings;
        let horizon_s = (settings.heartbeat_us + 2 * settings.latency_us_max) as f64 * 1e-6;
        let wide = (f64::from(aura) + settings.speed_max * horizon_s) as f32;
        if let Ok(slot) = self.audience.insert(single(place), Aura::new(wide)) {
            self.slots.insert(object, slot);
        }
    }
}

/// A number that is the same for the same settings and walls.
fn world_hash(settings: &PeerSettings, scene: &CollisionScene) -> u64 {
    let objects = scene.objects().iter().flat_map(|object| format!("{object:?}").into_bytes());
    objects.fold(settings.hash(), |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// As the audience has places.
fn single(place: DVec3) -> Vec3 {
    Vec3::new(place.x as f32, place.y as f32, place.z as f32)
}

impl Participant for Peer {
    fn handle(&mut self, now: Time, event: Event<'_>) {
        match event {
            Event::Opened { from: Endpoint::Link(link), .. } => self.opened(now, link),
            Event::Arrived { from: Endpoint::Link(link), channel, bytes } => self.arrived(now, link, channel, bytes),
            Event::Closed { from: Endpoint::Link(link) } => self.part(link),
            _ => {}
        }
    }

    fn wake(&mut self, now: Time) {
        if now >= self.next_wake {
            self.frame(now);
            self.next_wake = now + self.frame_us.max(1_000);
        }
    }

    fn next_wake(&self) -> Time {
        self.next_wake
    }

    fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }
}

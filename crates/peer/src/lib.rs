#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! A peer moves its own objects and no others; an object's [name](wire::peer::name) contains its owner's number. Its
//! own objects are sent by dead reckoning, those of other peers are predicted. When an own object touches one of
//! another peer, one of the two decides what happens, by a rule that both compute from the same numbers.
//!
//! # Order of calls
//!
//! ```text
//! event of a link ──▶ handle ─┐
//! next_wake is due ─▶ wake ───┼─▶ then poll until None: Effect::Send, Effect::Close
//! the user ─────────▶ walk ───┘   and next_happening, next_words until None
//! ```
//!
//! [`Peer::new`] comes first, then [`add`](Peer::add) for each own object; [`leave`](Peer::leave) last, before a last
//! `poll`. `wake` computes a frame: it moves own objects, predicts the others, treats contacts and sends reports.
//!
//! # A contact between objects of two peers
//!
//! ```text
//!            may meet             close                      touch
//! unknown ─────────────▶ watched ───────▶ in a term ────────────────────────┐
//!    ▲                    │  ▲               │            this peer decides │ the other decides, or it is not known
//!    └─── cannot meet ────┘  └── not close ──┘                  ▼           ▼
//!                                                            verdict ◀── claim, with a tentative bounce
//!                                                          (to all peers)   │ no verdict within patience_us
//!                                                               ▼           ▼
//!                                                             kept       dropped: the object returns to its own motion
//! ```
//!
//! - An *encounter* is a pair of an own object and one of another peer that may meet (`encounter`).
//! - A *digest* is the rounded state of an object at one epoch. Both peers of an encounter send theirs until the
//!   other has them.
//! - A *term* is a time in which the pair is close. Both peers compute its one *decider* from digests that both have.
//! - A *claim* asks the other peer for a verdict about a contact.
//! - A *verdict* is the outcome of a contact. All peers receive it; of several about one contact, all keep the one of
//!   the lowest term (`verdicts`).
//!
//! No message is believed because it arrived: [`tally`] counts what is refused, by reason.
//!
//! `arrivals` takes in messages, `frame` does what is due, `contacts` treats contacts.

#![forbid(unsafe_code)]

mod arrivals;
mod contacts;
mod encounter;
mod frame;
pub mod ground;
mod owned;
mod remote_object;
mod remote_peer;
pub mod settings;
pub mod steps;
pub mod tally;
mod verdicts;
pub mod wanderer;
pub mod window;

/// What the API takes and returns.
pub use {motion, space, wire};

use std::collections::{BTreeMap, VecDeque};

use interest::{Audience, Aura};
use motion::decision::{ObjectPair, Verdict};
use motion::{CollisionScene, KinematicState, Predicted};
use space::token_bucket::{Allowance, TokenBucket};
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
use wire::{Channel, Effect, Endpoint, Event, LinkId, Participant};

/// The most links. A mesh of more peers needs a server.
const LINKS_MAX: usize = 256;
/// The most objects of one peer.
const OBJECTS_MAX: usize = 256;
/// The most encounters.
const ENCOUNTERS_MAX: usize = 16_384;
/// The most happenings and words that wait to be read; the oldest are dropped.
const HAPPENINGS_MAX: usize = 4_096;
const WORDS_MAX: usize = 64;
/// A user may speak ten times at once, and then once a second.
const SPEECH: Allowance = Allowance { message_us: 1_000_000, burst: 10 };

#[derive(Clone, Debug)]
pub struct NewPeer {
    /// Its number, 1 to [`name::NODE_MAX`].
    pub node: NodeId,
    pub name: String,
    /// The length of a frame, in microseconds.
    pub frame_us: i64,
    pub settings: PeerSettings,
}

/// Why a peer or an object of it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// A number out of range.
    #[error("{0} is no number of a peer, expected 1 to {max}", max = name::NODE_MAX)]
    Node(NodeId),
    /// An index that is taken or out of range.
    #[error("object index {0} is taken, or not 1 to {max}", max = name::INDEX_MAX)]
    Index(u32),
    /// A number that is not finite or out of range.
    #[error("object index {0} has a radius, aura, place or velocity that is not finite or out of range")]
    Nonsense(u32),
    /// More than `OBJECTS_MAX` objects.
    #[error("a peer has at most {OBJECTS_MAX} objects")]
    TooMany,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewObject {
    /// Its index among the peer's objects, from 1.
    pub index: u32,
    /// The radius of its ball, in metres.
    pub radius: f32,
    /// The radius of its area of interest, in metres.
    pub aura: f32,
    pub place: DVec3,
    pub velocity: DVec3,
}

/// An event for the peer's user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// Another peer joined.
    Joined(NodeId),
    /// Another peer left, or has been silent for too long.
    Left(NodeId),
    /// An own object touched one of another peer.
    Met {
        pair: ObjectPair,
        /// By the pair's clock.
        contact: Time,
    },
    /// This peer issued a verdict.
    Decided(Verdict),
    /// A verdict counts, unless one of a lower term arrives.
    Kept(Verdict),
    /// No verdict arrived in time: the tentative bounce was undone.
    Dropped {
        pair: ObjectPair,
        /// By the pair's clock.
        contact: Time,
    },
}

/// What a user said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The user's peer; `None` for this one.
    pub node: Option<NodeId>,
    pub text: String,
}

/// A participant of a world without a server.
#[derive(Debug)]
pub struct Peer {
    node: NodeId,
    name: String,
    frame_us: i64,
    settings: PeerSettings,
    scene: CollisionScene,
    /// A hash of settings and scene. Peers with different ones are in different worlds.
    world_hash: u64,
    links: BTreeMap<LinkId, RemotePeer>,
    by_node: BTreeMap<NodeId, LinkId>,
    own: BTreeMap<u32, Owned>,
    others: BTreeMap<ObjectId, RemoteObject>,
    encounters: BTreeMap<ObjectPair, Encounter>,
    verdicts: AllVerdicts,
    audience: Audience,
    slots: BTreeMap<ObjectId, Slot>,
    /// The peers with an object that hears an own one, by the own one's index.
    hearers: BTreeMap<u32, Vec<NodeId>>,
    /// The number of bounces between remote objects that were predicted in the last frame.
    bounces: u64,
    listened_at: Option<Time>,
    forgot_at: Option<Time>,
    effects: VecDeque<Effect>,
    happenings: VecDeque<Happening>,
    said: VecDeque<Words>,
    speech: TokenBucket,
    next_wake: Time,
    tally: Tally,
}

impl Peer {
    /// A peer without links and objects.
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
            said: VecDeque::new(),
            speech: TokenBucket::new(SPEECH),
            next_wake: now,
            tally: Tally::default(),
        })
    }

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

    /// Removes an own object. Returns whether there was one.
    pub fn remove(&mut self, index: u32) -> bool {
        let Some(owned) = self.own.remove(&index) else { return false };
        self.forget_object(owned.object);
        self.hearers.remove(&index);
        self.broadcast(&ToPeer::Drops { index });
        true
    }

    /// Sets the acceleration of an own object, in metres per second squared. One that is not finite is ignored.
    pub fn steer(&mut self, index: u32, acceleration: DVec3) {
        if let Some(owned) = self.own.get_mut(&index)
            && acceleration.is_finite()
        {
            owned.body.state.acc = acceleration.clamp_length_max(1_000.0);
        }
    }

    /// Sets the velocity at which an own object walks. After a bounce it moves freely for `THROWN_US` first. A velocity
    /// that is not finite is ignored.
    pub fn walk(&mut self, index: u32, velocity: DVec3) {
        let speed_max = self.settings.speed_max;
        if let Some(owned) = self.own.get_mut(&index)
            && velocity.is_finite()
        {
            owned.walk(velocity.clamp_length_max(speed_max));
        }
    }

    /// Says goodbye and closes all links.
    pub fn leave(&mut self) {
        self.broadcast(&ToPeer::Leave);
        for link in self.links.keys().copied().collect::<Vec<_>>() {
            self.part(link);
            self.effects.push_back(Effect::Close { to: link.into() });
        }
    }

    pub fn node(&self) -> NodeId {
        self.node
    }

    pub fn own(&self) -> impl Iterator<Item = (ObjectId, KinematicState)> + '_ {
        self.own.values().map(|owned| (owned.object, owned.body.state))
    }

    /// The objects of other peers, as predicted for this frame.
    pub fn others(&self) -> impl Iterator<Item = (ObjectId, Predicted)> + '_ {
        self.others.values().filter_map(|other| Some((other.object, other.predicted()?)))
    }

    /// The same, with their users' names and their radii in metres.
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

    /// The connected peers, their users' names, and half the shortest round trip to each in microseconds.
    pub fn peers(&self) -> impl Iterator<Item = (NodeId, &str, Option<i64>)> + '_ {
        self.links.values().filter_map(|known| Some((known.node?, known.name.as_str(), known.latency_us())))
    }

    /// The peers with an object that hears an own one.
    pub fn hearers(&self, index: u32) -> &[NodeId] {
        self.hearers.get(&index).map_or(&[], Vec::as_slice)
    }

    /// The verdicts that count, by pair.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> + '_ {
        self.verdicts.counting()
    }

    pub fn watched(&self) -> usize {
        self.encounters.values().filter(|encounter| encounter.is_watched()).count()
    }

    /// The oldest happening that was not read yet.
    pub fn next_happening(&mut self) -> Option<Happening> {
        self.happenings.pop_front()
    }

    /// Sends a text of the own user to all peers. Returns `false` if it is too long or too soon.
    pub fn say(&mut self, text: String, now: Time) -> bool {
        let may = text.len() <= wire::session::SAID_MAX && self.speech.take(now);
        if may {
            self.broadcast(&ToPeer::Says { text: text.clone() });
            self.heard(Words { node: None, text });
        }
        may
    }

    /// The oldest words that were not read yet, of the own user or another.
    pub fn next_words(&mut self) -> Option<Words> {
        self.said.pop_front()
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    fn neighbour(&self, node: NodeId) -> Option<&RemotePeer> {
        self.links.get(self.by_node.get(&node)?)
    }

    /// The time by a pair's clock, which is that of its lower peer; `None` if that is not known.
    fn pair_time(&self, other: NodeId, now: Time) -> Option<Time> {
        if self.node < other {
            return Some(now);
        }
        self.neighbour(other).filter(|known| known.is_timed()).map(|known| known.time_there(now))
    }

    /// The epoch at a time of a pair's clock.
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

    fn heard(&mut self, words: Words) {
        if self.said.len() == WORDS_MAX {
            self.said.pop_front();
        }
        self.said.push_back(words);
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

    /// Sends a message to all peers that said hello.
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

    /// Forgets a link, the peer behind it and that peer's objects.
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

    /// Forgets an object and its encounters. A tentative bounce with it stays, as no verdict will come.
    fn forget_object(&mut self, object: ObjectId) {
        self.others.remove(&object);
        let own = name::index(object);
        let is_own = name::owner(object) == self.node;
        self.encounters.retain(|_, encounter| encounter.other != object && !(is_own && encounter.own == own));
        if let Some(slot) = self.slots.remove(&object) {
            self.audience.remove(slot).expect("slots holds what is in the audience");
        }
    }

    /// Adds an object to the audience. Its aura is widened by how far objects move in a heartbeat and two latencies, so
    /// that it is heard before the plain auras meet.
    fn enter_audience(&mut self, object: ObjectId, place: DVec3, aura: f32) {
        let settings = &self.settings;
        let horizon_s = (settings.heartbeat_us + 2 * settings.latency_us_max) as f64 * 1e-6;
        let wide = (f64::from(aura) + settings.speed_max * horizon_s) as f32;
        if let Ok(slot) = self.audience.insert(single(place), Aura::new(wide)) {
            self.slots.insert(object, slot);
        }
    }
}

fn world_hash(settings: &PeerSettings, scene: &CollisionScene) -> u64 {
    let objects = scene.objects().iter().flat_map(|object| format!("{object:?}").into_bytes());
    objects.fold(settings.hash(), |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

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

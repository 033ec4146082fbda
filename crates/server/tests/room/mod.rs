//! Servers of one cluster and their users in one room: messages take their time, ticks come late, servers die and freeze.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::collections::{BTreeMap, BTreeSet};

use client::bot::Behaviour;
use client::{Bot, ClientSettings, Phase};
use cluster::{Cluster, ClusterSettings, Status};
use kinesphere_server::{Server, ServerSettings};
use space::workload::Random;
use space::{GridPoint, NodeId, ObjectId, Time};
use wire::{Channel, CollisionShape, Effect, Endpoint, Event, Handle, LinkId, Participant, ToClient, ToNode};
use world::{Plaza, Spec, World};

/// Time goes on in so small parts, in microseconds.
const SLICE_US: i64 = 4_166;

/// How bad the room is. All times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// A message takes so long at most.
    pub delay_us: i64,
    /// How likely a datagram is lost.
    pub loss: f32,
    /// A tick comes so much late at most.
    pub late_us: i64,
    /// A seed for all of that.
    pub seed: u64,
}

impl Weather {
    pub const FINE: Weather = Weather { delay_us: 0, loss: 0.0, late_us: 0, seed: 0 };
}

pub struct Host {
    pub address: String,
    pub number: u64,
    /// `None` while it is dead.
    pub server: Option<Server>,
    /// Until when it does nothing.
    frozen_until: Time,
    /// What it said of each tick.
    told: Told,
}

enum Letter {
    ToNode { from: u64, to: u64, bytes: Vec<u8> },
    ToServer { link: LinkId, channel: Channel, bytes: Vec<u8> },
    ToBot { link: LinkId, channel: Channel, bytes: Vec<u8> },
    Close { link: LinkId },
}

pub struct Room {
    pub spec: std::sync::Arc<Spec>,
    pub now: Time,
    pub hosts: Vec<Host>,
    pub bots: Vec<Bot>,
    weather: Weather,
    random: Random,
    mail: BTreeMap<(Time, u64), Letter>,
    mailed: u64,
    /// When what was last said in order arrives, by who says it to whom.
    ordered: BTreeMap<(u64, u64, bool), Time>,
    /// Where each bot is connected.
    links: BTreeMap<LinkId, (usize, usize)>,
    link_of: Vec<Option<LinkId>>,
    next_link: u64,
    next_number: u64,
    pub redirects: u64,
}

fn opened(node: NodeId) -> Event<'static> {
    Event::Opened { from: node.into(), secret: [0; 16] }
}

fn address(index: usize) -> String {
    format!("http://host{index}")
}

impl Room {
    pub fn new(hosts: usize, bots: usize, weather: Weather) -> Room {
        let plaza = Plaza { side: 40.0, obstacles: 4, crates: 4, balls: 0, seekers: 0, seed: 3 };
        let bot = |number: usize| {
            Bot::new(ClientSettings::named(&format!("user {number}")), Behaviour::Seek, 3.0, number as u64 + 1)
        };
        let mut room = Room {
            spec: std::sync::Arc::new(plaza.spec()),
            now: Time::from_micros(0),
            hosts: Vec::new(),
            bots: (0..bots).map(bot).collect(),
            weather,
            random: Random::new(weather.seed),
            mail: BTreeMap::new(),
            mailed: 0,
            ordered: BTreeMap::new(),
            links: BTreeMap::new(),
            link_of: vec![None; bots],
            next_link: 1,
            next_number: 1,
            redirects: 0,
        };
        for _ in 0..hosts {
            room.add_host();
        }
        room
    }

    pub fn add_host(&mut self) {
        let index = self.hosts.len();
        let settings = self.settings(self.next_number, index, 1);
        let (world, cluster) = if index == 0 {
            let mut world = World::new(self.spec.clone()).unwrap();
            let cluster = Cluster::first(settings.clone(), &mut world, self.now);
            (world, cluster)
        } else {
            let mut world = World::empty(self.spec.clone()).unwrap();
            let cluster = Cluster::joining(settings.clone(), &mut world, self.now);
            (world, cluster)
        };
        self.push_host(world, cluster, settings);
    }

    /// A host that would like to join, of a world with this fingerprint.
    pub fn add_stranger(&mut self, fingerprint: u64) {
        let settings = self.settings(self.next_number, self.hosts.len(), fingerprint);
        let mut world = World::empty(self.spec.clone()).unwrap();
        let cluster = Cluster::joining(settings.clone(), &mut world, self.now);
        self.push_host(world, cluster, settings);
    }

    fn settings(&self, number: u64, index: usize, fingerprint: u64) -> ClusterSettings {
        ClusterSettings {
            node: NodeId::new(number),
            address: address(index),
            is_witness: false,
            copies: 2,
            reach: 9.0,
            world: fingerprint,
        }
    }

    fn push_host(&mut self, world: World, cluster: Cluster, settings: ClusterSettings) {
        let server_settings = ServerSettings { focus: 8.0, ..ServerSettings::default() };
        let (number, address) = (settings.node.number(), settings.address.clone());
        let mut server = Server::in_cluster(world, server_settings, cluster, settings, self.now).unwrap();
        for other in &mut self.hosts {
            if let Some(there) = &mut other.server {
                there.handle(self.now, opened(NodeId::new(number)));
                server.handle(self.now, opened(NodeId::new(other.number)));
            }
        }
        let frozen_until = self.now;
        self.hosts.push(Host { address, number, server: Some(server), frozen_until, told: Told::default() });
        self.next_number += 1;
    }

    pub fn kill(&mut self, index: usize) {
        self.hosts[index].server = None;
        self.tell_others(index, |from| Event::Closed { from });
    }

    /// It stops in order: it says goodbye, and is gone.
    pub fn stop(&mut self, index: usize) {
        self.hosts[index].server.as_mut().expect("it runs").stop();
        self.carry_down(index);
        self.kill(index);
    }

    /// It does nothing for so long; what it is sent waits.
    pub fn freeze(&mut self, index: usize, seconds: i64) {
        self.hosts[index].frozen_until = self.now + seconds * 1_000_000;
    }

    /// Tells all other servers of something that happened to this one.
    fn tell_others(&mut self, index: usize, event: impl Fn(Endpoint) -> Event<'static>) {
        let number = NodeId::new(self.hosts[index].number);
        for other in (0..self.hosts.len()).filter(|&other| other != index) {
            if let Some(server) = &mut self.hosts[other].server {
                server.handle(self.now, event(number.into()));
            }
        }
    }

    /// A short time passes.
    fn step(&mut self) {
        self.now = self.now + SLICE_US;
        let now = self.now;
        self.deliver();
        for bot in 0..self.bots.len() {
            if self.link_of[bot].is_none() && !matches!(self.bots[bot].client().phase(), Phase::Ended(_)) {
                self.connect(bot);
            }
            self.bots[bot].wake(now);
            self.carry_up(bot);
        }
        for index in 0..self.hosts.len() {
            let late = (self.random.unit() * self.weather.late_us as f32) as i64;
            let Host { server: Some(server), frozen_until, .. } = &mut self.hosts[index] else { continue };
            if *frozen_until <= now && server.next_wake() + late <= now {
                server.wake(now);
                self.begin_anew(index);
            }
            self.carry_down(index);
        }
    }

    /// Whoever was left out joins again, as its driver would let it.
    fn begin_anew(&mut self, index: usize) {
        let Some(server) = &mut self.hosts[index].server else { return };
        if server.cluster().unwrap().status() != Status::LeftOut {
            return;
        }
        server.rejoin(NodeId::new(self.next_number), self.now).unwrap();
        self.tell_others(index, |from| Event::Closed { from });
        self.hosts[index].number = self.next_number;
        self.next_number += 1;
        self.tell_others(index, |from| Event::Opened { from, secret: [0; 16] });
    }

    fn deliver(&mut self) {
        let mut waiting = Vec::new();
        while let Some(entry) = self.mail.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let ((_, number), letter) = entry.remove_entry();
            if self.is_held_up(&letter) {
                waiting.push(((self.now + SLICE_US, number), letter));
                continue;
            }
            match letter {
                Letter::ToNode { from, to, bytes } => {
                    let host = self.hosts.iter_mut().find(|host| host.number == to);
                    if let Some(server) = host.and_then(|host| host.server.as_mut()) {
                        let (from, channel) = (NodeId::new(from).into(), Channel::Stream);
                        server.handle(self.now, Event::Arrived { from, channel, bytes: &bytes });
                    }
                }
                Letter::ToServer { link, channel, bytes } => {
                    let Some(&(_, index)) = self.links.get(&link) else { continue };
                    if let Some(server) = &mut self.hosts[index].server {
                        server.handle(self.now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
                    }
                }
                Letter::ToBot { link, channel, bytes } => {
                    let Some(&(bot, _)) = self.links.get(&link) else { continue };
                    self.bots[bot].handle(self.now, Event::Arrived { from: link.into(), channel, bytes: &bytes });
                    self.carry_up(bot);
                }
                Letter::Close { link } => self.close(link),
            }
        }
        self.mail.extend(waiting);
    }

    /// Whether it is for somebody who does nothing now.
    fn is_held_up(&self, letter: &Letter) -> bool {
        let host = match letter {
            Letter::ToNode { to, .. } => self.hosts.iter().find(|host| host.number == *to),
            Letter::ToServer { link, .. } => self.links.get(link).map(|&(_, index)| &self.hosts[index]),
            Letter::ToBot { .. } | Letter::Close { .. } => None,
        };
        host.is_some_and(|host| host.frozen_until > self.now)
    }

    /// Sends a letter. What goes in order arrives in order; the rest may overtake it, or be lost.
    fn post(&mut self, from: u64, to: u64, is_ordered: bool, letter: Letter) {
        let is_server = matches!(letter, Letter::ToNode { .. });
        let Weather { delay_us, loss, .. } = self.weather;
        let (delay, lot) = ((self.random.unit() * delay_us as f32) as i64, self.random.unit());
        let mut at = self.now + delay.max(1);
        if is_ordered {
            let last = self.ordered.entry((from, to, is_server)).or_insert(at);
            at = at.max(*last);
            *last = at;
        } else if lot < loss {
            return;
        }
        self.mailed += 1;
        self.mail.insert((at, self.mailed), letter);
    }

    fn connect(&mut self, bot: usize) {
        self.redirects += u64::from(self.bots[bot].client().is_redirected());
        let address = self.bots[bot].client_mut().next_address().unwrap_or_else(|| address(0));
        let index = self.hosts.iter().position(|host| host.address == address).unwrap();
        let Host { server: Some(server), frozen_until, .. } = &mut self.hosts[index] else { return };
        if *frozen_until > self.now {
            return;
        }
        let link = LinkId(self.next_link);
        self.next_link += 1;
        self.links.insert(link, (bot, index));
        self.link_of[bot] = Some(link);
        let mut secret = [0; 16];
        secret[..8].copy_from_slice(&self.next_link.to_le_bytes());
        server.handle(self.now, Event::Opened { from: link.into(), secret });
        self.bots[bot].handle(self.now, Event::Opened { from: link.into(), secret: [0; 16] });
        self.carry_up(bot);
    }

    fn carry_up(&mut self, bot: usize) {
        while let Some(effect) = self.bots[bot].poll() {
            match effect {
                Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
                    let letter = Letter::ToServer { link, channel, bytes };
                    self.post(link.0, 0, channel == Channel::Stream, letter);
                }
                Effect::Close { to: Endpoint::Link(link) } => self.close(link),
                _ => {}
            }
        }
    }

    fn carry_down(&mut self, index: usize) {
        let number = self.hosts[index].number;
        let Some(server) = &mut self.hosts[index].server else { return };
        let effects: Vec<Effect> = std::iter::from_fn(|| server.poll()).collect();
        for effect in effects {
            match effect {
                Effect::Send { to: Endpoint::Node(to), bytes, .. } => {
                    let is_ordered = !matches!(ToNode::decode(&bytes), Ok(ToNode::Batch(_)));
                    let letter = Letter::ToNode { from: number, to: to.number(), bytes };
                    self.post(number, to.number(), is_ordered, letter);
                }
                Effect::Send { to: Endpoint::Link(link), channel, bytes } => {
                    self.hosts[index].told.take(link, &ToClient::decode(&bytes).unwrap());
                    self.post(0, link.0, channel == Channel::Stream, Letter::ToBot { link, channel, bytes });
                }
                Effect::Close { to: Endpoint::Link(link) } => self.post(0, link.0, true, Letter::Close { link }),
                Effect::Malformed { from, error } => panic!("{from} sent what cannot be decoded: {error}"),
                _ => {}
            }
        }
    }

    fn close(&mut self, link: LinkId) {
        let Some((bot, index)) = self.links.remove(&link) else { return };
        self.link_of[bot] = None;
        self.bots[bot].handle(self.now, Event::Closed { from: link.into() });
        if let Some(server) = &mut self.hosts[index].server {
            server.handle(self.now, Event::Closed { from: link.into() });
        }
        self.carry_up(bot);
    }

    /// A bot loses its connection, and does not come back; says where it was.
    pub fn lose(&mut self, bot: usize) -> usize {
        let link = self.link_of[bot].expect("it is connected");
        let (_, index) = self.links[&link];
        self.close(link);
        self.link_of[bot] = Some(LinkId(u64::MAX));
        index
    }

    pub fn run(&mut self, seconds: i64) {
        let end = self.now + seconds * 1_000_000;
        while self.now < end {
            self.step();
        }
    }

    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        self.hosts.iter().filter_map(|host| host.server.as_ref())
    }

    /// What servers contradicted themselves in, and of how many places that was looked at.
    pub fn contradictions(&self) -> (Vec<String>, u64) {
        let mut all = Vec::new();
        for host in &self.hosts {
            all.extend(host.told.contradictions.iter().map(|text| format!("{}: {text}", host.address)));
        }
        (all, self.hosts.iter().map(|host| host.told.looked_at).sum())
    }

    /// Users of one server whose avatars it confirmed in one place.
    pub fn confirmed_overlaps(&self) -> Vec<String> {
        self.hosts.iter().flat_map(|host| host.told.overlaps(&host.address)).collect()
    }

    /// Lets everybody stand until nobody is between two servers, and looks.
    pub fn stand_and_check(&mut self) {
        self.bots.iter_mut().for_each(|bot| bot.freeze(true));
        self.run(2);
        self.check();
    }

    pub fn walk_on(&mut self) {
        self.bots.iter_mut().for_each(|bot| bot.freeze(false));
    }

    /// Everybody is in, once, with one avatar, where its server says.
    pub fn check(&self) {
        let phases: Vec<&Phase> = self.bots.iter().map(|bot| bot.client().phase()).collect();
        assert!(phases.iter().all(|phase| **phase == Phase::Joined), "{phases:?}");
        let mut avatars = BTreeSet::new();
        let mut users = BTreeSet::new();
        for server in self.servers() {
            for object in server.world().dynamic().filter(|object| object.owner.is_some()) {
                assert!(avatars.insert(object.id), "{} is at two servers", object.id);
            }
            for (sender, name, object, link) in server.users() {
                assert!(users.insert(name.to_owned()), "{name} is in twice");
                assert!(link.is_some(), "{name} has no connection");
                assert_eq!(server.world().avatar_of(sender), Some(object));
            }
        }
        assert_eq!((avatars.len(), users.len()), (self.bots.len(), self.bots.len()));
        let contradictions: u64 = self.bots.iter().map(|bot| bot.client().counts().contradictions).sum();
        assert_eq!(contradictions, 0, "rosters contradict each other");
    }

    /// Everybody hears exactly whom they should, across borders, but for those at the edge.
    pub fn check_hearing(&self) {
        let mut places = Vec::new();
        for server in self.servers() {
            places.extend(server.world().dynamic().map(|object| (object.id, object.position())));
        }
        for bot in &self.bots {
            let own = bot.client().welcome().unwrap().own;
            let here = places.iter().find(|(id, _)| *id == own).unwrap().1;
            let heard: BTreeSet<_> = bot.client().others().iter().map(|(_, other)| other.entered.object).collect();
            for (id, place) in places.iter().filter(|(id, _)| *id != own) {
                let distance = place.distance(here);
                assert!(distance > 7.0 || heard.contains(id), "{own} does not hear of {id}, {distance} m away");
                assert!(distance < 10.0 || !heard.contains(id), "{own} hears of {id}, {distance} m away");
            }
        }
    }
}

/// What one server said, put together: of each tick, one place of each object.
#[derive(Default)]
struct Told {
    /// What handles mean on each link, and whose link it is.
    known: BTreeMap<LinkId, (Option<ObjectId>, BTreeMap<Handle, ObjectId>)>,
    places: BTreeMap<(u32, ObjectId), GridPoint>,
    /// Where users were told that their own avatars are, by tick, and what these are.
    confirmed: BTreeMap<u32, BTreeMap<ObjectId, (GridPoint, CollisionShape)>>,
    shapes: BTreeMap<ObjectId, CollisionShape>,
    looked_at: u64,
    contradictions: Vec<String>,
}

impl Told {
    fn take(&mut self, link: LinkId, message: &ToClient) {
        let (own, known) = self.known.entry(link).or_default();
        let mut told = Vec::new();
        let tick = match message {
            ToClient::Welcome(welcome) => {
                *own = Some(welcome.own);
                self.shapes.insert(welcome.own, welcome.shape.clone());
                return;
            }
            ToClient::Roster(roster) => {
                known.retain(|handle, _| !roster.left.contains(handle));
                for entered in &roster.entered {
                    known.insert(entered.handle, entered.object);
                    told.push((entered.object, entered.place));
                }
                if known.values().collect::<BTreeSet<_>>().len() < known.len() {
                    self.contradictions.push(format!("tick {}: one object has two handles", roster.tick));
                }
                roster.tick
            }
            ToClient::State(state) => {
                if let Some(own) = own.filter(|_| state.head.own.is_some()) {
                    told.push((own, state.head.anchor));
                    let confirmed = self.confirmed.entry(state.head.tick).or_default();
                    confirmed.insert(own, (state.head.anchor, self.shapes[&own].clone()));
                }
                told.extend(state.bodies.iter().map(|(handle, body)| (known[handle], body.place)));
                state.head.tick
            }
            _ => return,
        };
        for (object, place) in told {
            self.looked_at += 1;
            let before = *self.places.entry((tick, object)).or_insert(place);
            if before != place {
                self.contradictions.push(format!("tick {tick}: {object} is at {before:?} and at {place:?}"));
            }
        }
    }

    fn overlaps(&self, address: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (tick, confirmed) in &self.confirmed {
            let all: Vec<_> = confirmed.iter().collect();
            for (at, (one, (place, shape))) in all.iter().enumerate() {
                for (other, (other_place, other_shape)) in &all[at + 1..] {
                    if is_overlap((*place, shape), (*other_place, other_shape)) {
                        found.push(format!("{address}, tick {tick}: {one} and {other}"));
                    }
                }
            }
        }
        found
    }
}

/// Whether two upright capsules share more than rounding explains.
fn is_overlap(
    (at, shape): (GridPoint, &CollisionShape),
    (other_at, other_shape): (GridPoint, &CollisionShape),
) -> bool {
    let (
        CollisionShape::Capsule { half_height, radius },
        CollisionShape::Capsule { half_height: other_half, radius: other_radius },
    ) = (shape, other_shape)
    else {
        panic!("avatars are capsules");
    };
    let way = at.position() - other_at.position();
    let up = (way.y.abs() - half_height - other_half).max(0.0);
    (way.x * way.x + way.z * way.z + up * up).sqrt() < radius + other_radius - 0.01
}

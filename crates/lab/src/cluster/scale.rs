//! What a node costs as nodes are added: space and users per node are the same, and only their number grows.
//!
//! A node is a whole server, from the datagrams of its users to what each of them is told, with its part in the cluster. Only
//! what carries bytes from process to process is not in it. Users are walkers: they say hello, walk, acknowledge what they are
//! told and go where they are sent; what they do is not counted.

use std::collections::BTreeMap;

use node::cluster::{Cluster, ClusterSettings, territory};
use node::limits::Limits;
use node::server::{Part, ServerSettings};
use node::{Channel, Effect, Event, LinkId, Node, Server};
use space::workload::Random;
use space::{NodeId, Time, Vec3};
use wire::cluster::Member;
use wire::session::ResumeKey;
use wire::state::VELOCITY_PARTS;
use wire::{Hello, Moves, Step, ToClient, ToNode, ToServer, VERSION};
use world::{Plaza, World};

use super::TICK_US;
use crate::stopwatch::Stopwatch;

/// One number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// Nodes.
    pub nodes: usize,
    /// Objects per node, and users of these.
    pub objects: usize,
    /// See above.
    pub users: usize,
    /// Processor time per node and tick, in milliseconds.
    pub cpu_ms: f64,
    /// Of that, by what it was for, as in [`PARTS`].
    pub parts_ms: [f64; PARTS.len()],
    /// Batches sent per node and tick.
    pub batches: f64,
    /// Bytes per node and tick: batches, copies, and everything.
    pub batch_bytes: f64,
    /// See above.
    pub copy_bytes: f64,
    /// See above.
    pub bytes: f64,
}

/// What a node's time goes to.
pub const PARTS: [&str; 7] =
    ["arrivals", "inputs", "world and border", "follow", "audience", "fan-out", "between nodes"];
const ARRIVALS: usize = 0;
const FAN_OUT: usize = 5;
const BETWEEN: usize = 6;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Nodes.
    pub nodes: usize,
    /// Users per node.
    pub users: usize,
    /// The edge of the square of space per node, in metres.
    pub side: f32,
    /// How many ticks a stretch has. Of several the quickest counts: what else a machine does only adds.
    pub ticks: u32,
    /// How many stretches.
    pub stretches: u32,
    /// At least so many nodes run in turn, as several clusters if need be: what is near in memory for one node alone must not
    /// be counted as a virtue of being alone.
    pub nodes_in_turn: usize,
}

/// How far users hear, in metres.
const FOCUS: f32 = 20.0;
/// Users who say hello in one tick, at each node.
const HELLOS_PER_TICK: usize = 50;
/// After everybody is in, so many ticks pass before time counts.
const WARM_UP_TICKS: u32 = 30;

/// Measures what a node costs.
pub fn measure(scale: &Scale, stopwatch: &mut dyn Stopwatch) -> Row {
    let Scale { nodes, users, ticks, stretches, nodes_in_turn, .. } = *scale;
    let mut swarms: Vec<Swarm> =
        (0..nodes_in_turn.div_ceil(nodes).max(1)).map(|number| Swarm::new(scale, number as u64)).collect();
    let mut now = Time::from_micros(0);
    let mut run = |ticks: u32, swarms: &mut Vec<Swarm>| {
        let mut spent = Spent::default();
        for _ in 0..ticks {
            now = now + TICK_US;
            swarms.iter_mut().for_each(|swarm| swarm.tick(now, stopwatch, &mut spent));
        }
        spent
    };
    run((users.div_ceil(HELLOS_PER_TICK)) as u32 + WARM_UP_TICKS, &mut swarms);
    let all = swarms.len() * nodes;
    let per = 1.0 / (f64::from(ticks) * all as f64);
    let spent = (0..stretches.max(1)).map(|_| run(ticks, &mut swarms));
    let spent = spent.min_by(|one, other| one.total_ms().total_cmp(&other.total_ms())).expect("there is one at least");
    let servers = || swarms.iter().flat_map(|swarm| &swarm.servers);
    let own = |server: &Server| server.cluster().map_or(0, |cluster| cluster.custody().own().count());
    Row {
        nodes,
        objects: servers().map(own).sum::<usize>() / all,
        users: servers().map(|server| server.users().filter(|user| user.3.is_some()).count()).sum::<usize>() / all,
        cpu_ms: spent.total_ms() * per,
        parts_ms: spent.parts_ms.map(|part| part * per),
        batches: spent.batches as f64 * per,
        batch_bytes: spent.batch_bytes as f64 * per,
        copy_bytes: spent.copy_bytes as f64 * per,
        bytes: spent.bytes as f64 * per,
    }
}

/// What some ticks took.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    parts_ms: [f64; PARTS.len()],
    batches: u64,
    batch_bytes: u64,
    copy_bytes: u64,
    bytes: u64,
}

impl Spent {
    fn total_ms(&self) -> f64 {
        self.parts_ms.iter().sum()
    }

    /// Time since the last reading goes to a part.
    fn lap(&mut self, part: usize, last: &mut std::time::Duration, stopwatch: &mut dyn Stopwatch) {
        let now = stopwatch.read().cpu;
        self.parts_ms[part] += now.saturating_sub(*last).as_secs_f64() * 1e3;
        *last = now;
    }
}

/// One cluster of nodes, each with as much space, and its users.
struct Swarm {
    servers: Vec<Server>,
    walkers: Vec<Walker>,
    posts: Vec<Post>,
    ticks: usize,
}

/// What users send to one server in a tick, in one buffer that is kept: what the harness does with memory must not be felt.
#[derive(Clone, Debug, Default)]
struct Post {
    bytes: Vec<u8>,
    ends: Vec<(LinkId, usize)>,
}

impl Post {
    fn push(&mut self, link: LinkId, message: &ToServer) {
        self.bytes.extend_from_slice(&message.encode());
        self.ends.push((link, self.bytes.len()));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn iter(&self) -> impl Iterator<Item = (LinkId, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        self.ends.iter().zip(starts).map(|(&(link, end), start)| (link, &self.bytes[start..end]))
    }
}

/// A user, as far as a server can tell.
struct Walker {
    server: usize,
    /// How often it has connected so far, and whether it is connected.
    stays: u64,
    link: Option<LinkId>,
    key: Option<ResumeKey>,
    says_hello_at: usize,
    is_in: bool,
    heard: u16,
    number: u32,
}

impl Swarm {
    fn new(scale: &Scale, number: u64) -> Swarm {
        let Scale { nodes, users, side, .. } = *scale;
        let whole = (side * (nodes as f32).sqrt()).max(60.0);
        let many = (nodes as u32 * 6).max(6);
        let plaza = Plaza { side: whole, obstacles: many, crates: many, balls: many / 3, seekers: 0, seed: 5 + number };
        let spec = plaza.spec();
        let all = World::new(spec.clone()).expect("a plaza is a world");
        let members: Vec<Member> =
            (1..=nodes as u64).map(|node| Member { node, address: address(node), is_witness: false }).collect();
        let plan = territory::even(members, all.grid());
        let territory = territory::Territory::of(&plan, all.grid());
        // Users come where their node decides: a world lets them in at its spawn places, in turn.
        let mut random = Random::new(9 + number);
        let half = 0.5 * whole - 2.0;
        let mut places: BTreeMap<NodeId, Vec<Vec3>> = BTreeMap::new();
        for _ in 0..users * nodes {
            let at = Vec3::new(random.between(-half, half), 0.0, random.between(-half, half));
            let owner = space::GridPoint::nearest(at).and_then(|at| territory.owner(at));
            places.entry(owner.unwrap_or(NodeId::new(1))).or_default().push(at);
        }
        let mut walkers = Vec::new();
        let limits = Limits {
            clients: 4 * users,
            links: 8 * users,
            join_queue: 4 * users,
            joins_per_tick: 2 * HELLOS_PER_TICK,
            ..Limits::default()
        };
        let mut server = |node: u64| {
            let me = NodeId::new(node);
            let mut spec = spec.clone();
            spec.spawns = places.remove(&me).unwrap_or_default();
            let walker = |number: usize| Walker {
                server: node as usize - 1,
                stays: 0,
                link: None,
                key: None,
                says_hello_at: number / HELLOS_PER_TICK,
                is_in: false,
                heard: 0,
                number: 0,
            };
            walkers.extend((0..spec.spawns.len()).map(walker));
            let mut world = World::new(spec).expect("a plaza is a world");
            let address = address(node);
            let settings =
                ClusterSettings { node: me, address, is_witness: false, copies: 2, reach: 1.1 * FOCUS, world: 7 };
            let now = Time::from_micros(0);
            let cluster = Cluster::founding(settings.clone(), &mut world, plan.clone(), now);
            let server = ServerSettings { limits, focus: FOCUS, ..ServerSettings::default() };
            Server::in_cluster(world, server, cluster, settings, now).expect("an aura of some metres is one")
        };
        Swarm {
            servers: (1..=nodes as u64).map(&mut server).collect(),
            walkers,
            posts: vec![Post::default(); nodes],
            ticks: 0,
        }
    }

    /// One tick of all nodes, and all that they say to each other until they wait for the next one.
    fn tick(&mut self, now: Time, stopwatch: &mut dyn Stopwatch, spent: &mut Spent) {
        self.connect(now);
        self.wish(now);
        let mut told: Vec<(LinkId, Vec<u8>)> = Vec::new();
        for (server, post) in self.servers.iter_mut().zip(&self.posts) {
            let mut last = stopwatch.read().cpu;
            for (link, bytes) in post.iter() {
                server.handle(now, Event::Arrived { link, channel: Channel::Datagram, bytes });
            }
            spent.lap(ARRIVALS, &mut last, stopwatch);
            server.tick(now, &mut |part| {
                let part = 1 + Part::ALL.iter().position(|(known, _)| *known == part).expect("it is one of all");
                spent.lap(part, &mut last, stopwatch);
            });
            while let Some(effect) = server.poll() {
                if let Effect::Send { link, channel: Channel::Stream, bytes } = effect {
                    told.push((link, bytes));
                }
            }
            spent.lap(FAN_OUT, &mut last, stopwatch);
        }
        let mut last = stopwatch.read().cpu;
        self.talk(now, spent);
        spent.lap(BETWEEN, &mut last, stopwatch);
        for (link, bytes) in told {
            self.walkers[(link.0 & 0xffff_ffff) as usize].hear(link, &bytes);
        }
        self.ticks += 1;
    }

    /// Whoever is not connected says hello: for the first time, or where it was sent.
    fn connect(&mut self, now: Time) {
        for (index, walker) in self.walkers.iter_mut().enumerate() {
            if walker.link.is_some() || self.ticks < walker.says_hello_at {
                continue;
            }
            walker.stays += 1;
            let link = LinkId(walker.stays << 32 | index as u64);
            walker.link = Some(link);
            let server = &mut self.servers[walker.server];
            let mut secret = [0; 16];
            secret[..8].copy_from_slice(&link.0.to_le_bytes());
            server.handle(now, Event::Opened { link, secret });
            let nickname = format!("user {index}");
            let hello = Hello { version: VERSION, nickname, resume: walker.key, ..Hello::default() };
            let bytes = ToServer::Hello(hello).encode();
            server.handle(now, Event::Arrived { link, channel: Channel::Stream, bytes: &bytes });
        }
    }

    /// Where users want to go: somewhere else every few seconds.
    fn wish(&mut self, now: Time) {
        self.posts.iter_mut().for_each(Post::clear);
        for (index, walker) in self.walkers.iter_mut().enumerate() {
            let Some(link) = walker.link.filter(|_| walker.is_in) else { continue };
            let index = index as u64;
            let turn = (now.micros() as u64 + index.wrapping_mul(700_001) % 4_000_000) / 4_000_000;
            let mut random = Random::new(index.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ turn.wrapping_mul(0x51_7cc1));
            let (heading, speed) = (random.between(0.0, std::f32::consts::TAU), random.between(1.0, 5.5));
            let part = |along: f32| (along * speed * VELOCITY_PARTS as f32) as i16;
            let velocity = [part(libm::cosf(heading)), 0, part(libm::sinf(heading))];
            walker.number += 1;
            let step = Step { velocity, heading: (heading * 40.0) as u8, is_jump: false };
            let tick = self.servers[walker.server].world().tick().number() as u32 + 1;
            let moves = Moves { heard: walker.heard, tick, newest: walker.number, steps: vec![step; 3] };
            self.posts[walker.server].push(link, &ToServer::Moves(moves));
        }
    }

    /// What nodes say to each other.
    fn talk(&mut self, now: Time, spent: &mut Spent) {
        let mut under_way: Vec<(NodeId, NodeId, Vec<u8>)> = Vec::new();
        for round in 0..4 {
            for (index, server) in self.servers.iter_mut().enumerate() {
                let from = NodeId::new(index as u64 + 1);
                while let Some((to, message)) = server.poll_node() {
                    let bytes = message.encode();
                    server.sent_to_node(&message, bytes.len());
                    let length = bytes.len() as u64;
                    match message {
                        ToNode::Batch(_) => {
                            (spent.batches, spent.batch_bytes) = (spent.batches + 1, spent.batch_bytes + length)
                        }
                        ToNode::Replicate(_) => spent.copy_bytes += length,
                        _ => {}
                    }
                    spent.bytes += length;
                    under_way.push((from, to, bytes));
                }
            }
            for (from, to, bytes) in under_way.drain(..) {
                let message = ToNode::decode(&bytes).expect("it was encoded");
                self.servers[to.number() as usize - 1].handle_node(now + 1_000 * round, from, &message);
            }
        }
    }
}

impl Walker {
    /// What it was told for certain. A link that is not its own any more has nothing to say.
    fn hear(&mut self, link: LinkId, bytes: &[u8]) {
        if self.link != Some(link) {
            return;
        }
        match ToClient::decode(bytes) {
            Ok(ToClient::Welcome(welcome)) => {
                (self.key, self.is_in, self.number) = (Some(welcome.resume_key), true, welcome.newest);
            }
            Ok(ToClient::Roster(roster)) => self.heard = roster.number,
            Ok(ToClient::Redirect { address }) => {
                self.server = address.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1) - 1;
                (self.link, self.is_in, self.heard) = (None, false, 0);
            }
            Ok(ToClient::Closed(refused)) => panic!("a walker was sent away: {refused:?}"),
            _ => {}
        }
    }
}

fn address(node: u64) -> String {
    format!("node {node}")
}

//! What a node costs as nodes are added: space and users per node are the same, and only their number grows.
//!
//! A node is a whole server, from the datagrams of its users to what each of them is told, with its part in the
//! cluster. Only what carries bytes from process to process is not in it. Users are walkers: they say hello, walk,
//! acknowledge what they are told and go where they are sent; what they do is not counted.
//!
//! All nodes run in turn in one process, and what each of them takes there is noted. But there they share a heap and
//! caches, as servers do not. So of some nodes everything that happens to them is kept on a [`Tape`], and done again
//! to a twin that has the process to itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use cluster::territory::{self, Territory};
use server::Server;
use server::limits::Limits;
use sim::nodes::TICK_US;
use space::workload::Random;
use space::{Grid, NodeId, Time, Vec3, snap};
use wire::cluster::Member;
use wire::session::ResumeKey;
use wire::state::VELOCITY_PARTS;
use wire::{Channel, Event, Hello, InputStep, LinkId, Moves, Participant, ToClient, ToServer, VERSION};
use world::{GridBox, Plaza, World};

use super::spent::{ARRIVALS, BETWEEN, Spent};
use super::tape::{self, Founding, Tape, TapeEvent};
use crate::stopwatch::Stopwatch;

/// What came of one number of nodes that ran in turn.
#[derive(Clone, Debug)]
pub struct ScaleRun {
    /// Nodes of a cluster.
    pub nodes: usize,
    /// Objects per node, and users of these.
    pub objects: usize,
    pub users: usize,
    /// What all of them took in all ticks that count, and how many ticks of a node that were.
    pub spent: Spent,
    pub node_ticks: f64,
    /// What happened to some nodes of the first cluster: of every length of border, a few.
    pub tapes: Vec<Tape>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterSize {
    pub nodes: usize,
    /// Users per node.
    pub users: usize,
    /// The edge of the square of space per node, in metres.
    pub side: f32,
    /// How many ticks count.
    pub ticks: u32,
    /// At least this many nodes run in turn, as several clusters if need be: what is near in memory for one node alone
    /// must not be counted as a virtue of being alone.
    pub nodes_in_turn: usize,
}

/// Users who say hello in one tick, at each node.
const HELLOS_PER_TICK: usize = 50;
/// After all users are in, this many ticks pass before time counts.
const WARM_UP_TICKS: u32 = 30;
/// This many nodes with borders of one length are kept on tape.
const TAPES: usize = 2;

/// Lets a cluster run, and as many others as are needed beside it.
pub fn run(scale: &ClusterSize, stopwatch: &mut dyn Stopwatch) -> ScaleRun {
    let ClusterSize { nodes, users, ticks, nodes_in_turn, .. } = *scale;
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
    swarms.iter_mut().flat_map(|swarm| swarm.tapes.values_mut()).for_each(Tape::start_timing);
    let spent = run(ticks, &mut swarms);
    let all = swarms.len() * nodes;
    let servers = || swarms.iter().flat_map(|swarm| &swarm.servers);
    let own = |server: &Server| server.cluster().map_or(0, |cluster| cluster.custody().own().count());
    let objects = servers().map(own).sum::<usize>() / all;
    let users = servers().map(|server| server.users().filter(|user| user.3.is_some()).count()).sum::<usize>() / all;
    let tapes = swarms.into_iter().flat_map(Swarm::into_tapes).collect();
    ScaleRun { nodes, objects, users, spent, node_ticks: f64::from(ticks) * all as f64, tapes }
}

/// One cluster of nodes, each with as much space, and its users.
struct Swarm {
    servers: Vec<Server>,
    walkers: Vec<Walker>,
    posts: Vec<Post>,
    /// By the server's place in the list.
    tapes: BTreeMap<usize, Tape>,
    ticks: usize,
}

/// What users send to one server in a tick, in one buffer that is kept: what the harness does with memory must
/// not be felt.
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
    /// The first of several is the one that tapes are kept of; of nodes that are alone, some of the first.
    fn new(scale: &ClusterSize, number: u64) -> Swarm {
        let ClusterSize { nodes, users, side, .. } = *scale;
        let whole = (side * (nodes as f32).sqrt()).max(60.0);
        let many = (nodes as u32 * 6).max(6);
        let plaza = Plaza { side: whole, obstacles: many, crates: many, balls: many / 3, seekers: 0, seed: 5 + number };
        let spec = plaza.spec();
        let all = World::new(spec.clone()).expect("a plaza is a world");
        let members: Vec<Member> =
            (1..=nodes as u64).map(|node| Member { node, address: address(node), is_witness: false }).collect();
        let plan = territory::even(members, all.grid());
        let territory = Territory::of(&plan, all.grid());
        // Users come where their node decides: a world lets them in at its spawn places, in turn.
        let mut random = Random::new(9 + number);
        let half = 0.5 * whole - 2.0;
        let mut places: BTreeMap<NodeId, Vec<Vec3>> = BTreeMap::new();
        let mut missing = users * nodes;
        while missing > 0 {
            let at = Vec3::new(random.between(-half, half), 0.0, random.between(-half, half));
            let owner = space::GridPoint::nearest(at).and_then(|at| territory.owner(at)).unwrap_or(NodeId::new(1));
            let places = places.entry(owner).or_default();
            if places.len() < users {
                places.push(at);
                missing -= 1;
            }
        }
        let limits = Limits {
            clients: 4 * users,
            links: 8 * users,
            join_queue: 4 * users,
            joins_per_tick: 2 * HELLOS_PER_TICK,
            ..Limits::default()
        };
        let founding = |node: u64| {
            let (node, address) = (NodeId::new(node), address(node));
            let mut spec = spec.clone();
            spec.spawns = places.get(&node).cloned().unwrap_or_default();
            Founding { node, address, spec: Arc::new(spec), plan: plan.clone(), limits }
        };
        let foundings: Vec<Founding> = (1..=nodes as u64).map(founding).collect();
        let walker = |number: usize| Walker {
            server: number / users,
            stays: 0,
            link: None,
            key: None,
            says_hello_at: number % users / HELLOS_PER_TICK,
            is_in: false,
            heard: 0,
            number: 0,
        };
        Swarm {
            servers: foundings.iter().map(Founding::server).collect(),
            walkers: (0..users * nodes).map(walker).collect(),
            posts: vec![Post::default(); nodes],
            tapes: if number == 0 || nodes == 1 && number < TAPES as u64 {
                tapes(&foundings, &territory, all.grid())
            } else {
                BTreeMap::new()
            },
            ticks: 0,
        }
    }

    /// What happened to those of whom it was kept.
    fn into_tapes(self) -> impl Iterator<Item = Tape> {
        let Swarm { servers, tapes, .. } = self;
        tapes.into_iter().map(move |(index, mut tape)| {
            tape.end(&servers[index]);
            tape
        })
    }

    /// One tick of all nodes, and all that they say to each other until they wait for the next one.
    fn tick(&mut self, now: Time, stopwatch: &mut dyn Stopwatch, spent: &mut Spent) {
        self.connect(now);
        self.wish(now);
        let mut told: Vec<(LinkId, Vec<u8>)> = Vec::new();
        for (index, (server, post)) in self.servers.iter_mut().zip(&self.posts).enumerate() {
            if let Some(tape) = self.tapes.get_mut(&index) {
                post.iter().for_each(|(link, bytes)| tape.note(now, TapeEvent::Sent(link), bytes));
                tape.note(now, TapeEvent::Ticked, &[]);
            }
            let mut last = stopwatch.read().cpu;
            for (link, bytes) in post.iter() {
                server.handle(now, Event::Arrived { from: link.into(), channel: Channel::Datagram, bytes });
            }
            spent.lap(ARRIVALS, &mut last, stopwatch);
            tape::tick(server, now, spent, &mut last, stopwatch);
        }
        let mut last = stopwatch.read().cpu;
        self.talk(now, spent, &mut told);
        spent.lap(BETWEEN, &mut last, stopwatch);
        for (link, bytes) in told {
            self.walkers[(link.0 & 0xffff_ffff) as usize].hear(link, &bytes);
        }
        self.ticks += 1;
    }

    /// A user that is not connected says hello: for the first time, or where it was sent.
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
            let mut tape = self.tapes.get_mut(&walker.server);
            if let Some(tape) = &mut tape {
                tape.note(now, TapeEvent::Opened(link, secret), &[]);
            }
            server.handle(now, Event::Opened { from: link.into(), secret });
            let nickname = format!("user {index}");
            let hello = Hello { version: VERSION, nickname, resume: walker.key, ..Hello::default() };
            let bytes = ToServer::Hello(hello).encode();
            if let Some(tape) = &mut tape {
                tape.note(now, TapeEvent::Greeted(link), &bytes);
            }
            server.handle(now, Event::Arrived { from: link.into(), channel: Channel::Stream, bytes: &bytes });
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
            let step = InputStep { velocity, heading: (heading * 40.0) as u8, is_jump: false };
            let tick = self.servers[walker.server].world().tick().number() as u32 + 1;
            let moves = Moves { heard: walker.heard, tick, newest: walker.number, steps: vec![step; 3] };
            self.posts[walker.server].push(link, &ToServer::Moves(moves));
        }
    }

    /// What nodes say to each other.
    fn talk(&mut self, now: Time, spent: &mut Spent, told: &mut Vec<(LinkId, Vec<u8>)>) {
        let mut under_way: Vec<(NodeId, NodeId, Vec<u8>)> = Vec::new();
        for round in 0..4 {
            let now = now + 1_000 * round;
            for (index, server) in self.servers.iter_mut().enumerate() {
                if let Some(tape) = self.tapes.get_mut(&index) {
                    tape.note(now, TapeEvent::Asked, &[]);
                }
                let from = NodeId::new(index as u64 + 1);
                let tell = |link, bytes| told.push((link, bytes));
                tape::ask(server, spent, tell, |to, bytes| under_way.push((from, to, bytes)));
            }
            for (from, to, bytes) in under_way.drain(..) {
                let index = to.number() as usize - 1;
                if let Some(tape) = self.tapes.get_mut(&index) {
                    tape.note(now, TapeEvent::Heard(from), &bytes);
                }
                tape::hear(&mut self.servers[index], now, from, &bytes);
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

/// An empty tape for some of the nodes with borders of each length, evenly from all of them, by their places
/// in the list.
fn tapes(foundings: &[Founding], territory: &Territory, grid: Grid) -> BTreeMap<usize, Tape> {
    let mut alike: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (index, founding) in foundings.iter().enumerate() {
        alike.entry(border_m(territory, founding.node, grid).round() as i32).or_default().push(index);
    }
    let mut tapes = BTreeMap::new();
    for (border_m, alike) in alike {
        let some = alike.len().min(TAPES);
        for number in 0..some {
            let index = alike[(2 * number + 1) * alike.len() / (2 * some)];
            let stands_for = alike.len() as f64 / some as f64;
            tapes.insert(index, Tape::new(foundings[index].clone(), border_m as f32, stands_for));
        }
    }
    tapes
}

/// How long the borders of a node with others are, in metres.
fn border_m(territory: &Territory, node: NodeId, grid: Grid) -> f32 {
    let ([low, high], all) = ([grid.low(), grid.high()], territory::everything(grid));
    let ground = GridBox { low: [low.x, low.y, low.z], high: [high.x, high.y, high.z] };
    let sides = |leaf: &GridBox| {
        let inside = leaf.within(&ground);
        let long = |axis: usize| i64::from(inside.high[axis] - inside.low[axis]);
        let open =
            |axis: usize| i64::from(leaf.low[axis] > all.low[axis]) + i64::from(leaf.high[axis] < all.high[axis]);
        open(0) * long(2) + open(2) * long(0)
    };
    territory.of_node(node).map(sides).sum::<i64>() as f32 / snap::STEPS_PER_METRE as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;

    fn small(stopwatch: &mut dyn Stopwatch) -> ScaleRun {
        run(&ClusterSize { nodes: 4, users: 30, side: 60.0, ticks: 12, nodes_in_turn: 4 }, stopwatch)
    }

    #[test]
    fn twins_do_what_nodes_did() {
        let mut stopwatch = SteadyStopwatch::new(1);
        let run = small(&mut stopwatch);
        // A user on the way from one node to another is connected to neither.
        assert!((28..=30).contains(&run.users), "{}", run.users);
        assert_eq!(run.tapes.iter().map(|tape| tape.stands_for).sum::<f64>(), 4.0);
        for tape in &run.tapes {
            assert_eq!(tape.border_m, 120.0, "each of four has two borders");
            // It looks by itself whether the twin's world came out the same.
            let ticks = tape.replay(&mut stopwatch);
            assert_eq!(ticks.len(), 12);
            assert!(Spent::sum(&ticks).bytes > 0, "it has neighbours, and tells them of its users");
        }
    }

    #[test]
    #[should_panic(expected = "a twin that is told the same does the same")]
    fn a_twin_that_was_told_less_is_noticed() {
        let mut stopwatch = SteadyStopwatch::new(1);
        let mut run = small(&mut stopwatch);
        run.tapes[0].lose_the_end();
        run.tapes[0].replay(&mut stopwatch);
    }
}

//! Many servers that are one world, on a network from a seed, in a time of their own.
//!
//! The nodes are those that serve users, to the line; their worlds are real. Messages are lost, delayed, doubled and
//! overtaken, the network parts and heals, connections break with all that is on its way, nodes freeze, wake, die at any
//! message and come back as new ones, clocks run differently. A watcher sees all of them at once.
//!
//! - [`explore`]: one object, three nodes, every interleaving.
//! - [`fault`]: what must be found.
//! - [`scale`]: what a node costs as nodes are added; [`tape`]: what one of them costs by itself.

pub mod explore;
pub mod fault;
mod line;
pub mod scale;
pub mod spent;
pub mod tape;
mod watcher;

pub use fault::Fault;
pub use watcher::Measured;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use cluster::{Cluster, ClusterSettings, Status, territory};
use interest::Aura;
use space::workload::Random;
use space::{NodeId, Tick, Time, Vec3};
use wire::ToNode;
use wire::cluster::Member;
use world::spec::Spec;
use world::{Act, Input, Kind, Plaza, World};

use self::line::Line;
use self::watcher::Watcher;
use crate::network::LinkSettings;
use crate::planned::Calendar;
use crate::setting::{self, OutOfRange};

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The same seed gives the same run.
    pub seed: u64,
    /// Nodes with objects.
    pub nodes: usize,
    /// Whether a node without objects takes part in votes.
    pub witness: bool,
    /// Users who walk about.
    pub users: usize,
    /// Things that lie about.
    pub crates: u32,
    /// How long, in seconds.
    pub seconds: u32,
    /// The world's edge, in metres.
    pub side: f32,
    /// How far a user hears, in metres.
    pub reach: f32,
    /// The share of datagrams that are lost; as many are doubled.
    pub loss: f64,
    /// One way between nodes, in milliseconds; as much jitter comes on top.
    pub latency_ms: f64,
    /// Whether nodes die, freeze and are cut off.
    pub upsets: bool,
    /// Whether connections break over which nothing arrives for long: with them goes what was on its way.
    pub breaks: bool,
    /// Whether one node is killed half-way.
    pub kill: bool,
    /// Whether every third user fetches something and carries it about.
    pub carriers: bool,
    /// Whether one more node joins after a third of the time.
    pub joins: bool,
    /// A mistake to make: its promise must be found broken.
    pub fault: Option<Fault>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seed: 1,
            nodes: 3,
            witness: false,
            users: 30,
            crates: 12,
            seconds: 24,
            side: 60.0,
            reach: 12.0,
            loss: 0.02,
            latency_ms: 3.0,
            upsets: true,
            breaks: false,
            kill: false,
            carriers: false,
            joins: false,
            fault: None,
        }
    }
}

impl Settings {
    /// What a seed stands for in tests: 2 to 8 nodes, good and bad networks.
    pub fn from_seed(seed: u64) -> Settings {
        let mut random = Random::new(seed ^ 0xc1c5_7e55);
        let nodes = random.whole(2, 9) as usize;
        Settings {
            seed,
            nodes,
            witness: nodes == 2 || random.unit() < 0.2,
            users: 10 + 3 * nodes,
            crates: 8,
            seconds: 20,
            loss: [0.0, 0.02, 0.15][random.whole(0, 3) as usize],
            latency_ms: [0.5, 3.0, 20.0][random.whole(0, 3) as usize],
            carriers: random.unit() < 0.5,
            breaks: random.unit() < 0.5,
            ..Settings::default()
        }
    }

    fn check(&self) -> Result<(), OutOfRange> {
        setting::check([
            ("nodes", self.nodes as f64, 1.0..=64.0, "1 to 64"),
            ("users", self.users as f64, 0.0..=20_000.0, "0 to 20000"),
            ("seconds", f64::from(self.seconds), 1.0..=86_400.0, "1 to 86400"),
            ("loss", self.loss, 0.0..=0.5, "a fraction of 0 to 0.5"),
            ("latency", self.latency_ms, 0.0..=200.0, "0 to 200 ms"),
        ])
    }
}

/// A tick by a node's own clock, in microseconds.
pub const TICK_US: i64 = 33_333;
/// Nothing is upset before this, nor within so long before the end, in microseconds. An outage may last longer than that: a
/// run ends when all had time to find together again.
const BEGIN_US: i64 = 4_000_000;
const END_US: i64 = 7_000_000;
/// And so long after its time at the latest, in microseconds.
const LONGER_US_MAX: i64 = 60_000_000;

/// Runs a simulation. `progress` is told how many seconds are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Measured, OutOfRange> {
    settings.check()?;
    let mut simulation = Simulation::new(settings.clone());
    let end = Time::from_micros(i64::from(settings.seconds) * 1_000_000);
    let mut second = 0;
    while let Some((at, what)) = simulation.calendar.next() {
        let due = simulation.watcher.due().unwrap_or(end).min(end + LONGER_US_MAX);
        if at > end.max(due) {
            break;
        }
        simulation.now = at;
        if at.micros() / 1_000_000 >= second {
            progress(second as u32, settings.seconds);
            second += 1;
        }
        simulation.advance(what);
    }
    Ok(simulation.finish())
}

/// One node, and what it runs on.
struct Host {
    node: NodeId,
    is_witness: bool,
    /// `None` while it is dead.
    running: Option<(Cluster, World)>,
    /// Its clock shows this at the true time zero, and runs so many times as fast.
    clock_us: i64,
    rate: f64,
    frozen_until: Time,
    /// It dies when it has handled so many more messages.
    dies_after: Option<u32>,
    /// Since when it runs.
    since: Time,
}

impl Host {
    fn here(&self, now: Time) -> Time {
        Time::from_micros(self.clock_us + (now.micros() as f64 * self.rate) as i64)
    }
}

#[derive(Clone, Debug)]
enum What {
    Tick(usize, NodeId),
    /// At a host, for whoever ran there when it was sent.
    Arrive {
        from: NodeId,
        to: (usize, NodeId),
        bytes: Rc<Vec<u8>>,
        /// The connection that it is on its way over, if it depends on one.
        over: Option<(usize, u32)>,
    },
    /// Everybody gives up the connections with a host, until then.
    Break(usize, Time),
    /// Two hosts reach each other again.
    Connect(usize, usize),
    Start(usize),
    Second,
    /// The watcher looks.
    Look,
}

struct Simulation {
    settings: Settings,
    spec: Arc<Spec>,
    random: Random,
    now: Time,
    calendar: Calendar<What>,
    hosts: Vec<Host>,
    lines: BTreeMap<(usize, usize), Line>,
    next_node: u64,
    watcher: Watcher,
}

impl Simulation {
    fn new(settings: Settings) -> Simulation {
        // Of few seeds nothing can be made where nothing overlaps: those take the next.
        let plaza = |seed: u64| Plaza {
            side: settings.side,
            obstacles: 8,
            crates: settings.crates,
            balls: settings.crates / 4,
            seekers: 0,
            seed,
        };
        let specs = (0..64).map(|next| Arc::new(plaza(settings.seed + (next << 32)).spec()));
        let is_world = |spec: &Arc<Spec>| World::new(Arc::clone(spec)).is_ok();
        let spec = specs.into_iter().find(is_world).expect("one of so many plazas is a world");
        let mut random = Random::new(settings.seed.wrapping_mul(0x9e37_79b9) ^ 0x0c10_57e4);
        let total = settings.nodes + usize::from(settings.witness) + usize::from(settings.joins);
        let hosts: Vec<Host> = (0..total)
            .map(|index| Host {
                node: NodeId::new(index as u64 + 1),
                is_witness: settings.witness && index == settings.nodes,
                running: None,
                clock_us: i64::from(random.whole(0, 1 << 30)),
                rate: 1.0 + f64::from(random.between(-0.02, 0.02)),
                frozen_until: Time::from_micros(0),
                dies_after: None,
                since: Time::from_micros(0),
            })
            .collect();
        let latency = (settings.latency_ms * 1_000.0) as i64;
        let link = LinkSettings {
            latency_us_min: latency,
            latency_us_max: 2 * latency,
            loss: settings.loss,
            duplicates: settings.loss,
            keeps_order: false,
            reordered: settings.loss,
        };
        let mut lines = BTreeMap::new();
        for from in 0..total {
            for to in 0..total {
                let seed = settings.seed.wrapping_mul(31).wrapping_add((from * 64 + to) as u64);
                lines.insert((from, to), Line::new(link, seed));
            }
        }
        let watcher = Watcher::new(&settings);
        let mut simulation = Simulation {
            next_node: total as u64 + 1,
            spec,
            random,
            now: Time::from_micros(0),
            calendar: Calendar::new(),
            hosts,
            lines,
            watcher,
            settings,
        };
        simulation.found();
        simulation.calendar.plan(Time::from_micros(1_000_000), What::Second);
        simulation.calendar.plan(Time::from_micros(20_000), What::Look);
        simulation
    }

    fn cluster_settings(&self, index: usize) -> ClusterSettings {
        ClusterSettings {
            node: self.hosts[index].node,
            address: format!("host {}", index + 1),
            is_witness: self.hosts[index].is_witness,
            copies: 2,
            reach: self.settings.reach * Aura::HYSTERESIS,
            world: 7,
        }
    }

    /// All start at once, with a plan; users are where they are.
    fn found(&mut self) {
        let mut all = World::new(Arc::clone(&self.spec)).expect("a plaza is a world");
        let half = 0.5 * self.settings.side - 3.0;
        for user in 0..self.settings.users {
            let at = Vec3::new(self.random.between(-half, half), 0.0, self.random.between(-half, half));
            let sender = NodeId::new(1_000 + user as u64);
            let act = Act::Join { name: format!("user {user}").into(), avatar: (user % 2) as u16, at: Some(at) };
            all.step(&[Input { sender, sequence: 1, made_for: Tick::new(1), act }]);
        }
        let parcels: Vec<Vec<u8>> = all.dynamic().filter_map(|object| all.parcel(object.id)).collect();
        self.watcher.expect(all.dynamic().map(|object| object.id));
        let founders = self.hosts.len() - usize::from(self.settings.joins);
        let members = (0..founders).map(|index| {
            let host = &self.hosts[index];
            let address = format!("host {}", index + 1);
            Member { node: host.node.number(), address, is_witness: host.is_witness }
        });
        let plan = territory::even(members.collect(), all.grid());
        for index in 0..founders {
            let mut world = World::empty(Arc::clone(&self.spec)).expect("a plaza is a world");
            world.catch_up(all.tick());
            for parcel in &parcels {
                world.put_in(parcel, world::Placing::Exact).expect("it was so in the whole world");
            }
            let here = self.hosts[index].here(self.now);
            let cluster = Cluster::founding(self.cluster_settings(index), &mut world, plan.clone(), here);
            self.begin(index, cluster, world);
        }
        if self.settings.joins {
            let third = Time::from_micros(i64::from(self.settings.seconds) * 1_000_000 / 3);
            self.calendar.plan(third, What::Start(founders));
            self.watcher.heals(third);
        }
    }

    fn begin(&mut self, index: usize, mut cluster: Cluster, world: World) {
        for other in 0..self.hosts.len() {
            if other != index {
                let there = self.hosts[other].node;
                cluster.connected(there);
                let here = self.hosts[index].node;
                if let Some((cluster, _)) = &mut self.hosts[other].running {
                    cluster.connected(here);
                }
            }
        }
        self.hosts[index].running = Some((cluster, world));
        self.hosts[index].since = self.now;
        let after = i64::from(self.random.whole(0, TICK_US as u32));
        self.calendar.plan(self.now + after, What::Tick(index, self.hosts[index].node));
    }

    /// A node starts anew, under a number that nobody had before.
    fn start(&mut self, index: usize) {
        if self.hosts[index].running.is_some() {
            return;
        }
        self.hosts[index].node = NodeId::new(self.next_node);
        self.next_node += 1;
        let mut world = World::empty(Arc::clone(&self.spec)).expect("a plaza is a world");
        let here = self.hosts[index].here(self.now);
        let cluster = Cluster::joining(self.cluster_settings(index), &mut world, here);
        self.begin(index, cluster, world);
    }

    fn kill(&mut self, index: usize) {
        if let Some((cluster, _)) = self.hosts[index].running.take() {
            self.watcher.killed(self.now, &cluster);
        }
        self.hosts[index].dies_after = None;
        for other in 0..self.hosts.len() {
            let node = self.hosts[index].node;
            if let Some((cluster, _)) = &mut self.hosts[other].running {
                cluster.disconnected(node);
            }
        }
    }

    fn advance(&mut self, what: What) {
        match what {
            What::Tick(index, node) => self.tick(index, node),
            What::Arrive { from, to, bytes, over } => {
                let stands = |(by, connection): (usize, u32)| self.lines[&(by, to.0)].stands(Some(connection));
                if over.is_none_or(stands) {
                    self.arrive(from, to, &bytes);
                }
            }
            What::Break(index, until) => {
                for (_, line) in self.lines.iter_mut().filter(|((from, to), _)| (*from == index) != (*to == index)) {
                    line.break_until(until);
                }
                (0..self.hosts.len()).filter(|&other| other != index).for_each(|other| self.part(index, other, until));
            }
            What::Connect(one, other) => self.connect(one, other),
            What::Start(index) => self.start(index),
            What::Second => {
                self.upset();
                self.calendar.plan(self.now + 1_000_000, What::Second);
            }
            What::Look => {
                let is_cut = self.lines.values().any(|line| line.cut_until() > self.now);
                self.watcher.look(self.now, &self.hosts, is_cut);
                self.calendar.plan(self.now + TICK_US, What::Look);
            }
        }
    }

    fn tick(&mut self, index: usize, node: NodeId) {
        let host = &mut self.hosts[index];
        if host.node != node || host.running.is_none() {
            return;
        }
        if self.now < host.frozen_until {
            let at = host.frozen_until;
            self.calendar.plan(at, What::Tick(index, node));
            return;
        }
        let here = host.here(self.now);
        let (cluster, world) = host.running.as_mut().expect("it was just looked at");
        let inputs = wishes(cluster, world, self.now, &self.settings);
        cluster.tick(here, world, &inputs);
        let is_left_out = cluster.status() == Status::LeftOut;
        let next = (TICK_US as f64 / host.rate) as i64;
        self.watcher.ticked(self.now, index, &self.hosts);
        self.carry(index);
        if is_left_out {
            self.hosts[index].running = None;
            self.calendar.plan(self.now + 300_000, What::Start(index));
            return;
        }
        self.calendar.plan(self.now + next, What::Tick(index, node));
    }

    fn arrive(&mut self, from: NodeId, (to, node): (usize, NodeId), bytes: &Rc<Vec<u8>>) {
        let host = &mut self.hosts[to];
        if host.running.is_none() || host.node != node {
            return;
        }
        if self.now < host.frozen_until {
            // It lies in a queue until the node wakes.
            let at = host.frozen_until;
            let bytes = Rc::clone(bytes);
            self.calendar.plan(at, What::Arrive { from, to: (to, node), bytes, over: None });
            return;
        }
        if let Some(left) = &mut host.dies_after {
            if *left == 0 {
                self.kill(to);
                let after = 500_000 + i64::from(self.random.whole(0, 3_000_000));
                self.calendar.plan(self.now + after, What::Start(to));
                self.watcher.heals(self.now + after);
                return;
            }
            *left -= 1;
        }
        let here = host.here(self.now);
        let (cluster, world) = host.running.as_mut().expect("it was just looked at");
        match ToNode::decode(bytes) {
            Ok(message) => {
                cluster.handle(here, from, &message, world);
                self.watcher.arrived(self.now, from, to, &message);
            }
            Err(error) => self.watcher.garbled(&error.to_string()),
        }
        self.carry(to);
    }

    /// What a node says goes on its way.
    fn carry(&mut self, index: usize) {
        let mut out = Vec::new();
        let from = self.hosts[index].node;
        if let Some((cluster, _)) = &mut self.hosts[index].running {
            while let Some((to, message)) = cluster.poll() {
                let bytes = message.encode();
                cluster.count(&message, bytes.len());
                out.push((to, message, bytes));
            }
        }
        for (node, message, bytes) in out {
            let Some(to) = self.hosts.iter().position(|host| host.node == node) else { continue };
            self.watcher.sent(self.now, index, to, &message, bytes.len(), &self.hosts);
            let mut back = None;
            let message = fault::in_flight(self.settings.fault, to, message, &mut back);
            if let Some(answer) = back {
                let bytes = Rc::new(answer.encode());
                let over = None;
                self.calendar.plan(self.now + 1_000, What::Arrive { from: node, to: (index, from), bytes, over });
            }
            let Some(message) = message else { continue };
            let bytes = if self.settings.fault.is_some() { message.encode() } else { bytes };
            let line = self.lines.get_mut(&(index, to)).expect("all pairs have lines");
            let arrivals = line.send(self.now, message.is_datagram());
            let over = arrivals.connection.map(|connection| (index, connection));
            let bytes = Rc::new(bytes);
            for at in arrivals.at.into_iter().flatten() {
                self.calendar.plan(at, What::Arrive { from, to: (to, node), bytes: Rc::clone(&bytes), over });
            }
        }
    }

    /// Every second: what goes wrong? Only when all is well: two deaths at once are within the promise, three are not.
    fn upset(&mut self) {
        let end = i64::from(self.settings.seconds) * 1_000_000 - END_US;
        let second = self.now.micros() / 1_000_000;
        if self.settings.kill && second == i64::from(self.settings.seconds) / 2 {
            let victim = self.random.whole(0, self.settings.nodes as u32) as usize;
            self.kill(victim);
            self.calendar.plan(self.now + 4_000_000, What::Start(victim));
            self.watcher.heals(self.now + 4_000_000);
        }
        if !self.settings.upsets || self.now.micros() < BEGIN_US || self.now.micros() > end || !self.is_well() {
            return;
        }
        let total = self.hosts.len();
        let victim = self.random.whole(0, total as u32) as usize;
        let may_die = total >= 3;
        let until = match self.random.whole(0, 5) {
            0 if may_die => {
                self.hosts[victim].dies_after = Some(self.random.whole(0, 60));
                Time::from_micros(i64::MAX)
            }
            1 if may_die => {
                self.kill(victim);
                let back = self.now + 200_000 + i64::from(self.random.whole(0, 4_000_000));
                self.calendar.plan(back, What::Start(victim));
                back
            }
            2 => {
                let until = self.now + i64::from(self.random.whole(100_000, 3_500_000));
                self.hosts[victim].frozen_until = until;
                let given_up = self.now + line::PATIENCE_US;
                if self.settings.breaks && given_up < until {
                    self.calendar.plan(given_up, What::Break(victim, until));
                }
                until
            }
            3 => {
                // Two are cut off from the others, if those still are a majority.
                let second = if total >= 5 { (victim + 1) % total } else { victim };
                let until = self.now + i64::from(self.random.whole(200_000, 4_000_000));
                self.cut(&[victim, second], until);
                until
            }
            _ => {
                let other = (victim + 1 + self.random.whole(0, total as u32 - 1) as usize) % total;
                let until = self.now + i64::from(self.random.whole(200_000, 2_000_000));
                self.cut_line(victim, other, until);
                until
            }
        };
        self.watcher.upset(until);
    }

    /// Cuts some off from all others.
    fn cut(&mut self, side: &[usize], until: Time) {
        for one in 0..self.hosts.len() {
            for other in one + 1..self.hosts.len() {
                if side.contains(&one) != side.contains(&other) {
                    self.cut_line(one, other, until);
                }
            }
        }
    }

    /// Nothing gets from one to the other, nor back.
    fn cut_line(&mut self, one: usize, other: usize, until: Time) {
        for pair in [(one, other), (other, one)] {
            let line = self.lines.get_mut(&pair).expect("all pairs have lines");
            line.cut(self.now, until, self.settings.breaks);
        }
        if self.settings.breaks && until - self.now > line::PATIENCE_US {
            self.part(one, other, until);
        }
    }

    /// Two hosts notice that they do not reach each other any more, and later that they do.
    fn part(&mut self, one: usize, other: usize, until: Time) {
        for (here, there) in [(one, other), (other, one)] {
            let node = self.hosts[there].node;
            if let Some((cluster, _)) = &mut self.hosts[here].running {
                cluster.disconnected(node);
            }
        }
        self.calendar.plan(until, What::Connect(one, other));
    }

    fn connect(&mut self, one: usize, other: usize) {
        for (here, there) in [(one, other), (other, one)] {
            let node = self.hosts[there].running.as_ref().map(|_| self.hosts[there].node);
            if let (Some(node), Some((cluster, _))) = (node, &mut self.hosts[here].running) {
                cluster.connected(node);
            }
        }
    }

    /// Whether everybody is there, and settled, and has copies.
    fn is_well(&self) -> bool {
        self.lines.values().all(|line| line.cut_until() <= self.now)
            && self.hosts.iter().all(|host| {
                host.dies_after.is_none()
                    && self.now >= host.frozen_until
                    && host.running.as_ref().is_some_and(|(cluster, _)| {
                        cluster.is_settled()
                            && (host.is_witness || cluster.may_act(host.here(self.now)))
                            && cluster.custody().adopting().is_empty()
                            && cluster.plan().members.len() == self.hosts.len()
                            && cluster.has_copies()
                    })
            })
    }

    fn finish(mut self) -> Measured {
        self.watcher.look(self.now, &self.hosts, false);
        self.watcher.finish(self.now, &self.hosts)
    }
}

/// Where users want to go: somewhere else every few seconds, whoever their node is. Carriers first fetch what lies nearest.
fn wishes(cluster: &Cluster, world: &World, now: Time, settings: &Settings) -> Vec<Input> {
    let seed = settings.seed;
    let things: Vec<_> = world.dynamic().filter(|object| object.kind == Kind::Movable).collect();
    let mut inputs = Vec::new();
    for object in world.dynamic() {
        let Some(sender) = object.owner.filter(|_| cluster.custody().owns(object.id)) else { continue };
        let phase = sender.number().wrapping_mul(700_001) % 4_000_000;
        let turn = (now.micros() as u64 + phase) / 4_000_000;
        let mut random =
            Random::new(seed ^ sender.number().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ turn.wrapping_mul(0x51_7cc1));
        let (low, high) = (world.spec().low, world.spec().high);
        let mut goal = Vec3::new(random.between(low.x, high.x), 0.0, random.between(low.z, high.z)) * 0.9;
        let mut act = None;
        if settings.carriers && sender.number().is_multiple_of(3) && object.holds.is_none() {
            let away = |thing: &world::ObjectView<'_>| (thing.position() - object.position()).length();
            let free = things.iter().filter(|thing| thing.held_by.is_none() && cluster.custody().owns(thing.id));
            if let Some(thing) = free.min_by(|one, other| away(one).total_cmp(&away(other))) {
                goal = thing.position();
                act = (away(thing) < 2.5).then_some(Act::Grab { object: thing.id });
            }
        }
        let way = (goal - object.position()).with_y(0.0);
        let velocity = if way.length() < 0.5 { Vec3::ZERO } else { way.normalize() * random.between(1.0, 5.5) };
        let sequence = world.last_sequence(sender).unwrap_or(0) + 1;
        inputs.push(Input { sender, sequence, made_for: world.tick(), act: Act::Move { velocity } });
        let made_for = world.tick();
        inputs.extend(act.map(|act| Input { sender, sequence: sequence + 1, made_for, act }));
    }
    inputs
}

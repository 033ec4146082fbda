//! Nodes of a cluster on a bad network: many servers that are one world.
//!
//! Messages are lost, delayed, doubled and overtaken, the network is partitioned and heals, connections break
//! with all that is on its way, nodes freeze, wake, die at any message and come back as new ones, and their
//! clocks run differently.

pub mod explore;
mod node;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cluster::handover::Leaving;
use cluster::{Cluster, ClusterSettings, territory};
use interest::Aura;
use space::workload::Random;
use space::{GridPoint, NodeId, ObjectId, Tick, Time, Vec3};
use wire::cluster::Member;
use wire::{Endpoint, Event};
use world::spec::Spec;
use world::{Act, Input, Kind, Placing, Plaza, World};

pub use self::node::{ClusterNode, TICK_US};
use self::traffic::Traffic;
use crate::link::{GIVEN_UP_US, LinkSettings};
use crate::promises::{
    AllHeard, Apart, Carried, Carrier, Earshot, Fair, Observed, OneOwner, Outage, Owning, Promises, Reunited,
    SeenSolid, Survives, Treated, Watcher, distance,
};
use crate::settings::{self, OutOfRange};
use crate::simulator::{Actor, Happened, Machine, Meddler, Simulator};

/// The promises that a cluster makes.
pub const PROMISES: [&str; 7] =
    [Apart::NAME, OneOwner::NAME, Survives::NAME, AllHeard::NAME, Carried::NAME, Reunited::NAME, Fair::NAME];

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The same seed gives the same run.
    pub seed: u64,
    /// Nodes with objects.
    pub nodes: usize,
    /// Whether a node without objects takes part in votes.
    pub witness: bool,
    /// Users that walk about.
    pub users: usize,
    /// Things that lie about.
    pub crates: u32,
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
    /// Whether the traffic between nodes is measured, which takes time.
    pub measures: bool,
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
            measures: false,
        }
    }
}

impl Settings {
    /// What a seed stands for: 2 to 8 nodes on good and bad networks. `lab cluster --seeds` runs these.
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
        settings::check([
            ("nodes", self.nodes as f64, 1.0..=64.0, "1 to 64"),
            ("users", self.users as f64, 0.0..=20_000.0, "0 to 20000"),
            ("seconds", f64::from(self.seconds), 1.0..=86_400.0, "1 to 86400"),
            ("loss", self.loss, 0.0..=0.5, "a fraction of 0 to 0.5"),
            ("latency", self.latency_ms, 0.0..=200.0, "0 to 200 ms"),
        ])
    }

    fn link(&self) -> LinkSettings {
        let latency_us = (self.latency_ms * 1_000.0) as i64;
        LinkSettings {
            latency_us_min: latency_us,
            latency_us_max: 2 * latency_us,
            loss: self.loss,
            duplicates: self.loss,
            keeps_order: false,
            reordered: self.loss,
        }
    }

    fn end(&self) -> Time {
        Time::from_micros(i64::from(self.seconds) * 1_000_000)
    }
}

/// Nothing is upset before this, nor within `END_US` before the end. An outage may last longer than that: a run ends
/// when all had time to find together again, `LONGER_US_MAX` after its time at the latest.
const BEGIN_US: i64 = 4_000_000;
const END_US: i64 = 7_000_000;
const LONGER_US_MAX: i64 = 60_000_000;
/// Areas of interest are complete this long after everything is well again.
const HEALED_US: i64 = 5_000_000;
/// An object that has been near for this long is heard of.
const NEAR_US: i64 = 1_500_000;
/// A guest may be this far behind, in metres.
const ASTRAY: f64 = 2.5;
/// Areas of interest are looked at every this many looks.
const HEARING_LOOKS: u64 = 5;

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub promises: Promises,
    /// Objects that changed hands.
    pub handovers: u64,
    /// Objects that were adopted from copies.
    pub adopted: u64,
    /// Times that something went wrong on purpose.
    pub upsets: u64,
    /// Objects that no node had in the end, and that several had.
    pub lost: u64,
    pub doubled: u64,
    /// Batches between nodes, and those that were needed; their bytes likewise.
    pub batches: (u64, u64),
    pub bytes: (u64, u64),
    pub copy_bytes: u64,
    /// From a move to the tick at the other node that tells of it, in milliseconds, sorted.
    pub move_ms: Vec<f64>,
    /// From a node's death until each of its objects may be moved again, in seconds, sorted.
    pub resume_s: Vec<f64>,
    /// Ticks that objects stood at a border for want of a room.
    pub waited_ticks: u64,
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Start(usize),
    /// All others give up their connections with a machine.
    Break(usize, Time),
    /// Two machines reach each other again.
    Connect(usize, usize),
    Second,
    Look,
}

struct Run {
    settings: Settings,
    spec: Arc<Spec>,
    sim: Simulator<What>,
    watcher: Watcher,
    next_node: u64,
    expected: BTreeSet<ObjectId>,
    healed_at: Time,
    upsets: u64,
    /// Until when the last outage lasts, while not all have found together since.
    outage: Option<Time>,
    /// At which node each object is, and since when.
    at_node: BTreeMap<ObjectId, (NodeId, Time)>,
    /// The highest number of ownership under which each object was moved.
    newest: BTreeMap<ObjectId, u32>,
    /// Objects whose node died, and when.
    orphans: BTreeMap<ObjectId, Time>,
    resume_s: Vec<f64>,
    looks: u64,
    traffic: Traffic,
    /// Hand-overs, adoptions and ticks waited of nodes that are gone.
    past: (u64, u64, u64),
}

/// Runs a simulation. `progress` is told how many seconds are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Report, OutOfRange> {
    run_with(settings, None, progress)
}

/// The same with a meddler, by which tests show that a promise can fail.
pub fn run_with(
    settings: &Settings,
    meddler: Option<Meddler>,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, OutOfRange> {
    settings.check()?;
    let mut run = Run::new(settings.clone());
    run.sim.meddler = meddler;
    run.found();
    while let Some(turn) = run.sim.next(run.end()) {
        if matches!(turn, Happened::Planned(What::Second)) {
            progress((run.sim.now.micros() / 1_000_000) as u32, settings.seconds);
        }
        run.take(turn);
    }
    Ok(run.report())
}

impl Run {
    fn new(settings: Settings) -> Run {
        // Of few seeds no plaza can be made in which nothing overlaps: those take the next.
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
        let spec = specs.into_iter().find(is_world).expect("one of 64 plazas is a world");
        let mut sim = Simulator::new(settings.link(), settings.seed);
        sim.breaks = settings.breaks;
        let total = settings.nodes + usize::from(settings.witness) + usize::from(settings.joins);
        for index in 0..total {
            let clock_us = i64::from(sim.random.whole(0, 1 << 30));
            let rate = 1.0 + f64::from(sim.random.between(-0.02, 0.02));
            sim.add(Machine {
                node: Some(NodeId::new(index as u64 + 1)),
                clock_us,
                rate,
                ..Machine::new(format!("host {}", index + 1), None)
            });
        }
        sim.plan(1_000_000, What::Second);
        sim.plan(20_000, What::Look);
        Run {
            spec,
            sim,
            watcher: Watcher::new(&PROMISES),
            next_node: total as u64 + 1,
            expected: BTreeSet::new(),
            healed_at: Time::from_micros(0),
            upsets: 0,
            outage: Some(Time::from_micros(0)),
            at_node: BTreeMap::new(),
            newest: BTreeMap::new(),
            orphans: BTreeMap::new(),
            resume_s: Vec::new(),
            looks: 0,
            traffic: Traffic::default(),
            past: (0, 0, 0),
            settings,
        }
    }

    /// A run ends when all had time to find together again.
    fn end(&self) -> Time {
        let end = self.settings.end();
        let latest = end + LONGER_US_MAX;
        self.outage.map_or(end, |until| until.min(latest) + Reunited::WITHIN_US).clamp(end, latest)
    }

    fn cluster_settings(&self, index: usize) -> ClusterSettings {
        ClusterSettings {
            node: self.sim.machines[index].node.expect("every machine here is a node"),
            address: self.sim.machines[index].name.clone(),
            is_witness: self.is_witness(index),
            copies: 2,
            reach: self.settings.reach * Aura::HYSTERESIS,
            world: 7,
        }
    }

    fn is_witness(&self, index: usize) -> bool {
        self.settings.witness && index == self.settings.nodes
    }

    /// All start at once, with a plan; users are where they are.
    fn found(&mut self) {
        let mut all = World::new(Arc::clone(&self.spec)).expect("a plaza is a world");
        let half = 0.5 * self.settings.side - 3.0;
        for user in 0..self.settings.users {
            let random = &mut self.sim.random;
            let at = Vec3::new(random.between(-half, half), 0.0, random.between(-half, half));
            let sender = NodeId::new(1_000 + user as u64);
            let act = Act::Join { name: format!("user {user}").into(), avatar: (user % 2) as u16, at: Some(at) };
            all.step(&[Input { sender, sequence: 1, made_for: Tick::new(1), act }]);
        }
        let parcels: Vec<Vec<u8>> = all.dynamic().filter_map(|object| all.parcel(object.id)).collect();
        self.expected.extend(all.dynamic().map(|object| object.id));
        let founders = self.sim.machines.len() - usize::from(self.settings.joins);
        let members = (0..founders).map(|index| {
            let ClusterSettings { node, address, is_witness, .. } = self.cluster_settings(index);
            Member { node: node.number(), address, is_witness }
        });
        let plan = territory::even(members.collect(), all.grid());
        for index in 0..founders {
            let mut world = World::empty(Arc::clone(&self.spec)).expect("a plaza is a world");
            world.catch_up(all.tick());
            for parcel in &parcels {
                world.put_in(parcel, Placing::Exact).expect("it was so in the whole world");
            }
            let here = self.sim.machines[index].here(self.sim.now);
            let cluster = Cluster::founding(self.cluster_settings(index), &mut world, plan.clone(), here);
            self.begin(index, cluster, world);
        }
        if self.settings.joins {
            let third_us = i64::from(self.settings.seconds) * 1_000_000 / 3;
            self.sim.plan(third_us, What::Start(founders));
            self.outage = Some(self.sim.now + third_us);
        }
    }

    fn begin(&mut self, index: usize, cluster: Cluster, world: World) {
        let here = self.sim.machines[index].here(self.sim.now);
        let next_tick = here + i64::from(self.sim.random.whole(0, TICK_US as u32));
        self.sim.start(index, Actor::Node(Box::new(ClusterNode::new(cluster, world, next_tick))));
        for other in (0..self.sim.machines.len()).filter(|&other| other != index) {
            self.tell(index, other, true);
            self.tell(other, index, true);
        }
    }

    /// A machine notices that it reaches another, or that it does not any more.
    fn tell(&mut self, to: usize, about: usize, is_open: bool) {
        let from = Endpoint::Node(self.sim.machines[about].node.expect("every machine here is a node"));
        let event = if is_open { Event::Opened { from, secret: [0; 16] } } else { Event::Closed { from } };
        self.sim.tell(to, event);
    }

    /// A node starts anew, under a number that no node had before.
    fn start(&mut self, index: usize) {
        if self.sim.machines[index].actor.is_some() {
            return;
        }
        self.sim.machines[index].node = Some(NodeId::new(self.next_node));
        self.next_node += 1;
        let mut world = World::empty(Arc::clone(&self.spec)).expect("a plaza is a world");
        let here = self.sim.machines[index].here(self.sim.now);
        let cluster = Cluster::joining(self.cluster_settings(index), &mut world, here);
        self.begin(index, cluster, world);
    }

    fn kill(&mut self, index: usize) {
        if let Some(Actor::Node(node)) = self.sim.kill(index) {
            self.remember(&node.cluster);
            self.orphans.extend(node.cluster.custody().own().map(|(object, _)| (object, self.sim.now)));
        }
        for other in (0..self.sim.machines.len()).filter(|&other| other != index) {
            self.tell(other, index, false);
        }
    }

    /// A node is killed now and starts anew after a while.
    fn restart(&mut self, index: usize, after_us: i64) {
        self.kill(index);
        self.sim.plan(after_us, What::Start(index));
        self.outage = Some(self.sim.now + after_us);
    }

    fn remember(&mut self, cluster: &Cluster) {
        self.past.0 += cluster.custody().taken;
        self.past.1 += cluster.custody().adopted();
        self.past.2 += cluster.part().tenancies.waited_ticks;
    }

    fn take(&mut self, turn: Happened<What>) {
        match turn {
            Happened::Due(index) => self.tick(index),
            Happened::Heard { from: Endpoint::Node(from), to, bytes } if self.settings.measures => {
                let from = self.sim.machines.iter().position(|machine| machine.node == Some(from));
                from.into_iter().for_each(|from| self.traffic.arrived(from, to, &bytes));
            }
            Happened::Heard { .. } | Happened::Closed { .. } => {}
            Happened::Died(index) => {
                let after_us = 500_000 + i64::from(self.sim.random.whole(0, 3_000_000));
                self.restart(index, after_us);
            }
            Happened::Planned(What::Break(index, until)) => {
                self.sim.break_all(index, until);
                (0..self.sim.machines.len()).filter(|&other| other != index).for_each(|o| self.part(index, o, until));
            }
            Happened::Planned(What::Connect(one, other)) => {
                for (to, about) in [(one, other), (other, one)] {
                    if self.sim.machines[about].actor.is_some() {
                        self.tell(to, about, true);
                    }
                }
            }
            Happened::Planned(What::Start(index)) => self.start(index),
            Happened::Planned(What::Second) => {
                self.upset();
                self.sim.plan(1_000_000, What::Second);
            }
            Happened::Planned(What::Look) => {
                self.look(false);
                self.sim.plan(TICK_US, What::Look);
            }
        }
        self.measure();
    }

    fn measure(&mut self) {
        let sent = std::mem::take(&mut self.sim.sent);
        if !self.settings.measures {
            return;
        }
        for one in sent {
            let node = self.sim.machines[one.to].cluster_node();
            let listeners: Vec<GridPoint> = node.into_iter().flat_map(users).collect();
            self.traffic.sent(self.sim.now, [one.from, one.to], &one.bytes, &listeners, self.settings.reach);
        }
    }

    fn tick(&mut self, index: usize) {
        let now = self.sim.now;
        let Some(node) = self.sim.machines[index].cluster_node_mut() else { return };
        node.inputs = wishes(node, now, &self.settings);
        self.sim.wake(index);
        self.traffic.ticked(now, index);
        let Some(node) = self.sim.machines[index].cluster_node() else { return };
        for (object, seq) in node.cluster.custody().own() {
            let newest = self.newest.entry(object).or_default();
            *newest = seq.max(*newest);
        }
        if node.is_left_out() {
            self.sim.kill(index);
            self.sim.plan(300_000, What::Start(index));
        }
        self.look_at_solids();
    }

    /// What nodes say is so: where their objects are, and what they offer while no other has it.
    fn look_at_solids(&mut self) {
        let mut solids = Vec::new();
        for (_, node) in self.acting() {
            let custody = node.cluster.custody();
            let is_newest = |(object, leaving): &(ObjectId, &Leaving)| self.newest.get(object) < Some(&leaving.seq);
            let own = custody.own().map(|(object, _)| object);
            let all = own.chain(custody.leaving().filter(is_newest).map(|(object, _)| object));
            solids.extend(all.filter_map(|object| node.world.standing(object)).map(|standing| SeenSolid {
                id: standing.object,
                at: standing.at,
                solid: standing.solid,
                is_fixed: false,
                is_certain: true,
            }));
        }
        let mut observed = Observed { now: self.sim.now, solids: Some(solids), ..Observed::default() };
        self.sim.meddle(&mut observed);
        self.watcher.look(&observed);
    }

    fn running(&self) -> impl Iterator<Item = (usize, &ClusterNode)> {
        self.sim.machines.iter().enumerate().filter_map(|(index, machine)| Some((index, machine.cluster_node()?)))
    }

    /// Nodes that may move objects.
    fn acting(&self) -> impl Iterator<Item = (usize, &ClusterNode)> {
        self.running().filter(|&(index, node)| node.cluster.may_act(self.sim.machines[index].here(self.sim.now)))
    }

    /// Gathers facts, and lets all promises look at them.
    fn look(&mut self, is_over: bool) {
        let now = self.sim.now;
        let owned: Vec<Owning> = self
            .acting()
            .flat_map(|(host, node)| {
                let of = move |(object, _)| Owning { object, host, is_right: node.world.object(object).is_some() };
                node.cluster.custody().own().map(of)
            })
            .collect();
        for owned in &owned {
            if let Some(since) = self.orphans.remove(&owned.object) {
                self.resume_s.push((now - since) as f64 * 1e-6);
            }
        }
        let is_together = self.is_running_well() && !self.sim.is_any_cut();
        if !is_together {
            self.healed_at = now;
        }
        let outage = self.outage.map(|until| Outage { until, is_together, states: String::new() });
        let is_overdue = |outage: &Outage| !is_together && now - outage.until >= Reunited::WITHIN_US;
        let outage =
            outage.map(|outage| if is_overdue(&outage) { Outage { states: self.states(), ..outage } } else { outage });
        let treated = self.sim.machines.iter().enumerate().map(|(host, machine)| Treated {
            host,
            name: machine.name.clone(),
            complaints: machine.malformed,
            sent_away: None,
        });
        let carriers = self.acting().flat_map(|(host, node)| {
            let own = node.world.dynamic().filter(|one| one.owner.is_some() && node.cluster.custody().owns(one.id));
            let at = self.sim.machines[host].node;
            own.filter_map(move |one| Some(Carrier { object: one.id, load: one.holds, node: at? }))
        });
        let mut observed = Observed {
            now,
            is_over,
            patience_us: NEAR_US - 1,
            owned: Some(owned),
            treated: treated.collect(),
            carriers: carriers.collect(),
            well_since: self.healed_at,
            outage,
            ..Observed::default()
        };
        self.looks += 1;
        let (hearings, at_node) = if self.looks.is_multiple_of(HEARING_LOOKS) {
            let (hearings, at_node) = self.hearings();
            (Some(hearings), Some(at_node))
        } else {
            (None, None)
        };
        observed.hearings = hearings;
        let expected = std::mem::take(&mut self.expected);
        observed.expected = Some(&expected);
        self.sim.meddle(&mut observed);
        self.watcher.look(&observed);
        self.expected = expected;
        self.at_node = at_node.unwrap_or_else(|| std::mem::take(&mut self.at_node));
        self.outage = self.outage.filter(|&until| {
            let is_judged = is_together || now - until >= Reunited::WITHIN_US;
            until > now || !is_judged
        });
    }

    /// Users and the objects near them at other nodes. What is near is followed also while something is wrong: else an
    /// object that came near a moment ago would count as having been near all the while.
    fn hearings(&self) -> (Vec<Earshot>, BTreeMap<ObjectId, (NodeId, Time)>) {
        let now = self.sim.now;
        let mut all = Vec::new();
        let mut at_node = BTreeMap::new();
        for (host, node) in self.running() {
            let Some(here) = self.sim.machines[host].node else { continue };
            for object in node.world.dynamic().filter(|object| node.cluster.custody().owns(object.id)) {
                let since = match self.at_node.get(&object.id) {
                    Some(&(before, since)) if before == here => since,
                    _ => now,
                };
                at_node.insert(object.id, (here, since));
                all.push((host, node, object.id, object.at, object.owner.is_some(), since));
            }
        }
        let healed = self.healed_at + (HEALED_US - NEAR_US);
        let mut hearings = Vec::new();
        for &(host, node, listener, ear, _, listener_since) in all.iter().filter(|one| one.4) {
            for &(_, _, speaker, place, _, speaker_since) in all.iter().filter(|one| one.0 != host) {
                let metres = distance(ear, place);
                if metres > f64::from(self.settings.reach) {
                    continue;
                }
                let seen = node.cluster.part().guests.get(speaker).map(|guest| distance(guest.place, place));
                let calm_since = healed.max(listener_since).max(speaker_since);
                let is_heard = seen.is_some_and(|away| away <= ASTRAY);
                hearings.push(Earshot {
                    listener,
                    speaker,
                    metres,
                    is_near: true,
                    is_far: false,
                    is_heard,
                    calm_since,
                });
            }
        }
        (hearings, at_node)
    }

    fn states(&self) -> String {
        let state = |(index, node): (usize, &ClusterNode)| {
            let acts = node.cluster.may_act(self.sim.machines[index].here(self.sim.now));
            let (version, closed) = (node.cluster.plan().version, node.cluster.part().closed.len());
            format!("host {}: {:?}, plan {version}, acts {acts}, closed {closed}", index + 1, node.cluster.status())
        };
        self.running().map(state).collect::<Vec<_>>().join("; ")
    }

    /// Whether every node runs, is settled and may act.
    fn is_running_well(&self) -> bool {
        (0..self.sim.machines.len()).all(|index| {
            let machine = &self.sim.machines[index];
            self.sim.now >= machine.frozen_until
                && machine.cluster_node().is_some_and(|node| {
                    let acts = node.cluster.may_act(machine.here(self.sim.now));
                    node.cluster.is_settled() && (self.is_witness(index) || acts)
                })
        })
    }

    /// Whether nothing is wrong any more: all nodes are members, and all copies are in place.
    fn is_well(&self) -> bool {
        let is_complete = |(index, node): (usize, &ClusterNode)| {
            self.sim.machines[index].dies_after.is_none()
                && node.cluster.custody().adopting().is_empty()
                && node.cluster.plan().members.len() == self.sim.machines.len()
                && node.cluster.has_copies()
        };
        !self.sim.is_any_cut() && self.is_running_well() && self.running().all(is_complete)
    }

    /// Every second: what goes wrong? Only when all is well: two deaths at once are within the promise, three are not.
    fn upset(&mut self) {
        let (now, seconds) = (self.sim.now, i64::from(self.settings.seconds));
        if self.settings.kill && now.micros() / 1_000_000 == seconds / 2 {
            let victim = self.sim.random.whole(0, self.settings.nodes as u32) as usize;
            self.restart(victim, 4_000_000);
        }
        let is_time = (BEGIN_US..=seconds * 1_000_000 - END_US).contains(&now.micros());
        if !self.settings.upsets || !is_time || !self.is_well() {
            return;
        }
        self.upsets += 1;
        let total = self.sim.machines.len();
        let victim = self.sim.random.whole(0, total as u32) as usize;
        let may_die = total >= 3;
        let span = |run: &mut Run, low: u32, high: u32| i64::from(run.sim.random.whole(low, high));
        let until = match self.sim.random.whole(0, 5) {
            0 if may_die => {
                self.sim.machines[victim].dies_after = Some(span(self, 0, 60) as u32);
                Time::from_micros(i64::MAX)
            }
            1 if may_die => {
                let after_us = span(self, 200_000, 4_200_000);
                self.restart(victim, after_us);
                now + after_us
            }
            2 => {
                let until = now + span(self, 100_000, 3_500_000);
                self.sim.machines[victim].frozen_until = until;
                if self.settings.breaks && now + GIVEN_UP_US < until {
                    self.sim.plan(GIVEN_UP_US, What::Break(victim, until));
                }
                until
            }
            3 => {
                // Two are cut off from the others, if those still are a majority.
                let second = if total >= 5 { (victim + 1) % total } else { victim };
                let until = now + span(self, 200_000, 4_000_000);
                for one in 0..total {
                    for other in one + 1..total {
                        if [victim, second].contains(&one) != [victim, second].contains(&other) {
                            self.cut(one, other, until);
                        }
                    }
                }
                until
            }
            _ => {
                let other = (victim + 1 + span(self, 0, total as u32 - 1) as usize) % total;
                let until = now + span(self, 200_000, 2_000_000);
                self.cut(victim, other, until);
                until
            }
        };
        self.outage = Some(until);
    }

    fn cut(&mut self, one: usize, other: usize, until: Time) {
        if self.sim.cut(one, other, until) {
            self.part(one, other, until);
        }
    }

    /// Two machines notice that they do not reach each other any more, and later that they do.
    fn part(&mut self, one: usize, other: usize, until: Time) {
        self.tell(one, other, false);
        self.tell(other, one, false);
        self.sim.plan(until - self.sim.now, What::Connect(one, other));
    }

    fn report(mut self) -> Report {
        self.look(true);
        let mut owners: BTreeMap<ObjectId, u64> = BTreeMap::new();
        let owned = self.acting().flat_map(|(_, node)| node.cluster.custody().own());
        owned.for_each(|(object, _)| *owners.entry(object).or_default() += 1);
        let doubled = owners.values().filter(|&&count| count > 1).count() as u64;
        let clusters: Vec<usize> = self.running().map(|(index, _)| index).collect();
        for index in clusters {
            if let Some(Actor::Node(node)) = self.sim.kill(index) {
                self.remember(&node.cluster);
            }
        }
        let sorted = |mut list: Vec<f64>| {
            list.sort_by(f64::total_cmp);
            list
        };
        let promises = self.watcher.promises();
        let wrong = promises.get(Survives::NAME).map_or(0, |score| score.violations);
        Report {
            handovers: self.past.0,
            adopted: self.past.1,
            upsets: self.upsets,
            lost: wrong.saturating_sub(doubled),
            doubled,
            batches: self.traffic.batches,
            bytes: self.traffic.bytes,
            copy_bytes: self.traffic.copy_bytes,
            move_ms: sorted(self.traffic.move_ms),
            resume_s: sorted(self.resume_s),
            waited_ticks: self.past.2,
            seconds: self.sim.now.micros() as f64 * 1e-6,
            promises,
        }
    }
}

fn users(node: &ClusterNode) -> impl Iterator<Item = GridPoint> + '_ {
    node.world.dynamic().filter(|object| object.owner.is_some()).map(|object| object.at)
}

/// Where users want to go: somewhere else every four seconds, whichever their node is. Carriers first fetch
/// what is nearest.
fn wishes(node: &ClusterNode, now: Time, settings: &Settings) -> Vec<Input> {
    let (world, custody) = (&node.world, node.cluster.custody());
    let things: Vec<_> = world.dynamic().filter(|object| object.kind == Kind::Movable).collect();
    let mut inputs = Vec::new();
    for object in world.dynamic() {
        let Some(sender) = object.owner.filter(|_| custody.owns(object.id)) else { continue };
        let phase = sender.number().wrapping_mul(700_001) % 4_000_000;
        let turn = (now.micros() as u64 + phase) / 4_000_000;
        let sender_seed = sender.number().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = Random::new(settings.seed ^ sender_seed ^ turn.wrapping_mul(0x51_7cc1));
        let (low, high) = (world.spec().low, world.spec().high);
        let mut goal = Vec3::new(random.between(low.x, high.x), 0.0, random.between(low.z, high.z)) * 0.9;
        let mut act = None;
        if settings.carriers && sender.number().is_multiple_of(3) && object.holds.is_none() {
            let away = |thing: &world::ObjectView<'_>| (thing.position() - object.position()).length();
            let free = things.iter().filter(|thing| thing.held_by.is_none() && custody.owns(thing.id));
            if let Some(thing) = free.min_by(|one, other| away(one).total_cmp(&away(other))) {
                goal = thing.position();
                act = (away(thing) < 2.5).then_some(Act::Grab { object: thing.id });
            }
        }
        let way = (goal - object.position()).with_y(0.0);
        let velocity = if way.length() < 0.5 { Vec3::ZERO } else { way.normalize() * random.between(1.0, 5.5) };
        let sequence = world.last_sequence(sender).unwrap_or(0) + 1;
        let made_for = world.tick();
        inputs.push(Input { sender, sequence, made_for, act: Act::Move { velocity } });
        inputs.extend(act.map(|act| Input { sender, sequence: sequence + 1, made_for, act }));
    }
    inputs
}

#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! A cluster: several servers that share one world.
//!
//! ```text
//! a point of space ──▶ one node that decides which objects may be there     territory, grants, tenancy
//! an object        ──▶ one node that moves it                               handover, copies, adoption
//! a plan           ──▶ says who decides where; a majority accepted it       agreement, balance, planning
//! a lease          ──▶ a node acts only while a majority supports it        lease
//! ```
//!
//! - [`territory`]: a plan's tree as boxes; [`balance`]: what the next plan should be.
//! - [`agreement`]: which plan holds; [`lease`]: how long a node may act.
//! - [`grants`] and [`tenancy`]: rooms for objects in space that another node decides about, granted and asked for.
//! - [`handover`], [`copies`], [`adoption`]: which node owns an object, and what becomes of it when that node dies.
//! - [`guests`]: objects that are heard across borders.
//!
//! When a plan changes, each node that acts by the new one drops all rooms, and declares to all others which of its
//! objects reach into their space. A node decides about space that is new to it when all have declared: then no node
//! acts by an older plan any more, and it knows of every object that is there.

#![forbid(unsafe_code)]

pub mod adoption;
pub mod agreement;
mod announce;
pub mod balance;
pub mod copies;
pub mod grants;
pub mod guests;
pub mod handover;
pub mod lease;
mod long_list;
mod part_of_world;
mod planning;
mod receive;
pub mod tenancy;
pub mod territory;
mod tick;

/// What the API takes and returns.
pub use {space, wire, world};

pub use part_of_world::Part;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use space::{Grid, NodeId, ObjectId, Time};
use wire::ToNode;
use wire::cluster::{Answer, Beat, Declared, Member, Plan};
use world::{Border, World};

use self::agreement::Agreement;
use self::announce::Declaration;
use self::handover::Custody;
use self::lease::Lease;
use self::long_list::Gathering;
use self::territory::{Territory, holders};

/// The bits of an object's number that count what its first node has made. With those of the node they are 52: a page
/// has to hold the number as a whole number.
pub const NAME_BITS: u32 = 26;

/// Settings of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSettings {
    /// Its number, below 2^26. It is never used twice, not even by the same machine after a restart.
    pub node: NodeId,
    /// The address for its clients.
    pub address: String,
    /// Whether it has no objects and only takes part in votes.
    pub is_witness: bool,
    /// How many other nodes keep copies of its objects.
    pub copies: usize,
    /// How far a user hears, hysteresis included, in metres.
    pub reach: f32,
    /// A fingerprint of the world's file.
    pub world: u64,
}

/// Whether a node belongs to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It asks to join.
    Joining,
    /// It is a member of the plan.
    Member,
    /// The others have left it out: its objects are theirs now.
    LeftOut,
}

/// Counts of messages since the start, mostly with their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterCounts {
    pub batches: (u64, u64),
    /// Batches that the receiver needed.
    pub needed: u64,
    /// Heartbeats, and messages that support a lease.
    pub beats: (u64, u64),
    pub copies: (u64, u64),
    /// All other messages.
    pub events: (u64, u64),
    /// Ticks in which it might not act.
    pub frozen: u64,
    /// Objects that were offered to other nodes.
    pub offered: u64,
}

/// One node of a cluster as a state machine. It owns no world: its caller passes the world to each call.
///
/// Its methods are of four kinds:
///
/// - **In**: [`handle`](Cluster::handle), [`connected`](Cluster::connected) and [`disconnected`](Cluster::disconnected)
///   take in what other nodes do; [`tick`](Cluster::tick), or [`wake`](Cluster::wake) for a node that takes no steps,
///   does what is due.
/// - **Out**: [`poll`](Cluster::poll) returns the next message. Call it after each call of the first kind, until it
///   returns `None`; and [`count`](Cluster::count) with the bytes of the message.
/// - **The part that it shares with its server**: [`part_mut`](Cluster::part_mut) has the objects that arrived and
///   departed, and the sessions that go with them.
/// - **Getters**: they change nothing.
#[derive(Clone, Debug)]
pub struct Cluster {
    settings: ClusterSettings,
    grid: Grid,
    status: Status,
    agreement: Agreement,
    lease: Lease,
    custody: Custody,
    part: Part,
    /// Nodes that have declared under the present plan.
    declared: BTreeSet<NodeId>,
    /// The pieces of declarations that are not complete.
    gathered: BTreeMap<NodeId, Gathering<Declared>>,
    /// Declarations that are being sent, how many were begun, and when something was last sent of each.
    telling: BTreeMap<NodeId, Declaration>,
    tellings: u64,
    declared_at: BTreeMap<NodeId, Time>,
    heard: BTreeMap<NodeId, (Time, Beat)>,
    candidates: BTreeMap<NodeId, (Member, Time)>,
    /// Nodes that can be reached.
    reachable: BTreeSet<NodeId>,
    tick: u64,
    beat_at: Option<Time>,
    /// When it last did what was due, and since when it has done so without a pause.
    woke_at: Time,
    awake_since: Time,
    answers: BTreeMap<NodeId, Vec<Answer>>,
    sends: VecDeque<(NodeId, ToNode)>,
    counts: ClusterCounts,
}

impl Cluster {
    /// The first node of a cluster: it owns all objects of its world.
    pub fn first(settings: ClusterSettings, world: &mut World, now: Time) -> Cluster {
        let plan = territory::first(settings.node, &settings.address);
        let mut cluster = Cluster::new(settings, world, plan, now);
        for object in world.dynamic() {
            cluster.custody.begin(object.id);
        }
        cluster.part.home = vec![territory::everything(cluster.grid)];
        cluster.activate(now, world);
        cluster
    }

    /// One of several nodes that start at once with this plan. It owns what stands in its part of `world`, and drops
    /// the rest. Nothing moves until all have declared.
    pub fn founding(settings: ClusterSettings, world: &mut World, plan: Plan, now: Time) -> Cluster {
        let mut cluster = Cluster::new(settings, world, plan, now);
        let territory = Territory::of(cluster.plan(), cluster.grid);
        let me = cluster.settings.node;
        let all: Vec<(ObjectId, bool)> =
            world.dynamic().map(|object| (object.id, territory.owner(object.at) == Some(me))).collect();
        for (object, is_own) in all {
            if is_own {
                cluster.custody.begin(object);
            } else {
                world.take_out(object);
            }
        }
        cluster.activate(now, world);
        cluster
    }

    /// A node that asks to join; its world is empty.
    pub fn joining(settings: ClusterSettings, world: &mut World, now: Time) -> Cluster {
        Cluster::new(settings, world, Plan::default(), now)
    }

    fn new(settings: ClusterSettings, world: &mut World, plan: Plan, now: Time) -> Cluster {
        let me = settings.node;
        world.name_from((me.number() << NAME_BITS) + 1);
        Cluster {
            grid: world.grid(),
            status: Status::Joining,
            agreement: Agreement::new(me, plan, now),
            lease: Lease::new(me),
            custody: Custody::new(me, settings.copies),
            part: Part::new(me),
            declared: BTreeSet::new(),
            gathered: BTreeMap::new(),
            telling: BTreeMap::new(),
            tellings: 0,
            declared_at: BTreeMap::new(),
            heard: BTreeMap::new(),
            candidates: BTreeMap::new(),
            reachable: BTreeSet::new(),
            tick: 0,
            beat_at: None,
            woke_at: now,
            awake_since: now,
            answers: BTreeMap::new(),
            sends: VecDeque::new(),
            counts: ClusterCounts::default(),
            settings,
        }
    }

    pub fn node(&self) -> NodeId {
        self.settings.node
    }

    pub fn status(&self) -> Status {
        self.status
    }

    /// The plan that it acts by.
    pub fn plan(&self) -> &Plan {
        self.agreement.plan()
    }

    /// Which node decides where.
    pub fn territory(&self) -> &Territory {
        &self.part.territory
    }

    /// Which objects it owns.
    pub fn custody(&self) -> &Custody {
        &self.custody
    }

    /// Its part of the world.
    pub fn part(&self) -> &Part {
        &self.part
    }

    pub fn part_mut(&mut self) -> &mut Part {
        &mut self.part
    }

    pub fn counts(&self) -> ClusterCounts {
        self.counts
    }

    /// The last heartbeat of a member, and when it arrived.
    pub fn heard_of(&self, node: NodeId) -> Option<&(Time, Beat)> {
        self.heard.get(&node)
    }

    /// Whether it may move its objects: it is a member, and its lease holds.
    pub fn may_act(&self, now: Time) -> bool {
        self.status == Status::Member && !self.settings.is_witness && self.lease.is_held(now)
    }

    /// Whether it decides about all that the plan gives it.
    pub fn is_settled(&self) -> bool {
        self.status == Status::Member && self.part.closed.is_empty()
    }

    /// How far its copies may be behind, in microseconds.
    pub fn lag_us(&self, now: Time) -> i64 {
        self.custody.copies.lag_us(now)
    }

    /// Whether all nodes that are to have copies of its objects have all of them.
    pub fn has_copies(&self) -> bool {
        self.settings.is_witness || self.custody.copies.is_complete()
    }

    /// Another node can be reached from now on.
    pub fn connected(&mut self, node: NodeId) {
        self.reachable.insert(node);
        self.custody.lose_patience();
    }

    /// Another node probably cannot be reached any more.
    pub fn disconnected(&mut self, node: NodeId) {
        self.reachable.remove(&node);
    }

    /// The nodes that can be reached.
    pub fn reachable(&self) -> impl Iterator<Item = NodeId> {
        self.reachable.iter().copied()
    }

    /// Whether `poll` has a message.
    pub fn has_messages(&self) -> bool {
        !self.sends.is_empty()
    }

    /// The next message to another node.
    pub fn poll(&mut self) -> Option<(NodeId, ToNode)> {
        self.sends.pop_front()
    }

    fn members(&self) -> Vec<u64> {
        self.plan().members.iter().map(|member| member.node).collect()
    }

    fn is_member(&self, node: NodeId) -> bool {
        self.plan().members.iter().any(|member| member.node == node.number())
    }

    /// Other members with objects.
    fn others(&self) -> Vec<NodeId> {
        holders(self.plan()).into_iter().filter(|&node| node != self.settings.node).collect()
    }

    fn say(&mut self, to: NodeId, message: ToNode) {
        self.sends.push_back((to, message));
    }

    fn collect(&mut self) {
        while let Some(send) = self.custody.poll() {
            self.sends.push_back(send);
        }
    }
}

/// The border of a world that has no cluster.
pub fn whole(grid: Grid) -> Border {
    Border { home: vec![territory::everything(grid)], ..Border::default() }
}

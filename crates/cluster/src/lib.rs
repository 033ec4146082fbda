//! Many servers that are one world.
//!
//! Every point of space has one node that decides who may be there, and every object one that moves it. Who decides where
//! is written in a numbered plan that a majority has accepted. A node acts while a majority vouches for it, and stops before
//! anybody takes over what it had.
//!
//! - [`territory`]: a plan's tree as boxes; [`balance`]: what the next plan should be.
//! - [`agreement`]: which plan holds; [`lease`]: how long a node may act.
//! - [`grants`] and [`tenancy`]: room for objects in space that others decide about, given and asked for.
//! - [`handover`], [`copies`], [`adoption`]: whose an object is, and what becomes of it when its node dies.
//! - [`ghosts`]: who is heard across borders.
//!
//! A [`Cluster`] is one node's part in it. It owns no world: whoever drives it hands it one. Cut by what it does: `hearing.rs`
//! takes in what others say, `turn.rs` is a tick, `telling.rs` says what others need, `planning.rs` goes from plan to plan.
//! What is too long for one message goes in `pieces.rs`.
//!
//! When a plan changes, everybody who acts by the new one drops all rooms and declares to everybody else which of its
//! objects reach into their space. A node decides about space that is new to it when all have declared: then nobody acts
//! by an older plan any more, and it knows of everything that is there.

#![forbid(unsafe_code)]

pub mod adoption;
pub mod agreement;
pub mod balance;
pub mod copies;
pub mod ghosts;
pub mod grants;
pub mod handover;
mod hearing;
pub mod lease;
mod part;
mod pieces;
mod planning;
mod telling;
pub mod tenancy;
pub mod territory;
mod turn;

pub use part::Part;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use space::{Grid, NodeId, ObjectId, Time};
use wire::ToNode;
use wire::cluster::{Answer, Beat, Declared, Member, Plan};
use world::{Border, World};

use self::agreement::Agreement;
use self::handover::Custody;
use self::lease::Lease;
use self::pieces::Gathering;
use self::telling::Telling;
use self::territory::{Territory, holders};

/// The bits of an object's name that count what its first node has made. With those of the node they are 52: a name has
/// to be a whole number in a page, too.
pub const NAME_BITS: u32 = 26;

/// How a node takes part.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSettings {
    /// Its number. It is never used twice, also not by the same machine after a restart; below 2^26.
    pub node: NodeId,
    /// Where its clients find it.
    pub address: String,
    /// Whether it only takes part in votes.
    pub is_witness: bool,
    /// How many others keep copies of its objects.
    pub copies: usize,
    /// How far a user hears, hysteresis included, in metres.
    pub reach: f32,
    /// A fingerprint of the world's file.
    pub world: u64,
}

/// How a node stands with the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It would like to join.
    Joining,
    /// It belongs to the plan.
    Member,
    /// The others have gone on without it: its objects are theirs now.
    LeftOut,
}

/// What was sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterCounts {
    /// Batches, and their bytes.
    pub batches: (u64, u64),
    /// Batches that somebody over there needed.
    pub needed: u64,
    /// Beats and vouches, and their bytes.
    pub beats: (u64, u64),
    /// Copies, and their bytes.
    pub copies: (u64, u64),
    /// Everything else, and its bytes.
    pub events: (u64, u64),
    /// Ticks in which it may not act.
    pub frozen: u64,
    /// Objects that were offered.
    pub offered: u64,
}

/// One node's part in a cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    settings: ClusterSettings,
    grid: Grid,
    status: Status,
    agreement: Agreement,
    lease: Lease,
    custody: Custody,
    part: Part,
    /// Who has declared under the present plan.
    declared: BTreeSet<NodeId>,
    /// What others have declared so far, of those who have not finished.
    gathered: BTreeMap<NodeId, Gathering<Declared>>,
    /// To whom it is declaring, how often it has begun to, and when it last said something of it.
    telling: BTreeMap<NodeId, Telling>,
    tellings: u64,
    declared_at: BTreeMap<NodeId, Time>,
    heard: BTreeMap<NodeId, (Time, Beat)>,
    candidates: BTreeMap<NodeId, (Member, Time)>,
    /// Whom its driver can reach.
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
    /// The first node of a cluster: all of its world's objects are its own.
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

    /// One of several nodes that start at once, all with this plan; it has what stands in its space in `world`, and drops
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

    /// A node that would like to join; its world is empty.
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

    /// Its number.
    pub fn node(&self) -> NodeId {
        self.settings.node
    }

    /// How it stands with the cluster.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The plan that it acts by.
    pub fn plan(&self) -> &Plan {
        self.agreement.plan()
    }

    /// Who decides where.
    pub fn territory(&self) -> &Territory {
        &self.part.territory
    }

    /// Which objects it has.
    pub fn custody(&self) -> &Custody {
        &self.custody
    }

    /// What is shared with its neighbours.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// The same, to be changed by whoever serves users.
    pub fn part_mut(&mut self) -> &mut Part {
        &mut self.part
    }

    /// What was sent so far.
    pub fn counts(&self) -> ClusterCounts {
        self.counts
    }

    /// What was last heard of a member, and when.
    pub fn heard_of(&self, node: NodeId) -> Option<&(Time, Beat)> {
        self.heard.get(&node)
    }

    /// Whether it may move its objects: it belongs to the plan, and its lease holds.
    pub fn may_act(&self, now: Time) -> bool {
        self.status == Status::Member && !self.settings.is_witness && self.lease.is_held(now)
    }

    /// Whether it decides about all that the plan gives it.
    pub fn is_settled(&self) -> bool {
        self.status == Status::Member && self.part.closed.is_empty()
    }

    /// By how much its copies may be behind, in microseconds.
    pub fn lag_us(&self, now: Time) -> i64 {
        self.custody.copies.lag_us(now)
    }

    /// Whether all who are to have copies of its objects have had all of them.
    pub fn has_copies(&self) -> bool {
        self.settings.is_witness || self.custody.copies.is_complete()
    }

    /// Another node can be reached from now on.
    pub fn connected(&mut self, node: NodeId) {
        self.reachable.insert(node);
        self.custody.lose_patience();
    }

    /// Another node cannot be reached any more, as far as one can tell.
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

/// The border of a world that is all there is, for whoever has no cluster.
pub fn whole(grid: Grid) -> Border {
    Border { home: vec![territory::everything(grid)], ..Border::default() }
}

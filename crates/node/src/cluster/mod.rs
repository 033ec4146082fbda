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
//! A [`Cluster`] is one node's part in it. It owns no world: whoever drives it hands it one.
//!
//! When a plan changes, everybody who acts by the new one drops all rooms and declares to everybody else which of its
//! objects reach into their space. A node decides about space that is new to it when all have declared: then nobody acts
//! by an older plan any more, and it knows of everything that is there.

pub mod adoption;
pub mod agreement;
pub mod balance;
pub mod copies;
pub mod ghosts;
pub mod grants;
pub mod handover;
pub mod lease;
mod part;
pub mod tenancy;
pub mod territory;

pub use part::Part;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use space::{Grid, NodeId, ObjectId, Time, snap};
use wire::ToNode;
use wire::cluster::{Answer, Batch, Beat, CLUSTER_VERSION, Declared, Member, Plan};
use world::{Block, Border, Input, Kind, Model, Standing, World};

use self::agreement::Agreement;
use self::balance::Load;
use self::ghosts::Speaker;
use self::grants::{Ground, to_wire};
use self::handover::Custody;
use self::lease::{BEAT_US, Lease, WAIT_US};
use self::part::Keep;
use self::tenancy::{AHEAD_TICKS, SOON_TICKS, Tenant};
use self::territory::{Territory, holders};

/// An object goes to another node when its centre is so far in the other's space, in steps: who walks along a border stays.
const HYSTERESIS: i32 = 400;
/// Whoever did nothing for so long was asleep, in microseconds.
const ASLEEP_US: i64 = 400_000;
/// A node that was not heard of for so long is not the one that proposes, in microseconds.
const QUIET_US: i64 = 700_000;
/// Whoever asked to join so long ago has given up, in microseconds.
const CANDIDATE_US: i64 = 3_000_000;
/// Load is shared when the plan has held for so long, in microseconds.
const STEADY_US: i64 = 3_000_000;
/// Objects change hands at most so often in one tick.
const OFFERS_PER_TICK: usize = 64;
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

/// A mistake to make on purpose.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planted {
    /// None.
    #[default]
    Nothing,
    /// It acts without a lease.
    IgnoresLease,
    /// It grants what is not free.
    GrantsEverything,
    /// It mistakes whose an object is.
    InCustody(handover::Planted),
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
    planted: Planted,
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
            planted: Planted::Nothing,
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
        let is_held = self.lease.is_held(now) || self.planted == Planted::IgnoresLease;
        self.status == Status::Member && !self.settings.is_witness && is_held
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

    /// What it wants to say to whom.
    pub fn poll(&mut self) -> Option<(NodeId, ToNode)> {
        self.sends.pop_front()
    }

    /// Makes a mistake on purpose: whoever watches must find it.
    #[doc(hidden)]
    pub fn plant(&mut self, planted: Planted) {
        self.planted = planted;
        self.part.grants.grants_everything = planted == Planted::GrantsEverything;
        if let Planted::InCustody(planted) = planted {
            self.custody.plant(planted);
        }
    }

    /// Takes in what another node says.
    pub fn handle(&mut self, now: Time, from: NodeId, message: &ToNode, world: &mut World) {
        if self.status == Status::LeftOut || from == self.settings.node {
            return;
        }
        match message {
            ToNode::Beat(beat) => self.hear_beat(now, from, beat),
            ToNode::Vouch { version, sent_us } if *version == self.plan().version => {
                let members = self.members();
                self.lease.answer(from, Time::from_micros(*sent_us), now, &members);
            }
            ToNode::Join { version, world, address, is_witness } => {
                if self.is_member(from) {
                    self.say(from, ToNode::Committed(self.plan().clone()));
                } else if *version == CLUSTER_VERSION && *world == self.settings.world {
                    let member = Member { node: from.number(), address: address.clone(), is_witness: *is_witness };
                    self.candidates.insert(from, (member, now));
                }
            }
            ToNode::Prepare { .. }
            | ToNode::Promise { .. }
            | ToNode::Accept { .. }
            | ToNode::Accepted { .. }
            | ToNode::Committed(_) => self.agree(now, from, message, world),
            ToNode::Declare { version, standing }
                if *version == self.plan().version && self.is_member(from) && self.declared.insert(from) =>
            {
                self.part.grants.declare(standing, now);
                self.complete();
            }
            ToNode::Batch(batch) if batch.version == self.plan().version && self.is_member(from) => {
                self.hear_batch(now, from, batch);
            }
            ToNode::Introduce { objects } if self.is_member(from) => {
                let custody = &self.custody;
                let is_foreign = |one: &&wire::cluster::Introduced| {
                    ObjectId::new(one.object).is_some_and(|object| !custody.owns(object))
                };
                let objects: Vec<_> = objects.iter().filter(is_foreign).cloned().collect();
                self.part.ghosts.introduce(from, &objects, now);
            }
            _ if self.is_member(from) => {
                // What is offered is taken only by who may act, from who has declared what it has.
                let may_take = self.may_act(now) && self.declared.contains(&from);
                let mut keep = Keep { world, part: &mut self.part, now };
                self.custody.handle(now, from, message, may_take, &mut keep);
            }
            _ => {}
        }
        self.collect();
    }

    /// One tick: whatever is due, and a step of the world with these inputs, if it may act. Says whether it did.
    pub fn tick(&mut self, now: Time, world: &mut World, inputs: &[Input]) -> bool {
        self.tick += 1;
        self.wake(now, world);
        let may_act = self.may_act(now);
        if may_act {
            world.set_border(Some(self.part.border(&self.custody)));
            world.step(inputs);
            self.follow(now, world);
            self.hand_over(world);
            self.batch(world);
        } else {
            self.counts.frozen += 1;
        }
        self.collect();
        may_act
    }

    /// What is due without a step: for a witness, and for who may not act.
    pub fn wake(&mut self, now: Time, world: &mut World) {
        if self.status == Status::LeftOut {
            return;
        }
        if now - self.woke_at > ASLEEP_US {
            self.awake_since = now;
        }
        self.woke_at = now;
        self.agreement.wake(now);
        self.agree_with_itself(now, world);
        let members = self.members();
        if self.status == Status::Member && !self.agreement.is_changing() {
            self.lease.vouch_for_itself(now, &members);
        }
        self.part.grants.wake(now);
        self.part.ghosts.wake(now);
        // The more there are, the rarer: what a node hears of all others must not grow as fast as they do.
        let beat_us = BEAT_US * (1 + members.len() as i64 / 32);
        if self.beat_at.is_none_or(|beat| now - beat >= beat_us) {
            self.beat_at = Some(now);
            // Who has no lease itself is more likely to be the one that is cut off, and who slept has not listened.
            if self.status == Status::Member && self.lease.is_held(now) && now - self.awake_since >= WAIT_US {
                self.lease.suspect(&members, self.agreement.learned_at(), now);
            }
            self.beat(now, world);
            self.plan_ahead(now);
            self.agree_with_itself(now, world);
        }
        let mut keep = Keep { world, part: &mut self.part, now };
        if self.status == Status::Member && !self.settings.is_witness {
            self.custody.wake(now, &mut keep);
        }
        self.collect();
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

    fn hear_beat(&mut self, now: Time, from: NodeId, beat: &Beat) {
        if beat.version < self.plan().version {
            self.say(from, ToNode::Committed(self.plan().clone()));
        }
        if !self.is_member(from) {
            return;
        }
        self.heard.insert(from, (now, beat.clone()));
        if beat.version != self.plan().version || self.status != Status::Member {
            return;
        }
        // Whom so many suspect that no majority is left cannot act any more: the sooner it is left out, the better.
        let is_doomed = self.suspected_by(from) >= self.plan().members.len().div_ceil(2);
        if !self.agreement.is_changing() && !is_doomed && self.lease.vouch(from, now) {
            self.say(from, ToNode::Vouch { version: beat.version, sent_us: beat.sent_us });
        }
        self.custody.mourn(from, beat.version, &beat.adopting);
        if beat.awaiting.contains(&self.settings.node.number())
            && self.declared_at.get(&from).is_none_or(|at| now - *at >= 2 * BEAT_US)
        {
            self.declare(now, from);
        }
    }

    fn hear_batch(&mut self, now: Time, from: NodeId, batch: &Batch) {
        self.part.ghosts.hear(from, batch.tick, &batch.ghosts, now);
        for answer in &batch.answers {
            let seq = ObjectId::new(answer.object)
                .filter(|&object| self.custody.owns(object))
                .and_then(|object| self.custody.seq(object));
            self.part.tenancies.answer(from, answer, seq, self.tick);
        }
        if !self.may_act(now) || !self.declared.contains(&from) {
            return;
        }
        let ground = Ground { home: &self.part.home, closed: &self.part.closed, own: &self.part.standing };
        for ask in &batch.asks {
            let is_own = ObjectId::new(ask.object).is_none_or(|object| self.custody.owns(object));
            if is_own {
                continue;
            }
            if let Some(answer) = self.part.grants.ask(ask, &ground, now) {
                let answers = self.answers.entry(from).or_default();
                answers.retain(|known| known.object != answer.object);
                answers.push(answer);
            }
        }
    }

    fn agree(&mut self, now: Time, from: NodeId, message: &ToNode, world: &mut World) {
        let plan = self.agreement.plan().clone();
        let suspects = self.lease.suspects();
        let may_accept = |next: &Plan| {
            let stays = |node: u64| next.members.iter().any(|member| member.node == node);
            let left_out = plan.members.iter().filter(|member| !stays(member.node));
            left_out.map(|member| NodeId::new(member.node)).all(|node| suspects.contains(&node))
        };
        let changed = self.agreement.handle(now, from, message, &may_accept);
        if changed {
            self.activate(now, world);
        }
        self.agree_with_itself(now, world);
    }

    /// Carries what agreement says: to others, and to itself at once.
    fn agree_with_itself(&mut self, now: Time, world: &mut World) {
        while let Some((to, message)) = self.agreement.poll() {
            if to == self.settings.node {
                self.agree(now, to, &message, world);
            } else {
                self.say(to, message);
            }
        }
    }

    /// Acts by the plan that holds now.
    fn activate(&mut self, now: Time, world: &mut World) {
        let me = self.settings.node;
        if !self.is_member(me) {
            if self.status == Status::Member {
                self.status = Status::LeftOut;
                self.lease.give_up();
            }
            return;
        }
        self.status = Status::Member;
        self.lease.activate();
        self.candidates.retain(|node, _| !self.agreement.plan().members.iter().any(|m| m.node == node.number()));
        self.heard.retain(|node, _| self.agreement.plan().members.iter().any(|m| m.node == node.number()));
        self.declared.clear();
        self.declared_at.clear();
        self.answers.clear();
        let nodes = holders(self.plan());
        let territory = Territory::of(self.plan(), self.grid);
        self.part.activate(territory, &nodes);
        let version = self.plan().version;
        let mut keep = Keep { world, part: &mut self.part, now };
        if !self.settings.is_witness {
            self.custody.activate(version, &nodes, &mut keep, now);
        }
        self.part.look(world, &self.custody);
        for other in self.others() {
            self.declare(now, other);
        }
        self.complete();
        self.beat_at = None;
    }

    /// Says what of its own reaches into another's space.
    fn declare(&mut self, now: Time, to: NodeId) {
        if self.settings.is_witness || self.status != Status::Member {
            return;
        }
        self.declared_at.insert(to, now);
        let leaves: Vec<Block> = self.part.territory.of_node(to).copied().collect();
        let reaches = |standing: &&Standing| leaves.iter().any(|leaf| leaf.overlaps(&standing.block()));
        let declared = |standing: &Standing| {
            let seq = self.custody.seq(standing.object)?;
            Some(Declared { object: standing.object.number(), seq, standing: to_wire(standing) })
        };
        let standing = self.part.standing.iter().filter(reaches).filter_map(declared).collect();
        self.say(to, ToNode::Declare { version: self.plan().version, standing });
    }

    /// When all have declared, what is new to this node is its to decide about.
    fn complete(&mut self) {
        if self.others().iter().all(|node| self.declared.contains(node)) {
            self.part.complete();
        }
    }

    fn beat(&mut self, now: Time, world: &World) {
        if self.status == Status::Joining {
            let join = ToNode::Join {
                version: CLUSTER_VERSION,
                world: self.settings.world,
                address: self.settings.address.clone(),
                is_witness: self.settings.is_witness,
            };
            let all: Vec<NodeId> = self.reachable.iter().copied().collect();
            all.into_iter().for_each(|node| self.say(node, join.clone()));
            return;
        }
        let places: Vec<_> = self.part.standing.iter().map(|standing| standing.at).collect();
        let is_waiting = !self.part.closed.is_empty() || !self.part.is_complete;
        let awaiting = if is_waiting {
            self.others().iter().filter(|n| !self.declared.contains(n)).map(|n| n.number()).collect()
        } else {
            Vec::new()
        };
        let beat = Beat {
            version: self.plan().version,
            sent_us: now.micros(),
            tick: world.tick().number(),
            load: self.custody.own().count() as u32,
            lag: (self.lag_us(now) / 33_333).clamp(0, i64::from(u32::MAX)) as u32,
            half: balance::half(&self.part.territory, self.settings.node, &places),
            suspects: self.lease.suspects().iter().map(|node| node.number()).collect(),
            awaiting,
            adopting: self.custody.adopting().iter().map(|node| node.number()).collect(),
        };
        self.heard.insert(self.settings.node, (now, beat.clone()));
        for node in self.members() {
            if node != self.settings.node.number() {
                self.say(NodeId::new(node), ToNode::Beat(beat.clone()));
            }
        }
    }

    /// How many members say, under the present plan, that a node's lease has passed.
    fn suspected_by(&self, node: NodeId) -> usize {
        let version = self.plan().version;
        let suspects = |(_, beat): &&(Time, Beat)| beat.version == version && beat.suspects.contains(&node.number());
        self.heard.values().filter(suspects).count()
    }

    /// Proposes the next plan, if this node is the one to do so.
    fn plan_ahead(&mut self, now: Time) {
        let me = self.settings.node;
        if self.status != Status::Member || self.agreement.is_proposing() || self.agreement.is_changing() {
            return;
        }
        // The lowest that is heard of, and that is not about to be left out.
        let is_dead = |node: NodeId| self.suspected_by(node) > self.plan().members.len() / 2;
        let is_heard = |node: NodeId| self.heard.get(&node).is_some_and(|(at, _)| now - *at < QUIET_US);
        let members: Vec<NodeId> = self.members().into_iter().map(NodeId::new).collect();
        if members.iter().copied().find(|&node| is_heard(node) && !is_dead(node)) != Some(me) {
            return;
        }
        let dead: Vec<NodeId> = members.into_iter().filter(|&node| is_dead(node)).collect();
        let plan = self.plan().clone();
        let learned = self.agreement.learned_at();
        let loads: BTreeMap<NodeId, Load> =
            self.heard.iter().map(|(&node, (_, beat))| (node, Load { objects: beat.load, half: beat.half })).collect();
        if !dead.is_empty() {
            if let Some(next) = balance::without(&plan, self.grid, &dead, &loads) {
                self.agreement.propose(now, next);
            }
            return;
        }
        let is_settled = |member: &Member| {
            self.heard.get(&NodeId::new(member.node)).is_some_and(|(at, beat)| {
                let is_fresh = now - *at < QUIET_US && beat.version == plan.version;
                is_fresh && beat.awaiting.is_empty() && beat.adopting.is_empty()
            })
        };
        if !plan.members.iter().all(is_settled) || now - learned < WAIT_US / 2 {
            return;
        }
        self.candidates.retain(|_, (_, at)| now - *at < CANDIDATE_US);
        if let Some((member, _)) = self.candidates.values().next() {
            self.agreement.propose(now, balance::with(&plan, self.grid, member.clone(), &loads));
        } else if now - learned > STEADY_US
            && let Some(next) = balance::shared(&plan, self.grid, &loads)
        {
            self.agreement.propose(now, next);
        }
    }

    /// What the step brought.
    fn follow(&mut self, now: Time, world: &World) {
        let outcome = world.outcome();
        for joined in &outcome.joined {
            self.custody.begin(joined.object);
        }
        for left in &outcome.left {
            self.custody.end(left.object, now);
            self.part.tenancies.forget(left.object);
        }
        for &moved in &outcome.moved {
            self.custody.touch(moved);
        }
        self.part.look(world, &self.custody);
    }

    /// Offers what has gone over to another's space.
    fn hand_over(&mut self, world: &mut World) {
        let mut offers = Vec::new();
        for object in world.dynamic() {
            if !self.custody.owns(object.id) || object.held_by.is_some() {
                continue;
            }
            let around = Block::around(object.at, [HYSTERESIS, 0, HYSTERESIS]);
            let is_home = self.part.territory.of_node(self.settings.node).any(|leaf| leaf.meets(&around));
            if is_home {
                continue;
            }
            let Some(to) = self.part.territory.owner(object.at) else { continue };
            let is_ready = self
                .heard
                .get(&to)
                .is_some_and(|(_, beat)| beat.version == self.plan().version && beat.awaiting.is_empty());
            if is_ready && self.declared.contains(&to) {
                offers.push((object.id, to));
            }
        }
        offers.truncate(OFFERS_PER_TICK);
        for (object, to) in offers {
            let keep = Keep { world, part: &mut self.part, now: Time::default() };
            if self.custody.offer(object, to, &keep) {
                self.counts.offered += 1;
                self.part.tenancies.forget(object);
            }
        }
    }

    /// One batch for everybody who needs one.
    fn batch(&mut self, world: &World) {
        let me = self.settings.node;
        let is_inside = |block: &Block| self.part.home.iter().any(|home| home.contains(block));
        let mut tenants = Vec::new();
        for standing in &self.part.standing {
            let object = standing.object;
            let ahead = world.prospect(object, AHEAD_TICKS).unwrap_or_default();
            if is_inside(&ahead) && !self.part.tenancies.has(object) || !self.custody.owns(object) {
                continue;
            }
            let soon = world.prospect(object, SOON_TICKS).unwrap_or_default();
            let seq = self.custody.seq(object).unwrap_or(0);
            tenants.push(Tenant { standing: *standing, seq, soon, ahead });
        }
        let mut asks = self.part.tenancies.ask(me, &tenants, &self.part.territory, self.tick);
        let reach = self.settings.reach * snap::STEPS_PER_METRE as f32;
        let soon = reach + ghosts::SOON_M * snap::STEPS_PER_METRE as f32;
        let speakers = self.speakers(world, soon);
        for other in self.others() {
            let asks = asks.remove(&other).unwrap_or_default();
            let answers = self.answers.remove(&other).unwrap_or_default();
            let leaves: Vec<Block> = self.part.territory.of_node(other).map(|leaf| leaf.grown(soon as i32)).collect();
            let is_near = |at| leaves.iter().any(|leaf| leaf.contains(&Block::around(at, [0; 3])));
            let name_of = |object| world.object(object).map_or_else(String::new, |object| object.name.to_owned());
            let (introduced, ghosts) =
                self.part.ghosts.tell(other, &speakers, world.tick().number(), reach, is_near, name_of);
            if !introduced.is_empty() {
                self.say(other, ToNode::Introduce { objects: introduced });
            }
            if !(asks.is_empty() && answers.is_empty() && ghosts.is_empty()) {
                let batch = Batch { version: self.plan().version, tick: world.tick().number(), ghosts, asks, answers };
                self.say(other, ToNode::Batch(batch));
            }
        }
    }

    /// Own objects that somebody beyond a border may hear.
    fn speakers(&self, world: &World, reach: f32) -> Vec<Speaker> {
        let objects = world.spec().objects.len() as u32;
        let inner = reach as i32;
        let is_deep = |at: space::GridPoint| {
            let around = Block::around(at, [inner, 0, inner]);
            self.part.home.iter().any(|home| home.contains(&around))
        };
        let speaker = |object: world::ObjectView<'_>| {
            if is_deep(object.at) || object.kind == Kind::Fixed {
                return None;
            }
            Some(Speaker {
                object: object.id,
                seq: self.custody.seq(object.id).filter(|_| self.custody.owns(object.id))?,
                place: object.at,
                turn: object.turn,
                model: match object.model {
                    Model::Object(model) => model,
                    Model::Avatar(avatar) => objects + avatar,
                },
                is_user: object.owner.is_some(),
            })
        };
        world.dynamic().filter_map(speaker).collect()
    }

    /// Counts a message that was sent, with its bytes.
    pub fn count(&mut self, message: &ToNode, bytes: usize) {
        let counts = match message {
            ToNode::Batch(_) => &mut self.counts.batches,
            ToNode::Beat(_) | ToNode::Vouch { .. } => &mut self.counts.beats,
            ToNode::Replicate(_) | ToNode::Replicated { .. } => &mut self.counts.copies,
            _ => &mut self.counts.events,
        };
        counts.0 += 1;
        counts.1 += bytes as u64;
    }
}

/// The border of a world that is all there is, for whoever has no cluster.
pub fn whole(grid: Grid) -> Border {
    Border { home: vec![territory::everything(grid)], ..Border::default() }
}

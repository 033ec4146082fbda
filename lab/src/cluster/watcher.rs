//! Sees all nodes at once, and what must hold: promises rather than outputs.

use std::collections::{BTreeMap, BTreeSet};

use cluster::Cluster;
use cluster::guests::distance;
use cluster::handover::Leaving;
use interest::Aura;
use space::{GridPoint, NodeId, ObjectId, Time, Turn, snap};
use wire::ToNode;
use wire::cluster::Batch;
use world::PlacedSolid;

use super::{Host, Settings};
use crate::promise::Promises;

/// Promises.
pub mod promise {
    /// At any time at most one node may move an object.
    pub const ONE_OWNER: &str = "an object has one owner";
    /// No two solids overlap, whoever owns them.
    pub const APART: &str = "nothing overlaps across the cluster";
    /// In the end every object is there, once.
    pub const NOBODY_LOST: &str = "no object is lost or doubled";
    /// Whoever is in a user's aura is known to the user's node.
    pub const AUDIENCE: &str = "all in aura are heard across borders";
    /// While all is well, who carries something has it still when another node has taken over.
    pub const CARRIED: &str = "who carries keeps what is carried across borders";
    /// When all run and reach each other again, all belong to the plan and may act soon.
    pub const TOGETHER: &str = "all find together again";
    /// Every message is one.
    pub const UNDERSTOOD: &str = "every message is understood";
    /// All of them.
    pub const ALL: [&str; 7] = [ONE_OWNER, APART, NOBODY_LOST, AUDIENCE, CARRIED, TOGETHER, UNDERSTOOD];
}

/// So long after an outage everybody may act, in microseconds: docs/cluster.md says what that takes.
pub const TOGETHER_US: i64 = 7_000_000;
/// So long after everything was well again audiences are complete, in microseconds.
pub const HEALED_US: i64 = 5_000_000;
/// Who has been near for so long is heard of, in microseconds.
const NEAR_US: i64 = 1_500_000;
/// By so much a ghost may be behind, in metres.
const ASTRAY: f32 = 2.5;

/// An object that nobody may move is on its way for so long at most when all is well, in microseconds.
const ON_THE_WAY_US: i64 = 1_500_000;

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The promises.
    pub promises: Promises,
    /// Objects that changed hands.
    pub handovers: u64,
    /// Objects that were adopted.
    pub adopted: u64,
    /// Times that something went wrong on purpose.
    pub upsets: u64,
    /// Objects that nobody had in the end, and that several had.
    pub lost: u64,
    /// See above.
    pub doubled: u64,
    /// Batches, and those that somebody needed.
    pub batches: (u64, u64),
    /// Bytes of batches, and those that somebody needed.
    pub bytes: (u64, u64),
    /// From a move to the tick over there that tells of it, in milliseconds, sorted.
    pub move_ms: Vec<f64>,
    /// From a node's death until somebody may move each of its objects, in seconds, sorted.
    pub resume_s: Vec<f64>,
    /// Ticks that objects stood at a border for want of a room.
    pub waited_ticks: u64,
    /// How long it was, in seconds.
    pub seconds: f64,
    /// Plans that held.
    pub plans: u64,
    /// Objects per node in the end, the fewest and the most.
    pub load: (usize, usize),
    /// Bytes of copies.
    pub copy_bytes: u64,
    /// How often somebody went from node to node with something in its hands.
    pub carried: u64,
    /// From the end of each outage until everybody may act, in seconds, sorted.
    pub together_s: Vec<f64>,
}

impl Measured {
    /// Whether all promises held.
    pub fn holds(&self) -> bool {
        self.promises.holds()
    }

    /// The promises that did not, each with examples.
    pub fn failures(&self) -> Vec<String> {
        self.promises.failures()
    }
}

/// Sees all.
pub(super) struct Watcher {
    promises: Promises,
    expected: BTreeSet<ObjectId>,
    reach: f32,
    healed_at: Time,
    upsets: u64,
    /// Until when the last outage lasts, as far as is known, while not all have found together since.
    outage: Option<Time>,
    together_s: Vec<f64>,
    /// Who has been near whom since when, with both nodes.
    near: BTreeMap<(ObjectId, ObjectId), (NodeId, NodeId, Time)>,
    looks: u64,
    /// The highest number of ownership under which somebody has moved each object.
    newest: BTreeMap<ObjectId, u32>,
    /// When each object last had an owner.
    owned_at: BTreeMap<ObjectId, Time>,
    /// Whose node died when.
    orphans: BTreeMap<ObjectId, Time>,
    resume_s: Vec<f64>,
    /// Batches on their way, and those that wait for a tick.
    sent_at: BTreeMap<(usize, usize, u64), Time>,
    waiting: BTreeMap<usize, Vec<Time>>,
    move_ms: Vec<f64>,
    told: BTreeMap<(usize, usize, u64), (GridPoint, Turn)>,
    asked: BTreeMap<(usize, usize, u64), u32>,
    batches: (u64, u64),
    bytes: (u64, u64),
    copy_bytes: u64,
    past: (u64, u64, u64),
    /// Who was last seen to carry what, at which node, and when.
    carriers: BTreeMap<ObjectId, (ObjectId, NodeId, Time)>,
    carried: u64,
}

impl Watcher {
    pub fn new(settings: &Settings) -> Watcher {
        Watcher {
            promises: Promises::new(promise::ALL),
            expected: BTreeSet::new(),
            reach: settings.reach * snap::STEPS_PER_METRE as f32,
            healed_at: Time::from_micros(0),
            upsets: 0,
            outage: Some(Time::from_micros(0)),
            together_s: Vec::new(),
            near: BTreeMap::new(),
            looks: 0,
            newest: BTreeMap::new(),
            owned_at: BTreeMap::new(),
            orphans: BTreeMap::new(),
            resume_s: Vec::new(),
            sent_at: BTreeMap::new(),
            waiting: BTreeMap::new(),
            move_ms: Vec::new(),
            told: BTreeMap::new(),
            asked: BTreeMap::new(),
            batches: (0, 0),
            bytes: (0, 0),
            copy_bytes: 0,
            past: (0, 0, 0),
            carriers: BTreeMap::new(),
            carried: 0,
        }
    }

    pub fn expect(&mut self, objects: impl Iterator<Item = ObjectId>) {
        self.expected.extend(objects);
    }

    /// Something goes wrong on purpose, until then; or for ever, if that is not known yet.
    pub fn upset(&mut self, until: Time) {
        self.upsets += 1;
        self.outage = Some(until);
    }

    /// It is known now until when.
    pub fn heals(&mut self, at: Time) {
        self.outage = Some(at);
    }

    /// By when all must have found together again.
    pub fn due(&self) -> Option<Time> {
        self.outage.map(|until| until + TOGETHER_US)
    }

    pub fn garbled(&mut self, text: &str) {
        self.promises.check(promise::UNDERSTOOD, false, || text.to_owned());
    }

    pub fn killed(&mut self, now: Time, cluster: &Cluster) {
        self.remember(cluster);
        for (object, _) in cluster.custody().own() {
            self.orphans.insert(object, now);
        }
    }

    fn remember(&mut self, cluster: &Cluster) {
        self.past.0 += cluster.custody().taken;
        self.past.1 += cluster.custody().adopted();
        self.past.2 += cluster.part().tenancies.waited_ticks;
    }

    /// A message was sent.
    pub fn sent(&mut self, now: Time, from: usize, to: usize, message: &ToNode, bytes: usize, hosts: &[Host]) {
        match message {
            ToNode::Batch(batch) => {
                self.batches.0 += 1;
                self.bytes.0 += bytes as u64;
                if !batch.guests.is_empty() {
                    self.sent_at.insert((from, to, batch.tick), now);
                }
                let needed = self.needed(from, to, batch, hosts);
                if !(needed.guests.is_empty() && needed.asks.is_empty() && needed.answers.is_empty()) {
                    self.batches.1 += 1;
                    self.bytes.1 += ToNode::Batch(needed).encode().len() as u64;
                }
            }
            ToNode::Replicate(_) => self.copy_bytes += bytes as u64,
            _ => {}
        }
    }

    /// What of a batch somebody needs: moves that a listener over there hears, and what is asked and answered first.
    fn needed(&mut self, from: usize, to: usize, batch: &Batch, hosts: &[Host]) -> Batch {
        let mut needed = Batch { version: batch.version, tick: batch.tick, ..Batch::default() };
        let listeners: Vec<GridPoint> = hosts[to].running.iter().flat_map(|(_, world)| users(world)).collect();
        for ghost in &batch.guests {
            let last = self.told.insert((from, to, ghost.object), (ghost.place, ghost.turn));
            let is_news = last != Some((ghost.place, ghost.turn));
            let is_heard = listeners.iter().any(|&at| distance(at, ghost.place) <= self.reach * Aura::HYSTERESIS);
            if is_news && is_heard {
                needed.guests.push(*ghost);
            }
        }
        for ask in &batch.asks {
            if self.asked.insert((from, to, ask.object), ask.asked) != Some(ask.asked) {
                needed.asks.push(ask.clone());
            }
        }
        needed.answers = batch.answers.clone();
        needed
    }

    pub fn arrived(&mut self, _now: Time, from: NodeId, to: usize, message: &ToNode) {
        self.promises.check(promise::UNDERSTOOD, true, String::new);
        if let ToNode::Batch(batch) = message {
            let index = from.number() as usize - 1;
            if let Some(sent) = self.sent_at.remove(&(index, to, batch.tick)) {
                self.waiting.entry(to).or_default().push(sent);
            }
        }
    }

    /// A node had a tick: its objects against those of all others.
    pub fn ticked(&mut self, now: Time, index: usize, hosts: &[Host]) {
        let waited = self.waiting.remove(&index).unwrap_or_default();
        self.move_ms.extend(waited.into_iter().map(|sent| (now - sent) as f64 * 1e-3));
        if self.sent_at.len() > 10_000 {
            self.sent_at.clear();
        }
        if let Some((cluster, _)) = &hosts[index].running {
            for (object, seq) in cluster.custody().own() {
                let newest = self.newest.entry(object).or_default();
                *newest = seq.max(*newest);
            }
        }
        let own = self.confirmed(&hosts[index], now);
        let others = hosts.iter().enumerate().filter(|(other, _)| *other != index);
        let others: Vec<(usize, PlacedSolid)> = others
            .flat_map(|(other, host)| self.confirmed(host, now).into_iter().map(move |one| (other, one)))
            .collect();
        let mut wrong = None;
        for mine in &own {
            for (other, theirs) in others.iter().filter(|(_, theirs)| theirs.object != mine.object) {
                if mine.block().overlaps(&theirs.block()) && mine.solid.overlaps(mine.at, theirs.solid, theirs.at) {
                    wrong = Some((*mine, *theirs, *other));
                }
            }
        }
        self.promises.check(promise::APART, wrong.is_none(), || {
            let (mine, theirs, other) = wrong.expect("only said when something is wrong");
            format!("{mine:?} of host {} overlaps {theirs:?} of host {} at {now}", index + 1, other + 1)
        });
    }

    /// Looks at all nodes.
    pub fn look(&mut self, now: Time, hosts: &[Host], is_cut: bool) {
        let mut owners: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for (index, host) in hosts.iter().enumerate() {
            let Some((cluster, world)) = host.running.as_ref().filter(|(c, _)| c.may_act(host.here(now))) else {
                continue;
            };
            for (object, _) in cluster.custody().own() {
                let last = owners.insert(object, index);
                let is_there = world.object(object).is_some();
                self.promises.check(promise::ONE_OWNER, last.is_none() && is_there, || {
                    format!("{object} of hosts {last:?} and {} at {now}", index + 1)
                });
            }
        }
        self.owned_at.extend(owners.keys().map(|&object| (object, now)));
        let back: Vec<ObjectId> = self.orphans.keys().copied().filter(|object| owners.contains_key(object)).collect();
        for object in back {
            let since = self.orphans.remove(&object).expect("it was just listed");
            self.resume_s.push((now - since) as f64 * 1e-6);
        }
        let is_well = hosts.iter().all(|host| {
            now >= host.frozen_until
                && host.running.as_ref().is_some_and(|(cluster, _)| {
                    cluster.is_settled() && (host.is_witness || cluster.may_act(host.here(now)))
                })
        });
        if !is_well || is_cut {
            self.healed_at = now;
        } else if let Some(until) = self.outage.take_if(|until| *until <= now) {
            self.together_s.push((now - until) as f64 * 1e-6);
        }
        if self.due().is_some_and(|due| due <= now) {
            self.apart(now, hosts);
        }
        self.look_at_carriers(now, hosts);
        self.looks += 1;
        if self.looks.is_multiple_of(5) {
            self.look_at_audiences(now, hosts, now - self.healed_at >= HEALED_US);
        }
    }

    /// Not all have found together in time.
    fn apart(&mut self, now: Time, hosts: &[Host]) {
        self.outage = None;
        let state = |host: &Host| {
            let state = host.running.as_ref().map(|(cluster, _)| {
                let (acts, closed) = (cluster.may_act(host.here(now)), cluster.part().closed.len());
                (cluster.status(), cluster.plan().version, acts, closed)
            });
            (host.node, state)
        };
        let all: Vec<_> = hosts.iter().map(state).collect();
        self.promises.check(promise::TOGETHER, false, || {
            format!("at {now}, {} s after an outage: {all:?}", TOGETHER_US / 1_000_000)
        });
    }

    /// Nobody lets go in these worlds. So whoever carried something at one node, and is at another now, has it still, unless
    /// something went wrong since it was last seen: who is adopted has empty hands.
    fn look_at_carriers(&mut self, now: Time, hosts: &[Host]) {
        let mut seen = Vec::new();
        for host in hosts {
            let Some((cluster, world)) = host.running.as_ref().filter(|(c, _)| c.may_act(host.here(now))) else {
                continue;
            };
            let own = world.dynamic().filter(|object| object.owner.is_some() && cluster.custody().owns(object.id));
            seen.extend(own.map(|object| (object.id, object.holds, host.node)));
        }
        for (carrier, holds, node) in seen {
            if let Some(&(load, before, at)) = self.carriers.get(&carrier)
                && before != node
                && self.healed_at < at
            {
                self.carried += 1;
                self.promises.check(promise::CARRIED, holds == Some(load), || {
                    format!("{carrier} carried {load} at {before}, and carries {holds:?} at {node} at {now}")
                });
            }
            match holds {
                Some(load) => self.carriers.insert(carrier, (load, node, now)),
                None => self.carriers.remove(&carrier),
            };
        }
    }

    /// Who is near whom is followed also while nothing is promised: else somebody who was near before an upset, and is again
    /// since a moment ago, would count as having been near all the while.
    fn look_at_audiences(&mut self, now: Time, hosts: &[Host], is_promised: bool) {
        let mut all: Vec<(usize, ObjectId, GridPoint, bool)> = Vec::new();
        for (index, host) in hosts.iter().enumerate() {
            let Some((cluster, world)) = &host.running else { continue };
            let own = world.dynamic().filter(|object| cluster.custody().owns(object.id));
            all.extend(own.map(|object| (index, object.id, object.at, object.owner.is_some())));
        }
        let mut near = BTreeMap::new();
        for (listener_host, listener, ear, _) in all.iter().filter(|one| one.3) {
            for (speaker_host, speaker, place, _) in &all {
                if listener_host == speaker_host || distance(*ear, *place) > self.reach {
                    continue;
                }
                let nodes = (hosts[*listener_host].node, hosts[*speaker_host].node);
                let since = match self.near.get(&(*listener, *speaker)) {
                    Some(known) if (known.0, known.1) == nodes => known.2,
                    _ => now,
                };
                near.insert((*listener, *speaker), (nodes.0, nodes.1, since));
                if !is_promised || now - since < NEAR_US {
                    continue;
                }
                let Some((cluster, _)) = &hosts[*listener_host].running else { continue };
                let seen = cluster.part().guests.get(*speaker).map(|ghost| distance(ghost.place, *place));
                let holds = seen.is_some_and(|away| away <= ASTRAY * snap::STEPS_PER_METRE as f32);
                self.promises.check(promise::AUDIENCE, holds, || {
                    format!(
                        "{speaker} of host {} for {listener} of host {} at {now}: {seen:?}",
                        speaker_host + 1,
                        listener_host + 1
                    )
                });
            }
        }
        self.near = near;
    }

    pub fn finish(mut self, now: Time, hosts: &[Host]) -> Measured {
        let mut owners: BTreeMap<ObjectId, usize> = BTreeMap::new();
        let mut loads = Vec::new();
        let mut plans = 0;
        for host in hosts {
            let Some((cluster, _)) = &host.running else { continue };
            plans = plans.max(cluster.plan().version);
            self.remember(cluster);
            if host.is_witness {
                continue;
            }
            loads.push(cluster.custody().own().count());
            if cluster.may_act(host.here(now)) {
                cluster.custody().own().for_each(|(object, _)| *owners.entry(object).or_default() += 1);
            }
        }
        let (mut lost, mut doubled) = (0, 0);
        let states = |object: ObjectId| -> Vec<String> {
            let of = |(index, host): (usize, &Host)| {
                let (cluster, _) = host.running.as_ref()?;
                let custody = cluster.custody();
                let leaving =
                    custody.leaving().find(|(known, _)| *known == object).map(|(_, l)| (l.to, l.seq, l.is_exact));
                let may_act = cluster.may_act(host.here(now));
                let mut text =
                    format!("host {} owns {} leaving {leaving:?} acts {may_act}", index + 1, custody.owns(object));
                if let Some((to, ..)) = leaving {
                    text += &in_the_way(object, host, hosts.iter().find(|host| host.node == to), now);
                }
                custody.has(object).then_some(text)
            };
            hosts.iter().enumerate().filter_map(of).collect()
        };
        for object in self.expected.clone() {
            let count = owners.get(&object).copied().unwrap_or(0);
            // It may be on its way from one to another.
            let owned_at = self.owned_at.get(&object).copied().unwrap_or(Time::from_micros(0));
            let is_lost = count == 0 && now - owned_at > ON_THE_WAY_US;
            lost += u64::from(is_lost);
            doubled += u64::from(count > 1);
            let holds = !is_lost && count <= 1;
            let what = if holds { Vec::new() } else { states(object) };
            self.promises
                .check(promise::NOBODY_LOST, holds, || format!("{object} has {count} owners in the end: {what:?}"));
        }
        for _ in 0..self.together_s.len() {
            self.promises.check(promise::TOGETHER, true, String::new);
        }
        let sort = |mut list: Vec<f64>| {
            list.sort_by(f64::total_cmp);
            list
        };
        Measured {
            promises: self.promises,
            handovers: self.past.0,
            adopted: self.past.1,
            upsets: self.upsets,
            lost,
            doubled,
            batches: self.batches,
            bytes: self.bytes,
            move_ms: sort(self.move_ms),
            resume_s: sort(self.resume_s),
            waited_ticks: self.past.2,
            seconds: now.micros() as f64 * 1e-6,
            plans,
            load: (loads.iter().copied().min().unwrap_or(0), loads.iter().copied().max().unwrap_or(0)),
            copy_bytes: self.copy_bytes,
            carried: self.carried,
            together_s: sort(self.together_s),
        }
    }

    /// What a node says is so: where its objects are; and what it offers, while it is nobody else's.
    fn confirmed(&self, host: &Host, now: Time) -> Vec<PlacedSolid> {
        let Some((cluster, world)) = host.running.as_ref().filter(|(c, _)| c.may_act(host.here(now))) else {
            return Vec::new();
        };
        let custody = cluster.custody();
        let own = custody.own().filter_map(|(object, _)| world.standing(object));
        let is_true = |(object, leaving): &(ObjectId, &Leaving)| self.newest.get(object) < Some(&leaving.seq);
        let leaving = custody.leaving().filter(is_true).filter_map(|(object, _)| world.standing(object));
        own.chain(leaving).collect()
    }
}

/// What keeps an object that is offered from being taken.
fn in_the_way(object: ObjectId, from: &Host, to: Option<&Host>, now: Time) -> String {
    let standing = from.running.as_ref().and_then(|(_, world)| world.standing(object));
    let taker = to.and_then(|host| Some((host, host.running.as_ref()?)));
    let (Some(standing), Some((host, (cluster, world)))) = (standing, taker) else { return String::new() };
    let block = standing.block();
    let own = cluster.part().standing.iter().filter(|own| own.block().overlaps(&block));
    let own: Vec<ObjectId> = own.map(|own| own.object).collect();
    let guests = cluster.part().grants.guests(&cluster.part().home).into_iter();
    let guests: Vec<world::Guest> = guests.filter(|guest| guest.meets(&block)).collect();
    let (is_there, seq) = (world.object(object).is_some(), cluster.custody().seq(object));
    let (acts, by) = (cluster.may_act(host.here(now)), cluster.plan().version);
    let home = &cluster.part().home;
    format!(
        "; {standing:?}; there: own {own:?} guests {guests:?} is there {is_there} {seq:?} acts {acts} by {by}, decides \
         about {home:?}"
    )
}

fn users(world: &world::World) -> impl Iterator<Item = GridPoint> + '_ {
    world.dynamic().filter(|object| object.owner.is_some()).map(|object| object.at)
}

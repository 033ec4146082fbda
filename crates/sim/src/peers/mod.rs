//! Peers on a bad network, in a hall where they meet: a world without a server.
//!
//! Every host has a clock of its own. Hosts come late, leave, crash and come back; the network delays, loses, doubles
//! and reorders messages, and is partitioned at times.

pub mod hall;
pub mod outcomes;

use std::collections::BTreeMap;

use motion::decision::{ObjectPair, Policy, Verdict};
use peer::settings::PeerSettings;
use peer::tally::Tally;
use peer::{Happening, NewObject, NewPeer, Peer};
use space::{DVec3, NodeId, ObjectId, Time};
use wire::ToPeer;
use wire::peer::{MotionUpdate, Report as MotionReport, name};

use self::hall::Pilot;
use self::outcomes::{Contest, Outcomes};
use crate::link::LinkSettings;
use crate::promises::{
    AllHeard, Earshot, Fair, HeldVerdict, Observed, OneOwner, OneVerdict, Owning, Promises, SETTLED_US, SameVerdict,
    SeenPeers, Treated, Watcher,
};
use crate::settings::{self, OutOfRange};
use crate::simulator::{Actor, Happened, Machine, Meddler, Simulator};

/// The promises that peers make.
pub const PROMISES: [&str; 5] = [OneOwner::NAME, AllHeard::NAME, OneVerdict::NAME, SameVerdict::NAME, Fair::NAME];

/// A host's frame, in microseconds.
pub const FRAME_US: i64 = 16_667;
pub const HOSTS_MAX: usize = 64;
/// An object in the area of interest of a connected host is heard after this, in microseconds, where a fifth of all
/// packets is lost: `docs/peers.md` derives it.
pub const AUDIENCE_US: i64 = 4_000_000;
/// After the end everything goes on for this long, so that what is under way arrives and is looked at.
const DRAIN_US: i64 = 14_000_000;
/// Every clock is ahead by this, so that none is before zero.
const CLOCK_US: i64 = 10_000_000;
/// A host that crashed comes back after this, when all have noticed.
const BACK_US: i64 = 9_000_000;
/// The longest partition: shorter than what peers take for a death.
const CUT_US_MAX: u32 = 2_000_000;
/// A driver waits this long before it connects again.
const AGAIN_US: i64 = 500_000;
const LOOK_US: i64 = 100_000;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many hosts, each with one object.
    pub hosts: usize,
    /// The side of the square in which each starts, in metres.
    pub cell: f64,
    pub seconds: u32,
    /// The rules that all peers follow.
    pub rules: PeerSettings,
    /// The network between any two.
    pub link: LinkSettings,
    /// Whether hosts come late, leave and crash, and the network is partitioned at times.
    pub upsets: bool,
    /// The same seed gives the same run.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            hosts: 8,
            cell: hall::ROOMY,
            seconds: 30,
            rules: rules(Policy::Velocity),
            link: LinkSettings::steady(100_000),
            upsets: false,
            seed: 1,
        }
    }
}

impl Settings {
    /// A network that is bad in every way that it can be.
    pub fn rough(latency_ms: i64, loss: f64) -> LinkSettings {
        LinkSettings {
            latency_us_min: latency_ms * 500,
            latency_us_max: latency_ms * 1_000,
            loss,
            duplicates: 0.05,
            reordered: 0.02,
            ..LinkSettings::default()
        }
    }

    fn check(&self) -> Result<(), OutOfRange> {
        settings::check([
            ("hosts", self.hosts as f64, 2.0..=HOSTS_MAX as f64, "2 to 64"),
            ("seconds", f64::from(self.seconds), 1.0..=100_000.0, "1 to 100000"),
            ("cell", self.cell, 8.0..=1_000.0, "8 to 1000 metres"),
        ])
    }
}

/// The rules of the hall, with this policy.
pub fn rules(policy: Policy) -> PeerSettings {
    PeerSettings { policy, silence_us: 5_000_000, latency_us_max: 150_000, ..PeerSettings::default() }
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub promises: Promises,
    pub outcomes: Outcomes,
    /// The distance between where others are seen and where they are, in metres: the mean over all pictures of objects
    /// in the area of interest.
    pub error_mean: f64,
    pub error_max: f64,
    /// Messages, datagrams and others, per host and second.
    pub messages_per_s: f64,
    pub bytes_per_s: f64,
    /// Updates of objects in them, per host and second.
    pub motions_per_s: f64,
    /// Messages per host and second if every frame were sent to the same audience.
    pub every_frame_per_s: f64,
    pub every_frame_bytes_per_s: f64,
    /// All counts of all hosts.
    pub tally: Tally,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Come(usize),
    Leave(usize),
    Crash(usize),
    Look,
    Partition,
}

struct Run {
    settings: Settings,
    sim: Simulator<What>,
    watcher: Watcher,
    pilots: Vec<Pilot>,
    /// The counts of each host's earlier lives.
    past: Vec<Tally>,
    /// When two hosts may connect again, the lower first.
    again: BTreeMap<(usize, usize), Time>,
    contests: BTreeMap<ObjectPair, Vec<Contest>>,
    looks: u64,
    frames: u64,
    every_frame: u64,
    frame_bytes: (u64, u64),
    /// Sum, number and maximum.
    errors: (f64, u64, f64),
}

/// Runs it. `progress` is told how many seconds are done, of how many.
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
    let end = Time::from_micros(i64::from(settings.seconds) * 1_000_000 + DRAIN_US);
    let total = (end.micros() / 1_000_000) as u32;
    while let Some(turn) = run.sim.next(end) {
        if matches!(turn, Happened::Planned(What::Look)) {
            progress((run.sim.now.micros() / 1_000_000) as u32, total);
        }
        run.take(turn);
    }
    progress(total, total);
    Ok(run.report(end))
}

impl Run {
    fn new(settings: Settings) -> Run {
        let mut sim = Simulator::new(settings.link, settings.seed);
        let lasting_us = i64::from(settings.seconds) * 1_000_000;
        for index in 0..settings.hosts {
            let node = NodeId::new(index as u64 + 1);
            let clock_us = CLOCK_US + i64::from(sim.random.whole(0, 4_000_000));
            sim.add(Machine { node: Some(node), clock_us, ..Machine::new(format!("host {}", index + 1), None) });
            let luck = sim.random.unit();
            let moment_us = i64::from(sim.random.whole(300_000, 700_000)) * lasting_us / 1_000_000;
            let mut comes_us = index as i64 * 1_117;
            // The first two stay: something has to be there to compare with.
            if settings.upsets && index >= 2 {
                match luck {
                    0.0..0.2 => comes_us = moment_us,
                    0.2..0.35 => sim.plan(moment_us, What::Leave(index)),
                    0.35..0.6 => sim.plan(moment_us, What::Crash(index)),
                    _ => {}
                }
            }
            sim.plan(comes_us, What::Come(index));
        }
        sim.plan(0, What::Look);
        if settings.upsets {
            sim.plan(4_000_000, What::Partition);
        }
        let pilot = |index: usize| Pilot::new(settings.seed.wrapping_mul(1_000).wrapping_add(index as u64));
        Run {
            sim,
            watcher: Watcher::new(&PROMISES),
            pilots: (0..settings.hosts).map(pilot).collect(),
            past: vec![Tally::default(); settings.hosts],
            again: BTreeMap::new(),
            contests: BTreeMap::new(),
            looks: 0,
            frames: 0,
            every_frame: 0,
            frame_bytes: (0, 0),
            errors: (0.0, 0, 0.0),
            settings,
        }
    }

    fn take(&mut self, turn: Happened<What>) {
        match turn {
            Happened::Due(index) => self.frame(index),
            Happened::Closed { machine, other, .. } => {
                let ends = (machine.min(other), machine.max(other));
                self.again.insert(ends, self.sim.now + AGAIN_US);
            }
            Happened::Planned(What::Come(index)) => self.come(index),
            Happened::Planned(What::Leave(index)) => {
                if let Some(peer) = self.sim.machines[index].peer_mut() {
                    peer.leave();
                }
                self.sim.carry_out(index);
                self.stop(index);
            }
            Happened::Planned(What::Crash(index)) => {
                self.stop(index);
                self.sim.plan(BACK_US, What::Come(index));
            }
            Happened::Planned(What::Look) => {
                self.mend();
                self.look(false);
                self.sim.plan(LOOK_US, What::Look);
            }
            Happened::Planned(What::Partition) => self.partition(),
            Happened::Heard { .. } | Happened::Died(_) => {}
        }
        self.sim.sent.clear();
    }

    fn come(&mut self, index: usize) {
        let here = self.sim.machines[index].here(self.sim.now);
        let settings = NewPeer {
            node: NodeId::new(index as u64 + 1),
            name: self.sim.machines[index].name.clone(),
            frame_us: FRAME_US,
            settings: self.settings.rules,
        };
        let Settings { hosts, cell, .. } = self.settings;
        let mut peer = Peer::new(settings, hall::hall(hosts, cell), here).expect("hosts count from one");
        let new = NewObject {
            index: 1,
            radius: hall::RADIUS,
            aura: hall::AURA,
            place: hall::start(index, hosts, cell),
            velocity: self.pilots[index].first_velocity(),
        };
        peer.add(new, here).expect("the first object of a host is one");
        self.sim.start(index, Actor::Peer(Box::new(peer)));
        self.mend();
    }

    fn stop(&mut self, index: usize) {
        if let Some(Actor::Peer(peer)) = self.sim.kill(index) {
            self.past[index].add(peer.tally());
        }
    }

    /// Connects all hosts that are there and are not connected.
    fn mend(&mut self) {
        let now = self.sim.now;
        for (one, other) in pairs(self.settings.hosts) {
            let is_there = [one, other].iter().all(|&host| self.sim.machines[host].peer().is_some());
            let is_cut = self.sim.cut_until(one, other).is_some_and(|until| until > now);
            let may = self.again.get(&(one, other)).is_none_or(|&at| at <= now) && !is_cut;
            if is_there && may && self.sim.linked_since(one, other).is_none() {
                self.sim.connect([one, other], [0, 0]);
            }
        }
    }

    /// Cuts the hosts into two halves that do not hear each other.
    fn partition(&mut self) {
        let now = self.sim.now;
        if now.micros() >= i64::from(self.settings.seconds) * 1_000_000 {
            return;
        }
        let span_us = i64::from(self.sim.random.whole(300_000, CUT_US_MAX));
        let sides: Vec<bool> = (0..self.settings.hosts).map(|_| self.sim.random.unit() < 0.5).collect();
        for (one, other) in pairs(self.settings.hosts) {
            if sides[one] != sides[other] && self.sim.linked_since(one, other).is_some() {
                self.sim.cut(one, other, now + span_us);
            }
        }
        let pause_us = i64::from(self.sim.random.whole(2_000_000, 8_000_000));
        self.sim.plan(span_us + pause_us, What::Partition);
    }

    fn frame(&mut self, index: usize) {
        let now = self.sim.now;
        if let Some(peer) = self.sim.machines[index].peer_mut() {
            let velocity = peer.own().next().map(|(_, state)| state.vel);
            velocity.into_iter().for_each(|velocity| peer.steer(1, self.pilots[index].steer(now, velocity)));
        }
        self.sim.wake(index);
        self.frames += 1;
        let Some(peer) = self.sim.machines[index].peer_mut() else { return };
        self.every_frame += peer.hearers(1).len() as u64;
        let happenings: Vec<Happening> = std::iter::from_fn(|| peer.next_happening()).collect();
        for happening in happenings {
            match happening {
                Happening::Met { pair, contact } => {
                    let is_cut_off = self.is_cut_off(pair);
                    self.contest(pair, contact).is_cut_off |= is_cut_off;
                }
                Happening::Decided(verdict) => self.contest(verdict.pair, verdict.contact).decided.push(verdict),
                Happening::Kept(verdict) => {
                    self.contest(verdict.pair, verdict.contact).kept.insert(index, (now, verdict));
                }
                Happening::Joined(_) | Happening::Left(_) | Happening::Dropped { .. } => {}
            }
        }
        if self.frames.is_multiple_of(7) {
            self.picture(index);
        }
    }

    fn contest(&mut self, pair: ObjectPair, contact: Time) -> &mut Contest {
        let (met_at, overlap_us) = (self.sim.now, self.settings.rules.overlap_us);
        let known = self.contests.entry(pair).or_default();
        let is_same = |contest: &Contest| (contest.contact - contact).abs() <= overlap_us;
        let place = known.iter().rposition(is_same).unwrap_or_else(|| {
            known.push(Contest { contact, met_at, is_cut_off: false, decided: Vec::new(), kept: BTreeMap::new() });
            known.len() - 1
        });
        &mut known[place]
    }

    /// Whether what the owners of two objects would decide by cannot have reached them: a partition, or a crash.
    fn is_cut_off(&self, pair: ObjectPair) -> bool {
        let [one, other] = owners(pair);
        let PeerSettings { epoch_us, .. } = self.settings.rules;
        let before_us = i64::from(self.settings.rules.delay()) * epoch_us;
        [one, other].iter().any(|&host| self.sim.machines[host].peer().is_none())
            || self.sim.linked_since(one, other).is_none()
            || self.sim.cut_until(one, other).is_some_and(|until| self.sim.now - until < before_us)
    }

    /// How far others are from where a host sees them.
    fn picture(&mut self, index: usize) {
        let (now, machine) = (self.sim.now, &self.sim.machines[index]);
        let Some(peer) = machine.peer() else { return };
        let Some((own, state)) = peer.own().next() else { return };
        let update = motion::Update {
            owner: peer.node(),
            object: own,
            seq: motion::state::Sequence::new(1_000),
            algorithm: motion::Algorithm::Fvw,
            state,
            trend: motion::trend::Trend::default(),
            flags: motion::state::Flags::NONE,
        };
        self.frame_bytes.0 += report_bytes(peer::steps::to_wire(&update, state.stamp), state.stamp);
        self.frame_bytes.1 += 1;
        if now - machine.since < SETTLED_US {
            return;
        }
        for (object, seen) in peer.others() {
            let Some((host, truth)) = truth(object, now, &self.sim.machines) else { continue };
            let is_near = (truth - state.pos).length() < 2.0 * f64::from(hall::AURA);
            if !is_near || now - self.sim.machines[host].since < SETTLED_US {
                continue;
            }
            let error = (seen.pos - truth).length();
            self.errors = (self.errors.0 + error, self.errors.1 + 1, self.errors.2.max(error));
        }
    }

    /// Gathers facts, and lets all promises look at them.
    fn look(&mut self, is_over: bool) {
        let (now, machines) = (self.sim.now, &self.sim.machines);
        let owned = machines.iter().enumerate().flat_map(|(host, machine)| {
            let own = machine.peer().into_iter().flat_map(Peer::own);
            own.map(move |(object, _)| Owning {
                object,
                host,
                is_right: name::owner(object) == NodeId::new(host as u64 + 1),
            })
        });
        let treated = machines.iter().enumerate().map(|(host, machine)| {
            let now_refused = machine.peer().map_or(0, |peer| peer.tally().refused.total());
            let complaints = self.past[host].refused.total() + now_refused;
            Treated { host, name: machine.name.clone(), complaints, sent_away: None }
        });
        let since: Vec<Option<Time>> = machines.iter().map(|machine| machine.peer().map(|_| machine.since)).collect();
        let mut observed = Observed {
            now,
            is_over,
            patience_us: AUDIENCE_US - 1,
            owned: Some(owned.collect()),
            treated: treated.collect(),
            hearings: Some(self.hearings()),
            ..Observed::default()
        };
        if self.looks.is_multiple_of(10) || is_over {
            let linked = pairs(self.settings.hosts)
                .filter_map(|ends| self.sim.linked_since(ends.0, ends.1).map(|since| (ends, since)));
            let linked_since = linked.collect();
            let contact_us = self.settings.rules.overlap_us;
            observed.peers = Some(SeenPeers { verdicts: self.verdicts(), contact_us, since: &since, linked_since });
        }
        self.looks += 1;
        self.sim.meddle(&mut observed);
        self.watcher.look(&observed);
    }

    fn hearings(&self) -> Vec<Earshot> {
        let now = self.sim.now;
        let place = |host: usize| {
            let (object, _) = self.sim.machines[host].peer()?.own().next()?;
            truth(object, now, &self.sim.machines).map(|(_, place)| (object, place))
        };
        let places: Vec<Option<(ObjectId, DVec3)>> = (0..self.settings.hosts).map(place).collect();
        let mut hearings = Vec::new();
        for (one, other) in pairs(self.settings.hosts) {
            let (Some((first, here)), Some((second, there))) = (places[one], places[other]) else { continue };
            let Some(linked) = self.sim.linked_since(one, other) else { continue };
            let metres = (here - there).length();
            let calm_since = linked.max(self.sim.cut_until(one, other).unwrap_or(linked));
            for (host, speaker, to, listener) in [(one, first, other, second), (other, second, one, first)] {
                let (Some(speaks), Some(listens)) = (self.sim.machines[host].peer(), self.sim.machines[to].peer())
                else {
                    continue;
                };
                let is_told = speaks.hearers(1).contains(&NodeId::new(to as u64 + 1));
                let is_heard = is_told && listens.others().any(|(seen, _)| seen == speaker);
                let is_near = metres < 2.0 * f64::from(hall::AURA);
                hearings.push(Earshot { listener, speaker, metres, is_near, is_far: false, is_heard, calm_since });
            }
        }
        hearings
    }

    fn verdicts(&self) -> Vec<HeldVerdict> {
        let mut all = Vec::new();
        for (host, machine) in self.sim.machines.iter().enumerate() {
            let mut verdicts: Vec<Verdict> = machine.peer().into_iter().flat_map(Peer::verdicts).collect();
            verdicts.sort_by_key(|verdict| (verdict.pair, verdict.contact));
            all.extend(verdicts.into_iter().map(|verdict| {
                let owners = owners(verdict.pair);
                // By the clock of the lower owner, put right.
                let moment = verdict.contact + -self.sim.machines[owners[0]].clock_us;
                HeldVerdict { host, verdict, moment, owners }
            }));
        }
        all
    }

    fn report(mut self, end: Time) -> Report {
        self.sim.now = end;
        self.look(true);
        let mut tally = Tally::default();
        self.past.iter().for_each(|past| tally.add(past));
        self.sim.machines.iter().filter_map(Machine::peer).for_each(|peer| tally.add(peer.tally()));
        let seconds = (self.frames as f64 * FRAME_US as f64 * 1e-6).max(1e-9);
        let frame_bytes = self.frame_bytes.0 as f64 / self.frame_bytes.1.max(1) as f64;
        let mut outcomes = Outcomes::default();
        let old = |contest: &&Contest| end - contest.met_at >= DRAIN_US;
        self.contests.values().flatten().filter(old).for_each(|contest| outcomes.count(contest));
        Report {
            promises: self.watcher.promises(),
            outcomes,
            error_mean: self.errors.0 / self.errors.1.max(1) as f64,
            error_max: self.errors.2,
            messages_per_s: (tally.datagrams_sent + tally.messages_sent) as f64 / seconds,
            bytes_per_s: tally.bytes_sent as f64 / seconds,
            motions_per_s: tally.motions_sent as f64 / seconds,
            every_frame_per_s: self.every_frame as f64 / seconds,
            every_frame_bytes_per_s: self.every_frame as f64 * frame_bytes / seconds,
            tally,
        }
    }
}

/// All pairs of hosts, the lower first.
fn pairs(hosts: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..hosts).flat_map(move |one| (one + 1..hosts).map(move |other| (one, other)))
}

/// How many bytes a report with one motion has.
fn report_bytes(motion: MotionUpdate, stamp: Time) -> u64 {
    let report = MotionReport { time_us: stamp.micros(), motions: vec![motion], ..MotionReport::default() };
    ToPeer::Report(report).encode().len() as u64
}

/// The host that owns an object.
fn host_of(object: ObjectId) -> usize {
    (name::owner(object).number() as usize).saturating_sub(1)
}

fn owners(pair: ObjectPair) -> [usize; 2] {
    pair.objects().map(host_of)
}

/// The host of an object, and where the object is at a true moment.
fn truth(object: ObjectId, now: Time, machines: &[Machine]) -> Option<(usize, DVec3)> {
    let host = host_of(object);
    let machine = machines.get(host)?;
    let (_, state) = machine.peer()?.own().find(|(own, _)| *own == object)?;
    Some((host, state.pos + state.vel * machine.here(now).seconds_since(state.stamp)))
}

//! Sees all hosts at once: whether their promises hold, how wrong their pictures are, and what became of each contest.

use std::collections::BTreeMap;

use motion::decision::{ObjectPair, Verdict};
use peer::Happening;
use peer::settings::PeerSettings;
use peer::tally::Tally;
use space::{DVec3, ObjectId, Time};
use wire::ToPeer;
use wire::peer::{MotionUpdate, Report, name};

use super::fault::{self, Fault};
use super::network::Mesh;
use super::outcomes::{Contest, Outcomes};
use super::{DRAIN_US, FRAME_US, Host, Settings, hall};
use crate::promise::Promises;

/// What peers promise.
pub mod promise {
    /// No host keeps two verdicts about one contact.
    pub const ONE_VERDICT: &str = "one verdict is kept about a contact";
    /// After delivery.
    pub const SAME: &str = "all hosts keep the same verdicts";
    /// By its name, and only by it.
    pub const ONE_OWNER: &str = "every object has one owner";
    /// Within [`super::AUDIENCE_US`].
    pub const AUDIENCE: &str = "audiences are complete";
    /// Peers that follow the rules believe each other.
    pub const HONEST: &str = "nothing honest is refused";
    /// All of them.
    pub const ALL: [&str; 5] = [ONE_VERDICT, SAME, ONE_OWNER, AUDIENCE, HONEST];
}

/// Who is within another's aura, and connected, is heard after this, in microseconds, where a fifth of all packets is lost:
/// `docs/peers.md` derives it.
pub const AUDIENCE_US: i64 = 4_000_000;
/// A host that came, or a link that was made, so long ago has all that it needs, in microseconds.
const SETTLED_US: i64 = 3_000_000;
/// Verdicts of this age have arrived everywhere, and are not forgotten yet, in microseconds.
const ARCHIVED_US: std::ops::RangeInclusive<i64> = 8_000_000..=12_000_000;

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The promises.
    pub promises: Promises,
    /// What became of contests.
    pub outcomes: Outcomes,
    /// Where others are seen and where they are, in metres: mean over all pictures of objects in aura.
    pub error_mean: f64,
    /// The largest.
    pub error_max: f64,
    /// Messages, datagrams and others, per host and second.
    pub messages_per_s: f64,
    /// Their bytes.
    pub bytes_per_s: f64,
    /// Updates of objects in them, per host and second.
    pub motions_per_s: f64,
    /// Messages per host and second if every frame were sent to the same audience.
    pub every_frame_per_s: f64,
    /// Their bytes.
    pub every_frame_bytes_per_s: f64,
    /// All counts of all hosts.
    pub tally: Tally,
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
#[derive(Debug)]
pub(super) struct Watcher {
    fault: Option<Fault>,
    rules: PeerSettings,
    promises: Promises,
    contests: BTreeMap<ObjectPair, Vec<Contest>>,
    /// By host: pair, contact, verdict.
    archives: BTreeMap<usize, BTreeMap<(ObjectPair, Time), Verdict>>,
    near_since: BTreeMap<(usize, usize), Time>,
    /// Both ends of a verdict's link since when, as far as is known at the end.
    linked_since: BTreeMap<(usize, usize), Time>,
    looks: u64,
    frames: u64,
    every_frame: u64,
    frame_bytes: (u64, u64),
    errors: (f64, u64, f64),
}

impl Watcher {
    pub fn new(settings: &Settings) -> Watcher {
        Watcher {
            fault: settings.fault,
            rules: settings.rules,
            promises: Promises::new(promise::ALL),
            contests: BTreeMap::new(),
            archives: BTreeMap::new(),
            near_since: BTreeMap::new(),
            linked_since: BTreeMap::new(),
            looks: 0,
            frames: 0,
            every_frame: 0,
            frame_bytes: (0, 0),
            errors: (0.0, 0, 0.0),
        }
    }

    /// A host had a frame.
    pub fn frame(&mut self, now: Time, index: usize, hosts: &mut [Host], mesh: &Mesh) {
        self.frames += 1;
        let Some(peer) = &mut hosts[index].peer else { return };
        self.every_frame += peer.hearers(1).len() as u64;
        let happenings: Vec<Happening> = std::iter::from_fn(|| peer.next_happening()).collect();
        for happening in happenings {
            match happening {
                Happening::Met { pair, contact } => {
                    let is_cut_off = self.is_cut_off(pair, now, hosts, mesh);
                    self.contest(pair, contact, now).is_cut_off |= is_cut_off;
                }
                Happening::Decided(verdict) => self.contest(verdict.pair, verdict.contact, now).decided.push(verdict),
                Happening::Kept(verdict) => {
                    self.contest(verdict.pair, verdict.contact, now).kept.insert(index, (now, verdict));
                }
                Happening::Joined(_) | Happening::Left(_) | Happening::Dropped { .. } => {}
            }
        }
        if self.frames.is_multiple_of(7) {
            self.picture(now, index, hosts);
        }
    }

    fn contest(&mut self, pair: ObjectPair, contact: Time, now: Time) -> &mut Contest {
        let overlap_us = self.rules.overlap_us;
        let known = self.contests.entry(pair).or_default();
        let is_same = |contest: &Contest| (contest.contact - contact).abs() <= overlap_us;
        let place = known.iter().rposition(is_same).unwrap_or_else(|| {
            known.push(Contest { contact, met_at: now, is_cut_off: false, decided: Vec::new(), kept: BTreeMap::new() });
            known.len() - 1
        });
        &mut known[place]
    }

    /// Whether what the owners of two objects would decide by cannot have reached them: a partition, or a crash.
    fn is_cut_off(&self, pair: ObjectPair, now: Time, hosts: &[Host], mesh: &Mesh) -> bool {
        let [one, other] = owners(pair, hosts);
        let before_us = i64::from(self.rules.delay()) * self.rules.epoch_us;
        hosts[one].peer.is_none()
            || hosts[other].peer.is_none()
            || mesh.linked_since(one, other).is_none()
            || mesh.cut_until(one, other).is_some_and(|until| now - until < before_us)
    }

    /// How far others are from where a host sees them.
    fn picture(&mut self, now: Time, index: usize, hosts: &[Host]) {
        let Some(peer) = &hosts[index].peer else { return };
        let Some((own, state)) = peer.own().next() else { return };
        let motion = peer::steps::to_wire(
            &motion::Update {
                owner: peer.node(),
                object: own,
                seq: motion::state::Sequence::new(1_000),
                algorithm: motion::Algorithm::Fvw,
                state,
                trend: motion::trend::Trend::default(),
                flags: motion::state::Flags::NONE,
            },
            state.stamp,
        );
        self.frame_bytes.0 += report_bytes(motion, state.stamp);
        self.frame_bytes.1 += 1;
        if now - hosts[index].since < SETTLED_US {
            return;
        }
        for (object, seen) in peer.others() {
            let Some((host, truth)) = truth(object, now, hosts) else { continue };
            let is_near = (truth - state.pos).length() < 2.0 * f64::from(hall::AURA);
            if !is_near || now - hosts[host].since < SETTLED_US {
                continue;
            }
            let error = (seen.pos - truth).length();
            self.errors = (self.errors.0 + error, self.errors.1 + 1, self.errors.2.max(error));
        }
    }

    /// Looks at all promises that can be looked at now.
    pub fn look(&mut self, now: Time, hosts: &[Host], mesh: &Mesh) {
        self.look_at_owners(now, hosts);
        self.look_at_audiences(now, hosts, mesh);
        self.looks += 1;
        if self.looks.is_multiple_of(10) {
            self.look_at_verdicts(now, hosts, mesh);
        }
    }

    fn look_at_owners(&mut self, now: Time, hosts: &[Host]) {
        let mut owners: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for (index, host) in hosts.iter().enumerate() {
            for (object, _) in host.peer.iter().flat_map(|peer| peer.own()) {
                let is_first = owners.insert(object, index).is_none();
                let is_named = name::owner(object) == host.node;
                self.promises.check(promise::ONE_OWNER, is_first && is_named, || format!("{object} at {now}"));
            }
        }
    }

    fn look_at_audiences(&mut self, now: Time, hosts: &[Host], mesh: &Mesh) {
        for speaker in 0..hosts.len() {
            for listener in 0..hosts.len() {
                if speaker == listener || hosts[speaker].node == hosts[listener].node {
                    continue;
                }
                let linked = mesh.linked_since(speaker, listener);
                let place = |index: usize| {
                    let (object, _) = hosts[index].peer.as_ref()?.own().next()?;
                    truth(object, now, hosts).map(|(_, place)| (object, place))
                };
                let (Some(linked), Some((object, one)), Some((_, other))) = (linked, place(speaker), place(listener))
                else {
                    self.near_since.remove(&(speaker, listener));
                    continue;
                };
                if (one - other).length() >= 2.0 * f64::from(hall::AURA) {
                    self.near_since.remove(&(speaker, listener));
                    continue;
                }
                let near = *self.near_since.entry((speaker, listener)).or_insert(now);
                let healed = mesh.cut_until(speaker, listener).unwrap_or(linked);
                if now - near.max(linked).max(healed) < AUDIENCE_US {
                    continue;
                }
                let (Some(speaks), Some(listens)) = (&hosts[speaker].peer, &hosts[listener].peer) else { continue };
                let is_told = speaks.hearers(1).contains(&hosts[listener].node);
                let is_seen = listens.others().any(|(seen, _)| seen == object);
                self.promises.check(promise::AUDIENCE, is_told && is_seen, || {
                    format!("host {} of host {} at {now}", listener + 1, speaker + 1)
                });
            }
        }
    }

    fn look_at_verdicts(&mut self, now: Time, hosts: &[Host], mesh: &Mesh) {
        for one in 0..hosts.len() {
            for other in 0..hosts.len() {
                if let Some(since) = mesh.linked_since(one, other).filter(|_| one != other) {
                    self.linked_since.insert((one, other), since);
                }
            }
        }
        for (index, host) in hosts.iter().enumerate() {
            let Some(peer) = &host.peer else { continue };
            let mut verdicts: Vec<Verdict> = peer.verdicts().collect();
            fault::seen(self.fault, index, &mut verdicts);
            verdicts.sort_by_key(|verdict| (verdict.pair, verdict.contact));
            for two in verdicts.windows(2).filter(|two| two[0].pair == two[1].pair) {
                let is_apart = two[1].contact - two[0].contact > self.rules.overlap_us;
                self.promises.check(promise::ONE_VERDICT, is_apart, || format!("host {} at {now}: {two:?}", index + 1));
            }
            for verdict in verdicts {
                if ARCHIVED_US.contains(&(now - true_time(&verdict, hosts))) {
                    self.archives.entry(index).or_default().insert((verdict.pair, verdict.contact), verdict);
                }
            }
        }
    }

    /// Whoever was there long enough before a contact, and still is, holds the same verdict about it.
    fn compare(&mut self, now: Time, hosts: &[Host]) {
        let mut all: BTreeMap<(ObjectPair, Time), Vec<Verdict>> = BTreeMap::new();
        for archive in self.archives.values() {
            for (&key, &verdict) in archive {
                let known = all.entry(key).or_default();
                if !known.contains(&verdict) {
                    known.push(verdict);
                }
            }
        }
        let since = |index: usize| hosts[index].peer.as_ref().map(|_| hosts[index].since);
        let was_there = |index: usize, moment: Time| since(index).is_some_and(|since| moment - since >= SETTLED_US);
        let mut found = Vec::new();
        for (key, verdicts) in &all {
            let verdict = verdicts[0];
            let moment = true_time(&verdict, hosts);
            let owners = owners(verdict.pair, hosts);
            let is_old = now - moment > *ARCHIVED_US.end() + 1_000_000;
            if !is_old || !owners.iter().all(|&owner| was_there(owner, moment)) {
                continue;
            }
            for index in (0..hosts.len()).filter(|&index| was_there(index, moment)) {
                let is_linked = owners.iter().all(|&owner| {
                    let since = self.linked_since.get(&(owner, index));
                    owner == index || since.is_some_and(|&since| moment - since >= SETTLED_US)
                });
                if !is_linked {
                    continue;
                }
                let held = self.archives.get(&index).and_then(|archive| archive.get(key));
                let is_same = verdicts.len() == 1 && held == Some(&verdict);
                let text = || format!("host {} about {key:?}: {held:?}, others {verdicts:?}", index + 1);
                found.push((!is_same).then(text));
            }
        }
        for text in found {
            self.promises.check(promise::SAME, text.is_none(), || text.unwrap_or_default());
        }
    }

    pub fn finish(mut self, now: Time, hosts: &[Host]) -> Measured {
        self.compare(now, hosts);
        let mut tally = Tally::default();
        for host in hosts {
            tally.add(&host.past);
            if let Some(peer) = &host.peer {
                tally.add(peer.tally());
            }
            let refused = host.peer.as_ref().map_or(0, |peer| peer.tally().refused.total()) + host.past.refused.total();
            let text = || format!("{}: {:?}", host.node, host.peer.as_ref().map(|peer| peer.tally().refused));
            self.promises.check(promise::HONEST, refused == 0, text);
        }
        let seconds = (self.frames as f64 * FRAME_US as f64 * 1e-6).max(1e-9);
        let frame_bytes = self.frame_bytes.0 as f64 / self.frame_bytes.1.max(1) as f64;
        let mut measured = Measured {
            promises: self.promises,
            error_mean: self.errors.0 / self.errors.1.max(1) as f64,
            error_max: self.errors.2,
            messages_per_s: (tally.datagrams_sent + tally.messages_sent) as f64 / seconds,
            bytes_per_s: tally.bytes_sent as f64 / seconds,
            motions_per_s: tally.motions_sent as f64 / seconds,
            every_frame_per_s: self.every_frame as f64 / seconds,
            every_frame_bytes_per_s: self.every_frame as f64 * frame_bytes / seconds,
            tally,
            ..Measured::default()
        };
        for contest in self.contests.values().flatten().filter(|contest| now - contest.met_at >= DRAIN_US) {
            measured.outcomes.count(contest);
        }
        measured
    }
}

/// How many bytes a report with one motion has.
fn report_bytes(motion: MotionUpdate, stamp: Time) -> u64 {
    let report = Report { time_us: stamp.micros(), motions: vec![motion], ..Report::default() };
    ToPeer::Report(report).encode().len() as u64
}

/// Whose an object is, and where it is at a true moment.
fn truth(object: ObjectId, now: Time, hosts: &[Host]) -> Option<(usize, DVec3)> {
    let index = hosts.iter().position(|host| host.node == name::owner(object))?;
    let host = &hosts[index];
    let (_, state) = host.peer.as_ref()?.own().find(|(own, _)| *own == object)?;
    Some((index, state.pos + state.vel * host.here(now).seconds_since(state.stamp)))
}

/// When a verdict's contact was: by the clock of the lower owner, put right.
fn true_time(verdict: &Verdict, hosts: &[Host]) -> Time {
    let lower = owners(verdict.pair, hosts)[0];
    verdict.contact + -hosts[lower].clock_us
}

fn owners(pair: ObjectPair, hosts: &[Host]) -> [usize; 2] {
    let [low, high] = pair.objects();
    let index = |object: ObjectId| hosts.iter().position(|host| host.node == name::owner(object)).unwrap_or(0);
    [index(low), index(high)]
}

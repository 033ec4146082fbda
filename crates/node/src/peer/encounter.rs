//! A pair of one own object and one of another peer: watched while the two may meet, with what both said about it at
//! each epoch, and so with who decides when they do.
//!
//! Either peer begins to watch when it thinks that the two may meet, and says from which epoch on. The episode begins at
//! the later of the two. Whoever lacks a digest that is no longer repeated begins again, and the other follows.

use std::collections::{BTreeMap, VecDeque};

use motion::decision::{Claim, Digest, Docket, Episode, EpisodeSettings, ObjectPair, Standing, Tentative};
use space::{NodeId, ObjectId, Time};
use wire::peer::{self, name};

use super::owned::Body;
use super::rules::Rules;
use super::steps;

/// Digests of either side that are remembered.
const DIGESTS_MAX: usize = 64;
/// Digests may be of so many epochs ahead: clocks differ.
const AHEAD_MAX: u32 = 3;
/// Claims that wait for an answer.
const CLAIMS_MAX: usize = 4;
/// Terms whose decider is remembered.
const TERMS_MAX: usize = 16;
/// A pair that may no longer meet is watched on for so long, in microseconds.
const QUIET_US: i64 = 600_000;

/// A pair.
#[derive(Clone, Debug)]
pub struct Encounter {
    /// The own object, as it is counted.
    pub own: u32,
    /// The other.
    pub other: ObjectId,
    /// Both.
    pub pair: ObjectPair,
    /// What this peer decided about it.
    pub docket: Docket,
    /// The response that waits for a verdict, and the body as it would be without.
    pub tentative: Option<(Tentative, Body)>,
    /// Whether they met and have not been apart since.
    pub is_engaged: bool,
    /// When it was of use last.
    pub used_at: Time,
    hosts: [NodeId; 2],
    settings: EpisodeSettings,
    repeats: u32,
    every: u32,
    watch: Option<OwnWatch>,
    heard_first: Option<u32>,
    heard: BTreeMap<u32, Digest>,
    episode: Option<(u32, Episode)>,
    terms: VecDeque<(u32, NodeId)>,
    is_lost: bool,
    /// The newest epoch of which this peer made a digest: nothing is said twice about one.
    said: Option<u32>,
    claims: Vec<Claim>,
}

/// What this peer said.
#[derive(Clone, Debug)]
struct OwnWatch {
    first: u32,
    digests: VecDeque<Digest>,
    quiet_since: Option<Time>,
}

impl Encounter {
    /// A pair that was never close. `radius` is the sum of the two, in metres.
    pub fn new(node: NodeId, own: ObjectId, other: ObjectId, radius: f64, rules: &Rules, now: Time) -> Encounter {
        let radius = libm::rint(radius * motion::decision::policy::STEPS_PER_METRE as f64) as i64;
        Encounter {
            own: name::index(own),
            other,
            pair: ObjectPair::new(own, other),
            docket: Docket::new(node, rules.overlap_us),
            tentative: None,
            is_engaged: false,
            used_at: now,
            hosts: [node, name::owner(other)],
            settings: rules.episode(radius),
            repeats: rules.repeats.clamp(1, peer::Report::DIGESTS_MAX as u32),
            every: rules.every.clamp(1, rules.repeats.max(1)),
            watch: None,
            heard_first: None,
            heard: BTreeMap::new(),
            episode: None,
            terms: VecDeque::new(),
            is_lost: false,
            said: None,
            claims: Vec::new(),
        }
    }

    /// Whether this peer makes digests for it.
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Whether the other peer does.
    pub fn is_watched_there(&self, epoch: u32) -> bool {
        let newest = self.heard.last_key_value().map(|(&newest, _)| newest);
        newest.is_some_and(|newest| newest.saturating_add(self.settings.delay) >= epoch)
    }

    /// Goes on watching, or begins, or ends; returns what to say, in some epochs. `digest` is the own object now.
    pub fn look(&mut self, may_meet: bool, epoch: u32, digest: Digest, now: Time) -> Option<peer::Watch> {
        if may_meet {
            self.used_at = now;
        }
        if self.is_lost {
            self.watch = None;
            self.is_lost = false;
        }
        match (&mut self.watch, may_meet) {
            (None, false) => return None,
            (None, true) => self.begin(epoch),
            (Some(watch), true) => watch.quiet_since = None,
            (Some(watch), false) => {
                let since = *watch.quiet_since.get_or_insert(now);
                if now - since > QUIET_US {
                    self.watch = None;
                    self.episode = None;
                    return None;
                }
            }
        }
        if self.said.is_some_and(|said| said >= epoch) {
            return None;
        }
        // A peer that slept through more epochs than a report repeats begins again.
        if self.newest_own().is_some_and(|newest| epoch - newest > self.repeats) {
            self.begin(epoch);
        }
        self.said = Some(epoch);
        let watch = self.watch.as_mut()?;
        let is_first = watch.digests.is_empty();
        let from = watch.digests.back().map_or(watch.first, |newest| newest.epoch + 1);
        for missing in from..=epoch {
            let digest = Digest { epoch: missing, ..digest };
            if watch.digests.len() == DIGESTS_MAX {
                watch.digests.pop_front();
            }
            watch.digests.push_back(digest);
            if let Some((_, episode)) = &mut self.episode {
                episode.handle(self.hosts[0], digest);
            }
        }
        // All pairs in the same epochs: what is sent together is one message. Who begins says so at once, so that the other
        // begins too.
        if !is_first && !epoch.is_multiple_of(self.every) {
            self.renew();
            return None;
        }
        let said = watch.digests.iter().rev().take(self.repeats as usize);
        let watch = peer::Watch {
            own: self.own,
            other: name::index(self.other),
            first: watch.first,
            newest: epoch,
            digests: said.map(steps::digest_to_wire).collect(),
        };
        self.renew();
        Some(watch)
    }

    /// Takes in what the other peer says. `false` if it cannot be: digests of the future, or that say otherwise than
    /// before; nothing of it is taken in then.
    pub fn hear(&mut self, watch: &peer::Watch, epoch: u32) -> bool {
        let digests = || {
            let epochs = (0..=watch.newest).rev();
            epochs.zip(&watch.digests).map(|(epoch, digest)| steps::digest_from_wire(epoch, digest))
        };
        let is_contradiction = |digest: Digest| self.heard.get(&digest.epoch).is_some_and(|held| *held != digest);
        if watch.newest > epoch.saturating_add(AHEAD_MAX) || digests().any(is_contradiction) {
            return false;
        }
        if self.heard_first.is_none_or(|known| watch.first > known) {
            self.heard_first = Some(watch.first);
        }
        for digest in digests() {
            self.heard.insert(digest.epoch, digest);
            if let Some((_, episode)) = &mut self.episode {
                episode.handle(self.hosts[1], digest);
            }
        }
        while self.heard.len() > DIGESTS_MAX {
            self.heard.pop_first();
        }
        self.renew();
        true
    }

    /// How this peer stands.
    pub fn standing(&mut self, epoch: u32) -> Standing {
        let Some((_, episode)) = &mut self.episode else { return Standing::Outside };
        let standing = episode.standing(epoch);
        match standing {
            Standing::InTerm { term, decider } if self.terms.back().is_none_or(|last| last.0 != term) => {
                if self.terms.len() == TERMS_MAX {
                    self.terms.pop_front();
                }
                self.terms.push_back((term, decider));
            }
            // What was repeated for the last time will not come any more.
            Standing::Uninformed { epoch: missing } => {
                let newest = self.heard.last_key_value().map_or(0, |(&newest, _)| newest);
                self.is_lost = !self.heard.contains_key(&missing) && newest >= missing.saturating_add(self.repeats);
            }
            _ => {}
        }
        standing
    }

    /// Who decides in a term, if this peer knows.
    pub fn decider(&self, term: u32) -> Option<NodeId> {
        self.terms.iter().find(|known| known.0 == term).map(|known| known.1)
    }

    /// The other peer waits for a verdict. `false` if too many do.
    pub fn claimed(&mut self, claim: Claim) -> bool {
        let is_room = self.claims.len() < CLAIMS_MAX;
        if is_room && !self.claims.contains(&claim) {
            self.claims.push(claim);
        }
        is_room
    }

    /// The next claim that has waited until `before` was contact time, by the pair's clock.
    pub fn next_claim(&mut self, before: Time) -> Option<Claim> {
        let at = self.claims.iter().position(|claim| claim.contact <= before)?;
        Some(self.claims.remove(at))
    }

    fn newest_own(&self) -> Option<u32> {
        self.watch.as_ref()?.digests.back().map(|digest| digest.epoch)
    }

    fn begin(&mut self, epoch: u32) {
        let first = self.said.map_or(epoch, |said| epoch.max(said + 1));
        self.watch = Some(OwnWatch { first, digests: VecDeque::new(), quiet_since: None });
    }

    /// Both sides' first epochs say where the episode begins; when that changes it begins anew, with all that is held.
    fn renew(&mut self) {
        let (Some(watch), Some(heard_first)) = (&self.watch, self.heard_first) else { return };
        let first = watch.first.max(heard_first);
        if self.episode.as_ref().is_some_and(|(known, _)| *known == first) {
            return;
        }
        let mut episode = Episode::new(self.settings, self.hosts[0], self.hosts[1], first);
        for digest in watch.digests.iter().filter(|digest| digest.epoch >= first) {
            episode.handle(self.hosts[0], *digest);
        }
        for digest in self.heard.range(first..).map(|(_, digest)| digest) {
            episode.handle(self.hosts[1], *digest);
        }
        self.episode = Some((first, episode));
    }
}

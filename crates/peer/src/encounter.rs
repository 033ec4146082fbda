//! An encounter: a pair of an own object and one of another peer that may touch, with both sides' digests.
//!
//! ```text
//! epoch          first here      first there
//! ──────────────────┬───────────────┬──────────────▶
//! own digests       ├──────────────────────────────
//! their digests                     ├──────────────
//! episode                           ├──────────────   begins at the later first epoch
//! ```
//!
//! Either peer begins to watch when the two may touch, and says from which epoch on. A digest is sent until the other
//! peer has acknowledged it. A peer that lost more than can be sent again begins anew, and so does the other's episode.

use std::collections::{BTreeMap, VecDeque};

use motion::KinematicState;
use motion::decision::{Claim, Digest, Episode, EpisodeSettings, ObjectPair, OwnVerdicts, Standing, Tentative};
use space::{NodeId, ObjectId, Time};
use wire::peer::{self, name};

use super::owned::SteeredBall;
use super::settings::PeerSettings;
use super::steps;

/// The number of recent epochs whose digests are sent again.
const SENT_AGAIN: u32 = peer::Report::DIGESTS_MAX as u32;
/// The most digests of either side that are kept.
const DIGESTS_MAX: usize = 64;
/// A digest may be this many epochs ahead, as clocks differ.
const AHEAD_MAX: u32 = 3;
/// The most claims that wait for an answer.
const CLAIMS_MAX: usize = 4;
/// The number of terms whose decider is kept.
const TERMS_MAX: usize = 16;
/// A pair is watched for this time after it may last have touched, in microseconds.
const QUIET_US: i64 = 600_000;

/// An own object and a remote one that may touch.
#[derive(Clone, Debug)]
pub struct Encounter {
    /// The index of the own object.
    pub own: u32,
    pub other: ObjectId,
    pub pair: ObjectPair,
    /// The verdicts that this peer issued about it.
    pub issued: OwnVerdicts,
    /// What the own object does until a verdict arrives.
    pub response: Option<TentativeBounce>,
    /// Whether they touched and have not been apart since.
    pub is_engaged: bool,
    /// When it was last used.
    pub used_at: Time,
    hosts: [NodeId; 2],
    settings: EpisodeSettings,
    every: u32,
    watch: Option<OwnWatch>,
    /// The first epoch whose own digest the other peer lacks, by its newest message.
    lacked_there: u32,
    heard_first: Option<u32>,
    heard: BTreeMap<u32, Digest>,
    episode: Option<(u32, Episode)>,
    terms: VecDeque<(u32, NodeId)>,
    is_lost: bool,
    /// The newest epoch of an own digest. There is one digest per epoch.
    said: Option<u32>,
    claims: Vec<Claim>,
}

/// A bounce that this peer assumes until the verdict on its claim arrives.
#[derive(Clone, Copy, Debug)]
pub struct TentativeBounce {
    pub tentative: Tentative,
    /// The own object without the bounce.
    pub undisturbed: SteeredBall,
    /// The lower and the higher object after the contact, as this peer computed it.
    pub states: [KinematicState; 2],
}

#[derive(Clone, Debug)]
struct OwnWatch {
    first: u32,
    digests: VecDeque<Digest>,
    quiet_since: Option<Time>,
}

impl Encounter {
    /// A pair that is not watched. `radius` is the sum of both, in metres.
    pub fn new(
        node: NodeId,
        own: ObjectId,
        other: ObjectId,
        radius: f64,
        settings: &PeerSettings,
        now: Time,
    ) -> Encounter {
        let radius = libm::rint(radius * motion::decision::policy::STEPS_PER_METRE as f64) as i64;
        Encounter {
            own: name::index(own),
            other,
            pair: ObjectPair::new(own, other),
            issued: OwnVerdicts::new(node, settings.overlap_us),
            response: None,
            is_engaged: false,
            used_at: now,
            hosts: [node, name::owner(other)],
            settings: settings.episode(radius),
            every: settings.every.clamp(1, settings.repeats.max(1)),
            watch: None,
            lacked_there: 0,
            heard_first: None,
            heard: BTreeMap::new(),
            episode: None,
            terms: VecDeque::new(),
            is_lost: false,
            said: None,
            claims: Vec::new(),
        }
    }

    /// Whether this peer sends digests for it.
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Whether the other peer has done so recently.
    pub fn is_watched_there(&self, epoch: u32) -> bool {
        let newest = self.heard.last_key_value().map(|(&newest, _)| newest);
        newest.is_some_and(|newest| newest.saturating_add(self.settings.delay) >= epoch)
    }

    /// Begins, continues or ends watching. `digest` is that of the own object now. Returns the message to send, if one
    /// is due in this epoch.
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
        // After a gap of more epochs than can be sent again, watching begins anew.
        if self.newest_own().is_some_and(|newest| epoch - newest >= SENT_AGAIN) {
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
        // All pairs send in the same epochs, in one report. A peer that begins sends at once, so that the
        // other begins too.
        if !is_first && !epoch.is_multiple_of(self.every) {
            self.renew();
            return None;
        }
        self.renew();
        let lacks = self.lacks();
        let watch = self.watch.as_ref()?;
        let is_lacked = |digest: &&Digest| digest.epoch >= self.lacked_there.min(epoch);
        let said = watch.digests.iter().rev().take_while(is_lacked).take(SENT_AGAIN as usize);
        Some(peer::Watch {
            own: self.own,
            other: name::index(self.other),
            first: watch.first,
            newest: epoch,
            lacks,
            digests: said.map(steps::digest_to_wire).collect(),
        })
    }

    /// Takes in the other peer's digests. Returns `false`, without an effect, if one is of the future or contradicts
    /// an earlier one.
    pub fn hear(&mut self, watch: &peer::Watch, epoch: u32) -> bool {
        let digests = || {
            let epochs = (0..=watch.newest).rev();
            epochs.zip(&watch.digests).map(|(epoch, digest)| steps::digest_from_wire(epoch, digest))
        };
        let is_contradiction = |digest: Digest| self.heard.get(&digest.epoch).is_some_and(|held| *held != digest);
        if watch.newest > epoch.saturating_add(AHEAD_MAX) || digests().any(is_contradiction) {
            return false;
        }
        self.lacked_there = self.lacked_there.max(watch.lacks);
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

    /// The state of the episode in an epoch. In a term the pair may touch within the closing time. For that long the
    /// decider may decide without new digests, or no peer would decide during a network partition. The term may be over
    /// by then and another have begun: if both peers decide, all peers keep the verdict of the lower term.
    pub fn standing(&mut self, epoch: u32) -> Standing {
        let Some((_, episode)) = &mut self.episode else { return Standing::Outside };
        let mut standing = episode.standing(epoch);
        if let Standing::Uninformed { epoch: missing } = standing {
            // A digest that is not sent again any more is lost.
            let newest = self.heard.last_key_value().map_or(0, |(&newest, _)| newest);
            self.is_lost = !self.heard.contains_key(&missing) && newest >= missing.saturating_add(SENT_AGAIN);
            let lacking_us = i64::from(epoch.saturating_sub(missing)) * self.settings.epoch_us;
            if lacking_us <= self.settings.closing_us && matches!(episode.foreseen(), Standing::InTerm { .. }) {
                standing = episode.foreseen();
            }
        }
        if let Standing::InTerm { term, decider } = standing
            && self.terms.back().is_none_or(|last| last.0 != term)
        {
            if self.terms.len() == TERMS_MAX {
                self.terms.pop_front();
            }
            self.terms.push_back((term, decider));
        }
        standing
    }

    /// The decider of a term, if this peer knows it.
    pub fn decider(&self, term: u32) -> Option<NodeId> {
        self.terms.iter().find(|known| known.0 == term).map(|known| known.1)
    }

    /// Takes in a claim of the other peer. Returns `false` if there are too many.
    pub fn claimed(&mut self, claim: Claim) -> bool {
        let is_room = self.claims.len() < CLAIMS_MAX;
        if is_room && !self.claims.contains(&claim) {
            self.claims.push(claim);
        }
        is_room
    }

    /// Takes out a claim about a contact at or before a time of the pair's clock.
    pub fn next_claim(&mut self, before: Time) -> Option<Claim> {
        let at = self.claims.iter().position(|claim| claim.contact <= before)?;
        Some(self.claims.remove(at))
    }

    /// The first epoch whose digest of the other peer is missing here.
    fn lacks(&self) -> u32 {
        let own_first = self.watch.as_ref().map_or(0, |watch| watch.first);
        let looked_at = self.episode.as_ref().map_or(own_first, |(_, episode)| episode.next_epoch());
        let mut lacks = looked_at.max(own_first).max(self.heard_first.unwrap_or(0));
        for &held in self.heard.range(lacks..).map(|(epoch, _)| epoch) {
            if held != lacks {
                break;
            }
            lacks = lacks.saturating_add(1);
        }
        lacks
    }

    fn newest_own(&self) -> Option<u32> {
        self.watch.as_ref()?.digests.back().map(|digest| digest.epoch)
    }

    fn begin(&mut self, epoch: u32) {
        let first = self.said.map_or(epoch, |said| epoch.max(said + 1));
        self.watch = Some(OwnWatch { first, digests: VecDeque::new(), quiet_since: None });
    }

    /// Begins the episode anew, with all digests that are kept, if its first epoch changes.
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

#[cfg(test)]
mod tests {
    use super::*;
    use space::DVec3;
    use space::workload::Random;

    const FIRST: u32 = 100;

    fn pair() -> [Encounter; 2] {
        let settings = PeerSettings { latency_us_max: 150_000, ..PeerSettings::default() };
        let nodes = [NodeId::new(1), NodeId::new(2)];
        let object = |side: usize| name::object(nodes[side], 1).unwrap();
        [0, 1].map(|side| Encounter::new(nodes[side], object(side), object(1 - side), 2.0, &settings, Time::default()))
    }

    /// Two objects that touch at epoch 140. The second is faster.
    fn digest(side: usize, epoch: u32) -> Digest {
        let (speed, t) = ([2.0, -6.0][side], f64::from(epoch) * 0.1 - 14.0);
        Digest::new(epoch, DVec3::X * (speed * t), DVec3::X * speed, false)
    }

    /// Watches through some epochs with a latency of one epoch; `arrives` says which messages do.
    fn watch(pair: &mut [Encounter; 2], epochs: std::ops::Range<u32>, mut arrives: impl FnMut(u32) -> bool) -> usize {
        let mut under_way: Vec<(usize, peer::Watch)> = Vec::new();
        let mut longest = 0;
        for epoch in epochs {
            for (to, message) in under_way.drain(..).filter(|_| arrives(epoch)) {
                assert!(pair[to].hear(&message, epoch));
            }
            for (side, encounter) in pair.iter_mut().enumerate() {
                let said = encounter.look(true, epoch, digest(side, epoch), Time::from_micros(i64::from(epoch)));
                longest = said.as_ref().map_or(0, |said| said.digests.len()).max(longest);
                under_way.extend(said.map(|said| (1 - side, said)));
            }
        }
        longest
    }

    #[test]
    fn digests_are_sent_until_the_other_has_them() {
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let mut pair = pair();
            watch(&mut pair, FIRST..140, |_| random.unit() >= 0.5);
            // One message each way, whatever was lost before.
            watch(&mut pair, 140..144, |_| true);
            let standings = pair.each_mut().map(|encounter| encounter.standing(143));
            assert_eq!(standings[0], standings[1], "seed {seed}");
            assert!(matches!(standings[0], Standing::InTerm { decider, .. } if decider.number() == 2), "seed {seed}");
        }
        let mut steady = pair();
        assert_eq!(watch(&mut steady, FIRST..FIRST + 1, |_| true), 1);
        watch(&mut steady, FIRST + 1..110, |_| true);
        assert_eq!(watch(&mut steady, 110..140, |_| true), 4, "acknowledged digests are not sent again");
    }

    #[test]
    fn a_term_lasts_through_a_short_cut_and_no_longer() {
        let mut pair = pair();
        watch(&mut pair, FIRST..134, |_| true);
        let Standing::InTerm { term, decider } = pair[1].standing(134) else { panic!("{:?}", pair[1].standing(134)) };
        assert_eq!(decider, NodeId::new(2));
        watch(&mut pair, 134..160, |_| false);
        assert_eq!(pair[1].standing(145), Standing::InTerm { term, decider }, "within the closing time");
        assert_eq!(pair[0].standing(145), Standing::InTerm { term, decider });
        assert!(matches!(pair[1].standing(155), Standing::Uninformed { .. }), "longer than the closing time");
    }
}

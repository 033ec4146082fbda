//! Contacts between own and remote objects: claims, verdicts, and what they do to own objects.

use motion::decision::{Claim, ObjectPair, Standing, Tentative, Verdict};
use motion::{KinematicState, Predicted};
use space::impact::spheres;
use space::{DVec3, NodeId, ObjectId, Time};
use wire::ToPeer;
use wire::peer::{self, PLACE_MAX, RATE_MAX, name};

use super::arrivals::is_recent;
use super::encounter::TentativeBounce;
use super::owned::SteeredBall;
use super::verdicts::VerdictReceipt;
use super::{Happening, Peer, steps};

/// A verdict may displace an object by this much, in metres, in addition to what both can have moved since.
const DISPLACEMENT_MAX: f64 = 4.0;
/// The largest gap between two objects in a verdict, in metres: more than the wire's rounding.
const APART_MAX: f64 = 0.1;
/// The highest speed after a contact, as a multiple of `speed_max`.
const FASTER_MAX: f64 = 3.0;

/// An own object and a remote one, in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenPair {
    pub pair: ObjectPair,
    /// The own object's index.
    pub own: u32,
    pub other: ObjectId,
    pub body: SteeredBall,
    pub seen: Predicted,
    /// The remote object's radius.
    pub radius: f64,
}

impl SeenPair {
    /// Position and velocity of the remote object, relative to the own one.
    pub fn relative(&self) -> (DVec3, DVec3) {
        (self.seen.pos - self.body.state.pos, self.seen.vel - self.body.state.vel)
    }

    /// Whether the two touch or come within `margin` of each other within a time in seconds.
    pub fn may_meet(&self, within_s: f64, margin: f64) -> bool {
        let (d, v) = self.relative();
        let reach = self.body.radius + self.radius + margin;
        let passage = || spheres::passage(d, v, reach);
        d.length_squared() <= reach * reach
            || passage().is_some_and(|passage| passage.entry <= within_s && passage.exit >= 0.0)
    }

    fn gap(&self) -> f64 {
        self.relative().0.length() - self.body.radius - self.radius
    }

    /// When they touched, in seconds before this frame; `None` if they do not overlap or move apart.
    fn touched(&self) -> Option<f64> {
        let (d, v) = self.relative();
        if self.gap() >= 0.0 || d.dot(v) >= 0.0 {
            return None;
        }
        let passage = spheres::passage(d, v, self.body.radius + self.radius)?;
        Some((-passage.entry).max(0.0))
    }

    /// The own and the remote object after a contact `ago` seconds before this frame: an elastic collision
    /// of equal masses.
    fn after(&self, ago: f64, fastest: f64) -> [peer::After; 2] {
        let own = &self.body.state;
        let (place, other) = (own.pos - own.vel * ago, self.seen.pos - self.seen.vel * ago);
        let normal = (place - other).normalize_or(DVec3::Y);
        let push = normal * (own.vel - self.seen.vel).dot(normal);
        let after = |pos: DVec3, vel: DVec3| peer::After {
            place: steps::steps(pos, PLACE_MAX),
            velocity: steps::steps(vel.clamp_length_max(fastest), RATE_MAX),
        };
        [after(place, own.vel - push), after(other, self.seen.vel + push)]
    }
}

impl Peer {
    /// Tests whether the two touch, and if so issues a verdict or sends a claim.
    pub(super) fn meet(&mut self, now: Time, meeting: &SeenPair) {
        let node = name::owner(meeting.other);
        let Some(pair_time) = self.pair_time(node, now) else { return };
        let epoch = self.epoch(pair_time);
        let frame_s = 2.0 * self.frame_us as f64 * 1e-6;
        let Some(ago) = meeting.touched() else {
            let known = self.encounters.get_mut(&meeting.pair);
            if let Some(encounter) = known.filter(|encounter| meeting.gap() > 0.0 && encounter.response.is_none()) {
                encounter.is_engaged = false;
            }
            return;
        };
        let Some(encounter) = self.encounter(meeting.own, meeting.other, now) else { return };
        if encounter.is_engaged {
            return;
        }
        encounter.is_engaged = true;
        encounter.used_at = now;
        let (pair, standing) = (encounter.pair, encounter.standing(epoch));
        let ago = ago.min(frame_s);
        let contact = pair_time + -((ago * 1e6) as i64);
        self.tally.contacts += 1;
        self.happened(Happening::Met { pair, contact });
        if self.verdicts.about(pair, contact).is_some() {
            return;
        }
        let term = match standing {
            Standing::InTerm { term, .. } => Some(term),
            _ => None,
        };
        let claim = Claim { pair, term, contact };
        let after = meeting.after(ago, FASTER_MAX * self.settings.speed_max);
        let states = states_of(after, self.node < node, contact);
        let Some(encounter) = self.encounters.get_mut(&pair) else { return };
        match encounter.issued.decide(claim, standing, Some(states)) {
            Some(verdict) => self.issue(now, verdict, meeting.own, meeting.other),
            None => {
                let tentative = Tentative { claim, since: now };
                encounter.response = Some(TentativeBounce { tentative, undisturbed: meeting.body, states });
                self.tally.claims += 1;
                let body = self.body_after(now, meeting.own, after[0], now + -((ago * 1e6) as i64));
                if let (Some(owned), Some(body)) = (self.own.get_mut(&meeting.own), body) {
                    owned.deflect(body);
                }
                let claim = peer::ContactClaim {
                    own: meeting.own,
                    other: name::index(meeting.other),
                    term: term.unwrap_or(0),
                    contact_us: contact.micros(),
                };
                if let Some(&link) = self.by_node.get(&node) {
                    self.send(link, &ToPeer::Claim(claim));
                }
            }
        }
    }

    /// Issues verdicts about contacts that this peer saw before it knew that it is the decider, answers claims after it
    /// had time to see the contact itself, and undoes tentative bounces without a verdict.
    pub(super) fn settle(&mut self, now: Time) {
        let settings = self.settings;
        for pair in self.encounters.keys().copied().collect::<Vec<_>>() {
            let Some(encounter) = self.encounters.get(&pair) else { continue };
            let (own, other) = (encounter.own, encounter.other);
            let Some(pair_time) = self.pair_time(name::owner(other), now) else { continue };
            let epoch = self.epoch(pair_time);
            let Some(encounter) = self.encounters.get_mut(&pair) else { continue };
            // In every frame, so that a lost digest is noticed early.
            let standing = encounter.standing(epoch);
            // The digests that name the decider may have arrived after the contact. A contact that this peer saw comes
            // before a claim about it.
            if let Some(TentativeBounce { tentative, states, .. }) = encounter.response
                && self.verdicts.about(pair, tentative.claim.contact).is_none()
                && let Some(verdict) = encounter.issued.decide(tentative.claim, standing, Some(states))
            {
                self.issue(now, verdict, own, other);
                continue;
            }
            // The sender of an older claim has given up already, so a verdict would surprise all peers.
            if let Some(claim) = encounter.next_claim(pair_time + -settings.epoch_us)
                && pair_time - claim.contact < settings.patience_us()
                && self.verdicts.about(pair, claim.contact).is_none()
            {
                if let Some(denial) = encounter.issued.answer(claim, standing) {
                    self.tally.denied += 1;
                    self.issue(now, denial, own, other);
                    continue;
                }
                // The decider may become known while the other peer still waits.
                encounter.claimed(claim);
            }
            if let Some(TentativeBounce { tentative, undisturbed, .. }) = encounter.response
                && now - tentative.since > settings.patience_us()
            {
                encounter.response = None;
                self.tally.dropped += 1;
                if let Some(owned) = self.own.get_mut(&own) {
                    owned.deflect(undisturbed);
                }
                self.happened(Happening::Dropped { pair, contact: tentative.claim.contact });
            }
        }
    }

    /// Sends a verdict of this peer to all peers and applies it.
    fn issue(&mut self, now: Time, verdict: Verdict, own: u32, other: ObjectId) {
        if self.verdicts.handle(verdict, now) != VerdictReceipt::Counts {
            return;
        }
        self.tally.decided += 1;
        self.happened(Happening::Decided(verdict));
        let after = verdict.after.map(|states| {
            let [low, high] = states.map(|state| peer::After {
                place: steps::steps(state.pos, PLACE_MAX),
                velocity: steps::steps(state.vel, RATE_MAX),
            });
            if self.node < name::owner(other) { [low, high] } else { [high, low] }
        });
        self.broadcast(&ToPeer::Verdict(peer::ContactVerdict {
            own,
            node: name::owner(other).number(),
            other: name::index(other),
            term: verdict.term,
            contact_us: verdict.contact.micros(),
            after,
        }));
        self.follow(now, verdict, own, other, after.map(|after| after[0]));
    }

    /// Takes in another peer's verdict.
    pub(super) fn judged(&mut self, now: Time, node: NodeId, verdict: peer::ContactVerdict) {
        let peer::ContactVerdict { own, node: owner, other, term, contact_us, after } = verdict;
        let (owner, contact) = (NodeId::new(owner), Time::from_micros(contact_us));
        let (Some(theirs), Some(other)) = (name::object(node, own), name::object(owner, other)) else { return };
        let is_mine = owner == self.node;
        let lower = node.min(owner);
        let pair_time = if lower == self.node { Some(now) } else { self.time_of(lower, now) };
        let is_timely = pair_time.is_none_or(|pair_time| is_recent(contact, pair_time));
        // A term may begin while a claim waits for its answer.
        let latest = self.epoch(contact + self.settings.patience_us());
        let is_term = (1..=latest.saturating_add(1)).contains(&term);
        let is_known = self.others.contains_key(&theirs) && (!is_mine || self.own.contains_key(&name::index(other)));
        let is_possible = is_known && is_timely && is_term && self.can_be(theirs, other, after);
        if node == owner || !is_possible || (is_mine && self.is_anothers(node, theirs, other, term)) {
            self.tally.refused.verdicts += 1;
            return;
        }
        let states = after.map(|after| states_of(after, theirs < other, contact));
        let pair = ObjectPair::new(theirs, other);
        let ruling = Verdict { pair, term, decider: node, contact, after: states };
        match self.verdicts.handle(ruling, now) {
            // It is kept as by all other peers, but not applied.
            VerdictReceipt::Counts if is_mine && !self.is_near(now, node, other, contact, after) => {
                self.tally.unfollowed += 1;
                self.happened(Happening::Kept(ruling));
            }
            VerdictReceipt::Counts if is_mine => {
                self.follow(now, ruling, name::index(other), theirs, after.map(|after| after[1]))
            }
            VerdictReceipt::Counts => self.happened(Happening::Kept(ruling)),
            VerdictReceipt::Refused => self.tally.refused.verdicts += 1,
            VerdictReceipt::Yields | VerdictReceipt::Known => {}
        }
    }

    /// Whether a verdict's states are possible after a contact. Every peer that knows both objects gets
    /// the same result.
    fn can_be(&self, one: ObjectId, other: ObjectId, after: Option<[peer::After; 2]>) -> bool {
        let Some(after) = after else { return true };
        let [one_place, other_place] = after.map(|after| steps::vector(after.place));
        let fastest = FASTER_MAX * self.settings.speed_max + APART_MAX;
        let radius = |object: ObjectId| {
            let own = self.own.get(&name::index(object)).filter(|own| own.object == object);
            own.map(|own| own.body.radius).or(self.others.get(&object).map(|other| other.radius))
        };
        let is_together = |radii: f64| one_place.distance(other_place) <= radii + APART_MAX;
        after.iter().all(|after| steps::vector(after.velocity).length() <= fastest)
            && radius(one).zip(radius(other)).is_none_or(|(one, other)| is_together(one + other))
    }

    /// Whether this peer knows another decider of a term. A term's decider is a function of digests that its number
    /// names, so all honest peers know the same one.
    fn is_anothers(&self, node: NodeId, theirs: ObjectId, own: ObjectId, term: u32) -> bool {
        let encounter = self.encounters.get(&ObjectPair::new(own, theirs));
        encounter.and_then(|encounter| encounter.decider(term)).is_some_and(|decider| decider != node)
    }

    /// Whether an own object can have been where a verdict puts it. A decider that lost updates may have
    /// seen it elsewhere.
    fn is_near(&self, now: Time, node: NodeId, own: ObjectId, contact: Time, after: Option<[peer::After; 2]>) -> bool {
        let (Some([_, after]), Some(owned)) = (after, self.own.get(&name::index(own))) else { return true };
        let since = now.seconds_since(self.contact_here(node, contact, now)).max(0.0);
        let late_s = since + self.settings.latency_us_max as f64 * 1e-6;
        let way = (steps::vector(after.place) - owned.body.state.pos).length();
        way <= DISPLACEMENT_MAX + 2.0 * self.settings.speed_max * late_s
    }

    fn follow(&mut self, now: Time, verdict: Verdict, own: u32, other: ObjectId, after: Option<peer::After>) {
        let Some(encounter) = self.encounter(own, other, now) else { return };
        let response = encounter.response.take();
        encounter.is_engaged = true;
        encounter.used_at = now;
        let contact = self.contact_here(name::owner(other), verdict.contact, now);
        let body = match after {
            Some(after) => self.body_after(now, own, after, contact),
            None => response.map(|response| response.undisturbed),
        };
        if let (Some(owned), Some(body)) = (self.own.get_mut(&own), body) {
            owned.deflect(body);
        }
        self.tally.followed += 1;
        self.happened(Happening::Kept(verdict));
    }

    /// An own object now, given its state after a contact.
    fn body_after(&self, now: Time, index: u32, after: peer::After, contact: Time) -> Option<SteeredBall> {
        let owned = self.own.get(&index)?;
        let mut body = owned.body;
        let (pos, vel) = (steps::vector(after.place), steps::vector(after.velocity));
        body.state = KinematicState { stamp: contact.min(now), pos, vel, ..body.state };
        body.advance(now, &self.settings, &self.scene);
        Some(body)
    }

    /// A time of a pair's clock, by this peer's clock.
    fn contact_here(&self, other: NodeId, contact: Time, now: Time) -> Time {
        match self.pair_time(other, now) {
            Some(pair_time) => now + (contact - pair_time),
            None => now,
        }
    }

    pub(super) fn time_of(&self, node: NodeId, now: Time) -> Option<Time> {
        self.neighbour(node).filter(|known| known.is_timed()).map(|known| known.time_there(now))
    }
}

/// The states of the lower and the higher object, from those of a first and a second.
fn states_of(after: [peer::After; 2], is_first_lower: bool, contact: Time) -> [KinematicState; 2] {
    let [first, second] = after.map(|after| KinematicState {
        vel: steps::vector(after.velocity),
        ..KinematicState::at_rest(contact, steps::vector(after.place))
    });
    if is_first_lower { [first, second] } else { [second, first] }
}

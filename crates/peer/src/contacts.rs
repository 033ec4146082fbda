//! Who met whom, who decides, and what follows from it.

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

/// How far a verdict may put an object from where its owner has it, beside what both can have moved since, in metres.
const DISPLACEMENT_MAX: f64 = 4.0;
/// Two that met are no farther apart than they are wide, and this, in metres: what the wire rounds off, and more.
const APART_MAX: f64 = 0.1;
/// Nothing leaves a contact faster than so many times the fastest.
const FASTER_MAX: f64 = 3.0;

/// Two objects in a frame, the other as seen from the own.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenPair {
    pub own: u32,
    pub other: ObjectId,
    pub body: SteeredBall,
    pub seen: Predicted,
    /// The other's radius.
    pub radius: f64,
}

impl SeenPair {
    /// Place and velocity of the other, relative to the own.
    pub fn relative(&self) -> (DVec3, DVec3) {
        (self.seen.pos - self.body.state.pos, self.seen.vel - self.body.state.vel)
    }

    /// Whether the two may touch within so many seconds, or just did, if both miss by no more than `margin`.
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

    /// When they touched, in seconds before this frame; `None` if they do not, or part.
    fn touched(&self) -> Option<f64> {
        let (d, v) = self.relative();
        if self.gap() >= 0.0 || d.dot(v) >= 0.0 {
            return None;
        }
        let passage = spheres::passage(d, v, self.body.radius + self.radius)?;
        Some((-passage.entry).max(0.0))
    }

    /// The own object and the other right after they touched: equal masses exchange what they have along the line between
    /// them.
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
    /// Looks whether the two touch, and if so what becomes of it.
    pub(super) fn meet(&mut self, now: Time, meeting: &SeenPair) {
        let node = name::owner(meeting.other);
        let Some(pair_time) = self.pair_time(node, now) else { return };
        let epoch = self.epoch(pair_time);
        let frame_s = 2.0 * self.frame_us as f64 * 1e-6;
        let own_object = name::object(self.node, meeting.own).expect("own objects have names");
        let Some(ago) = meeting.touched() else {
            let known = self.encounters.get_mut(&ObjectPair::new(own_object, meeting.other));
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
        let states = states_of(after, own_object < meeting.other, contact);
        let Some(encounter) = self.encounters.get_mut(&pair) else { return };
        match encounter.docket.decide(claim, standing, Some(states)) {
            Some(verdict) => self.issue(now, verdict, own_object, meeting.other),
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

    /// Decides about contacts that this peer saw before it knew that it decides, answers claims that have waited long enough
    /// for it to see the contact too, and drops responses for which no verdict came.
    pub(super) fn settle(&mut self, now: Time) {
        let settings = self.settings;
        for pair in self.encounters.keys().copied().collect::<Vec<_>>() {
            let Some(encounter) = self.encounters.get(&pair) else { continue };
            let (own, other) = (encounter.own, encounter.other);
            let Some(pair_time) = self.pair_time(name::owner(other), now) else { continue };
            let epoch = self.epoch(pair_time);
            let Some(encounter) = self.encounters.get_mut(&pair) else { continue };
            // Asked in every frame: a digest that is lost for good is noticed before it is missed.
            let standing = encounter.standing(epoch);
            // What decides may have been under way when the two met. Whoever sees the contact says what it saw, before it
            // answers anybody who asks.
            if let Some(TentativeBounce { tentative, states, .. }) = encounter.response
                && self.verdicts.about(pair, tentative.claim.contact).is_none()
                && let Some(verdict) = encounter.docket.decide(tentative.claim, standing, Some(states))
            {
                let own = name::object(self.node, own).expect("own objects have names");
                self.issue(now, verdict, own, other);
                continue;
            }
            // Whoever claimed longer ago than that has given up, and a partition may have kept the claim: an answer now would
            // be news to everybody.
            if let Some(claim) = encounter.next_claim(pair_time + -settings.epoch_us)
                && pair_time - claim.contact < settings.patience_us()
                && self.verdicts.about(pair, claim.contact).is_none()
            {
                if let Some(denial) = encounter.docket.answer(claim, standing) {
                    self.tally.denied += 1;
                    let own = name::object(self.node, own).expect("own objects have names");
                    self.issue(now, denial, own, other);
                    continue;
                }
                // Who does not know yet may know before nobody waits any more.
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

    /// This peer decided: all hear of it.
    fn issue(&mut self, now: Time, verdict: Verdict, own: ObjectId, other: ObjectId) {
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
            if own < other { [low, high] } else { [high, low] }
        });
        self.broadcast(&ToPeer::Verdict(peer::ContactVerdict {
            own: name::index(own),
            node: name::owner(other).number(),
            other: name::index(other),
            term: verdict.term,
            contact_us: verdict.contact.micros(),
            after,
        }));
        self.follow(now, verdict, own, other, after.map(|after| after[0]));
    }

    /// Another peer decided.
    pub(super) fn judged(&mut self, now: Time, node: NodeId, verdict: peer::ContactVerdict) {
        let peer::ContactVerdict { own, node: owner, other, term, contact_us, after } = verdict;
        let (owner, contact) = (NodeId::new(owner), Time::from_micros(contact_us));
        let (Some(theirs), Some(other)) = (name::object(node, own), name::object(owner, other)) else { return };
        let is_mine = owner == self.node;
        let lower = node.min(owner);
        let pair_time = if lower == self.node { Some(now) } else { self.time_of(lower, now) };
        let is_timely = pair_time.is_none_or(|pair_time| is_recent(contact, pair_time));
        // A claim may wait for its answer, and a term begin meanwhile.
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
            // What all others keep is kept here too: an owner that finds it strange does not follow, and nothing else.
            VerdictReceipt::Counts if is_mine && !self.is_near(now, node, other, contact, after) => {
                self.tally.unfollowed += 1;
                self.happened(Happening::Kept(ruling));
            }
            VerdictReceipt::Counts if is_mine => self.follow(now, ruling, other, theirs, after.map(|after| after[1])),
            VerdictReceipt::Counts => self.happened(Happening::Kept(ruling)),
            VerdictReceipt::Refused => self.tally.refused.verdicts += 1,
            VerdictReceipt::Yields | VerdictReceipt::Known => {}
        }
    }

    /// Whether two objects can have been so after a contact. Every peer that knows both finds the same.
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

    /// Whether this peer knows that a term about an own object is not the sender's to decide. The term names the digests
    /// that its decider is a function of, so that no honest peer thinks otherwise.
    fn is_anothers(&self, node: NodeId, theirs: ObjectId, own: ObjectId, term: u32) -> bool {
        let encounter = self.encounters.get(&ObjectPair::new(own, theirs));
        encounter.and_then(|encounter| encounter.decider(term)).is_some_and(|decider| decider != node)
    }

    /// Whether a verdict puts an own object where it can have been. A decider that lost updates may have seen it elsewhere.
    fn is_near(&self, now: Time, node: NodeId, own: ObjectId, contact: Time, after: Option<[peer::After; 2]>) -> bool {
        let (Some([_, after]), Some(owned)) = (after, self.own.get(&name::index(own))) else { return true };
        let since = now.seconds_since(self.contact_here(node, contact, now)).max(0.0);
        let late_s = since + self.settings.latency_us_max as f64 * 1e-6;
        let way = (steps::vector(after.place) - owned.body.state.pos).length();
        way <= DISPLACEMENT_MAX + 2.0 * self.settings.speed_max * late_s
    }

    /// Does to an own object what a verdict says.
    fn follow(&mut self, now: Time, verdict: Verdict, own: ObjectId, other: ObjectId, after: Option<peer::After>) {
        let index = name::index(own);
        let Some(encounter) = self.encounter(index, other, now) else { return };
        let response = encounter.response.take();
        encounter.is_engaged = true;
        encounter.used_at = now;
        let contact = self.contact_here(name::owner(other), verdict.contact, now);
        let body = match after {
            Some(after) => self.body_after(now, index, after, contact),
            None => response.map(|response| response.undisturbed),
        };
        if let (Some(owned), Some(body)) = (self.own.get_mut(&index), body) {
            owned.deflect(body);
        }
        self.tally.followed += 1;
        self.happened(Happening::Kept(verdict));
    }

    /// An own object that was so after a contact, as it is now.
    fn body_after(&self, now: Time, index: u32, after: peer::After, contact: Time) -> Option<SteeredBall> {
        let owned = self.own.get(&index)?;
        let mut body = owned.body;
        let (pos, vel) = (steps::vector(after.place), steps::vector(after.velocity));
        body.state = KinematicState { stamp: contact.min(now), pos, vel, ..body.state };
        body.advance(now, &self.settings, &self.scene);
        Some(body)
    }

    /// A moment of a pair's clock, by this peer's.
    fn contact_here(&self, other: NodeId, contact: Time, now: Time) -> Time {
        match self.pair_time(other, now) {
            Some(pair_time) => now + (contact - pair_time),
            None => now,
        }
    }

    /// Another peer's time.
    pub(super) fn time_of(&self, node: NodeId, now: Time) -> Option<Time> {
        self.neighbour(node).filter(|known| known.is_timed()).map(|known| known.time_there(now))
    }
}

/// What is sent of two objects, the first first, as states of the lower and the higher.
fn states_of(after: [peer::After; 2], is_first_lower: bool, contact: Time) -> [KinematicState; 2] {
    let [first, second] = after.map(|after| KinematicState {
        vel: steps::vector(after.velocity),
        ..KinematicState::at_rest(contact, steps::vector(after.place))
    });
    if is_first_lower { [first, second] } else { [second, first] }
}

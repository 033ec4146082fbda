//! The steps of a frame:
//!
//! ```text
//! links ─▶ move own objects ─▶ predict remote ones ─▶ areas of interest ─▶ watch and meet, per pair ─▶ settle ─▶ send
//! ```

use std::collections::{BTreeMap, BTreeSet};

use motion::adaptive;
use motion::company::predict_together;
use motion::decision::{Digest, ObjectPair};
use space::{NodeId, ObjectId, Time};
use wire::ToPeer;
use wire::peer::name;

use super::contacts::SeenPair;
use super::encounter::TentativeBounce;
use super::remote_object::RemoteObject;
use super::remote_peer::RemotePeer;
use super::settings::PeerSettings;
use super::{Peer, single, steps};
use wire::{Channel, Effect, LinkId};

/// The time between updates of the areas of interest, in microseconds.
const LISTEN_US: i64 = 100_000;
/// A new peer is sent all own objects for this time, in microseconds.
const WELCOME_US: i64 = 1_000_000;
/// A pair is watched even if the two would miss each other by this much, in metres, as both may turn.
const WATCH_MARGIN: f64 = 2.0;
/// The factor on time and margin for pairs that the other peer watches.
const WATCH_ALIKE: f64 = 2.0;
/// An encounter that was not used for this time is forgotten, in microseconds.
const UNUSED_US: i64 = 10_000_000;

impl Peer {
    pub(super) fn frame(&mut self, now: Time) {
        self.look_after_links(now);
        for owned in self.own.values_mut() {
            owned.advance(now, &self.settings, &self.scene);
        }
        for encounter in self.encounters.values_mut() {
            if let Some(TentativeBounce { undisturbed, .. }) = &mut encounter.response
                && let Some(owned) = self.own.get(&encounter.own)
            {
                undisturbed.state.acc = owned.body.state.acc;
                undisturbed.advance(now, &self.settings, &self.scene);
            }
        }
        self.predict(now);
        self.listen(now);
        for meeting in self.meetings() {
            self.watch(now, &meeting);
            self.meet(now, &meeting);
        }
        self.settle(now);
        self.tell(now);
        self.forget(now);
    }

    /// Predicts the remote objects, with bounces off the scene and off each other. Contacts with own objects
    /// are decided instead.
    fn predict(&mut self, now: Time) {
        let times: BTreeMap<NodeId, Time> =
            self.links.values().filter(|k| k.is_timed()).filter_map(|k| Some((k.node?, k.time_there(now)))).collect();
        for other in self.others.values_mut() {
            if let Some(&there) = times.get(&name::owner(other.object)) {
                other.predict(there, &self.scene);
            }
        }
        let near = self.near_each_other();
        let mut company: Vec<(&mut RemoteObject, Time)> = self
            .others
            .values_mut()
            .filter(|other| near.contains(&other.object))
            .filter_map(|other| times.get(&name::owner(other.object)).map(|&there| (other, there)))
            .collect();
        let mut replicas: Vec<_> = company.iter_mut().map(|(other, there)| (other.replica_mut(), *there)).collect();
        let together = predict_together(&mut replicas, &self.scene);
        for ((other, _), predicted) in company.iter_mut().zip(together.predicted).filter(|_| together.contacts > 0) {
            if let Some(predicted) = predicted {
                other.meets(predicted);
            }
        }
        let bounces = together.contacts as u64;
        // A bounce is predicted again in every frame until the next update.
        self.tally.predicted_bounces += bounces.saturating_sub(self.bounces);
        self.bounces = bounces;
    }

    /// Remote objects of different peers that may have touched since their last updates.
    fn near_each_other(&self) -> BTreeSet<ObjectId> {
        let movers: Vec<_> = self.others.values().filter_map(|other| Some((other.object, other.mover()?))).collect();
        let horizon_s = (self.settings.heartbeat_us + self.settings.latency_us_max) as f64 * 1e-6;
        let mut near = BTreeSet::new();
        for (at, (object, one)) in movers.iter().enumerate() {
            for (other_object, other) in &movers[at + 1..] {
                // How far they can have moved towards each other, or apart after a bounce.
                let reach = one.radius + other.radius + (one.vel - other.vel).length() * horizon_s;
                if name::owner(*object) != name::owner(*other_object)
                    && one.pos.distance_squared(other.pos) <= reach * reach
                {
                    near.extend([*object, *other_object]);
                }
            }
        }
        near
    }

    /// Drops silent peers, and sends pings.
    fn look_after_links(&mut self, now: Time) {
        let silence_us = self.settings.silence_us;
        let is_silent = |known: &RemotePeer| now - known.heard_at > silence_us;
        let silent: Vec<LinkId> = self.links.values().filter(|k| is_silent(k)).map(|k| k.link).collect();
        for link in silent {
            self.tally.silent += 1;
            self.part(link);
            self.effects.push_back(Effect::Close { to: link.into() });
        }
        let due: Vec<LinkId> = self.links.values_mut().filter_map(|k| k.frame(now).then_some(k.link)).collect();
        for link in due {
            // A peer without this one's hello does not answer a ping.
            match self.links.get(&link).and_then(|known| known.answered_at) {
                Some(_) => self.send(link, &ToPeer::Ping { asked_us: now.micros() }),
                None => self.hail(now, link),
            }
        }
    }

    /// Updates the areas of interest. A peer that begins to hear an own object is sent its newest update.
    fn listen(&mut self, now: Time) {
        if self.listened_at.is_some_and(|listened| now - listened < LISTEN_US) {
            return;
        }
        self.listened_at = Some(now);
        let entering: Vec<(ObjectId, space::DVec3, f32)> = self
            .others
            .values()
            .filter(|other| !self.slots.contains_key(&other.object))
            .filter_map(|other| Some((other.object, other.predicted()?.pos, other.aura)))
            .collect();
        for (object, place, aura) in entering {
            self.enter_audience(object, place, aura);
        }
        let own = self.own.values().map(|owned| (owned.object, owned.body.state.pos));
        let others = self.others.values().filter_map(|other| Some((other.object, other.predicted()?.pos)));
        for (object, place) in own.chain(others) {
            if let Some(&slot) = self.slots.get(&object) {
                // Outside the limits of a world an object keeps its last position.
                let _ = self.audience.move_to(slot, single(place));
            }
        }
        self.audience.update();
        // A new peer is sent everything in datagrams too, as the stream may wait for lost packets.
        for neighbour in self.links.values_mut() {
            if neighbour.acquainted_at().is_some_and(|acquainted| now - acquainted < WELCOME_US) {
                for owned in self.own.values() {
                    neighbour.announce(owned.announcement());
                    if let Some(update) = owned.newest() {
                        neighbour.tell(steps::to_wire(&update, now));
                    }
                }
            }
        }
        for (&index, owned) in &self.own {
            let Some(&slot) = self.slots.get(&owned.object) else { continue };
            let hears =
                |other: &ObjectId| self.slots.get(other).is_some_and(|&listener| self.audience.hears(listener, slot));
            let mut hearers: Vec<NodeId> = self.others.keys().filter(|o| hears(o)).map(|&o| name::owner(o)).collect();
            hearers.dedup();
            let known = self.hearers.entry(index).or_default();
            if let Some(update) = owned.newest() {
                for node in hearers.iter().filter(|node| !known.contains(node)) {
                    let link = self.by_node.get(node);
                    if let Some(neighbour) = link.and_then(|link| self.links.get_mut(link)) {
                        neighbour.tell(steps::to_wire(&update, now));
                    }
                }
            }
            *known = hearers;
        }
    }

    /// All pairs of an own object and a remote one with a fresh prediction.
    fn meetings(&self) -> Vec<SeenPair> {
        let mut meetings = Vec::new();
        for (&own, owned) in &self.own {
            for other in self.others.values().filter(|other| other.mover().is_some()) {
                let Some(seen) = other.predicted() else { continue };
                let pair = ObjectPair::new(owned.object, other.object);
                meetings.push(SeenPair {
                    pair,
                    own,
                    other: other.object,
                    body: owned.body,
                    seen,
                    radius: other.radius,
                });
            }
        }
        meetings
    }

    /// Makes digests for a pair that may touch.
    fn watch(&mut self, now: Time, meeting: &SeenPair) {
        let node = name::owner(meeting.other);
        let Some(pair_time) = self.pair_time(node, now) else { return };
        let (epoch, watch_s) = (self.epoch(pair_time), self.settings.watch_s());
        let known = self.encounters.get(&meeting.pair);
        let is_alike = known.is_some_and(|encounter| encounter.is_watched_there(epoch));
        let farther = if is_alike { WATCH_ALIKE } else { 1.0 };
        let may_meet = meeting.may_meet(watch_s * farther, WATCH_MARGIN * farther);
        if !may_meet && known.is_none() {
            return;
        }
        let state = &meeting.body.state;
        let sees = state.vel.dot(meeting.relative().0) > 0.0;
        let digest = Digest::new(epoch, state.pos, state.vel, sees);
        let Some(encounter) = self.encounter(meeting.own, meeting.other, now) else { return };
        if let Some(watch) = encounter.look(may_meet, epoch, digest, now) {
            let link = self.by_node.get(&node);
            if let Some(neighbour) = link.and_then(|link| self.links.get_mut(link)) {
                neighbour.watch(watch);
                self.tally.watches_sent += 1;
            }
        }
    }

    /// Sends each peer its reports.
    fn tell(&mut self, now: Time) {
        let remote: Vec<adaptive::MovingBall> = self.others.values().filter_map(|other| other.mover()).collect();
        for (index, owned) in &mut self.own {
            let settings = &self.settings;
            let proximity = adaptive::closest(&owned.body.mover(), &remote, &settings.tracking);
            let Ok(sendings) = owned.frame(proximity, settings, &self.scene) else { continue };
            let hearers = self.hearers.get(index).map_or(&[][..], Vec::as_slice);
            for (node, link) in &self.by_node {
                let Some(neighbour) = self.links.get_mut(link) else { continue };
                let is_near = hearers.contains(node);
                let near = sendings.near.iter().flatten().filter(|_| is_near);
                for update in near.chain(sendings.far.iter().filter(|_| !is_near)) {
                    neighbour.tell(steps::to_wire(update, now));
                    self.tally.motions_sent += 1;
                }
            }
        }
        let mut reports: Vec<(LinkId, Vec<u8>)> = Vec::new();
        for neighbour in self.links.values_mut().filter(|neighbour| neighbour.node.is_some()) {
            let link = neighbour.link;
            reports.extend(neighbour.reports(now).into_iter().map(|bytes| (link, bytes)));
        }
        for (link, bytes) in reports {
            self.send_bytes(link, Channel::Datagram, bytes);
        }
    }

    fn forget(&mut self, now: Time) {
        if self.forgot_at.is_some_and(|forgot| now - forgot < 1_000_000) {
            return;
        }
        self.forgot_at = Some(now);
        self.encounters.retain(|_, encounter| {
            encounter.is_watched() || encounter.response.is_some() || now - encounter.used_at < UNUSED_US
        });
        let own = self.node;
        let times: Vec<(NodeId, Time)> =
            self.by_node.keys().filter_map(|&node| Some((node, self.time_of(node, now)?))).collect();
        self.verdicts.forget(now, PeerSettings::MEMORY_US, |node| {
            if node == own { Some(now) } else { times.iter().find(|known| known.0 == node).map(|known| known.1) }
        });
    }
}

//! Messages that arrive, and the checks before they have an effect.

use motion::decision::{Claim, ObjectPair};
use space::{NodeId, ObjectId, Time};
use wire::ToPeer;
use wire::peer::{self, Owns, PEER_VERSION, PeerHello, Report, name};

use super::encounter::Encounter;
use super::owned::Owned;
use super::remote_object::RemoteObject;
use super::remote_peer::RemotePeer;
use super::{ENCOUNTERS_MAX, Happening, LINKS_MAX, OBJECTS_MAX, Peer, PeerSettings, Words, steps};
use wire::{Channel, Effect, LinkId};

/// The time of a contact may be ahead of the pair's clock by this, in microseconds.
const AHEAD_US: i64 = 1_000_000;

impl Peer {
    pub(super) fn opened(&mut self, now: Time, link: LinkId) {
        if self.links.len() >= LINKS_MAX {
            self.tally.refused.beyond_bounds += 1;
            self.effects.push_back(Effect::Close { to: link.into() });
            return;
        }
        self.links.insert(link, RemotePeer::new(link, now));
        let hello = self.hello(now);
        self.send(link, &hello);
    }

    /// Sends a hello as a datagram, which does not wait for lost packets of the stream. It also asks for the time.
    pub(super) fn hail(&mut self, now: Time, link: LinkId) {
        let hello = self.hello(now).encode();
        self.send_bytes(link, Channel::Datagram, hello);
    }

    pub(super) fn arrived(&mut self, now: Time, link: LinkId, channel: Channel, bytes: &[u8]) {
        let Some(known) = self.links.get_mut(&link) else { return };
        let Ok(message) = ToPeer::decode(bytes) else {
            self.tally.refused.bad += 1;
            return;
        };
        let Some(node) = known.node else {
            match message {
                ToPeer::Hello(hello) => self.greeted(now, link, channel, hello),
                // Datagrams may overtake the hello on the stream.
                _ if message.is_datagram() => {}
                _ => self.tally.refused.bad += 1,
            }
            return;
        };
        known.heard_at = now;
        if !matches!(message, ToPeer::Hello(_) | ToPeer::Ping { .. }) {
            known.answered_at.get_or_insert(now);
        }
        match message {
            // A hello comes on the stream and in datagrams; only one under another number is refused.
            ToPeer::Hello(hello) if NodeId::new(hello.node) == node => {
                if channel == Channel::Datagram {
                    self.answer(now, link, hello.time_us);
                }
            }
            ToPeer::Hello(_) => self.tally.refused.hellos += 1,
            ToPeer::Owns(owns) => self.announced(node, owns, Channel::Stream),
            ToPeer::Drops { index } => {
                known.has_dropped = true;
                match name::object(node, index).filter(|object| self.others.contains_key(object)) {
                    Some(object) => self.forget_object(object),
                    None => self.tally.refused.not_the_owner += 1,
                }
            }
            ToPeer::Report(report) => self.reported(now, node, &report),
            ToPeer::Claim(claim) => self.claimed(now, node, claim),
            ToPeer::Verdict(verdict) => self.judged(now, node, verdict),
            ToPeer::Ping { asked_us } => self.answer(now, link, asked_us),
            ToPeer::Pong { asked_us, received_us, replied_us } => {
                known.handle_pong(asked_us, received_us, replied_us, now);
            }
            ToPeer::Leave => {
                self.part(link);
                self.effects.push_back(Effect::Close { to: link.into() });
            }
            ToPeer::Says { text } => {
                if known.speech.take(now) {
                    self.heard(Words { node: Some(node), text });
                } else {
                    self.tally.refused.beyond_bounds += 1;
                }
            }
        }
    }

    fn answer(&mut self, now: Time, link: LinkId, asked_us: i64) {
        let time_us = now.micros();
        self.send(link, &ToPeer::Pong { asked_us, received_us: time_us, replied_us: time_us });
    }

    fn greeted(&mut self, now: Time, link: LinkId, channel: Channel, hello: PeerHello) {
        let node = NodeId::new(hello.node);
        // The first peer of a number keeps it while it is connected, so an impostor cannot replace it.
        let is_taken = self.by_node.contains_key(&node) || node == self.node;
        if hello.version != PEER_VERSION || hello.settings != self.world_hash || is_taken {
            self.tally.refused.hellos += 1;
            self.links.remove(&link);
            self.effects.push_back(Effect::Close { to: link.into() });
            return;
        }
        self.by_node.insert(node, link);
        if let Some(known) = self.links.get_mut(&link) {
            (known.node, known.name) = (Some(node), hello.name.clone());
            (known.heard_at, known.greeted_at) = (now, Some(now));
        }
        if channel == Channel::Datagram {
            self.answer(now, link, hello.time_us);
        }
        for owns in self.own.values().map(Owned::announcement).collect::<Vec<_>>() {
            self.send(link, &ToPeer::Owns(owns));
        }
        self.happened(Happening::Joined(node));
    }

    /// Takes in an announcement. On the stream announcements are reliable and in order. A datagram may be early or
    /// late, so it can only add an object.
    fn announced(&mut self, node: NodeId, owns: Owns, channel: Channel) {
        let Some(object) = name::object(node, owns.index) else { return };
        let is_certain = channel == Channel::Stream;
        let is_perhaps_old = !is_certain && self.neighbour(node).is_none_or(|known| known.has_dropped);
        match self.others.get_mut(&object) {
            Some(known) if known.is_as(&owns) && !(known.is_certain && is_certain) => {
                known.is_certain |= is_certain;
                return;
            }
            Some(_) if !is_certain => return,
            Some(known) if known.is_certain => {
                self.tally.refused.beyond_bounds += 1;
                return;
            }
            Some(_) => self.forget_object(object),
            None if is_perhaps_old => return,
            None => {}
        }
        if self.others.keys().filter(|&&other| name::owner(other) == node).count() >= OBJECTS_MAX {
            self.tally.refused.beyond_bounds += 1;
            return;
        }
        self.others.insert(object, RemoteObject::new(object, &owns, is_certain, &self.settings));
    }

    fn reported(&mut self, now: Time, node: NodeId, report: &Report) {
        let time = Time::from_micros(report.time_us);
        for &owns in &report.owns {
            self.announced(node, owns, Channel::Datagram);
        }
        for motion in &report.motions {
            // The sender's number is part of the name, so a sender can name only its own objects.
            let Some(update) = steps::from_wire(node, time, motion) else { continue };
            match self.others.get_mut(&update.object) {
                Some(other) => {
                    if !other.handle(&update, &self.scene) {
                        self.tally.refused.states += 1;
                    }
                }
                // The announcement may still be under way on the stream.
                None => self.tally.early += 1,
            }
        }
        for watch in &report.watches {
            self.watched_there(now, node, watch);
        }
    }

    fn watched_there(&mut self, now: Time, node: NodeId, watch: &peer::Watch) {
        let Some(pair_time) = self.pair_time(node, now) else { return };
        let epoch = self.epoch(pair_time);
        let Some(theirs) = name::object(node, watch.own).filter(|theirs| self.others.contains_key(theirs)) else {
            self.tally.early += 1;
            return;
        };
        if !self.own.contains_key(&watch.other) {
            self.tally.refused.digests += 1;
            return;
        }
        match self.encounter(watch.other, theirs, now) {
            Some(encounter) => {
                if !encounter.hear(watch, epoch) {
                    self.tally.refused.digests += 1;
                }
            }
            None => self.tally.refused.beyond_bounds += 1,
        }
    }

    fn claimed(&mut self, now: Time, node: NodeId, claim: peer::ContactClaim) {
        let contact = Time::from_micros(claim.contact_us);
        let theirs = name::object(node, claim.own).filter(|theirs| self.others.contains_key(theirs));
        let Some(pair_time) = self.pair_time(node, now) else {
            self.tally.early += 1;
            return;
        };
        let Some(theirs) = theirs else {
            self.tally.refused.claims += 1;
            return;
        };
        let is_possible = is_recent(contact, pair_time) && self.own.contains_key(&claim.other);
        let Some(encounter) = self.encounter(claim.other, theirs, now).filter(|_| is_possible) else {
            self.tally.refused.claims += 1;
            return;
        };
        let claim = Claim { pair: encounter.pair, term: (claim.term > 0).then_some(claim.term), contact };
        if !encounter.claimed(claim) {
            self.tally.refused.beyond_bounds += 1;
        }
    }

    /// The encounter of an own object and a remote one; `None` if one of them is unknown or there are too many.
    pub(super) fn encounter(&mut self, own: u32, other: ObjectId, now: Time) -> Option<&mut Encounter> {
        let (owned, theirs) = (self.own.get(&own)?, self.others.get(&other)?);
        let pair = ObjectPair::new(owned.object, other);
        if self.encounters.len() >= ENCOUNTERS_MAX && !self.encounters.contains_key(&pair) {
            return None;
        }
        let (node, settings) = (self.node, &self.settings);
        let radius = owned.body.radius + theirs.radius;
        let new = || Encounter::new(node, owned.object, other, radius, settings, now);
        Some(self.encounters.entry(pair).or_insert_with(new))
    }
}

/// Whether a contact is neither in the future nor too long ago.
pub(super) fn is_recent(contact: Time, pair_time: Time) -> bool {
    (-AHEAD_US..=PeerSettings::MEMORY_US).contains(&(pair_time - contact))
}

//! A link between any two hosts, and what is under way on it.

use std::collections::BTreeMap;

use space::Time;
use wire::{Channel, LinkId};

use super::{Host, open};
use crate::network::{LinkSettings, Path, Stream};

/// How long a driver waits before it connects again, in microseconds.
const AGAIN_US: i64 = 500_000;

/// What reaches a host.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A message.
    Bytes(Channel, Vec<u8>),
    /// The link was closed at the other end.
    Closed,
}

/// A link: two paths and two streams.
#[derive(Debug)]
struct Wire {
    ends: [usize; 2],
    paths: [Path; 2],
    streams: [Stream; 2],
    since: Time,
}

/// All links.
#[derive(Debug)]
pub struct Mesh {
    settings: LinkSettings,
    seed: u64,
    hosts: usize,
    /// Those that are open.
    wires: BTreeMap<LinkId, Wire>,
    /// The same, by the hosts at their ends, the lower first.
    linked: BTreeMap<(usize, usize), LinkId>,
    /// When two hosts may connect again.
    again: BTreeMap<(usize, usize), Time>,
    /// Until when two hosts are cut from each other.
    cut: BTreeMap<(usize, usize), Time>,
    next_link: u64,
    under_way: BTreeMap<(Time, u64), (usize, LinkId, Arrival)>,
    next_number: u64,
}

impl Mesh {
    pub fn new(settings: LinkSettings, seed: u64, hosts: usize) -> Mesh {
        Mesh {
            settings,
            seed,
            hosts,
            wires: BTreeMap::new(),
            linked: BTreeMap::new(),
            again: BTreeMap::new(),
            cut: BTreeMap::new(),
            next_link: 1,
            under_way: BTreeMap::new(),
            next_number: 0,
        }
    }

    /// Connects all who are there and are not connected.
    pub fn mend(&mut self, now: Time, hosts: &mut [Host]) {
        for one in 0..self.hosts {
            for other in one + 1..self.hosts {
                let is_there = hosts[one].peer.is_some() && hosts[other].peer.is_some();
                let may = self.again.get(&(one, other)).is_none_or(|&at| at <= now) && !self.is_cut(one, other, now);
                if is_there && may && self.linked_since(one, other).is_none() {
                    let link = self.connect(now, one, other);
                    open(now, link, [one, other], hosts);
                }
            }
        }
    }

    fn connect(&mut self, now: Time, one: usize, other: usize) -> LinkId {
        let link = LinkId(self.next_link);
        self.next_link += 1;
        let seed = |way: u64| self.seed.wrapping_mul(7_919).wrapping_add(link.0 * 4 + way);
        let wire = Wire {
            ends: [one, other],
            paths: [Path::new(self.settings, seed(0)), Path::new(self.settings, seed(1))],
            streams: [Stream::new(self.settings, seed(2)), Stream::new(self.settings, seed(3))],
            since: now,
        };
        self.wires.insert(link, wire);
        self.linked.insert((one, other), link);
        link
    }

    /// Since when two are connected.
    pub fn linked_since(&self, one: usize, other: usize) -> Option<Time> {
        let link = self.linked.get(&(one.min(other), one.max(other)))?;
        self.wires.get(link).map(|wire| wire.since)
    }

    /// Until when two are, or were last, cut from each other.
    pub fn cut_until(&self, one: usize, other: usize) -> Option<Time> {
        self.cut.get(&(one.min(other), one.max(other))).copied()
    }

    fn is_cut(&self, one: usize, other: usize, now: Time) -> bool {
        self.cut_until(one, other).is_some_and(|until| until > now)
    }

    /// Who is at the other end of a link.
    pub fn to(&self, link: LinkId, from: usize) -> Option<usize> {
        let ends = self.wires.get(&link)?.ends;
        Some(if ends[0] == from { ends[1] } else { ends[0] })
    }

    pub fn send(&mut self, now: Time, from: usize, link: LinkId, channel: Channel, bytes: Vec<u8>) {
        let Some(wire) = self.wires.get_mut(&link) else { return };
        let way = usize::from(wire.ends[0] != from);
        let to = wire.ends[1 - way];
        let arrivals = match channel {
            Channel::Datagram => wire.paths[way].arrivals(now),
            Channel::Stream => [Some(wire.streams[way].arrival(now)), None],
        };
        for at in arrivals.into_iter().flatten() {
            self.under_way.insert((at, self.next_number), (to, link, Arrival::Bytes(channel, bytes.clone())));
            self.next_number += 1;
        }
    }

    /// One end closes a link: the other hears of it after what was sent on the stream.
    pub fn close(&mut self, now: Time, from: usize, link: LinkId) {
        let Some(mut wire) = self.wires.remove(&link) else { return };
        self.linked.remove(&(wire.ends[0], wire.ends[1]));
        let way = usize::from(wire.ends[0] != from);
        let to = wire.ends[1 - way];
        let at = wire.streams[way].arrival(now);
        self.again.insert((wire.ends[0], wire.ends[1]), at + AGAIN_US);
        self.under_way.insert((at, self.next_number), (to, link, Arrival::Closed));
        self.next_number += 1;
    }

    /// A host is gone without a word: what is under way to it is lost, and nobody is told.
    pub fn crash(&mut self, index: usize) {
        let gone: Vec<LinkId> =
            self.wires.iter().filter(|(_, wire)| wire.ends.contains(&index)).map(|(&link, _)| link).collect();
        for link in gone {
            self.wires.remove(&link);
        }
        self.linked.retain(|ends, _| ends.0 != index && ends.1 != index);
        self.under_way.retain(|_, (to, _, _)| *to != index);
    }

    /// Cuts the hosts into two that do not hear each other.
    pub fn part(&mut self, now: Time, until: Time, mut is_left: impl FnMut(usize) -> bool) {
        let sides: Vec<bool> = (0..self.hosts).map(&mut is_left).collect();
        for wire in self.wires.values_mut() {
            let [one, other] = wire.ends;
            if sides[one] != sides[other] {
                wire.paths.iter_mut().for_each(|path| path.cut(until));
                wire.streams.iter_mut().for_each(|stream| stream.cut(until));
                let known = self.cut.entry((one, other)).or_insert(now);
                *known = until.max(*known);
            }
        }
    }

    /// When something arrives.
    pub fn next(&self) -> Option<Time> {
        self.under_way.first_key_value().map(|(key, _)| key.0)
    }

    /// What has arrived.
    pub fn arrived(&mut self, now: Time) -> Option<(usize, LinkId, Arrival)> {
        let (&key, _) = self.under_way.first_key_value().filter(|(key, _)| key.0 <= now)?;
        self.under_way.remove(&key)
    }
}

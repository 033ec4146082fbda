//! Links without sockets, as functions of their seeds: latency, jitter, loss, duplication, reordering, cuts
//! and broken connections.
//!
//! A [`Lane`] is one direction between two machines: [`DatagramLane`] and a [`Stream`], which is what QUIC makes of
//! them: everything arrives once and in order, late where something had to be sent again. A [`Pipe`] keeps what is
//! under way, for experiments with two hosts and no simulator.

use std::collections::BTreeMap;

use space::Time;
use space::workload::Random;
use wire::Channel;

/// How a link treats what is sent over it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkSettings {
    /// The shortest latency, in microseconds.
    pub latency_us_min: i64,
    /// The longest latency. Latencies are uniform in between.
    pub latency_us_max: i64,
    /// The share of messages that never arrive.
    pub loss: f64,
    /// The share of messages that arrive twice.
    pub duplicates: f64,
    /// Whether a message waits for those before it: jitter then delays and does not reorder.
    pub keeps_order: bool,
    /// The share of messages that are held up by another `latency_us_max`, and overtaken even where order is kept.
    pub reordered: f64,
}

impl LinkSettings {
    /// Every message arrives, after the same time.
    pub fn steady(latency_us: i64) -> LinkSettings {
        LinkSettings { latency_us_min: latency_us, latency_us_max: latency_us, ..LinkSettings::default() }
    }

    /// A sender waits this long for an acknowledgement before it sends again: a round trip and some more.
    pub fn patience_us(&self) -> i64 {
        2 * self.latency_us_max.max(0) + 30_000
    }
}

/// What happened on a link, in messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    pub sent: u64,
    pub lost: u64,
    pub doubled: u64,
    /// Dropped because [`Pipe::UNDER_WAY_MAX`] messages were under way.
    pub overflowed: u64,
}

const LONG_AGO: Time = Time::from_micros(i64::MIN);

/// When datagrams arrive, in one direction.
#[derive(Clone, Debug)]
pub struct DatagramLane {
    settings: LinkSettings,
    random: Random,
    counts: LinkCounts,
    /// When the last message arrives that keeps its order.
    last: Time,
    cut_until: Time,
}

impl DatagramLane {
    pub fn new(settings: LinkSettings, seed: u64) -> DatagramLane {
        let counts = LinkCounts::default();
        DatagramLane { settings, random: Random::new(seed), counts, last: LONG_AGO, cut_until: LONG_AGO }
    }

    /// Nothing that is sent before `until` arrives.
    pub fn cut(&mut self, until: Time) {
        self.cut_until = self.cut_until.max(until);
    }

    /// When a message that is sent now arrives: never, once or twice. Each takes the same number of random draws,
    /// whatever becomes of it: changing the loss does not change the latencies.
    pub fn arrivals(&mut self, now: Time) -> [Option<Time>; 2] {
        self.counts.sent += 1;
        let is_lost = self.draw() < self.settings.loss || now < self.cut_until;
        let is_doubled = self.draw() < self.settings.duplicates;
        let mut arrivals = [self.arrival(now), self.arrival(now)];
        if self.settings.reordered > 0.0 && self.draw() < self.settings.reordered {
            arrivals[0] = arrivals[0] + self.settings.latency_us_max;
        } else if self.settings.keeps_order {
            arrivals[0] = arrivals[0].max(self.last);
            self.last = arrivals[0];
        }
        if is_lost {
            self.counts.lost += 1;
            return [None, None];
        }
        self.counts.doubled += u64::from(is_doubled);
        [Some(arrivals[0]), is_doubled.then_some(arrivals[1])]
    }

    fn draw(&mut self) -> f64 {
        f64::from(self.random.unit())
    }

    fn arrival(&mut self, now: Time) -> Time {
        let LinkSettings { latency_us_min: low, latency_us_max: high, .. } = self.settings;
        let spread = u32::try_from((high - low).max(0)).unwrap_or(u32::MAX - 1);
        now + low.max(0) + i64::from(self.random.whole(0, spread + 1))
    }
}

/// When messages of a stream arrive: once and in order, as what is lost is sent again.
#[derive(Clone, Debug)]
pub struct Stream {
    packets: DatagramLane,
    last: Time,
}

/// A message is sent again this often at most; then the network is taken for mended.
const ATTEMPTS_MAX: u32 = 64;

impl Stream {
    pub fn new(settings: LinkSettings, seed: u64) -> Stream {
        let settings = LinkSettings { duplicates: 0.0, reordered: 0.0, keeps_order: false, ..settings };
        Stream { packets: DatagramLane::new(settings, seed), last: LONG_AGO }
    }

    /// What is sent before `until` arrives afterwards.
    pub fn cut(&mut self, until: Time) {
        self.packets.cut(until);
    }

    /// When a message that is sent now arrives.
    pub fn arrival(&mut self, now: Time) -> Time {
        let (mut at, mut wait) = (now.max(self.packets.cut_until), self.packets.settings.patience_us());
        let mut arrival = None;
        for _ in 0..ATTEMPTS_MAX {
            arrival = self.packets.arrivals(at)[0];
            if arrival.is_some() {
                break;
            }
            at = at + wait;
            wait = (wait * 3 / 2).min(1_000_000);
        }
        self.last = self.last.max(arrival.unwrap_or(at));
        self.last
    }
}

/// A connection over which nothing arrives for longer is given up, in microseconds: what nodes use themselves.
pub const GIVEN_UP_US: i64 = 1_000_000;

/// One direction between two machines: datagrams, and a stream that loses nothing until its connection breaks.
#[derive(Clone, Debug)]
pub struct Lane {
    datagrams: DatagramLane,
    stream: Stream,
    /// Counts connections: what was sent over an earlier one does not arrive any more.
    connection: u32,
    broken_until: Time,
}

/// When a message arrives, and over which connection if it depends on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    pub at: [Option<Time>; 2],
    pub connection: Option<u32>,
}

impl Lane {
    pub fn new(settings: LinkSettings, seed: u64) -> Lane {
        let (datagrams, stream) = (DatagramLane::new(settings, seed), Stream::new(settings, seed ^ 0xff));
        Lane { datagrams, stream, connection: 0, broken_until: LONG_AGO }
    }

    /// Nothing gets through before `until`. What the stream is given meanwhile arrives afterwards, unless the
    /// connection may break and the cut lasts longer than [`GIVEN_UP_US`]: then that is lost, and so is what
    /// is under way.
    pub fn cut(&mut self, now: Time, until: Time, may_break: bool) {
        self.datagrams.cut(until);
        self.stream.cut(until);
        if may_break && until - now > GIVEN_UP_US {
            self.break_until(until);
        }
    }

    /// There is no connection before `until`.
    pub fn break_until(&mut self, until: Time) {
        self.connection += 1;
        self.broken_until = until;
    }

    pub fn cut_until(&self) -> Time {
        self.datagrams.cut_until.max(self.broken_until)
    }

    /// Whether what was sent over a connection still arrives.
    pub fn stands(&self, connection: Option<u32>) -> bool {
        connection.is_none_or(|connection| connection == self.connection)
    }

    /// Sends a message now.
    pub fn send(&mut self, now: Time, channel: Channel) -> Arrivals {
        match channel {
            Channel::Datagram => Arrivals { at: self.datagrams.arrivals(now), connection: None },
            Channel::Stream if now < self.broken_until => Arrivals { at: [None, None], connection: None },
            Channel::Stream => {
                Arrivals { at: [Some(self.stream.arrival(now)), None], connection: Some(self.connection) }
            }
        }
    }
}

/// DatagramLane in one direction, with those that are under way.
#[derive(Clone, Debug)]
pub struct Pipe<M> {
    datagrams: DatagramLane,
    /// By arrival, then by the order of sending.
    under_way: BTreeMap<(Time, u64), M>,
    next: u64,
    overflowed: u64,
}

impl<M: Clone> Pipe<M> {
    pub const UNDER_WAY_MAX: usize = 65_536;

    pub fn new(settings: LinkSettings, seed: u64) -> Pipe<M> {
        Pipe { datagrams: DatagramLane::new(settings, seed), under_way: BTreeMap::new(), next: 0, overflowed: 0 }
    }

    pub fn send(&mut self, now: Time, message: M) {
        for arrival in self.datagrams.arrivals(now).into_iter().flatten() {
            if self.under_way.len() == Self::UNDER_WAY_MAX {
                self.overflowed += 1;
                return;
            }
            self.under_way.insert((arrival, self.next), message.clone());
            self.next += 1;
        }
    }

    /// The next message that has arrived, and when it did.
    pub fn poll(&mut self, now: Time) -> Option<(Time, M)> {
        let entry = self.under_way.first_entry().filter(|entry| entry.key().0 <= now)?;
        let arrival = entry.key().0;
        Some((arrival, entry.remove()))
    }

    pub fn counts(&self) -> LinkCounts {
        LinkCounts { overflowed: self.overflowed, ..self.datagrams.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: i64) -> Time {
        Time::from_micros(us)
    }

    fn arrivals(settings: LinkSettings, seed: u64) -> Vec<(Time, u32)> {
        let mut pipe = Pipe::new(settings, seed);
        (0..1_000).for_each(|number| pipe.send(at(i64::from(number) * 1_000), number));
        std::iter::from_fn(|| pipe.poll(at(i64::MAX))).collect()
    }

    #[test]
    fn a_seed_is_a_network() {
        let (low, high) = (10_000, 90_000);
        let jitter = LinkSettings { latency_us_min: low, latency_us_max: high, ..LinkSettings::default() };
        let rough = LinkSettings { loss: 0.2, duplicates: 0.1, ..jitter };
        assert_eq!(arrivals(rough, 7), arrivals(rough, 7));
        assert_ne!(arrivals(rough, 7), arrivals(rough, 8));
        let heard = arrivals(rough, 7);
        assert!((800..960).contains(&heard.len()), "{} of 1000 arrived, some twice", heard.len());
        assert!(heard.windows(2).any(|two| two[0].1 > two[1].1), "nothing was overtaken");
        let latency = |&(at, number): &(Time, u32)| at.micros() - i64::from(number) * 1_000;
        assert!(heard.iter().map(latency).all(|latency| (low..=high).contains(&latency)));
    }

    #[test]
    fn a_steady_link_keeps_order_and_loses_nothing() {
        let heard = arrivals(LinkSettings::steady(50_000), 1);
        assert!(heard.iter().map(|&(_, number)| number).eq(0..1_000));
    }

    #[test]
    fn jitter_that_keeps_order_only_delays() {
        let latencies = LinkSettings { latency_us_min: 10_000, latency_us_max: 90_000, ..LinkSettings::default() };
        let jitter = LinkSettings { keeps_order: true, ..latencies };
        let heard = arrivals(jitter, 3);
        assert!(heard.iter().map(|&(_, number)| number).eq(0..1_000));
        let reordered = arrivals(LinkSettings { reordered: 0.1, ..jitter }, 3);
        let overtaken = reordered.windows(2).filter(|two| two[0].1 > two[1].1).count();
        assert!((50..150).contains(&overtaken), "{overtaken} of 1000");
    }

    #[test]
    fn a_partition_loses_datagrams_and_delays_streams() {
        let lossy = LinkSettings { loss: 0.3, ..LinkSettings::steady(50_000) };
        let (mut lane, until) = (Lane::new(lossy, 5), at(400_000));
        lane.cut(at(0), until, true);
        let mut last = at(0);
        for number in 0..1_000 {
            let now = at(number * 1_000);
            assert!(now >= until || lane.send(now, Channel::Datagram).at[0].is_none());
            let arrival = lane.send(now, Channel::Stream).at[0].unwrap();
            assert!(arrival >= last && arrival >= until + 50_000, "message {number}");
            last = arrival;
        }
    }

    /// What is sent before and during a long cut is lost with the connection; a short cut only delays.
    #[test]
    fn a_connection_that_is_cut_for_long_breaks() {
        for (until, may_break, arrives) in
            [(at(900_000), true, true), (at(1_500_000), false, true), (at(1_500_000), true, false)]
        {
            let mut lane = Lane::new(LinkSettings::steady(50_000), 1);
            let before = lane.send(at(0), Channel::Stream);
            lane.cut(at(10_000), until, may_break);
            let meanwhile = lane.send(at(20_000), Channel::Stream);
            assert_eq!(lane.stands(before.connection), arrives, "{until} {may_break}");
            assert_eq!(meanwhile.at[0].is_some(), arrives, "{until} {may_break}");
            assert!(lane.send(at(30_000), Channel::Datagram).at[0].is_none(), "datagrams do not get through");
            let after = lane.send(until, Channel::Stream);
            assert_eq!(after.at[0], Some(until + 50_000));
            assert!(lane.stands(after.connection));
        }
    }
}

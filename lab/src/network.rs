//! A network that is a function of its seed: delay, jitter, loss, duplicates, reordering and partitions, without a
//! socket.
//!
//! A [`Path`] says when, and how often, what is sent over it arrives; a [`Link`] keeps it until then. A [`Stream`] is what
//! QUIC makes of a path: everything arrives once and in order, late where something had to be sent again.

use std::collections::BTreeMap;

use space::Time;
use space::workload::Random;

/// How a link treats what is sent over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSettings {
    /// The shortest way, in microseconds.
    pub latency_us_min: i64,
    /// The longest way, in microseconds. Latencies are uniform in between.
    pub latency_us_max: i64,
    /// The share of messages that never arrive.
    pub loss: f64,
    /// The share of messages that arrive twice.
    pub duplicates: f64,
    /// Whether a message waits for those before it: jitter then delays and does not reorder.
    pub keeps_order: bool,
    /// The share of messages that are held up by once more the longest way, and overtaken even where order is kept.
    pub reordered: f64,
}

impl Default for LinkSettings {
    /// Every message arrives at once.
    fn default() -> LinkSettings {
        LinkSettings {
            latency_us_min: 0,
            latency_us_max: 0,
            loss: 0.0,
            duplicates: 0.0,
            keeps_order: false,
            reordered: 0.0,
        }
    }
}

impl LinkSettings {
    /// Every message arrives, after the same time.
    pub fn steady(latency_us: i64) -> LinkSettings {
        LinkSettings { latency_us_min: latency_us, latency_us_max: latency_us, ..LinkSettings::default() }
    }
}

/// What happened on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Messages given to it.
    pub sent: u64,
    /// Messages that it lost.
    pub lost: u64,
    /// Messages that it delivered twice.
    pub doubled: u64,
    /// Messages dropped because too many were under way.
    pub overflowed: u64,
}

/// When what is sent arrives, in one direction between two hosts.
#[derive(Clone, Debug)]
pub struct Path {
    settings: LinkSettings,
    random: Random,
    counts: LinkCounts,
    /// When the last message arrives that keeps its order.
    last: Time,
    /// Nothing that is sent before this arrives.
    cut_until: Time,
}

impl Path {
    /// The path that this seed stands for.
    pub fn new(settings: LinkSettings, seed: u64) -> Path {
        let long_ago = Time::from_micros(i64::MIN);
        Path { settings, random: Random::new(seed), counts: LinkCounts::default(), last: long_ago, cut_until: long_ago }
    }

    /// A partition: nothing that is sent before `until` arrives.
    pub fn cut(&mut self, until: Time) {
        self.cut_until = self.cut_until.max(until);
    }

    /// When the network heals.
    pub fn cut_until(&self) -> Time {
        self.cut_until
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

    /// What happened so far.
    pub fn counts(&self) -> LinkCounts {
        self.counts
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

/// A path over which everything arrives once and in order: what is lost is sent again.
#[derive(Clone, Debug)]
pub struct Stream {
    path: Path,
    last: Time,
}

/// A message is sent again at most so often; then the network is taken for mended.
const ATTEMPTS_MAX: u32 = 64;

impl Stream {
    /// The stream that this seed stands for. Doubles are recognised, order is kept.
    pub fn new(settings: LinkSettings, seed: u64) -> Stream {
        let settings = LinkSettings { duplicates: 0.0, reordered: 0.0, keeps_order: false, ..settings };
        Stream { path: Path::new(settings, seed), last: Time::from_micros(i64::MIN) }
    }

    /// See [`Path::cut`]; what is sent meanwhile arrives afterwards.
    pub fn cut(&mut self, until: Time) {
        self.path.cut(until);
    }

    /// How long a sender waits for an answer before it sends again, in microseconds: a round trip and some more.
    pub fn patience_us(&self) -> i64 {
        2 * self.path.settings.latency_us_max.max(0) + 30_000
    }

    /// When a message that is sent now arrives.
    pub fn arrival(&mut self, now: Time) -> Time {
        let (mut at, mut wait) = (now.max(self.path.cut_until), self.patience_us());
        let mut arrival = None;
        for _ in 0..ATTEMPTS_MAX {
            arrival = self.path.arrivals(at)[0];
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

/// One direction between two hosts, with what is under way.
#[derive(Clone, Debug)]
pub struct Link<M> {
    path: Path,
    /// By arrival, then by the order of sending.
    under_way: BTreeMap<(Time, u64), M>,
    next: u64,
    overflowed: u64,
}

impl<M: Clone> Link<M> {
    /// Messages under way at most; more are dropped and counted.
    pub const UNDER_WAY_MAX: usize = 65_536;

    /// The link that this seed stands for.
    pub fn new(settings: LinkSettings, seed: u64) -> Link<M> {
        Link { path: Path::new(settings, seed), under_way: BTreeMap::new(), next: 0, overflowed: 0 }
    }

    /// Sends a message.
    pub fn send(&mut self, now: Time, message: M) {
        for arrival in self.path.arrivals(now).into_iter().flatten() {
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
        let (&(arrival, number), _) = self.under_way.first_key_value()?;
        if arrival > now {
            return None;
        }
        self.under_way.remove(&(arrival, number)).map(|message| (arrival, message))
    }

    /// What happened so far.
    pub fn counts(&self) -> LinkCounts {
        LinkCounts { overflowed: self.overflowed, ..self.path.counts() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(settings: LinkSettings, seed: u64) -> Vec<(Time, u32)> {
        let mut link = Link::new(settings, seed);
        for number in 0..1_000 {
            link.send(Time::from_micros(i64::from(number) * 1_000), number);
        }
        std::iter::from_fn(|| link.poll(Time::from_micros(i64::MAX))).collect()
    }

    #[test]
    fn a_seed_is_a_network() {
        let rough = LinkSettings {
            latency_us_min: 10_000,
            latency_us_max: 90_000,
            loss: 0.2,
            duplicates: 0.1,
            ..LinkSettings::default()
        };
        assert_eq!(arrivals(rough, 7), arrivals(rough, 7));
        assert_ne!(arrivals(rough, 7), arrivals(rough, 8));
        let heard = arrivals(rough, 7);
        assert!((800..960).contains(&heard.len()), "{} of 1000 arrived, some twice", heard.len());
        assert!(heard.windows(2).any(|two| two[0].1 > two[1].1), "nothing was overtaken");
        assert!(heard.iter().all(|&(at, number)| {
            let way = at.micros() - i64::from(number) * 1_000;
            (10_000..=90_000).contains(&way)
        }));
    }

    #[test]
    fn a_steady_link_keeps_order_and_loses_nothing() {
        let heard = arrivals(LinkSettings::steady(50_000), 1);
        assert!(heard.iter().map(|&(_, number)| number).eq(0..1_000));
    }

    #[test]
    fn jitter_that_keeps_order_only_delays() {
        let jitter = LinkSettings {
            latency_us_min: 10_000,
            latency_us_max: 90_000,
            keeps_order: true,
            ..LinkSettings::default()
        };
        let heard = arrivals(jitter, 3);
        assert!(heard.iter().map(|&(_, number)| number).eq(0..1_000));
        let reordered = arrivals(LinkSettings { reordered: 0.1, ..jitter }, 3);
        let overtaken = reordered.windows(2).filter(|two| two[0].1 > two[1].1).count();
        assert!((50..150).contains(&overtaken), "{overtaken} of 1000");
    }

    #[test]
    fn a_partition_loses_datagrams_and_delays_streams() {
        let lossy = LinkSettings { loss: 0.3, ..LinkSettings::steady(50_000) };
        let until = Time::from_micros(400_000);
        let (mut path, mut stream) = (Path::new(lossy, 5), Stream::new(lossy, 5));
        path.cut(until);
        stream.cut(until);
        let mut last = Time::from_micros(0);
        for number in 0..1_000 {
            let now = Time::from_micros(number * 1_000);
            let arrived = path.arrivals(now)[0];
            assert!(now >= until || arrived.is_none());
            let arrival = stream.arrival(now);
            assert!(arrival >= last && arrival >= until + 50_000, "message {number}");
            last = arrival;
        }
    }
}

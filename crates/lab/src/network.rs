//! A network that is a function of its seed: latency, loss, duplicates and reordering, without a socket.

use std::collections::BTreeMap;

use space::Time;
use space::workload::Random;

/// How a link treats what is sent over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSettings {
    /// The shortest way, in microseconds.
    pub latency_us_min: i64,
    /// The longest way, in microseconds. Latencies are uniform in between, so messages overtake each other.
    pub latency_us_max: i64,
    /// The share of messages that never arrive.
    pub loss: f64,
    /// The share of messages that arrive twice.
    pub duplicates: f64,
}

impl LinkSettings {
    /// Every message arrives, after the same time.
    pub fn steady(latency_us: i64) -> LinkSettings {
        LinkSettings { latency_us_min: latency_us, latency_us_max: latency_us, loss: 0.0, duplicates: 0.0 }
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

/// One direction between two hosts.
#[derive(Clone, Debug)]
pub struct Link<M> {
    settings: LinkSettings,
    random: Random,
    /// By arrival, then by the order of sending.
    under_way: BTreeMap<(Time, u64), M>,
    next: u64,
    counts: LinkCounts,
}

impl<M: Clone> Link<M> {
    /// Messages under way at most; more are dropped and counted.
    pub const UNDER_WAY_MAX: usize = 65_536;

    /// The link that this seed stands for.
    pub fn new(settings: LinkSettings, seed: u64) -> Link<M> {
        Link { settings, random: Random::new(seed), under_way: BTreeMap::new(), next: 0, counts: LinkCounts::default() }
    }

    /// Sends a message. Each takes the same number of random draws, whatever becomes of it: changing the loss does not
    /// change the latencies.
    pub fn send(&mut self, now: Time, message: M) {
        self.counts.sent += 1;
        let is_lost = f64::from(self.random.unit()) < self.settings.loss;
        let is_doubled = f64::from(self.random.unit()) < self.settings.duplicates;
        let arrivals = [self.arrival(now), self.arrival(now)];
        if is_lost {
            self.counts.lost += 1;
            return;
        }
        self.counts.doubled += u64::from(is_doubled);
        for &arrival in &arrivals[..if is_doubled { 2 } else { 1 }] {
            if self.under_way.len() == Self::UNDER_WAY_MAX {
                self.counts.overflowed += 1;
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
        self.counts
    }

    fn arrival(&mut self, now: Time) -> Time {
        let LinkSettings { latency_us_min: low, latency_us_max: high, .. } = self.settings;
        let spread = u32::try_from((high - low).max(0)).unwrap_or(u32::MAX - 1);
        now + low.max(0) + i64::from(self.random.whole(0, spread + 1))
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
        let rough = LinkSettings { latency_us_min: 10_000, latency_us_max: 90_000, loss: 0.2, duplicates: 0.1 };
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
}

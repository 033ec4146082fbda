//! What a bad network does to packets, as a function of a seed: they come late, in clumps, twice, out of order, or not
//! at all. There is no clock in here: time goes in as an argument.

use std::collections::BTreeMap;

use bytes::Bytes;
use space::workload::Random;

/// How bad one direction is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImpairmentSettings {
    /// How long every packet takes, in microseconds.
    pub delay_us: u64,
    /// How much longer some take. Packets wait for those before them: jitter alone reorders nothing.
    pub jitter_us: u64,
    /// The share of packets that never arrive.
    pub loss: f64,
    /// The share of packets that arrive twice.
    pub duplicates: f64,
    /// The share of packets that are held back, so that later ones overtake them.
    pub reordering: f64,
}

/// What became of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ImpairmentCounts {
    /// Packets that came in.
    pub taken: u64,
    /// Packets that went out, doubles included.
    pub passed: u64,
    /// Packets lost on purpose.
    pub lost: u64,
    /// Packets sent twice.
    pub doubled: u64,
    /// Packets held back.
    pub held_back: u64,
    /// Packets dropped because too many were under way.
    pub overflowed: u64,
}

/// How long a packet is held back, beyond its delay: long enough for others to pass.
const HELD_BACK_US: u64 = 8_000;

/// One direction of a network.
#[derive(Debug)]
pub struct Impairment {
    settings: ImpairmentSettings,
    random: Random,
    /// By arrival, then by the order of sending.
    under_way: BTreeMap<(u64, u64), Bytes>,
    /// When the newest packet that keeps order arrives.
    last_us: u64,
    next: u64,
    counts: ImpairmentCounts,
}

impl Impairment {
    /// Packets under way at most.
    pub const UNDER_WAY_MAX: usize = 16_384;

    /// The network that this seed stands for.
    pub fn new(settings: ImpairmentSettings, seed: u64) -> Impairment {
        Impairment {
            settings,
            random: Random::new(seed),
            under_way: BTreeMap::new(),
            last_us: 0,
            next: 0,
            counts: ImpairmentCounts::default(),
        }
    }

    /// Takes a packet. Each costs the same number of random draws, whatever becomes of it.
    pub fn take(&mut self, now_us: u64, packet: Bytes) {
        let ImpairmentSettings { delay_us, jitter_us, loss, duplicates, reordering } = self.settings;
        let mut chance = || f64::from(self.random.unit());
        let (is_lost, is_doubled, is_held_back) = (chance() < loss, chance() < duplicates, chance() < reordering);
        let late_us = (chance() * jitter_us as f64) as u64;
        self.counts.taken += 1;
        if is_lost {
            self.counts.lost += 1;
            return;
        }
        let on_time = (now_us + delay_us + late_us).max(self.last_us);
        let arrival = if is_held_back {
            self.counts.held_back += 1;
            on_time + HELD_BACK_US + delay_us / 4
        } else {
            self.last_us = on_time;
            on_time
        };
        self.counts.doubled += u64::from(is_doubled);
        for _ in 0..1 + usize::from(is_doubled) {
            if self.under_way.len() == Self::UNDER_WAY_MAX {
                self.counts.overflowed += 1;
                return;
            }
            self.under_way.insert((arrival, self.next), packet.clone());
            self.next += 1;
        }
    }

    /// When the next packet is due.
    pub fn next_us(&self) -> Option<u64> {
        self.under_way.first_key_value().map(|(&(arrival, _), _)| arrival)
    }

    /// The next packet that is due.
    pub fn pass(&mut self, now_us: u64) -> Option<Bytes> {
        let entry = self.under_way.first_entry().filter(|entry| entry.key().0 <= now_us)?;
        self.counts.passed += 1;
        Some(entry.remove())
    }

    /// What became of packets so far.
    pub fn counts(&self) -> ImpairmentCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a packet per millisecond, and tells when each arrives.
    fn arrivals(settings: ImpairmentSettings, seed: u64) -> Vec<(u64, u32)> {
        let mut network = Impairment::new(settings, seed);
        let mut heard = Vec::new();
        for now_us in 0..4_000_000 {
            if now_us % 1_000 == 0 && now_us < 2_000_000 {
                network.take(now_us, Bytes::copy_from_slice(&(now_us as u32 / 1_000).to_le_bytes()));
            }
            while let Some(packet) = network.pass(now_us) {
                heard.push((now_us, u32::from_le_bytes(packet.as_ref().try_into().unwrap())));
            }
        }
        assert_eq!(network.next_us(), None);
        heard
    }

    #[test]
    fn a_seed_is_a_network() {
        let rough =
            ImpairmentSettings { delay_us: 40_000, jitter_us: 30_000, loss: 0.1, duplicates: 0.05, reordering: 0.05 };
        assert_eq!(arrivals(rough, 7), arrivals(rough, 7));
        assert_ne!(arrivals(rough, 7), arrivals(rough, 8));
    }

    #[test]
    fn jitter_keeps_the_order_and_reordering_does_not() {
        let jitter = ImpairmentSettings { delay_us: 20_000, jitter_us: 30_000, ..ImpairmentSettings::default() };
        let heard = arrivals(jitter, 1);
        assert!(heard.iter().map(|&(_, number)| number).eq(0..2_000));
        assert!(heard.iter().all(|&(at, number)| (20_000..=50_000).contains(&(at - u64::from(number) * 1_000))));
        let reordering = ImpairmentSettings { reordering: 0.1, ..jitter };
        assert!(arrivals(reordering, 1).windows(2).any(|two| two[0].1 > two[1].1), "nothing was overtaken");
    }

    #[test]
    fn shares_are_what_was_asked_for() {
        let settings = ImpairmentSettings { loss: 0.2, duplicates: 0.1, ..ImpairmentSettings::default() };
        let mut network = Impairment::new(settings, 3);
        for _ in 0..10_000 {
            network.take(0, Bytes::new());
        }
        while network.pass(0).is_some() {}
        let counts = network.counts();
        assert!((1_800..2_200).contains(&counts.lost), "{counts:?}");
        assert!((700..900).contains(&counts.doubled), "{counts:?}");
        assert_eq!(counts.passed, counts.taken - counts.lost + counts.doubled);
    }

    #[test]
    fn what_is_under_way_is_bounded() {
        let mut network = Impairment::new(ImpairmentSettings { delay_us: 1, ..ImpairmentSettings::default() }, 3);
        for _ in 0..Impairment::UNDER_WAY_MAX + 5 {
            network.take(0, Bytes::new());
        }
        assert_eq!(network.counts().overflowed, 5);
    }
}

//! An estimate of another host's clock from exchanged messages, as in NTP. The estimated time never goes back.

use std::collections::VecDeque;

use space::Time;

/// The number of exchanges that are kept.
const SAMPLES_MAX: usize = 8;
/// The estimated clock runs faster or slower than the local one by at most this fraction, one twentieth.
const SLEW_DIVISOR: i64 = 20;
/// A larger error than this is corrected by a step instead.
const STEP_US: i64 = 500_000;

/// A question and its answer, as in NTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When the question was sent, by the local clock.
    pub asked: Time,
    /// When the question arrived, by the owner's clock.
    pub received: Time,
    /// When the answer was sent, by the owner's clock.
    pub replied: Time,
    /// When the answer arrived, by the local clock.
    pub returned: Time,
}

/// The estimate of the owner's clock.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Offset and round trip of each exchange, in microseconds.
    samples: VecDeque<(i64, i64)>,
    /// The last local time that was asked for, and the estimate for it.
    last: Option<(Time, Time)>,
}

impl Clock {
    /// Without exchanges: the owner's time is taken to be the local time.
    pub fn new() -> Clock {
        Clock::default()
    }

    /// Takes in an exchange. Returns `false` for one with a negative round trip, during which a clock was set.
    pub fn handle(&mut self, exchange: Exchange) -> bool {
        let Exchange { asked, received, replied, returned } = exchange;
        let round_trip = (returned - asked).saturating_sub(replied - received);
        if round_trip < 0 || returned < asked || replied < received {
            return false;
        }
        let offset = (received - asked) / 2 + (replied - returned) / 2;
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back((offset, round_trip));
        true
    }

    /// The owner's time at a local time. It never goes back unless the local clock does.
    pub fn owner_time(&mut self, local: Time) -> Time {
        let wanted = local + self.best().map_or(0, |(offset, _)| offset);
        let mapped = match self.last {
            Some((last_local, last_mapped)) if local >= last_local => {
                let elapsed = local - last_local;
                let straight = last_mapped + elapsed;
                let error = wanted - straight;
                if error > STEP_US {
                    wanted
                } else if error < -STEP_US {
                    // Time stands still until the owner's time has caught up.
                    last_mapped.max(wanted)
                } else {
                    let slew = elapsed / SLEW_DIVISOR;
                    straight + error.clamp(-slew, slew)
                }
            }
            _ => wanted,
        };
        self.last = Some((local, mapped));
        mapped
    }

    /// A bound on the error of the owner's time, in microseconds: half the shortest round trip, however asymmetric the
    /// latencies are. `None` before the first exchange.
    pub fn error_bound_us(&self) -> Option<i64> {
        self.best().map(|(_, round_trip)| round_trip / 2 + 1)
    }

    /// The offset and round trip of the exchange with the shortest round trip.
    fn best(&self) -> Option<(i64, i64)> {
        self.samples.iter().copied().min_by_key(|&(_, round_trip)| round_trip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    fn us(micros: i64) -> Time {
        Time::from_micros(micros)
    }

    #[test]
    fn the_offset_is_within_the_published_bound() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let true_offset = i64::from(random.whole(0, 2_000_000)) - 1_000_000;
            let mut clock = Clock::new();
            for round in 0..10 {
                let asked = us(round * 1_000_000);
                let there = i64::from(random.whole(1_000, 300_000));
                let back = i64::from(random.whole(1_000, 300_000));
                let received = asked + there + true_offset;
                let replied = received + 500;
                assert!(clock.handle(Exchange { asked, received, replied, returned: asked + there + 500 + back }));
            }
            let local = us(60_000_000);
            let error = clock.owner_time(local) - (local + true_offset);
            assert!(error.abs() <= clock.error_bound_us().unwrap(), "seed {seed}: {error}");
        }
    }

    #[test]
    fn mapped_time_never_goes_back_and_is_slewed() {
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let mut clock = Clock::new();
            let (mut local, mut last) = (us(0), None);
            for _ in 0..300 {
                local = local + i64::from(random.whole(0, 20_000));
                if random.unit() < 0.2 {
                    let wrong = i64::from(random.whole(0, 2_000_000)) - 1_000_000;
                    let at = local + wrong;
                    clock.handle(Exchange { asked: local, received: at, replied: at, returned: local + 1_000 });
                }
                let mapped = clock.owner_time(local);
                if let Some(last) = last {
                    assert!(mapped >= last, "seed {seed}: time went back");
                }
                last = Some(mapped);
            }
        }
    }

    #[test]
    fn an_exchange_that_took_no_time_is_ignored() {
        let mut clock = Clock::new();
        assert!(!clock.handle(Exchange { asked: us(10), received: us(0), replied: us(50), returned: us(20) }));
        assert_eq!(clock.error_bound_us(), None);
        assert_eq!(clock.owner_time(us(5)), us(5));
    }
}

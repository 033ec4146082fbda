//! An observer's idea of the owner's clock: from exchanged messages, never running backwards.

use std::collections::VecDeque;

use space::Time;

/// Exchanges that are remembered.
const SAMPLES_MAX: usize = 8;
/// The mapped clock runs at most this much faster or slower than the local one: one part in twenty.
const SLEW_DIVISOR: i64 = 20;
/// An error larger than this is not slewed away but stepped over.
const STEP_US: i64 = 500_000;

/// One exchange of messages with the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When the question left, by the local clock.
    pub asked: Time,
    /// When it arrived, by the owner's clock.
    pub received: Time,
    /// When the answer left, by the owner's clock.
    pub replied: Time,
    /// When it arrived, by the local clock.
    pub returned: Time,
}

/// The owner's time, seen from here.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Offset and round trip of the last exchanges, in microseconds.
    samples: VecDeque<(i64, i64)>,
    /// The last local moment that was asked for, and what it was mapped to.
    last: Option<(Time, Time)>,
}

impl Clock {
    /// Knows nothing yet: the owner's time is taken for the local one.
    pub fn new() -> Clock {
        Clock::default()
    }

    /// Takes in an exchange. One that took less than no time is ignored: a clock was set in between.
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

    /// The owner's time at a local moment. It never goes back while the local clock does not.
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
                    // Stepping back would break monotony: stand still until the owner's time is reached.
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

    /// The owner's time is off by at most this many microseconds, however unequal the two ways are: half the shortest
    /// round trip. A replica of speed v is displaced by at most v times this. `None` before the first exchange.
    pub fn error_bound_us(&self) -> Option<i64> {
        self.best().map(|(_, round_trip)| round_trip / 2 + 1)
    }

    /// The offset and round trip of the quickest exchange.
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

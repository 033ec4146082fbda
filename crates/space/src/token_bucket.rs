//! A bound on traffic: messages cost tokens, and tokens come at a steady rate.

use crate::Time;

/// How much may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Microseconds in which one more message may be sent.
    pub message_us: i64,
    /// Messages that may be sent at once after a silence.
    pub burst: u32,
}

/// Tokens for messages, counted in microseconds so that nothing is rounded.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    allowance: Allowance,
    saved_us: i64,
    filled_at: Option<Time>,
}

impl TokenBucket {
    /// A full bucket. An allowance of nothing is taken for one message per microsecond, one at once.
    pub fn new(allowance: Allowance) -> TokenBucket {
        let allowance = Allowance { message_us: allowance.message_us.max(1), burst: allowance.burst.max(1) };
        TokenBucket { allowance, saved_us: full(allowance), filled_at: None }
    }

    /// Takes a token, if there is one. Time going back brings none.
    pub fn take(&mut self, now: Time) -> bool {
        if let Some(filled_at) = self.filled_at {
            let earned = (now - filled_at).max(0);
            self.saved_us = self.saved_us.saturating_add(earned).min(full(self.allowance));
        }
        self.filled_at = Some(now);
        let has_token = self.saved_us >= self.allowance.message_us;
        if has_token {
            self.saved_us -= self.allowance.message_us;
        }
        has_token
    }

    /// Takes tokens for the most urgent of several messages, and returns which may be sent, the most urgent first.
    /// Of equally urgent ones the earlier goes first.
    pub fn take_for(&mut self, now: Time, urgencies: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..urgencies.len()).collect();
        order.sort_by(|&one, &other| urgencies[other].total_cmp(&urgencies[one]));
        let granted = order.iter().take_while(|_| self.take(now)).count();
        order.truncate(granted);
        order
    }
}

fn full(allowance: Allowance) -> i64 {
    allowance.message_us.saturating_mul(i64::from(allowance.burst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_allowance_is_ever_sent() {
        for seed in 0..100 {
            let mut random = crate::workload::Random::new(seed);
            let allowance = Allowance { message_us: 100_000, burst: 3 };
            let mut bucket = TokenBucket::new(allowance);
            let (mut now, mut sent) = (Time::default(), 0);
            for _ in 0..1_000 {
                now = now + i64::from(random.whole(0, 60_000));
                sent += i64::from(bucket.take(now));
                let allowed = 3 + now.micros() / 100_000;
                assert!(sent <= allowed, "seed {seed}: {sent} sent by {now}, {allowed} allowed");
            }
            assert!(sent >= now.micros() / 100_000 / 2, "seed {seed}: {sent} sent by {now}");
        }
    }

    #[test]
    fn the_most_urgent_goes_first() {
        let mut bucket = TokenBucket::new(Allowance { message_us: 1_000_000, burst: 2 });
        assert_eq!(bucket.take_for(Time::default(), &[1.0, 5.0, 1.0, 3.0]), [1, 3]);
        assert_eq!(bucket.take_for(Time::from_micros(1_000_000), &[2.0, 2.0]), [0]);
    }
}

//! A connection, and what it has cost so far.

use space::token_bucket::{Allowance, TokenBucket};
use space::{NodeId, Time};

use crate::limits::Limits;
use wire::Channel;

/// Faults are forgotten after this, in microseconds.
const FAULTS_US: i64 = 60_000_000;

/// A connection that stands.
#[derive(Debug)]
pub struct Link {
    /// When it was opened.
    pub opened: Time,
    /// Bytes that nobody can guess.
    pub secret: [u8; 16],
    /// Whose it is, after a hello.
    pub session: Option<NodeId>,
    datagrams: TokenBucket,
    messages: TokenBucket,
    faults: (Time, u32),
}

impl Link {
    /// A connection that was just opened.
    pub fn new(now: Time, secret: [u8; 16], limits: &Limits) -> Link {
        let bucket = |per_s: u32| {
            let per_s = per_s.max(1);
            TokenBucket::new(Allowance { message_us: 1_000_000 / i64::from(per_s), burst: per_s })
        };
        Link {
            opened: now,
            secret,
            session: None,
            datagrams: bucket(limits.datagrams_per_s),
            messages: bucket(limits.messages_per_s),
            faults: (now, 0),
        }
    }

    /// Whether one more message may come.
    pub fn admits(&mut self, now: Time, channel: Channel) -> bool {
        match channel {
            Channel::Stream => self.messages.take(now),
            Channel::Datagram => self.datagrams.take(now),
        }
    }

    /// Counts a fault, and says how many there are within a minute.
    pub fn fault(&mut self, now: Time) -> u32 {
        if now - self.faults.0 > FAULTS_US {
            self.faults = (now, 0);
        }
        self.faults.1 += 1;
        self.faults.1
    }
}

//! A connection of a client, and what it has cost so far.

use space::token_bucket::{Allowance, TokenBucket};
use space::{NodeId, Time};

use crate::limits::Limits;
use wire::Channel;

/// Bad messages are forgotten after this time.
const FAULTS_US: i64 = 60_000_000;

/// An open connection.
#[derive(Debug)]
pub struct Link {
    pub opened: Time,
    /// Random bytes, the resume key of its session.
    pub secret: [u8; 16],
    /// The user, after a hello.
    pub session: Option<NodeId>,
    datagrams: TokenBucket,
    messages: TokenBucket,
    faults: (Time, u32),
}

impl Link {
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

    /// Takes one more message from the link's rate; false if it came too fast.
    pub fn admits(&mut self, now: Time, channel: Channel) -> bool {
        match channel {
            Channel::Stream => self.messages.take(now),
            Channel::Datagram => self.datagrams.take(now),
        }
    }

    /// Counts a bad message, and returns how many there were within a minute.
    pub fn fault(&mut self, now: Time) -> u32 {
        if now - self.faults.0 > FAULTS_US {
            self.faults = (now, 0);
        }
        self.faults.1 += 1;
        self.faults.1
    }
}

//! One direction between two hosts: datagrams, and a connection that keeps order and loses nothing until it breaks.

use space::Time;

use crate::network::{LinkSettings, Path, Stream};

/// A connection over which nothing arrives for longer is given up, in microseconds: what nodes use themselves.
pub const PATIENCE_US: i64 = 1_000_000;

/// What is sent from one host to another.
#[derive(Clone, Debug)]
pub struct Line {
    datagrams: Path,
    stream: Stream,
    /// Counts connections: what was sent over an earlier one does not arrive any more.
    connection: u32,
    broken_until: Time,
}

/// When something that is sent arrives, be it twice, and over which connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    pub at: [Option<Time>; 2],
    /// `None`: it does not depend on one.
    pub connection: Option<u32>,
}

impl Line {
    /// The line that this seed stands for.
    pub fn new(settings: LinkSettings, seed: u64) -> Line {
        Line {
            datagrams: Path::new(settings, seed),
            stream: Stream::new(settings, seed ^ 0xff),
            connection: 0,
            broken_until: Time::from_micros(i64::MIN),
        }
    }

    /// Nothing gets through until then. What is sent over the connection meanwhile arrives afterwards; if it may break, and that
    /// takes too long, it is lost with the connection, and so is what is on its way.
    pub fn cut(&mut self, now: Time, until: Time, may_break: bool) {
        self.datagrams.cut(until);
        self.stream.cut(until);
        if may_break && until - now > PATIENCE_US {
            self.break_until(until);
        }
    }

    /// There is no connection until then.
    pub fn break_until(&mut self, until: Time) {
        self.connection += 1;
        self.broken_until = until;
    }

    /// Until when nothing gets through.
    pub fn cut_until(&self) -> Time {
        self.datagrams.cut_until().max(self.broken_until)
    }

    /// Whether what was sent over a connection still arrives.
    pub fn stands(&self, connection: Option<u32>) -> bool {
        connection.is_none_or(|connection| connection == self.connection)
    }

    /// Sends something now.
    pub fn send(&mut self, now: Time, is_datagram: bool) -> Arrivals {
        if is_datagram {
            Arrivals { at: self.datagrams.arrivals(now), connection: None }
        } else if now < self.broken_until {
            Arrivals { at: [None, None], connection: None }
        } else {
            Arrivals { at: [Some(self.stream.arrival(now)), None], connection: Some(self.connection) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: i64) -> Time {
        Time::from_micros(us)
    }

    /// What is sent before and while a connection is cut for long is lost with it; a short cut only delays.
    #[test]
    fn a_connection_that_is_cut_for_long_breaks() {
        for (until, may_break, arrives) in
            [(at(900_000), true, true), (at(1_500_000), false, true), (at(1_500_000), true, false)]
        {
            let mut line = Line::new(LinkSettings::steady(50_000), 1);
            let before = line.send(at(0), false);
            line.cut(at(10_000), until, may_break);
            let meanwhile = line.send(at(20_000), false);
            assert_eq!(line.stands(before.connection), arrives, "{until} {may_break}");
            assert_eq!(meanwhile.at[0].is_some(), arrives, "{until} {may_break}");
            assert!(line.send(at(30_000), true).at[0].is_none(), "datagrams do not get through");
            let after = line.send(until, false);
            assert_eq!(after.at[0], Some(until + 50_000));
            assert!(line.stands(after.connection));
        }
    }
}

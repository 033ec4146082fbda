//! A participant as a pure state machine: events and times go in, effects come out.

use space::Time;

/// The name that a driver gives to a connection. It is not used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// The way of a message over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Reliable and in order.
    Stream,
    /// Unreliable: it arrives at once or never.
    Datagram,
}

/// An event on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    Opened {
        link: LinkId,
        /// Random bytes from the driver, as a participant has no source of randomness.
        secret: [u8; 16],
    },
    /// A message arrived.
    Arrived {
        link: LinkId,
        channel: Channel,
        bytes: &'a [u8],
    },
    Closed {
        link: LinkId,
    },
}

/// An order of a participant to its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Send {
        link: LinkId,
        channel: Channel,
        bytes: Vec<u8>,
    },
    /// Closes a connection after everything was sent on its stream.
    Close {
        link: LinkId,
    },
    /// Stores a record, which a server needs when it starts again.
    Persist(Record),
}

/// State that must outlive a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The inputs of a tick, as the world's journal writes them.
    Tick(Vec<u8>),
    /// A session began or was restored.
    Session(SessionRecord),
    /// The session of this sender ended.
    Ended { sender: u64 },
}

/// The parts of a session that a restart needs to resume it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// The sender of its inputs in the world.
    pub sender: u64,
    pub nickname: String,
    pub resume_key: crate::session::ResumeKey,
}

/// A participant. Its driver calls `handle` for each event and `wake` at the time of `next_wake`, and after each of
/// these carries out the effects of `poll` until it returns `None`.
pub trait Participant {
    fn handle(&mut self, now: Time, event: Event<'_>);
    fn wake(&mut self, now: Time);
    fn next_wake(&self) -> Time;
    fn poll(&mut self) -> Option<Effect>;
}

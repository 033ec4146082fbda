//! A participant as a pure state machine: events and time in, effects out.

use space::Time;

/// A connection, as its driver names it. A name is not used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// How a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// For certain and in order.
    Stream,
    /// At once or never.
    Datagram,
}

/// Something happened on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A connection stands.
    Opened {
        /// Which.
        link: LinkId,
        /// Bytes that nobody can guess: a node draws no random numbers of its own.
        secret: [u8; 16],
    },
    /// A message arrived.
    Arrived {
        /// Over which connection.
        link: LinkId,
        /// How.
        channel: Channel,
        /// What.
        bytes: &'a [u8],
    },
    /// A connection is gone.
    Closed {
        /// Which.
        link: LinkId,
    },
}

/// What a node wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send a message.
    Send {
        /// Over which connection.
        link: LinkId,
        /// How.
        channel: Channel,
        /// What.
        bytes: Vec<u8>,
    },
    /// End a connection after what was sent on its stream.
    Close {
        /// Which.
        link: LinkId,
    },
    /// Keep this: a server that starts again asks for it.
    Persist(Record),
}

/// What must outlive a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The inputs of a tick, as the world's journal writes them.
    Tick(Vec<u8>),
    /// A session began, or is as it was after a restart.
    Session(SessionRecord),
    /// A session is over.
    Ended {
        /// Which: the number of its sender.
        sender: u64,
    },
}

/// What makes a session resumable after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// Who the world knows it as.
    pub sender: u64,
    /// What its user is called.
    pub nickname: String,
    /// What its user comes back with.
    pub resume_key: crate::session::ResumeKey,
}

/// A participant. Its driver calls `handle` for each event and `wake` when `next_wake` has come, and after either
/// carries out what `poll` hands out until that is `None`.
pub trait Participant {
    /// Takes in an event.
    fn handle(&mut self, now: Time, event: Event<'_>);
    /// Does what is due.
    fn wake(&mut self, now: Time);
    /// When there is something to do.
    fn next_wake(&self) -> Time;
    /// The next thing to be done for it.
    fn poll(&mut self) -> Option<Effect>;
}

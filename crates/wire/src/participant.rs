//! A participant as a pure state machine: events and time go in, effects come out.
//!
//! A server, a client and a peer are [`Participant`]s. What a participant talks to is an [`Endpoint`]: a link to a
//! client or peer, or another node of its cluster. So one driver, or one simulator, can run any of them.

use space::{NodeId, Time};

use crate::DecodeError;

/// A connection, as its driver numbers it. No number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// What a participant exchanges messages with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// A connection to a client or a peer.
    Link(LinkId),
    /// Another node of the same cluster. Its messages are [`ToNode`](crate::ToNode).
    Node(NodeId),
}

impl From<LinkId> for Endpoint {
    fn from(link: LinkId) -> Endpoint {
        Endpoint::Link(link)
    }
}

impl From<NodeId> for Endpoint {
    fn from(node: NodeId) -> Endpoint {
        Endpoint::Node(node)
    }
}

/// How a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Reliable and in order.
    Stream,
    /// May be lost or overtaken.
    Datagram,
}

/// What a driver tells a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// An endpoint can be reached from now on.
    Opened {
        from: Endpoint,
        /// Random bytes, for a link: a participant draws no random numbers of its own.
        secret: [u8; 16],
    },
    /// A message arrived.
    Arrived { from: Endpoint, channel: Channel, bytes: &'a [u8] },
    /// An endpoint cannot be reached any more.
    Closed { from: Endpoint },
}

/// What a participant asks its driver to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send a message.
    Send { to: Endpoint, channel: Channel, bytes: Vec<u8> },
    /// Close a connection after what was sent on its stream.
    Close { to: Endpoint },
    /// A node of the cluster sent a message that cannot be decoded. Its carrier counts these, and closes a connection
    /// with too many; a server counts those of links itself.
    Malformed { from: NodeId, error: DecodeError },
    /// Keep this: a server that starts again asks for it.
    Persist(Record),
}

/// What must outlive a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The inputs of a tick, as the world's journal writes them.
    Tick(Vec<u8>),
    /// A session has begun.
    Session(SessionRecord),
    /// The session of this sender has ended.
    Ended { sender: u64 },
}

/// What makes a session resumable after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// The number under which the world knows the user.
    pub sender: u64,
    pub nickname: String,
    /// What the user's client shows to resume.
    pub resume_key: crate::session::ResumeKey,
}

/// A state machine that talks to endpoints. Its driver calls `handle` for each event, and `wake` when `next_wake` has
/// come; after either it carries out what `poll` returns until that is `None`.
pub trait Participant {
    /// Takes in an event.
    fn handle(&mut self, now: Time, event: Event<'_>);
    /// Does what is due.
    fn wake(&mut self, now: Time);
    /// When `wake` is to be called next.
    fn next_wake(&self) -> Time;
    /// The next effect to carry out.
    fn poll(&mut self) -> Option<Effect>;
}

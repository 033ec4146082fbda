//! The first byte of each message. Below 0x40 a client speaks, below 0x80 a server, below 0xa0 a peer, from there
//! on a node of a cluster.

/// I would like to join.
pub const HELLO: u8 = 0x01;
/// I say something.
pub const SAY: u8 = 0x02;
/// I would like to hold that.
pub const GRAB: u8 = 0x03;
/// I let go.
pub const RELEASE: u8 = 0x04;
/// I leave.
pub const LEAVE: u8 = 0x05;
/// How I would like to move; a datagram.
pub const MOVES: u8 = 0x06;
/// What time is it? A datagram.
pub const PING: u8 = 0x07;

/// You are in.
pub const WELCOME: u8 = 0x41;
/// You are not in, and why.
pub const REFUSED: u8 = 0x42;
/// Things that stand in the world.
pub const SCENE: u8 = 0x43;
/// Who entered your aura, and who left it.
pub const ROSTER: u8 = 0x44;
/// Somebody said something.
pub const SAID: u8 = 0x45;
/// What became of a grab.
pub const GRABBED: u8 = 0x46;
/// This is the end, and why.
pub const CLOSED: u8 = 0x47;
/// Where everybody is; a datagram.
pub const STATE: u8 = 0x48;
/// The time; a datagram.
pub const PONG: u8 = 0x49;

/// Somebody else serves you from now on.
pub const REDIRECT: u8 = 0x4a;
/// Who else serves this world.
pub const SERVERS: u8 = 0x4b;
/// What time it is for things that change their form.
pub const FORMS: u8 = 0x50;

/// I would like to see everything; an operator.
pub const WATCH: u8 = 0x21;
/// Show me what was; an operator.
pub const PLAY: u8 = 0x22;

/// Tell me that of the engine; an operator.
pub const LOOK: u8 = 0x23;

/// This is the world that you watch; to an operator.
pub const WATCHED: u8 = 0x61;
/// What objects are; to an operator.
pub const KNOWN: u8 = 0x62;
/// Where all objects are; to an operator.
pub const VIEW: u8 = 0x63;
/// That was what you asked for; to an operator.
pub const PLAYED: u8 = 0x64;
/// Who hears each other; to an operator.
pub const GROUPS: u8 = 0x65;
/// The cells of the ground; to an operator.
pub const CELLS: u8 = 0x66;
/// Who hears an object; to an operator.
pub const HEARING: u8 = 0x67;
/// Which node of a cluster decides where; to an operator.
pub const BORDERS: u8 = 0x68;

/// A peer says who it is.
pub const PEER_HELLO: u8 = 0x81;
/// A peer moves this object.
pub const PEER_OWNS: u8 = 0x82;
/// A peer took an object away.
pub const PEER_DROPS: u8 = 0x83;
/// Where a peer's objects are, and digests of them; a datagram.
pub const PEER_REPORT: u8 = 0x84;
/// A peer saw a contact that is not its to decide.
pub const PEER_CLAIM: u8 = 0x85;
/// A peer decided what happened.
pub const PEER_VERDICT: u8 = 0x86;
/// A peer asks for the time; a datagram.
pub const PEER_PING: u8 = 0x87;
/// A peer tells the time; a datagram.
pub const PEER_PONG: u8 = 0x88;
/// A peer leaves.
pub const PEER_LEAVE: u8 = 0x89;
/// A peer's user says something.
pub const PEER_SAYS: u8 = 0x8a;

/// A node of a cluster is alive; a datagram.
pub const NODE_BEAT: u8 = 0xa1;
/// A node vouches for another's lease; a datagram.
pub const NODE_VOUCH: u8 = 0xa2;
/// A node would like to belong to the cluster.
pub const NODE_JOIN: u8 = 0xa3;
/// A node is about to propose a plan.
pub const NODE_PREPARE: u8 = 0xa4;
/// A node will listen to that.
pub const NODE_PROMISE: u8 = 0xa5;
/// A node proposes a plan.
pub const NODE_ACCEPT: u8 = 0xa6;
/// A node has accepted a plan.
pub const NODE_ACCEPTED: u8 = 0xa7;
/// A plan holds.
pub const NODE_COMMITTED: u8 = 0xa8;
/// A node acts by a plan, and says what reaches into the receiver's space.
pub const NODE_DECLARE: u8 = 0xa9;
/// What a node tells another in a tick; a datagram.
pub const NODE_BATCH: u8 = 0xaa;
/// What objects are that will be heard across a border.
pub const NODE_INTRODUCE: u8 = 0xab;
/// An object is to change hands.
pub const NODE_OFFER: u8 = 0xac;
/// An object has changed hands, and is safe.
pub const NODE_TAKEN: u8 = 0xad;
/// Copies, for the case of death.
pub const NODE_REPLICATE: u8 = 0xae;
/// Copies are kept.
pub const NODE_REPLICATED: u8 = 0xaf;
/// Who has these?
pub const NODE_QUERY: u8 = 0xb0;
/// A node has or had these.
pub const NODE_KNOWN: u8 = 0xb1;
/// An object that has changed hands is not offered any more.
pub const NODE_CLOSED: u8 = 0xb2;
/// A node says which cluster it is of.
pub const NODE_HELLO: u8 = 0xb3;
/// A node cannot belong to this cluster.
pub const NODE_TURNED_AWAY: u8 = 0xb4;
/// Whose is this session, and is this name taken?
pub const NODE_SEEK: u8 = 0xb5;
/// What a node knows of a session and a name.
pub const NODE_SOUGHT: u8 = 0xb6;
/// Somebody said something near a border.
pub const NODE_SAID: u8 = 0xb7;

/// As a kind of message between server, client and operator is called in documents and metrics; none for any other.
pub const fn name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        HELLO => "hello",
        SAY => "say",
        GRAB => "grab",
        RELEASE => "release",
        LEAVE => "leave",
        MOVES => "moves",
        PING => "ping",
        WELCOME => "welcome",
        REFUSED => "refused",
        SCENE => "scene",
        ROSTER => "roster",
        SAID => "said",
        GRABBED => "grabbed",
        CLOSED => "closed",
        STATE => "state",
        PONG => "pong",
        REDIRECT => "redirect",
        SERVERS => "servers",
        FORMS => "forms",
        WATCH => "watch",
        PLAY => "play",
        WATCHED => "watched",
        KNOWN => "known",
        VIEW => "view",
        PLAYED => "played",
        LOOK => "look",
        GROUPS => "groups",
        CELLS => "cells",
        HEARING => "hearing",
        BORDERS => "borders",
        _ => return None,
    })
}

//! Messages between the nodes of a cluster: several servers that share one world.
//!
//! What is worthless when late travels as one [`Batch`] per pair of nodes and tick, which may be lost, duplicated and
//! reordered. Everything else goes over a stream and is repeated until it is answered. Nodes are authenticated by
//! their transport; what they say is checked all the same.

mod batch;
mod custody;
mod entries;
mod envelope;
mod piece;
mod plan;
mod users;

pub use batch::{Answer, Ask, Batch, Granted, GuestPose, Introduced, StandingSolid};
pub use custody::{Declared, Load, Named, Offer, Replicate};
pub use entries::{Entries, ReplicaEntry};
pub use envelope::{Envelope, open, seal};
pub use piece::{PIECE_OBJECTS_MAX, PIECES_MAX, Piece};
pub use plan::{Ballot, Member, Plan, SpaceCut};
pub use users::{Seek, Sought};

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

use crate::codec::{DecodeError, begin, decode};
use crate::session::{NICKNAME_MAX, SAID_MAX};
use crate::{ADDRESS_MAX, kind};

/// The version of the protocol between the nodes of a cluster.
pub const CLUSTER_VERSION: u16 = 4;
/// The most bytes of a message between nodes.
pub const NODE_MESSAGE_MAX: usize = 1 << 20;
/// The most nodes of a cluster, those without objects included.
pub const NODES_MAX: usize = 256;
/// The most objects in one list.
pub const OBJECTS_MAX: usize = 32_768;

/// A message from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ToNode {
    /// Heartbeat of a node, which asks to renew its lease; a datagram.
    Beat(Beat),
    /// Supports the lease of the node that sent this heartbeat; a datagram.
    Vouch {
        version: u64,
        /// The asker's clock when it asked, in microseconds.
        sent_us: i64,
    },
    /// Asks to become a member of the cluster.
    Join {
        /// The version of the protocol.
        version: u16,
        /// A hash of the world's file: all members start from the same.
        world: u64,
        /// Its address for clients.
        address: String,
        /// Whether it votes and owns no objects.
        is_witness: bool,
    },
    /// Paxos: asks acceptors to ignore older ballots for this plan.
    Prepare { slot: u64, ballot: Ballot },
    /// Paxos: promises to ignore older ballots, and reports what it has accepted.
    Promise { slot: u64, ballot: Ballot, accepted: Option<(Ballot, Plan)> },
    /// Paxos: proposes a plan.
    Accept { ballot: Ballot, plan: Plan },
    /// Paxos: has accepted the plan of this number.
    Accepted { slot: u64, ballot: Ballot },
    /// A majority has accepted this plan: it holds.
    Committed(Plan),
    /// The sender acts by this plan, and these of its objects reach into the receiver's space. The list is complete
    /// when all pieces of one telling have come.
    Declare {
        version: u64,
        /// Counts the lists of this sender; pieces of two lists do not make one.
        telling: u64,
        piece: Piece,
        standing: Vec<Declared>,
    },
    /// What the sender tells in one tick; a datagram.
    Batch(Batch),
    /// Describes objects that the receiver is about to hear.
    Introduce { objects: Vec<Introduced> },
    /// Hands an object over to the receiver.
    Offer(Offer),
    /// The receiver owns the object now, and has it in safety.
    Taken { object: u64, seq: u32 },
    /// The sender has seen [`ToNode::Taken`] and will not offer the object again.
    Closed { object: u64, seq: u32 },
    /// Copies of the sender's objects, to be kept in case it dies.
    Replicate(Replicate),
    /// All copies up to this number are kept.
    Replicated { number: u64 },
    /// The sender is about to adopt these objects and asks for newer owners.
    Query {
        version: u64,
        /// The part of all that it asks about under this plan.
        piece: Piece,
        objects: Vec<Named>,
    },
    /// Of the objects in a query, those that the sender has or had.
    Known { version: u64, piece: Piece, objects: Vec<u64> },
    /// The first message over a link, in either direction.
    Hello {
        /// The version of the protocol.
        version: u16,
        /// A hash of the world's file.
        world: u64,
        /// The plan that the sender acts by; zero without one.
        plan: u64,
    },
    /// The receiver cannot be a member: the cluster has this version and this world.
    TurnedAway { version: u16, world: u64 },
    /// Asks about a user who wants to join.
    Seek(Seek),
    /// The answer to [`ToNode::Seek`].
    Sought(Sought),
    /// A user said something that users of the receiver may hear.
    Said { object: u64, name: String, text: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Beat {
    /// The version of the plan that it acts by.
    pub version: u64,
    /// Its clock, in microseconds.
    pub sent_us: i64,
    /// Its world's tick.
    pub tick: u64,
    /// The number of objects that it owns.
    pub load: u32,
    /// The age of the newest state that is replicated, in ticks.
    pub lag: u32,
    /// A leaf of the plan, and the cut that would halve its load.
    pub half: Option<(u32, SpaceCut)>,
    /// Nodes whose lease has expired, as far as it knows: it does not vouch for them under this plan.
    pub suspects: Vec<u64>,
    /// Nodes whose declaration it waits for.
    pub awaiting: Vec<u64>,
    /// Nodes whose objects it is about to adopt.
    pub adopting: Vec<u64>,
}

impl ToNode {
    /// Whether it is worthless when late, and so travels as a datagram.
    pub fn is_datagram(&self) -> bool {
        matches!(self, ToNode::Batch(_) | ToNode::Beat(_) | ToNode::Vouch { .. })
    }

    /// The first byte.
    pub fn kind(&self) -> u8 {
        match self {
            ToNode::Beat(_) => kind::NODE_BEAT,
            ToNode::Vouch { .. } => kind::NODE_VOUCH,
            ToNode::Join { .. } => kind::NODE_JOIN,
            ToNode::Prepare { .. } => kind::NODE_PREPARE,
            ToNode::Promise { .. } => kind::NODE_PROMISE,
            ToNode::Accept { .. } => kind::NODE_ACCEPT,
            ToNode::Accepted { .. } => kind::NODE_ACCEPTED,
            ToNode::Committed(_) => kind::NODE_COMMITTED,
            ToNode::Declare { .. } => kind::NODE_DECLARE,
            ToNode::Batch(_) => kind::NODE_BATCH,
            ToNode::Introduce { .. } => kind::NODE_INTRODUCE,
            ToNode::Offer(_) => kind::NODE_OFFER,
            ToNode::Taken { .. } => kind::NODE_TAKEN,
            ToNode::Closed { .. } => kind::NODE_CLOSED,
            ToNode::Replicate(_) => kind::NODE_REPLICATE,
            ToNode::Replicated { .. } => kind::NODE_REPLICATED,
            ToNode::Query { .. } => kind::NODE_QUERY,
            ToNode::Known { .. } => kind::NODE_KNOWN,
            ToNode::Hello { .. } => kind::NODE_HELLO,
            ToNode::TurnedAway { .. } => kind::NODE_TURNED_AWAY,
            ToNode::Seek(_) => kind::NODE_SEEK,
            ToNode::Sought(_) => kind::NODE_SOUGHT,
            ToNode::Said { .. } => kind::NODE_SAID,
        }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let writer = &mut begin(&mut bytes, self.kind());
        match self {
            ToNode::Beat(beat) => beat.write(writer),
            ToNode::Vouch { version, sent_us } => {
                writer.varint(*version);
                writer.i64(*sent_us);
            }
            ToNode::Join { version, world, address, is_witness } => {
                writer.u16(*version);
                writer.u64(*world);
                writer.text(address, ADDRESS_MAX);
                writer.flag(*is_witness);
            }
            ToNode::Prepare { slot, ballot } => {
                writer.varint(*slot);
                ballot.write(writer);
            }
            ToNode::Promise { slot, ballot, accepted } => {
                writer.varint(*slot);
                ballot.write(writer);
                writer.flag(accepted.is_some());
                if let Some((ballot, plan)) = accepted {
                    ballot.write(writer);
                    plan.write(writer);
                }
            }
            ToNode::Accept { ballot, plan } => {
                ballot.write(writer);
                plan.write(writer);
            }
            ToNode::Accepted { slot, ballot } => {
                writer.varint(*slot);
                ballot.write(writer);
            }
            ToNode::Committed(plan) => plan.write(writer),
            ToNode::Declare { version, telling, piece, standing } => {
                writer.varint(*version);
                writer.varint(*telling);
                piece.write(writer);
                writer.list(standing, PIECE_OBJECTS_MAX, Declared::write);
            }
            ToNode::Batch(batch) => batch.write(writer),
            ToNode::Introduce { objects } => writer.list(objects, OBJECTS_MAX, Introduced::write),
            ToNode::Offer(offer) => offer.write(writer),
            ToNode::Taken { object, seq } | ToNode::Closed { object, seq } => {
                writer.varint(*object);
                writer.varint(*seq);
            }
            ToNode::Replicate(replicate) => replicate.write(writer),
            ToNode::Replicated { number } => writer.varint(*number),
            ToNode::Query { version, piece, objects } => {
                writer.varint(*version);
                piece.write(writer);
                writer.list(objects, PIECE_OBJECTS_MAX, Named::write);
            }
            ToNode::Known { version, piece, objects } => {
                writer.varint(*version);
                piece.write(writer);
                writer.list(objects, PIECE_OBJECTS_MAX, |object, writer| writer.varint(*object));
            }
            ToNode::Hello { version, world, plan } => {
                writer.u16(*version);
                writer.u64(*world);
                writer.varint(*plan);
            }
            ToNode::TurnedAway { version, world } => {
                writer.u16(*version);
                writer.u64(*world);
            }
            ToNode::Seek(seek) => seek.write(writer),
            ToNode::Sought(sought) => sought.write(writer),
            ToNode::Said { object, name, text } => {
                writer.varint(*object);
                writer.text(name, NICKNAME_MAX);
                writer.text(text, SAID_MAX);
            }
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<ToNode, DecodeError> {
        decode(bytes, NODE_MESSAGE_MAX, ToNode::read)
    }

    fn read(kind: u8, reader: &mut Reader<'_>) -> Result<Option<ToNode>, Malformed> {
        Ok(Some(match kind {
            kind::NODE_BEAT => ToNode::Beat(Beat::read(reader)?),
            kind::NODE_VOUCH => ToNode::Vouch { version: read_version(reader)?, sent_us: reader.i64("sent_us")? },
            kind::NODE_JOIN => ToNode::Join {
                version: reader.u16("version")?,
                world: reader.u64("world")?,
                address: reader.text(ADDRESS_MAX, "address")?.to_owned(),
                is_witness: reader.flag("is_witness")?,
            },
            kind::NODE_PREPARE => ToNode::Prepare { slot: read_version(reader)?, ballot: Ballot::read(reader)? },
            kind::NODE_PROMISE => ToNode::Promise {
                slot: read_version(reader)?,
                ballot: Ballot::read(reader)?,
                accepted: match reader.flag("accepted")? {
                    true => Some((Ballot::read(reader)?, Plan::read(reader)?)),
                    false => None,
                },
            },
            kind::NODE_ACCEPT => ToNode::Accept { ballot: Ballot::read(reader)?, plan: Plan::read(reader)? },
            kind::NODE_ACCEPTED => ToNode::Accepted { slot: read_version(reader)?, ballot: Ballot::read(reader)? },
            kind::NODE_COMMITTED => ToNode::Committed(Plan::read(reader)?),
            kind::NODE_DECLARE => ToNode::Declare {
                version: read_version(reader)?,
                telling: read_version(reader)?,
                piece: Piece::read(reader)?,
                standing: reader.list(PIECE_OBJECTS_MAX, 9, "standing", Declared::read)?,
            },
            kind::NODE_BATCH => ToNode::Batch(Batch::read(reader)?),
            kind::NODE_INTRODUCE => {
                ToNode::Introduce { objects: reader.list(OBJECTS_MAX, 5, "objects", Introduced::read)? }
            }
            kind::NODE_OFFER => ToNode::Offer(Offer::read(reader)?),
            kind::NODE_TAKEN => ToNode::Taken { object: read_object(reader)?, seq: reader.varint32("seq")? },
            kind::NODE_CLOSED => ToNode::Closed { object: read_object(reader)?, seq: reader.varint32("seq")? },
            kind::NODE_REPLICATE => ToNode::Replicate(Replicate::read(reader)?),
            kind::NODE_REPLICATED => ToNode::Replicated { number: read_version(reader)? },
            kind::NODE_QUERY => ToNode::Query {
                version: read_version(reader)?,
                piece: Piece::read(reader)?,
                objects: reader.list(PIECE_OBJECTS_MAX, 2, "objects", Named::read)?,
            },
            kind::NODE_KNOWN => ToNode::Known {
                version: read_version(reader)?,
                piece: Piece::read(reader)?,
                objects: reader.list(PIECE_OBJECTS_MAX, 1, "objects", read_object)?,
            },
            kind::NODE_HELLO => ToNode::Hello {
                version: reader.u16("version")?,
                world: reader.u64("world")?,
                plan: read_version(reader)?,
            },
            kind::NODE_TURNED_AWAY => {
                ToNode::TurnedAway { version: reader.u16("version")?, world: reader.u64("world")? }
            }
            kind::NODE_SEEK => ToNode::Seek(Seek::read(reader)?),
            kind::NODE_SOUGHT => ToNode::Sought(Sought::read(reader)?),
            kind::NODE_SAID => ToNode::Said {
                object: read_object(reader)?,
                name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
                text: reader.text(SAID_MAX, "text")?.to_owned(),
            },
            _ => return Ok(None),
        }))
    }
}

impl Beat {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        writer.i64(self.sent_us);
        writer.varint(self.tick);
        writer.varint(self.load);
        writer.varint(self.lag);
        let (leaf, cut) = self.half.map_or((0, None), |(leaf, cut)| (leaf, Some(cut)));
        match cut {
            Some(SpaceCut::X(at)) => (writer.u8(1), writer.zigzag(at)),
            Some(SpaceCut::Z(at)) => (writer.u8(2), writer.zigzag(at)),
            Some(SpaceCut::Leaf(_)) | None => (writer.u8(0), ()),
        };
        if matches!(cut, Some(SpaceCut::X(_) | SpaceCut::Z(_))) {
            writer.varint(leaf);
        }
        for nodes in [&self.suspects, &self.awaiting, &self.adopting] {
            writer.list(nodes, NODES_MAX, |node, writer| writer.varint(*node));
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Beat, Malformed> {
        Ok(Beat {
            version: read_version(reader)?,
            sent_us: reader.i64("sent_us")?,
            tick: read_version(reader)?,
            load: reader.varint32("load")?,
            lag: reader.varint32("lag")?,
            half: match reader.u8("half")? {
                0 => None,
                form @ 1..=2 => {
                    let at = reader.zigzag(crate::pose::STEPS_MAX, "half")? as i32;
                    let cut = if form == 1 { SpaceCut::X(at) } else { SpaceCut::Z(at) };
                    Some((reader.varint32("half")?, cut))
                }
                _ => return Err(reader.refuse("half")),
            },
            suspects: reader.list(NODES_MAX, 1, "suspects", read_node)?,
            awaiting: reader.list(NODES_MAX, 1, "awaiting", read_node)?,
            adopting: reader.list(NODES_MAX, 1, "adopting", read_node)?,
        })
    }
}

/// A rising number of a plan, telling, tick or batch.
fn read_version(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    reader.varint(1 << 62, "version")
}

fn read_object(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    reader.positive(u64::MAX, "object")
}

fn read_node(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    reader.positive(u64::MAX, "node")
}

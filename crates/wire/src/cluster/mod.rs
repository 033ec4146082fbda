//! What the nodes of a cluster say to each other: many servers that are one world.
//!
//! What is worthless when late travels as one [`Batch`] per pair of nodes and tick, which may be lost, doubled and
//! overtaken; everything else goes over a stream, and is said again until it is answered. Nodes are authenticated by
//! what carries their bytes; what they say is checked all the same.

mod batch;
mod custody;
mod entries;
mod envelope;
mod piece;
mod plan;
mod users;

pub use batch::{Answer, Ask, Batch, Ghost, Granted, Introduced, Standing};
pub use custody::{Declared, Load, Named, Offer, Replicate};
pub use entries::{Entries, Entry};
pub use envelope::{Envelope, open, seal};
pub use piece::{PIECE_OBJECTS_MAX, PIECES_MAX, Piece};
pub use plan::{Ballot, Cut, Member, Plan};
pub use users::{Seek, Sought};

use serde::Serialize;

use crate::codec::{DecodeError, Reader, Writer};
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
    /// I am alive, and would like to go on; a datagram.
    Beat(Beat),
    /// I have heard your beat of that moment, and nothing speaks against it; a datagram.
    Vouch {
        /// The plan that both know.
        version: u64,
        /// The asker's clock when it asked, in microseconds.
        sent_us: i64,
    },
    /// I would like to be a part of this cluster.
    Join {
        /// The protocol that it speaks.
        version: u16,
        /// A fingerprint of the world's file: all have to start from the same.
        world: u64,
        /// Where its clients find it.
        address: String,
        /// Whether it only takes part in votes.
        is_witness: bool,
    },
    /// I would like to propose the plan of this number.
    Prepare {
        /// The plan's number.
        slot: u64,
        /// Which proposal.
        ballot: Ballot,
    },
    /// I will listen to no older proposal of this plan.
    Promise {
        /// The plan's number.
        slot: u64,
        /// Which proposal.
        ballot: Ballot,
        /// What it has accepted already.
        accepted: Option<(Ballot, Plan)>,
    },
    /// I propose this plan.
    Accept {
        /// Which proposal.
        ballot: Ballot,
        /// The plan.
        plan: Plan,
    },
    /// I have accepted it.
    Accepted {
        /// The plan's number.
        slot: u64,
        /// Which proposal.
        ballot: Ballot,
    },
    /// A majority has accepted it: it holds.
    Committed(Plan),
    /// I act by this plan, and these of mine reach into your space: all that do, when all pieces of one telling have come.
    Declare {
        /// The plan.
        version: u64,
        /// Counts what this sender tells; what is told again is told as it is then, and pieces of two tellings are no whole.
        telling: u64,
        /// Which part of it.
        piece: Piece,
        /// Objects, with the number of their ownership.
        standing: Vec<Declared>,
    },
    /// A tick's batch; a datagram.
    Batch(Batch),
    /// What objects are that you will hear of.
    Introduce {
        /// Objects.
        objects: Vec<Introduced>,
    },
    /// This object is yours.
    Offer(Offer),
    /// It is mine now, and safe.
    Taken {
        /// Which.
        object: u64,
        /// The number of its ownership.
        seq: u32,
    },
    /// I know that you have it, and shall not offer it again.
    Closed {
        /// Which.
        object: u64,
        /// The number of its ownership.
        seq: u32,
    },
    /// Keep this for me, in case I die.
    Replicate(Replicate),
    /// I keep it.
    Replicated {
        /// Up to which number.
        number: u64,
    },
    /// I am about to adopt these: has anybody a newer one?
    Query {
        /// The plan.
        version: u64,
        /// Which part of all that it asks for under this plan.
        piece: Piece,
        /// Objects, with the number of their ownership.
        objects: Vec<Named>,
    },
    /// Of those that you asked for, I have or had these.
    Known {
        /// The plan.
        version: u64,
        /// Which part of what it was asked for.
        piece: Piece,
        /// Objects.
        objects: Vec<u64>,
    },
    /// I am of this cluster, or would like to be.
    Hello {
        /// The protocol that it speaks.
        version: u16,
        /// A fingerprint of the world's file.
        world: u64,
        /// The plan that it acts by; zero if it belongs to none yet.
        plan: u64,
    },
    /// You cannot belong to this cluster: it is of another version or another world.
    TurnedAway {
        /// The protocol that the cluster speaks.
        version: u16,
        /// A fingerprint of its world's file.
        world: u64,
    },
    /// Somebody is at my door: do you know them?
    Seek(Seek),
    /// This is what I know of them.
    Sought(Sought),
    /// One of mine said something, and some of yours may hear it.
    Said {
        /// Who.
        object: u64,
        /// What it is called.
        name: String,
        /// What it said.
        text: String,
    },
}

/// A sign of life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Beat {
    /// The plan that it acts by.
    pub version: u64,
    /// Its clock, in microseconds.
    pub sent_us: i64,
    /// Its world's tick.
    pub tick: u64,
    /// How many objects it owns.
    pub load: u32,
    /// How much of its state is not yet safe, in ticks.
    pub lag: u32,
    /// Where it would cut which of the plan's leaves, to give a half away.
    pub half: Option<(u32, Cut)>,
    /// Whose lease has passed, as far as it knows: it vouches for none of them under this plan.
    pub suspects: Vec<u64>,
    /// Whose declaration it waits for.
    pub awaiting: Vec<u64>,
    /// Whose objects it is about to adopt.
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

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let writer = &mut Writer::new(&mut bytes, self.kind());
        match self {
            ToNode::Beat(beat) => beat.write(writer),
            ToNode::Vouch { version, sent_us } => {
                writer.varint(*version);
                writer.i64(*sent_us);
            }
            ToNode::Join { version, world, address, is_witness } => {
                writer.u16(*version);
                writer.i64(*world as i64);
                writer.text(address, ADDRESS_MAX);
                writer.u8(u8::from(*is_witness));
            }
            ToNode::Prepare { slot, ballot } => {
                writer.varint(*slot);
                ballot.write(writer);
            }
            ToNode::Promise { slot, ballot, accepted } => {
                writer.varint(*slot);
                ballot.write(writer);
                writer.u8(u8::from(accepted.is_some()));
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
                write_list(writer, standing, Declared::write);
            }
            ToNode::Batch(batch) => batch.write(writer),
            ToNode::Introduce { objects } => {
                write_list(writer, objects, Introduced::write);
            }
            ToNode::Offer(offer) => offer.write(writer),
            ToNode::Taken { object, seq } | ToNode::Closed { object, seq } => {
                writer.varint(*object);
                writer.varint(u64::from(*seq));
            }
            ToNode::Replicate(replicate) => replicate.write(writer),
            ToNode::Replicated { number } => writer.varint(*number),
            ToNode::Query { version, piece, objects } => {
                writer.varint(*version);
                piece.write(writer);
                write_list(writer, objects, Named::write);
            }
            ToNode::Known { version, piece, objects } => {
                writer.varint(*version);
                piece.write(writer);
                write_list(writer, objects, |object, writer| writer.varint(*object));
            }
            ToNode::Hello { version, world, plan } => {
                writer.u16(*version);
                writer.i64(*world as i64);
                writer.varint(*plan);
            }
            ToNode::TurnedAway { version, world } => {
                writer.u16(*version);
                writer.i64(*world as i64);
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

    /// The message that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<ToNode, DecodeError> {
        let mut reader = Reader::new(bytes, NODE_MESSAGE_MAX)?;
        let reader = &mut reader;
        let message = match reader.kind() {
            kind::NODE_BEAT => ToNode::Beat(Beat::read(reader)?),
            kind::NODE_VOUCH => ToNode::Vouch { version: version(reader)?, sent_us: reader.i64("sent_us")? },
            kind::NODE_JOIN => ToNode::Join {
                version: reader.u16("version")?,
                world: reader.i64("world")? as u64,
                address: reader.text(ADDRESS_MAX, "address")?.to_owned(),
                is_witness: read_flag(reader, "is_witness")?,
            },
            kind::NODE_PREPARE => ToNode::Prepare { slot: version(reader)?, ballot: Ballot::read(reader)? },
            kind::NODE_PROMISE => ToNode::Promise {
                slot: version(reader)?,
                ballot: Ballot::read(reader)?,
                accepted: match read_flag(reader, "accepted")? {
                    true => Some((Ballot::read(reader)?, Plan::read(reader)?)),
                    false => None,
                },
            },
            kind::NODE_ACCEPT => ToNode::Accept { ballot: Ballot::read(reader)?, plan: Plan::read(reader)? },
            kind::NODE_ACCEPTED => ToNode::Accepted { slot: version(reader)?, ballot: Ballot::read(reader)? },
            kind::NODE_COMMITTED => ToNode::Committed(Plan::read(reader)?),
            kind::NODE_DECLARE => ToNode::Declare {
                version: version(reader)?,
                telling: version(reader)?,
                piece: Piece::read(reader)?,
                standing: read_list(reader, PIECE_OBJECTS_MAX, 9, "standing", Declared::read)?,
            },
            kind::NODE_BATCH => ToNode::Batch(Batch::read(reader)?),
            kind::NODE_INTRODUCE => {
                ToNode::Introduce { objects: read_list(reader, OBJECTS_MAX, 5, "objects", Introduced::read)? }
            }
            kind::NODE_OFFER => ToNode::Offer(Offer::read(reader)?),
            kind::NODE_TAKEN => ToNode::Taken { object: read_name(reader)?, seq: read_seq(reader)? },
            kind::NODE_CLOSED => ToNode::Closed { object: read_name(reader)?, seq: read_seq(reader)? },
            kind::NODE_REPLICATE => ToNode::Replicate(Replicate::read(reader)?),
            kind::NODE_REPLICATED => ToNode::Replicated { number: version(reader)? },
            kind::NODE_QUERY => ToNode::Query {
                version: version(reader)?,
                piece: Piece::read(reader)?,
                objects: read_list(reader, PIECE_OBJECTS_MAX, 2, "objects", Named::read)?,
            },
            kind::NODE_KNOWN => ToNode::Known {
                version: version(reader)?,
                piece: Piece::read(reader)?,
                objects: read_list(reader, PIECE_OBJECTS_MAX, 1, "objects", read_name)?,
            },
            kind::NODE_HELLO => ToNode::Hello {
                version: reader.u16("version")?,
                world: reader.i64("world")? as u64,
                plan: version(reader)?,
            },
            kind::NODE_TURNED_AWAY => {
                ToNode::TurnedAway { version: reader.u16("version")?, world: reader.i64("world")? as u64 }
            }
            kind::NODE_SEEK => ToNode::Seek(Seek::read(reader)?),
            kind::NODE_SOUGHT => ToNode::Sought(Sought::read(reader)?),
            kind::NODE_SAID => ToNode::Said {
                object: read_name(reader)?,
                name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
                text: reader.text(SAID_MAX, "text")?.to_owned(),
            },
            unknown => return Err(DecodeError::UnknownKind(unknown)),
        };
        reader.end()?;
        Ok(message)
    }
}

impl Beat {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        writer.i64(self.sent_us);
        writer.varint(self.tick);
        writer.varint(u64::from(self.load));
        writer.varint(u64::from(self.lag));
        let (leaf, cut) = self.half.map_or((0, None), |(leaf, cut)| (leaf, Some(cut)));
        match cut {
            Some(Cut::X(at)) => (writer.u8(1), writer.zigzag(i64::from(at))),
            Some(Cut::Z(at)) => (writer.u8(2), writer.zigzag(i64::from(at))),
            Some(Cut::Leaf(_)) | None => (writer.u8(0), ()),
        };
        if matches!(cut, Some(Cut::X(_) | Cut::Z(_))) {
            writer.varint(u64::from(leaf));
        }
        write_list(writer, &self.suspects, |node, writer| writer.varint(*node));
        write_list(writer, &self.awaiting, |node, writer| writer.varint(*node));
        write_list(writer, &self.adopting, |node, writer| writer.varint(*node));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Beat, DecodeError> {
        Ok(Beat {
            version: version(reader)?,
            sent_us: reader.i64("sent_us")?,
            tick: version(reader)?,
            load: reader.varint(u64::from(u32::MAX), "load")? as u32,
            lag: reader.varint(u64::from(u32::MAX), "lag")? as u32,
            half: match reader.u8("half")? {
                0 => None,
                form @ 1..=2 => {
                    let at = reader.zigzag(i64::from(crate::pose::STEPS_MAX), "half")? as i32;
                    let cut = if form == 1 { Cut::X(at) } else { Cut::Z(at) };
                    Some((reader.varint(u64::from(u32::MAX), "half")? as u32, cut))
                }
                _ => return Err(reader.refuse("half")),
            },
            suspects: read_list(reader, NODES_MAX, 1, "suspects", read_node)?,
            awaiting: read_list(reader, NODES_MAX, 1, "awaiting", read_node)?,
            adopting: read_list(reader, NODES_MAX, 1, "adopting", read_node)?,
        })
    }
}

/// Counts that rise: of plans, tellings, ticks, batches.
fn version(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
    reader.varint(1 << 62, "version")
}

fn read_seq(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    reader.varint(u64::from(u32::MAX), "seq").map(|seq| seq as u32)
}

fn read_name(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
    match reader.varint(u64::MAX, "object")? {
        0 => Err(reader.refuse("object")),
        object => Ok(object),
    }
}

fn read_node(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
    match reader.varint(u64::MAX, "node")? {
        0 => Err(reader.refuse("node")),
        node => Ok(node),
    }
}

fn read_flag(reader: &mut Reader<'_>, field: &'static str) -> Result<bool, DecodeError> {
    match reader.u8(field)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(reader.refuse(field)),
    }
}

fn write_list<T>(writer: &mut Writer<'_>, list: &[T], mut write: impl FnMut(&T, &mut Writer<'_>)) {
    writer.varint(list.len() as u64);
    for item in list {
        write(item, writer);
    }
}

/// At most `max` things of at least `size_min` bytes each: memory is taken once, for as many as there can be.
fn read_list<'a, T>(
    reader: &mut Reader<'a>,
    max: usize,
    size_min: usize,
    field: &'static str,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let count = reader.count(max, size_min, field)?;
    let mut list = Vec::with_capacity(count);
    for _ in 0..count {
        list.push(read(reader)?);
    }
    Ok(list)
}

//! What peers say to each other, in a world without a server.
//!
//! Every peer speaks for its own objects and for nothing else, so that a message names them by their [index](name) and
//! whoever receives it knows the rest from the link that it came over. What is worthless when late travels as one
//! datagram per peer and frame, a [`Report`]; what must arrive goes over a stream.

mod hello;
pub mod name;
mod report;
mod ruling;

pub use hello::{Hello, Owns};
pub use report::{Digest, Motion, Report, Watch};
pub use ruling::{After, Claim, Verdict};

use serde::Serialize;

use crate::codec::{DecodeError, Reader, Writer};
use crate::session::SAID_MAX;
use crate::{MESSAGE_MAX, kind};

/// The version of the protocol between peers.
pub const PEER_VERSION: u16 = 2;
/// Steps per metre, per metre per second, per metre per second squared and per radian per second.
pub const STEPS_PER_METRE: i32 = 1_024;
/// No place is farther from the world's zero, per axis: 64 km.
pub const PLACE_MAX: i32 = 1 << 26;
/// No speed, acceleration or spin is larger, per axis: 1024 of each.
pub const RATE_MAX: i32 = 1 << 20;

/// A message from one peer to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ToPeer {
    /// This is who I am. Over the stream, and as a datagram until there is an answer: then it asks for the time too.
    Hello(Hello),
    /// I move this object.
    Owns(Owns),
    /// I took an object away.
    Drops {
        /// Which of mine.
        index: u32,
    },
    /// Where my objects are, and what they were at past epochs; a datagram.
    Report(Report),
    /// I saw a contact that is not mine to decide.
    Claim(Claim),
    /// This is what happened.
    Verdict(Verdict),
    /// What time is it? A datagram.
    Ping {
        /// My clock, in microseconds.
        asked_us: i64,
    },
    /// The time; a datagram.
    Pong {
        /// The asker's clock when it asked.
        asked_us: i64,
        /// My clock when the question came.
        received_us: i64,
        /// My clock when the answer left.
        replied_us: i64,
    },
    /// I leave, and my objects with me.
    Leave,
    /// My user says something.
    Says {
        /// What.
        text: String,
    },
}

impl ToPeer {
    /// Whether it is worthless when late, and so travels as a datagram.
    pub fn is_datagram(&self) -> bool {
        matches!(self, ToPeer::Report(_) | ToPeer::Ping { .. } | ToPeer::Pong { .. })
    }

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToPeer::Hello(hello) => hello.write(&mut Writer::new(&mut bytes, kind::PEER_HELLO)),
            ToPeer::Owns(owns) => owns.write(&mut Writer::new(&mut bytes, kind::PEER_OWNS)),
            ToPeer::Drops { index } => Writer::new(&mut bytes, kind::PEER_DROPS).varint(u64::from(*index)),
            ToPeer::Report(report) => report.write(&mut Writer::new(&mut bytes, kind::PEER_REPORT)),
            ToPeer::Claim(claim) => claim.write(&mut Writer::new(&mut bytes, kind::PEER_CLAIM)),
            ToPeer::Verdict(verdict) => verdict.write(&mut Writer::new(&mut bytes, kind::PEER_VERDICT)),
            ToPeer::Ping { asked_us } => Writer::new(&mut bytes, kind::PEER_PING).i64(*asked_us),
            ToPeer::Pong { asked_us, received_us, replied_us } => {
                let mut writer = Writer::new(&mut bytes, kind::PEER_PONG);
                for time in [asked_us, received_us, replied_us] {
                    writer.i64(*time);
                }
            }
            ToPeer::Leave => bytes.push(kind::PEER_LEAVE),
            ToPeer::Says { text } => Writer::new(&mut bytes, kind::PEER_SAYS).text(text, SAID_MAX),
        }
        bytes
    }

    /// The message that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<ToPeer, DecodeError> {
        let mut reader = Reader::new(bytes, MESSAGE_MAX)?;
        let message = match reader.kind() {
            kind::PEER_HELLO => ToPeer::Hello(Hello::read(&mut reader)?),
            kind::PEER_OWNS => ToPeer::Owns(Owns::read(&mut reader)?),
            kind::PEER_DROPS => ToPeer::Drops { index: name::read_index(&mut reader)? },
            kind::PEER_REPORT => ToPeer::Report(Report::read(&mut reader)?),
            kind::PEER_CLAIM => ToPeer::Claim(Claim::read(&mut reader)?),
            kind::PEER_VERDICT => ToPeer::Verdict(Verdict::read(&mut reader)?),
            kind::PEER_PING => ToPeer::Ping { asked_us: reader.i64("asked_us")? },
            kind::PEER_PONG => ToPeer::Pong {
                asked_us: reader.i64("asked_us")?,
                received_us: reader.i64("received_us")?,
                replied_us: reader.i64("replied_us")?,
            },
            kind::PEER_LEAVE => ToPeer::Leave,
            kind::PEER_SAYS => ToPeer::Says { text: reader.text(SAID_MAX, "text")?.to_owned() },
            unknown => return Err(DecodeError::UnknownKind(unknown)),
        };
        reader.end()?;
        Ok(message)
    }
}

/// Three whole numbers near zero.
fn write_steps(writer: &mut Writer<'_>, steps: [i32; 3]) {
    for step in steps {
        writer.zigzag(i64::from(step));
    }
}

fn read_steps(reader: &mut Reader<'_>, max: i32, field: &'static str) -> Result<[i32; 3], DecodeError> {
    let mut step = || reader.zigzag(i64::from(max), field).map(|step| step as i32);
    Ok([step()?, step()?, step()?])
}

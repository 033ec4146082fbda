//! Messages between peers, in a world without a server.
//!
//! A peer speaks for its own objects only, so a message names them by their [index](name), and the link that it came
//! over says whose they are. What is worthless when late travels as one datagram per peer and frame, a [`Report`];
//! everything else goes over a stream.

mod hello;
pub mod name;
mod report;
mod ruling;

pub use hello::{Owns, PeerHello};
pub use report::{MotionUpdate, Report, StateDigest, Watch};
pub use ruling::{After, ContactClaim, ContactVerdict};

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

use crate::codec::{DecodeError, begin, decode};
use crate::session::SAID_MAX;
use crate::{MESSAGE_MAX, kind};

/// The version of the protocol between peers.
pub const PEER_VERSION: u16 = 2;
/// Steps per metre, per metre per second, per metre per second squared and per radian per second.
pub const STEPS_PER_METRE: i32 = 1_024;
/// The largest coordinate: 64 km from the world's zero.
pub const PLACE_MAX: i32 = 1 << 26;
/// The largest speed, acceleration and spin per axis: 1024 of each.
pub const RATE_MAX: i32 = 1 << 20;

/// A message from one peer to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ToPeer {
    /// Introduces the sender. Over the stream, and as a datagram until it is answered: then it asks for the time too.
    Hello(PeerHello),
    /// Introduces an object of the sender.
    Owns(Owns),
    /// Removes an object of the sender.
    Drops { index: u32 },
    /// Motions of the sender's objects, and digests of past epochs; a datagram.
    Report(Report),
    /// A contact that the sender saw and may not decide.
    Claim(ContactClaim),
    /// The decision about a contact.
    Verdict(ContactVerdict),
    /// Asks for the time, with the asker's clock in microseconds; a datagram.
    Ping { asked_us: i64 },
    /// The time; a datagram.
    Pong {
        /// The asker's clock when it asked.
        asked_us: i64,
        /// The sender's clock when the question came.
        received_us: i64,
        /// The sender's clock when the answer left.
        replied_us: i64,
    },
    /// The sender leaves, and its objects with it.
    Leave,
    /// The sender's user says something.
    Says { text: String },
}

impl ToPeer {
    /// Whether it is worthless when late, and so travels as a datagram.
    pub fn is_datagram(&self) -> bool {
        matches!(self, ToPeer::Report(_) | ToPeer::Ping { .. } | ToPeer::Pong { .. })
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToPeer::Hello(hello) => hello.write(&mut begin(&mut bytes, kind::PEER_HELLO)),
            ToPeer::Owns(owns) => owns.write(&mut begin(&mut bytes, kind::PEER_OWNS)),
            ToPeer::Drops { index } => begin(&mut bytes, kind::PEER_DROPS).varint(*index),
            ToPeer::Report(report) => report.write(&mut begin(&mut bytes, kind::PEER_REPORT)),
            ToPeer::Claim(claim) => claim.write(&mut begin(&mut bytes, kind::PEER_CLAIM)),
            ToPeer::Verdict(verdict) => verdict.write(&mut begin(&mut bytes, kind::PEER_VERDICT)),
            ToPeer::Ping { asked_us } => begin(&mut bytes, kind::PEER_PING).i64(*asked_us),
            ToPeer::Pong { asked_us, received_us, replied_us } => {
                let mut writer = begin(&mut bytes, kind::PEER_PONG);
                [asked_us, received_us, replied_us].into_iter().for_each(|time| writer.i64(*time));
            }
            ToPeer::Leave => bytes.push(kind::PEER_LEAVE),
            ToPeer::Says { text } => begin(&mut bytes, kind::PEER_SAYS).text(text, SAID_MAX),
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<ToPeer, DecodeError> {
        decode(bytes, MESSAGE_MAX, |kind, reader| {
            Ok(Some(match kind {
                kind::PEER_HELLO => ToPeer::Hello(PeerHello::read(reader)?),
                kind::PEER_OWNS => ToPeer::Owns(Owns::read(reader)?),
                kind::PEER_DROPS => ToPeer::Drops { index: name::read_index(reader)? },
                kind::PEER_REPORT => ToPeer::Report(Report::read(reader)?),
                kind::PEER_CLAIM => ToPeer::Claim(ContactClaim::read(reader)?),
                kind::PEER_VERDICT => ToPeer::Verdict(ContactVerdict::read(reader)?),
                kind::PEER_PING => ToPeer::Ping { asked_us: reader.i64("asked_us")? },
                kind::PEER_PONG => ToPeer::Pong {
                    asked_us: reader.i64("asked_us")?,
                    received_us: reader.i64("received_us")?,
                    replied_us: reader.i64("replied_us")?,
                },
                kind::PEER_LEAVE => ToPeer::Leave,
                kind::PEER_SAYS => ToPeer::Says { text: reader.text(SAID_MAX, "text")?.to_owned() },
                _ => return Ok(None),
            }))
        })
    }
}

fn write_steps(writer: &mut Writer<'_>, steps: [i32; 3]) {
    steps.into_iter().for_each(|step| writer.zigzag(step));
}

fn read_steps(reader: &mut Reader<'_>, max: i32, field: &'static str) -> Result<[i32; 3], Malformed> {
    let mut step = || reader.zigzag(max, field).map(|step| step as i32);
    Ok([step()?, step()?, step()?])
}

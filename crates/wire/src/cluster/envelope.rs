//! The sender and the receiver of a message. A node gets a new number with every stay in the cluster, while its address
//! stays: the number in every message tells messages to an earlier stay apart.

use super::{NODE_MESSAGE_MAX, read_node};
use crate::codec::{DecodeError, begin, decode};

/// The first byte of an envelope.
const ENVELOPE: u8 = 0xa0;
/// The most bytes before the message.
const HEAD_MAX: usize = 21;

/// An encoded message with its sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The sender's number.
    pub from: u64,
    /// The receiver's number; `None` before it is known.
    pub to: Option<u64>,
    /// The bytes of a [`ToNode`](super::ToNode), not decoded yet.
    pub message: &'a [u8],
}

/// Puts the sender and receiver before an encoded message.
pub fn seal(from: u64, to: Option<u64>, message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_MAX + message.len());
    let mut writer = begin(&mut bytes, ENVELOPE);
    writer.varint(from);
    writer.varint(to.unwrap_or(0));
    writer.raw(message);
    bytes
}

/// Reads the sender and receiver of a message; the message itself is not decoded.
pub fn open(bytes: &[u8]) -> Result<Envelope<'_>, DecodeError> {
    let (from, to, message) = decode(bytes, NODE_MESSAGE_MAX + HEAD_MAX, |kind, reader| match kind {
        ENVELOPE => Ok(Some((read_node(reader)?, reader.varint(u64::MAX, "to")?, reader.rest()))),
        _ => Ok(None),
    })?;
    Ok(Envelope { from, to: (to != 0).then_some(to), message })
}

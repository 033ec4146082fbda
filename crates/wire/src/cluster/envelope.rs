//! The sender and the receiver of a message. A node gets a new number with every stay in the cluster, while its address
//! stays: the number in every message tells messages to an earlier stay apart.

use super::{NODE_MESSAGE_MAX, ToNode, read_node};
use crate::codec::{DecodeError, begin, decode};

/// The first byte of an envelope.
const ENVELOPE: u8 = 0xa0;
/// The most bytes before the message.
const HEAD_MAX: usize = 21;

/// A message with its sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The sender's number.
    pub from: u64,
    /// The receiver's number; `None` before it is known.
    pub to: Option<u64>,
    pub message: ToNode,
}

/// Encodes a message with its sender and receiver.
pub fn seal(from: u64, to: Option<u64>, message: &ToNode) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = begin(&mut bytes, ENVELOPE);
    writer.varint(from);
    writer.varint(to.unwrap_or(0));
    writer.raw(&message.encode());
    bytes
}

/// Decodes a message with its sender and receiver.
pub fn open(bytes: &[u8]) -> Result<Envelope, DecodeError> {
    let (from, to, message) = decode(bytes, NODE_MESSAGE_MAX + HEAD_MAX, |kind, reader| match kind {
        ENVELOPE => Ok(Some((read_node(reader)?, reader.varint(u64::MAX, "to")?, reader.rest()))),
        _ => Ok(None),
    })?;
    Ok(Envelope { from, to: (to != 0).then_some(to), message: ToNode::decode(message)? })
}

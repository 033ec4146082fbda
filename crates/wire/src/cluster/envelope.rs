//! Who says a message to whom. A node's number lasts no longer than its stay in the cluster, the name that its carrier knows
//! it by lasts longer: so the number goes with every message, and what was meant for an earlier stay is known to be.

use super::{NODE_MESSAGE_MAX, ToNode, read_node};
use crate::codec::{DecodeError, Reader, Writer};

/// The first byte.
const ENVELOPE: u8 = 0xa0;
/// The most bytes in front of a message.
const HEAD_MAX: usize = 21;

/// A message with its sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The sender's number.
    pub from: u64,
    /// The receiver's; `None` before it is known.
    pub to: Option<u64>,
    /// The message.
    pub message: ToNode,
}

/// The bytes.
pub fn seal(from: u64, to: Option<u64>, message: &ToNode) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, ENVELOPE);
    writer.varint(from);
    writer.varint(to.unwrap_or(0));
    bytes.extend_from_slice(&message.encode());
    bytes
}

/// What is in these bytes.
pub fn open(bytes: &[u8]) -> Result<Envelope, DecodeError> {
    let mut reader = Reader::new(bytes, NODE_MESSAGE_MAX + HEAD_MAX)?;
    if reader.kind() != ENVELOPE {
        return Err(DecodeError::UnknownKind(reader.kind()));
    }
    let from = read_node(&mut reader)?;
    let to = match reader.varint(u64::MAX, "to")? {
        0 => None,
        node => Some(node),
    };
    Ok(Envelope { from, to, message: ToNode::decode(reader.rest())? })
}

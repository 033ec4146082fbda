//! Claims and verdicts: who saw a contact, and what counts.

use serde::Serialize;

use super::{PLACE_MAX, RATE_MAX, name, read_steps, write_steps};
use crate::codec::{DecodeError, Reader, Writer};

/// "My object met yours, and it is not mine to decide."
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// Which of the sender's objects.
    pub own: u32,
    /// Which of the receiver's.
    pub other: u32,
    /// The term that the sender is in; zero is none.
    pub term: u32,
    /// When they met, by the clock of the pair: that of its lower peer.
    pub contact_us: i64,
}

impl Claim {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(u64::from(self.own));
        writer.varint(u64::from(self.other));
        writer.varint(u64::from(self.term));
        writer.i64(self.contact_us);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Claim, DecodeError> {
        Ok(Claim {
            own: name::read_index(reader)?,
            other: name::read_index(reader)?,
            term: reader.varint(u64::from(u32::MAX), "term")? as u32,
            contact_us: reader.i64("contact_us")?,
        })
    }
}

/// "This is what happened." The sender is who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Which of the sender's objects.
    pub own: u32,
    /// Whose object it met.
    pub node: u64,
    /// Which of them.
    pub other: u32,
    /// The term in which it was decided.
    pub term: u32,
    /// When they met, or would have, by the clock of the pair.
    pub contact_us: i64,
    /// The sender's object and the other after it; `None` when they did not meet.
    pub after: Option<[After; 2]>,
}

/// An object at a contact, after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct After {
    /// Position.
    pub place: [i32; 3],
    /// Velocity.
    pub velocity: [i32; 3],
}

impl After {
    fn read(reader: &mut Reader<'_>) -> Result<After, DecodeError> {
        Ok(After {
            place: read_steps(reader, PLACE_MAX, "place")?,
            velocity: read_steps(reader, RATE_MAX, "velocity")?,
        })
    }
}

impl Verdict {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(u64::from(self.own));
        writer.varint(self.node);
        writer.varint(u64::from(self.other));
        writer.varint(u64::from(self.term));
        writer.i64(self.contact_us);
        writer.u8(u8::from(self.after.is_some()));
        for after in self.after.iter().flatten() {
            write_steps(writer, after.place);
            write_steps(writer, after.velocity);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Verdict, DecodeError> {
        let own = name::read_index(reader)?;
        let node = name::read_node(reader)?;
        let other = name::read_index(reader)?;
        let term = reader.varint(u64::from(u32::MAX), "term")? as u32;
        let contact_us = reader.i64("contact_us")?;
        let after = match reader.u8("after")? {
            0 => None,
            1 => Some([After::read(reader)?, After::read(reader)?]),
            _ => return Err(reader.refuse("after")),
        };
        Ok(Verdict { own, node, other, term, contact_us, after })
    }
}

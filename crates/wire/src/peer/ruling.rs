//! Decisions about contacts between peers' objects.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

use super::{PLACE_MAX, RATE_MAX, name, read_steps, write_steps};

/// A contact that the sender saw and may not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ContactClaim {
    /// The sender's object.
    pub own: u32,
    /// The receiver's object.
    pub other: u32,
    /// The term that the sender is in; zero without one.
    pub term: u32,
    /// The time of contact by the clock of the pair's lower peer.
    pub contact_us: i64,
}

impl ContactClaim {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.own);
        writer.varint(self.other);
        writer.varint(self.term);
        writer.i64(self.contact_us);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<ContactClaim, Malformed> {
        Ok(ContactClaim {
            own: name::read_index(reader)?,
            other: name::read_index(reader)?,
            term: reader.varint32("term")?,
            contact_us: reader.i64("contact_us")?,
        })
    }
}

/// The sender's decision about a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ContactVerdict {
    /// The sender's object.
    pub own: u32,
    /// The owner of the other object.
    pub node: u64,
    /// The other object.
    pub other: u32,
    /// The term in which it was decided.
    pub term: u32,
    /// The time of contact by the clock of the pair's lower peer.
    pub contact_us: i64,
    /// The sender's object and the other after the contact; `None` if they did not meet.
    pub after: Option<[After; 2]>,
}

/// The state of an object right after a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct After {
    pub place: [i32; 3],
    pub velocity: [i32; 3],
}

impl After {
    fn read(reader: &mut Reader<'_>) -> Result<After, Malformed> {
        Ok(After {
            place: read_steps(reader, PLACE_MAX, "place")?,
            velocity: read_steps(reader, RATE_MAX, "velocity")?,
        })
    }
}

impl ContactVerdict {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.own);
        writer.varint(self.node);
        writer.varint(self.other);
        writer.varint(self.term);
        writer.i64(self.contact_us);
        writer.flag(self.after.is_some());
        for after in self.after.iter().flatten() {
            write_steps(writer, after.place);
            write_steps(writer, after.velocity);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<ContactVerdict, Malformed> {
        let own = name::read_index(reader)?;
        let node = name::read_node(reader)?;
        let other = name::read_index(reader)?;
        let term = reader.varint32("term")?;
        let contact_us = reader.i64("contact_us")?;
        let after = match reader.flag("after")? {
            false => None,
            true => Some([After::read(reader)?, After::read(reader)?]),
        };
        Ok(ContactVerdict { own, node, other, term, contact_us, after })
    }
}

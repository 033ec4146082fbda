//! Whose a user is: asked by the node at whose door somebody stands.

use serde::Serialize;

use super::{read_flag, version};
use crate::codec::{DecodeError, Reader, Writer};
use crate::session::{NICKNAME_MAX, ResumeKey};

/// Somebody says hello to a node that does not know them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seek {
    /// Counted by whoever asks.
    pub number: u64,
    /// What they come back with, if they were in before.
    pub key: Option<ResumeKey>,
    /// What they want to be called.
    pub name: String,
}

/// What another node knows of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sought {
    /// The asker's number.
    pub number: u64,
    /// Whether it has the session that this key belongs to.
    pub is_here: bool,
    /// Whether somebody there is called so.
    pub is_taken: bool,
}

impl Seek {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.number);
        writer.u8(u8::from(self.key.is_some()));
        if let Some(key) = &self.key {
            writer.raw(key);
        }
        writer.text(&self.name, NICKNAME_MAX);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Seek, DecodeError> {
        Ok(Seek {
            number: version(reader)?,
            key: if read_flag(reader, "key")? { Some(reader.array("key")?) } else { None },
            name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
        })
    }
}

impl Sought {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.number);
        writer.u8(u8::from(self.is_here));
        writer.u8(u8::from(self.is_taken));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Sought, DecodeError> {
        Ok(Sought {
            number: version(reader)?,
            is_here: read_flag(reader, "is_here")?,
            is_taken: read_flag(reader, "is_taken")?,
        })
    }
}

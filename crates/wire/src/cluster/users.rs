//! Whether another node has a user's session: asked before a new user is let in.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

use super::read_version;
use crate::session::{NICKNAME_MAX, ResumeKey};

/// A question about a user whom the asking node does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seek {
    /// Counts the asker's questions.
    pub number: u64,
    /// The key of the session to take up again, if there is one.
    pub key: Option<ResumeKey>,
    /// The nickname that the user wants.
    pub name: String,
}

/// The answer to a [`Seek`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sought {
    pub number: u64,
    /// Whether this node has the session with that key.
    pub is_here: bool,
    /// Whether a user of this node has that nickname.
    pub is_taken: bool,
}

impl Seek {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.number);
        writer.flag(self.key.is_some());
        if let Some(key) = &self.key {
            writer.raw(key);
        }
        writer.text(&self.name, NICKNAME_MAX);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Seek, Malformed> {
        Ok(Seek {
            number: read_version(reader)?,
            key: if reader.flag("key")? { Some(reader.array("key")?) } else { None },
            name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
        })
    }
}

impl Sought {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.number);
        writer.flag(self.is_here);
        writer.flag(self.is_taken);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Sought, Malformed> {
        let number = read_version(reader)?;
        Ok(Sought { number, is_here: reader.flag("is_here")?, is_taken: reader.flag("is_taken")? })
    }
}

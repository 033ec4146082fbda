//! Whose an object is: offers, copies for the case of death, and who has what after one.

use serde::Serialize;

use super::batch::Standing;
use super::entries::Entries;
use super::{OBJECTS_MAX, read_flag, read_list, read_name, read_seq, version, write_list};
use crate::codec::{DecodeError, Reader, Writer};

/// The most bytes of an object that travels, and of the session that travels with it.
pub(super) const PARCEL_MAX: usize = 16_384;

/// An object, and the number of its ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Which.
    pub object: u64,
    /// How often it has changed hands.
    pub seq: u32,
}

/// An object that reaches into the receiver's space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Declared {
    /// Which.
    pub object: u64,
    /// The number of its ownership.
    pub seq: u32,
    /// Where it is.
    pub standing: Standing,
}

/// An object that is to change hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// The plan that the sender acts by.
    pub version: u64,
    /// Which.
    pub object: u64,
    /// The number of the receiver's ownership.
    pub seq: u32,
    /// Whether it is where it says: otherwise the nearest free place will do.
    pub is_exact: bool,
    /// The object, as worlds exchange them.
    pub parcel: Vec<u8>,
    /// What its user comes back with, if somebody owns it.
    pub session: Vec<u8>,
    /// What it holds: the receiver has both or none.
    pub load: Option<Load>,
}

/// An object that changes hands in somebody's hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    /// Which.
    pub object: u64,
    /// The number of the receiver's ownership.
    pub seq: u32,
    /// The object, as worlds exchange them.
    pub parcel: Vec<u8>,
}

/// Copies of the sender's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replicate {
    /// Counts what this receiver was sent.
    pub number: u64,
    /// Whether it begins anew: what the receiver has of the sender is void.
    pub is_first: bool,
    /// What is new or has changed.
    pub entries: Entries,
    /// What the sender does not have any more.
    pub gone: Vec<u64>,
}

impl Named {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(u64::from(self.seq));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Named, DecodeError> {
        Ok(Named { object: read_name(reader)?, seq: read_seq(reader)? })
    }
}

impl Declared {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(u64::from(self.seq));
        self.standing.write(writer);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Declared, DecodeError> {
        Ok(Declared { object: read_name(reader)?, seq: read_seq(reader)?, standing: Standing::read(reader)? })
    }
}

fn read_parcel(reader: &mut Reader<'_>) -> Result<Vec<u8>, DecodeError> {
    let parcel = reader.bytes(PARCEL_MAX, "parcel")?;
    if parcel.is_empty() { Err(reader.refuse("parcel")) } else { Ok(parcel.to_vec()) }
}

impl Offer {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        writer.varint(self.object);
        writer.varint(u64::from(self.seq));
        writer.u8(u8::from(self.is_exact) | u8::from(self.load.is_some()) << 1);
        writer.bytes(&self.parcel, PARCEL_MAX);
        writer.bytes(&self.session, PARCEL_MAX);
        if let Some(load) = &self.load {
            writer.varint(load.object);
            writer.varint(u64::from(load.seq));
            writer.bytes(&load.parcel, PARCEL_MAX);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Offer, DecodeError> {
        let (version, object, seq) = (version(reader)?, read_name(reader)?, read_seq(reader)?);
        let form = reader.u8("form")?;
        if form > 3 {
            return Err(reader.refuse("form"));
        }
        let parcel = read_parcel(reader)?;
        let session = reader.bytes(PARCEL_MAX, "session")?.to_vec();
        let load = match form & 2 {
            0 => None,
            _ => Some(Load { object: read_name(reader)?, seq: read_seq(reader)?, parcel: read_parcel(reader)? }),
        };
        Ok(Offer { version, object, seq, is_exact: form & 1 == 1, parcel, session, load })
    }
}

impl Replicate {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.number);
        writer.u8(u8::from(self.is_first));
        self.entries.write(writer);
        write_list(writer, &self.gone, |object, writer| writer.varint(*object));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Replicate, DecodeError> {
        Ok(Replicate {
            number: version(reader)?,
            is_first: read_flag(reader, "is_first")?,
            entries: Entries::read(reader)?,
            gone: read_list(reader, OBJECTS_MAX, 1, "gone", read_name)?,
        })
    }
}

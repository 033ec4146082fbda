//! Ownership of objects: hand-over, replication, and what nodes know after a node has died.

use super::batch::StandingSolid;
use super::entries::Entries;
use super::{OBJECTS_MAX, read_object, read_version};
use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

/// The most bytes of an object in transit, and of the session that travels with it.
pub(super) const PARCEL_MAX: usize = 16_384;

/// An object and the number of its ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    pub object: u64,
    /// How often it has changed hands.
    pub seq: u32,
}

/// An object that reaches into the receiver's space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Declared {
    pub object: u64,
    pub seq: u32,
    pub standing: StandingSolid,
}

/// An object that the sender hands over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// The version of the plan that the sender acts by.
    pub version: u64,
    pub object: u64,
    /// The number of the receiver's ownership.
    pub seq: u32,
    /// Whether it must stay where it says: otherwise the nearest free place will do.
    pub is_exact: bool,
    /// The object, as worlds exchange them.
    pub parcel: Vec<u8>,
    /// The session of the object's user; empty if it has none.
    pub session: Vec<u8>,
    /// The object that it holds: the receiver takes both or neither.
    pub load: Option<Load>,
}

/// An object that is handed over together with its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    pub object: u64,
    /// The number of the receiver's ownership.
    pub seq: u32,
    /// The object, as worlds exchange them.
    pub parcel: Vec<u8>,
}

/// Copies of the sender's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replicate {
    /// Counts the messages of this kind to this receiver.
    pub number: u64,
    /// Whether it starts anew: earlier copies of the sender's objects are void.
    pub is_first: bool,
    /// New and changed objects.
    pub entries: Entries,
    /// Objects that the sender does not own any more.
    pub gone: Vec<u64>,
}

impl Named {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(self.seq);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Named, Malformed> {
        Ok(Named { object: read_object(reader)?, seq: reader.varint32("seq")? })
    }
}

impl Declared {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(self.seq);
        self.standing.write(writer);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Declared, Malformed> {
        Ok(Declared {
            object: read_object(reader)?,
            seq: reader.varint32("seq")?,
            standing: StandingSolid::read(reader)?,
        })
    }
}

fn read_parcel(reader: &mut Reader<'_>) -> Result<Vec<u8>, Malformed> {
    let parcel = reader.bytes(PARCEL_MAX, "parcel")?;
    reader.check(!parcel.is_empty(), "parcel")?;
    Ok(parcel.to_vec())
}

impl Offer {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        writer.varint(self.object);
        writer.varint(self.seq);
        writer.u8(u8::from(self.is_exact) | u8::from(self.load.is_some()) << 1);
        writer.bytes(&self.parcel, PARCEL_MAX);
        writer.bytes(&self.session, PARCEL_MAX);
        if let Some(load) = &self.load {
            writer.varint(load.object);
            writer.varint(load.seq);
            writer.bytes(&load.parcel, PARCEL_MAX);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Offer, Malformed> {
        let (version, object, seq) = (read_version(reader)?, read_object(reader)?, reader.varint32("seq")?);
        let form = reader.bits(3, "form")?;
        let parcel = read_parcel(reader)?;
        let session = reader.bytes(PARCEL_MAX, "session")?.to_vec();
        let load = match form & 2 {
            0 => None,
            _ => {
                Some(Load { object: read_object(reader)?, seq: reader.varint32("seq")?, parcel: read_parcel(reader)? })
            }
        };
        Ok(Offer { version, object, seq, is_exact: form & 1 == 1, parcel, session, load })
    }
}

impl Replicate {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.number);
        writer.flag(self.is_first);
        self.entries.write(writer);
        writer.list(&self.gone, OBJECTS_MAX, |object, writer| writer.varint(*object));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Replicate, Malformed> {
        Ok(Replicate {
            number: read_version(reader)?,
            is_first: reader.flag("is_first")?,
            entries: Entries::read(reader)?,
            gone: reader.list(OBJECTS_MAX, 1, "gone", read_object)?,
        })
    }
}

//! Copies of objects as they lie in a message: encoded once for all replicas, and read without being taken apart.

use serde::ser::{Serialize, SerializeSeq, Serializer};
use space::bytes::{Malformed, Reader, Writer};

use super::custody::PARCEL_MAX;
use super::{OBJECTS_MAX, read_object};

/// A copy of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ReplicaEntry<'a> {
    pub object: u64,
    /// How often it has changed hands.
    pub seq: u32,
    /// The object, as worlds exchange them.
    pub parcel: &'a [u8],
    /// The session of the object's user; empty if it has none.
    pub session: &'a [u8],
}

/// A list of copies of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    count: usize,
    bytes: Vec<u8>,
}

impl Entries {
    /// Appends a copy, unless it is too long or has no name.
    pub fn push(&mut self, entry: ReplicaEntry<'_>) {
        let fits = |bytes: &[u8]| bytes.len() <= PARCEL_MAX;
        if entry.object == 0 || entry.parcel.is_empty() || !fits(entry.parcel) || !fits(entry.session) {
            return;
        }
        self.count += 1;
        let mut writer = Writer::new(&mut self.bytes);
        writer.varint(entry.object);
        writer.varint(entry.seq);
        writer.bytes(entry.parcel, PARCEL_MAX);
        writer.bytes(entry.session, PARCEL_MAX);
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = ReplicaEntry<'_>> {
        let mut reader = Reader::new(&self.bytes);
        (0..self.count).map_while(move |_| read_entry(&mut reader).ok())
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.count as u64);
        writer.raw(&self.bytes);
    }

    /// Reads each copy once, so that reading them again cannot fail.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Entries, Malformed> {
        let count = reader.count(OBJECTS_MAX, 5, "entries")?;
        let mut start = reader.clone();
        for _ in 0..count {
            read_entry(reader)?;
        }
        let bytes = start.raw(start.remaining() - reader.remaining(), "entries")?.to_vec();
        Ok(Entries { count, bytes })
    }
}

impl<'a> FromIterator<ReplicaEntry<'a>> for Entries {
    fn from_iter<I: IntoIterator<Item = ReplicaEntry<'a>>>(all: I) -> Entries {
        let mut entries = Entries::default();
        all.into_iter().for_each(|entry| entries.push(entry));
        entries
    }
}

impl Serialize for Entries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.count))?;
        self.iter().try_for_each(|entry| list.serialize_element(&entry))?;
        list.end()
    }
}

fn read_entry<'a>(reader: &mut Reader<'a>) -> Result<ReplicaEntry<'a>, Malformed> {
    let (object, seq) = (read_object(reader)?, reader.varint32("seq")?);
    let parcel = reader.bytes(PARCEL_MAX, "parcel")?;
    reader.check(!parcel.is_empty(), "parcel")?;
    Ok(ReplicaEntry { object, seq, parcel, session: reader.bytes(PARCEL_MAX, "session")? })
}

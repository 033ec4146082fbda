//! Copies of objects as they lie in a message, one after the other: made once for all who keep them, and read without being
//! taken apart.

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::custody::PARCEL_MAX;
use super::{OBJECTS_MAX, read_name, read_seq};
use crate::codec::{DecodeError, Reader, Writer};
use crate::kind;

/// A copy of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Entry<'a> {
    /// Which.
    pub object: u64,
    /// The number of its ownership.
    pub seq: u32,
    /// The object, as worlds exchange them.
    pub parcel: &'a [u8],
    /// What its user comes back with.
    pub session: &'a [u8],
}

/// Copies of objects, in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    count: usize,
    bytes: Vec<u8>,
}

impl Entries {
    /// Adds a copy at the end. What is too long or has no name is not added.
    pub fn push(&mut self, entry: Entry<'_>) {
        let fits = |bytes: &[u8]| bytes.len() <= PARCEL_MAX;
        if entry.object == 0 || entry.parcel.is_empty() || !fits(entry.parcel) || !fits(entry.session) {
            return;
        }
        self.count += 1;
        let mut writer = Writer::on(&mut self.bytes);
        writer.varint(entry.object);
        writer.varint(u64::from(entry.seq));
        writer.bytes(entry.parcel, PARCEL_MAX);
        writer.bytes(entry.session, PARCEL_MAX);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut reader = Reader::on(kind::NODE_REPLICATE, &self.bytes);
        (0..self.count).map_while(move |_| read_entry(&mut reader).ok())
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.count as u64);
        writer.raw(&self.bytes);
    }

    /// Each is looked at once, so that reading them again cannot fail.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Entries, DecodeError> {
        let count = reader.count(OBJECTS_MAX, 5, "entries")?;
        let mut start = reader.clone();
        for _ in 0..count {
            read_entry(reader)?;
        }
        let bytes = start.raw(start.remaining() - reader.remaining(), "entries")?.to_vec();
        Ok(Entries { count, bytes })
    }
}

impl<'a> FromIterator<Entry<'a>> for Entries {
    fn from_iter<I: IntoIterator<Item = Entry<'a>>>(all: I) -> Entries {
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

fn read_entry<'a>(reader: &mut Reader<'a>) -> Result<Entry<'a>, DecodeError> {
    let (object, seq) = (read_name(reader)?, read_seq(reader)?);
    let parcel = reader.bytes(PARCEL_MAX, "parcel")?;
    if parcel.is_empty() {
        return Err(reader.refuse("parcel"));
    }
    Ok(Entry { object, seq, parcel, session: reader.bytes(PARCEL_MAX, "session")? })
}

//! The state of the engine for operators: groups of users that hear each other, cells of the ground, and the hearings
//! of an object.
//!
//! Every message has the whole count and a list of bounded length, so that watching a crowd of a hundred thousand costs
//! no more than watching a thousand.

use serde::Serialize;
use space::ObjectId;
use space::bytes::{Malformed, Reader, Writer};

use crate::pose;

/// The most groups in one message.
pub const GROUPS_MAX: usize = 256;
/// The most members of all groups in one message.
pub const MEMBERS_MAX: usize = 4_096;
/// The most cells in one message.
pub const CELLS_MAX: usize = 4_096;
/// The most objects in one list of a [`Hearing`].
pub const HEARINGS_MAX: usize = 512;
/// The most cells along one axis.
const ACROSS_MAX: u64 = 1 << 24;
/// The widest cell, in grid steps.
const EDGE_MAX: u64 = 1 << 30;

/// The layers that an operator asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wanted {
    /// Positions of all objects, in every tick.
    pub places: bool,
    pub groups: bool,
    pub cells: bool,
    /// The object whose hearings are told, and next to which groups and cells are told first.
    #[serde(serialize_with = "serialize_maybe")]
    pub object: Option<ObjectId>,
}

/// Objects that all hear each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its number for as long as the group exists.
    pub number: u64,
    /// At least two, by rising numbers.
    #[serde(serialize_with = "serialize_objects")]
    pub members: Vec<ObjectId>,
}

/// The groups after a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Groups {
    pub tick: u64,
    /// The number of groups.
    pub all: u32,
    /// The first of them, by rising numbers.
    pub groups: Vec<Group>,
}

/// The occupied cells of the ground after a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OccupiedCells {
    pub tick: u64,
    /// The ground's low corner, x and z, in grid steps.
    pub low: [i32; 2],
    /// The width of a cell, in grid steps.
    pub edge: u32,
    /// The numbers of cells along x and along z.
    pub counts: [u32; 2],
    /// The number of occupied cells.
    pub all: u32,
    /// The first of them, by rising numbers, which count along x first; each with the number of objects in it.
    pub occupied: Vec<(u32, u32)>,
}

/// The objects that one object hears after a tick, and those that hear it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hearing {
    pub tick: u64,
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    /// The number of objects that it hears.
    pub hears_all: u32,
    /// The first of them, by rising numbers.
    #[serde(serialize_with = "serialize_objects")]
    pub hears: Vec<ObjectId>,
    /// The number of objects that hear it.
    pub heard_by_all: u32,
    /// The first of them, by rising numbers.
    #[serde(serialize_with = "serialize_objects")]
    pub heard_by: Vec<ObjectId>,
}

fn serialize_objects<S: serde::Serializer>(objects: &[ObjectId], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(objects.iter().map(|object| object.number()))
}

fn serialize_maybe<S: serde::Serializer>(object: &Option<ObjectId>, serializer: S) -> Result<S::Ok, S::Error> {
    object.map(|object| object.number()).serialize(serializer)
}

impl Wanted {
    /// The layers of an operator who has not asked for any.
    pub const PLACES: Wanted = Wanted { places: true, groups: false, cells: false, object: None };

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(u8::from(self.places) | u8::from(self.groups) << 1 | u8::from(self.cells) << 2);
        writer.varint(self.object.map_or(0, |object| object.number()));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Wanted, Malformed> {
        // The fourth bit is reserved for the borders between the nodes of a cluster.
        let flags = reader.bits(7, "layers")?;
        let object = ObjectId::new(reader.varint(u64::MAX, "object")?);
        Ok(Wanted { places: flags & 1 != 0, groups: flags & 2 != 0, cells: flags & 4 != 0, object })
    }
}

/// A number and two members with their count.
const GROUP_BYTES_MIN: usize = 4;

impl Groups {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        let mut room = MEMBERS_MAX;
        let fits = |group: &&Group| {
            let is_fitting = group.members.len() <= room;
            room = room.saturating_sub(group.members.len());
            is_fitting
        };
        let groups: Vec<&Group> = self.groups.iter().take(GROUPS_MAX).take_while(fits).collect();
        writer.varint(self.tick);
        writer.varint(self.all);
        writer.varint(groups.len() as u64);
        for group in groups {
            writer.varint(group.number);
            write_rising(writer, &group.members);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Groups, Malformed> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let all = reader.varint32("all")?;
        let count = reader.count(GROUPS_MAX, GROUP_BYTES_MIN, "groups")?;
        let (mut groups, mut room) = (Vec::<Group>::with_capacity(count), MEMBERS_MAX);
        for _ in 0..count {
            let number = reader.varint(u64::MAX, "groups")?;
            let members = read_rising(reader, room, "members")?;
            let is_rising = groups.last().is_none_or(|last| last.number < number);
            reader.check(members.len() >= 2 && is_rising, "groups")?;
            room -= members.len();
            groups.push(Group { number, members });
        }
        reader.check(groups.len() <= all as usize, "all")?;
        Ok(Groups { tick, all, groups })
    }
}

impl OccupiedCells {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.tick);
        self.low.iter().for_each(|&steps| writer.zigzag(steps));
        writer.varint(self.edge);
        self.counts.iter().for_each(|&count| writer.varint(count));
        writer.varint(self.all);
        let mut next = 0;
        writer.list(&self.occupied, CELLS_MAX, |&(cell, inside), writer| {
            writer.varint(cell.wrapping_sub(next));
            writer.varint(inside);
            next = cell.wrapping_add(1);
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<OccupiedCells, Malformed> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let mut corner = || reader.zigzag(i32::MAX, "low").map(|steps| steps as i32);
        let low = [corner()?, corner()?];
        let edge = reader.varint(EDGE_MAX, "edge")? as u32;
        let mut across = || reader.varint(ACROSS_MAX, "counts").map(|count| count as u32);
        let counts = [across()?, across()?];
        let all = reader.varint32("all")?;
        let whole = u64::from(counts[0]) * u64::from(counts[1]);
        let mut next = 0_u64;
        let occupied = reader.list(CELLS_MAX, 2, "cells", |reader| {
            let (gap, inside) = (reader.varint32("cells")?, reader.varint32("cells")?);
            let cell = next + u64::from(gap);
            reader.check(cell < whole && cell <= u64::from(u32::MAX) && inside > 0, "cells")?;
            next = cell + 1;
            Ok((cell as u32, inside))
        })?;
        reader.check(occupied.len() <= all as usize, "all")?;
        Ok(OccupiedCells { tick, low, edge, counts, all, occupied })
    }
}

impl Hearing {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.tick);
        pose::write_object(writer, self.object);
        for (all, list) in [(self.hears_all, &self.hears), (self.heard_by_all, &self.heard_by)] {
            writer.varint(all);
            write_rising(writer, &list[..list.len().min(HEARINGS_MAX)]);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Hearing, Malformed> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let object = pose::read_object(reader)?;
        let hears_all = reader.varint32("all")?;
        let hears = read_rising(reader, HEARINGS_MAX, "hears")?;
        let heard_by_all = reader.varint32("all")?;
        let heard_by = read_rising(reader, HEARINGS_MAX, "heard_by")?;
        let is_whole = hears.len() <= hears_all as usize && heard_by.len() <= heard_by_all as usize;
        reader.check(is_whole, "all")?;
        Ok(Hearing { tick, object, hears_all, hears, heard_by_all, heard_by })
    }
}

/// Objects by rising numbers, each as its distance from the last: most take a byte.
fn write_rising(writer: &mut Writer<'_>, objects: &[ObjectId]) {
    writer.varint(objects.len() as u64);
    let mut last = 0;
    for object in objects {
        writer.varint(object.number().wrapping_sub(last));
        last = object.number();
    }
}

fn read_rising(reader: &mut Reader<'_>, max: usize, field: &'static str) -> Result<Vec<ObjectId>, Malformed> {
    let mut last = 0_u64;
    reader.list(max, 1, field, |reader| {
        last = last.checked_add(reader.positive(u64::MAX, field)?).ok_or_else(|| reader.refuse(field))?;
        ObjectId::new(last).ok_or_else(|| reader.refuse(field))
    })
}

//! What an operator sees of the engine itself: the groups of those who hear each other, the cells into which a tick sorted
//! everybody, and who hears one object and is heard by it.
//!
//! Each message says how much there is and holds as much as its bound allows, so that a crowd of a hundred thousand costs
//! an inspector no more than one of a thousand.

use serde::Serialize;
use space::ObjectId;

use crate::codec::{DecodeError, Reader, Writer};
use crate::pose;

/// The most groups of one message.
pub const GROUPS_MAX: usize = 256;
/// The most members of all groups of one message.
pub const MEMBERS_MAX: usize = 4_096;
/// The most cells of one message.
pub const CELLS_MAX: usize = 4_096;
/// The most objects of one list of who hears or is heard.
pub const HEARINGS_MAX: usize = 512;
/// The most cells along one axis.
const ACROSS_MAX: u64 = 1 << 24;
/// The widest cell, in grid steps.
const EDGE_MAX: u64 = 1 << 30;

/// What an operator wants to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wanted {
    /// Where everything is, tick by tick.
    pub places: bool,
    /// The groups of those who hear each other.
    pub groups: bool,
    /// The cells of the ground.
    pub cells: bool,
    /// Who hears this object, and whom it hears; and what of groups and cells is near to it first.
    #[serde(serialize_with = "serialize_maybe")]
    pub object: Option<ObjectId>,
}

/// Those who hear each other: every two of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its number, for as long as there is the group.
    pub number: u64,
    /// Two or more, ascending.
    #[serde(serialize_with = "serialize_objects")]
    pub members: Vec<ObjectId>,
}

/// The groups after a tick, or as many as there is room for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Groups {
    /// The tick.
    pub tick: u64,
    /// How many there are.
    pub all: u32,
    /// By rising numbers.
    pub groups: Vec<Group>,
}

/// The cells of the ground after a tick: those with somebody in them, or as many as there is room for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cells {
    /// The tick.
    pub tick: u64,
    /// The ground's low corner, x and z, in grid steps.
    pub low: [i32; 2],
    /// How wide a cell is, in grid steps.
    pub edge: u32,
    /// Cells along x and along z.
    pub counts: [u32; 2],
    /// How many have somebody in them.
    pub all: u32,
    /// Cells by rising numbers, which count along x first, and how many are in each.
    pub occupied: Vec<(u32, u32)>,
}

/// Who hears an object after a tick, and whom it hears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hearing {
    /// The tick.
    pub tick: u64,
    /// The object.
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    /// How many it hears.
    pub hears_all: u32,
    /// Whom, ascending, or as many as there is room for.
    #[serde(serialize_with = "serialize_objects")]
    pub hears: Vec<ObjectId>,
    /// How many hear it.
    pub heard_by_all: u32,
    /// Who, likewise.
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
    /// What everybody is told who has not asked for anything else.
    pub const PLACES: Wanted = Wanted { places: true, groups: false, cells: false, object: None };

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(u8::from(self.places) | u8::from(self.groups) << 1 | u8::from(self.cells) << 2);
        writer.varint(self.object.map_or(0, |object| object.number()));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Wanted, DecodeError> {
        // The fourth bit is kept for the borders between the nodes of a cluster.
        let flags = reader.u8("layers")?;
        if flags > 7 {
            return Err(reader.refuse("layers"));
        }
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
        writer.varint(u64::from(self.all));
        writer.varint(groups.len() as u64);
        for group in groups {
            writer.varint(group.number);
            write_rising(writer, &group.members);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Groups, DecodeError> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let all = read_all(reader)?;
        let count = reader.count(GROUPS_MAX, GROUP_BYTES_MIN, "groups")?;
        let (mut groups, mut room) = (Vec::<Group>::with_capacity(count), MEMBERS_MAX);
        for _ in 0..count {
            let number = reader.varint(u64::MAX, "groups")?;
            let members = read_rising(reader, room, "members")?;
            if members.len() < 2 || groups.last().is_some_and(|last| last.number >= number) {
                return Err(reader.refuse("groups"));
            }
            room -= members.len();
            groups.push(Group { number, members });
        }
        if groups.len() > all as usize {
            return Err(reader.refuse("all"));
        }
        Ok(Groups { tick, all, groups })
    }
}

impl Cells {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.tick);
        self.low.iter().for_each(|&steps| writer.zigzag(i64::from(steps)));
        writer.varint(u64::from(self.edge));
        self.counts.iter().for_each(|&count| writer.varint(u64::from(count)));
        writer.varint(u64::from(self.all));
        let occupied = &self.occupied[..self.occupied.len().min(CELLS_MAX)];
        writer.varint(occupied.len() as u64);
        let mut next = 0;
        for &(cell, inside) in occupied {
            writer.varint(u64::from(cell.wrapping_sub(next)));
            writer.varint(u64::from(inside));
            next = cell.wrapping_add(1);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Cells, DecodeError> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let mut corner = || reader.zigzag(i64::from(i32::MAX), "low").map(|steps| steps as i32);
        let low = [corner()?, corner()?];
        let edge = reader.varint(EDGE_MAX, "edge")? as u32;
        let mut across = || reader.varint(ACROSS_MAX, "counts").map(|count| count as u32);
        let counts = [across()?, across()?];
        let all = read_all(reader)?;
        let count = reader.count(CELLS_MAX, 2, "cells")?;
        let whole = u64::from(counts[0]) * u64::from(counts[1]);
        let (mut occupied, mut next) = (Vec::with_capacity(count), 0_u64);
        for _ in 0..count {
            let cell = next + reader.varint(u64::from(u32::MAX), "cells")?;
            let inside = reader.varint(u64::from(u32::MAX), "cells")? as u32;
            if cell >= whole || cell > u64::from(u32::MAX) || inside == 0 {
                return Err(reader.refuse("cells"));
            }
            occupied.push((cell as u32, inside));
            next = cell + 1;
        }
        if occupied.len() > all as usize {
            return Err(reader.refuse("all"));
        }
        Ok(Cells { tick, low, edge, counts, all, occupied })
    }
}

impl Hearing {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.tick);
        pose::write_object(writer, self.object);
        for (all, list) in [(self.hears_all, &self.hears), (self.heard_by_all, &self.heard_by)] {
            writer.varint(u64::from(all));
            write_rising(writer, &list[..list.len().min(HEARINGS_MAX)]);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Hearing, DecodeError> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let object = pose::read_object(reader)?;
        let hears_all = read_all(reader)?;
        let hears = read_rising(reader, HEARINGS_MAX, "hears")?;
        let heard_by_all = read_all(reader)?;
        let heard_by = read_rising(reader, HEARINGS_MAX, "heard_by")?;
        if hears.len() > hears_all as usize || heard_by.len() > heard_by_all as usize {
            return Err(reader.refuse("all"));
        }
        Ok(Hearing { tick, object, hears_all, hears, heard_by_all, heard_by })
    }
}

fn read_all(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    reader.varint(u64::from(u32::MAX), "all").map(|all| all as u32)
}

/// Objects by rising numbers, each by how much it is above the last: most take a byte.
fn write_rising(writer: &mut Writer<'_>, objects: &[ObjectId]) {
    writer.varint(objects.len() as u64);
    let mut last = 0;
    for object in objects {
        writer.varint(object.number().wrapping_sub(last));
        last = object.number();
    }
}

fn read_rising(reader: &mut Reader<'_>, max: usize, field: &'static str) -> Result<Vec<ObjectId>, DecodeError> {
    let count = reader.count(max, 1, field)?;
    let (mut objects, mut last) = (Vec::with_capacity(count), 0_u64);
    for _ in 0..count {
        let gap = reader.varint(u64::MAX, field)?;
        last = last.checked_add(gap).filter(|_| gap > 0).ok_or_else(|| reader.refuse(field))?;
        objects.push(ObjectId::new(last).ok_or_else(|| reader.refuse(field))?);
    }
    Ok(objects)
}

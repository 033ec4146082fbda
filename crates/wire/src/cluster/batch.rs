//! A node's datagram to a neighbour in every tick: positions of its objects, requests for space, and replies to
//! requests.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};
use space::{GridPoint, Turn};

use super::{OBJECTS_MAX, read_object, read_version};
use crate::pose::{self, STEPS_MAX};
use crate::session::NICKNAME_MAX;

/// The most rooms of one object.
const ROOMS_MAX: usize = 4;
/// The most standing objects in one room.
const STANDING_MAX: usize = 64;

/// One tick's batch. It is complete in itself: a lost one does no lasting harm.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Batch {
    /// The version of the plan that the sender acts by.
    pub version: u64,
    pub tick: u64,
    /// Positions of the sender's objects that the receiver's users hear.
    pub guests: Vec<GuestPose>,
    pub asks: Vec<Ask>,
    pub answers: Vec<Answer>,
}

/// The pose of another node's object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GuestPose {
    pub object: u64,
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
}

/// An object that is heard across a border.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Introduced {
    pub object: u64,
    /// How often it has changed hands.
    pub seq: u32,
    /// The index of its template: the world's objects, then its avatars.
    pub model: u32,
    /// Whether a user listens through it.
    pub is_user: bool,
    pub name: String,
}

/// A solid in its place: a box rounded by a radius, in grid steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StandingSolid {
    /// Half the box's edges.
    pub core: [i32; 3],
    pub radius: i32,
    #[serde(serialize_with = "pose::serialize_point")]
    pub at: GridPoint,
}

/// A box by its lowest and highest corner, in grid steps.
pub type Corners = [[i32; 3]; 2];

/// A request for a part of the receiver's space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ask {
    pub object: u64,
    /// How often it has changed hands.
    pub seq: u32,
    /// Counts the requests for this object under this ownership; only the answer to the newest counts.
    pub asked: u32,
    /// The object, if it reaches into the receiver's space.
    pub standing: Option<StandingSolid>,
    /// The numbers of granted rooms that it keeps.
    pub keeps: Vec<u32>,
    /// The room that it asks for.
    pub wants: Option<Corners>,
    /// The object that it holds, or its holder. The sender keeps the two apart, so their rooms may overlap.
    pub mate: Option<u64>,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    pub object: u64,
    pub seq: u32,
    pub asked: u32,
    /// The granted room; its number is that of the ask.
    pub granted: Option<Granted>,
}

/// A part of the receiver's space that an object may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Granted {
    pub room: Corners,
    /// Objects that stand in it and stay.
    pub standing: Vec<(u64, StandingSolid)>,
}

impl StandingSolid {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        self.core.iter().for_each(|half| writer.varint(half.unsigned_abs()));
        writer.varint(self.radius.unsigned_abs());
        pose::write_point(writer, self.at);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<StandingSolid, Malformed> {
        let mut half = || reader.varint(STEPS_MAX as u64, "solid").map(|half| half as i32);
        let (core, radius) = ([half()?, half()?, half()?], half()?);
        Ok(StandingSolid { core, radius, at: pose::read_point(reader, "at")? })
    }
}

fn write_corners(writer: &mut Writer<'_>, corners: &Corners) {
    let [low, high] = corners;
    for (low, high) in low.iter().zip(high) {
        writer.zigzag(*low);
        writer.varint(high.saturating_sub(*low).unsigned_abs());
    }
}

fn read_corners(reader: &mut Reader<'_>, field: &'static str) -> Result<Corners, Malformed> {
    let [mut low, mut high] = [[0; 3]; 2];
    for (low, high) in low.iter_mut().zip(&mut high) {
        *low = reader.zigzag(2 * STEPS_MAX, field)? as i32;
        *high = *low + reader.varint(4 * STEPS_MAX as u64, field)? as i32;
    }
    Ok([low, high])
}

impl Ask {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(self.seq);
        writer.u32(self.asked);
        writer.u8(u8::from(self.standing.is_some())
            | u8::from(self.wants.is_some()) << 1
            | u8::from(self.mate.is_some()) << 2);
        if let Some(standing) = &self.standing {
            standing.write(writer);
        }
        writer.list(&self.keeps, ROOMS_MAX, |number, writer| writer.varint(*number));
        if let Some(corners) = &self.wants {
            write_corners(writer, corners);
        }
        if let Some(mate) = self.mate {
            writer.varint(mate);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Ask, Malformed> {
        let (object, seq, asked) = (read_object(reader)?, reader.varint32("seq")?, reader.u32("asked")?);
        let form = reader.bits(7, "form")?;
        let standing = if form & 1 == 1 { Some(StandingSolid::read(reader)?) } else { None };
        let keeps = reader.list(ROOMS_MAX, 1, "keeps", |reader| reader.varint32("keeps"))?;
        let wants = if form & 2 == 2 { Some(read_corners(reader, "wants")?) } else { None };
        let mate = if form & 4 == 4 { Some(read_object(reader)?) } else { None };
        Ok(Ask { object, seq, asked, standing, keeps, wants, mate })
    }
}

impl Answer {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(self.seq);
        writer.u32(self.asked);
        writer.flag(self.granted.is_some());
        if let Some(Granted { room, standing }) = &self.granted {
            write_corners(writer, room);
            writer.list(standing, STANDING_MAX, |(object, standing), writer| {
                writer.varint(*object);
                standing.write(writer);
            });
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Answer, Malformed> {
        let (object, seq, asked) = (read_object(reader)?, reader.varint32("seq")?, reader.u32("asked")?);
        let granted = match reader.flag("granted")? {
            false => None,
            true => Some(Granted {
                room: read_corners(reader, "room")?,
                standing: reader.list(STANDING_MAX, 8, "standing", |reader| {
                    Ok((read_object(reader)?, StandingSolid::read(reader)?))
                })?,
            }),
        };
        Ok(Answer { object, seq, asked, granted })
    }
}

impl Introduced {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(self.seq);
        writer.varint(self.model);
        writer.flag(self.is_user);
        writer.text(&self.name, NICKNAME_MAX);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Introduced, Malformed> {
        Ok(Introduced {
            object: read_object(reader)?,
            seq: reader.varint32("seq")?,
            model: reader.varint32("model")?,
            is_user: reader.flag("is_user")?,
            name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
        })
    }
}

impl Batch {
    /// The most standing objects in a granted room.
    pub const STANDING_MAX: usize = STANDING_MAX;

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        writer.varint(self.tick);
        writer.list(&self.guests, OBJECTS_MAX, |guest, writer| {
            writer.varint(guest.object);
            pose::write_point(writer, guest.place);
            pose::write_turn(writer, guest.turn);
        });
        writer.list(&self.asks, OBJECTS_MAX, Ask::write);
        writer.list(&self.answers, OBJECTS_MAX, Answer::write);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Batch, Malformed> {
        Ok(Batch {
            version: read_version(reader)?,
            tick: read_version(reader)?,
            guests: reader.list(OBJECTS_MAX, 5, "guests", |reader| {
                Ok(GuestPose {
                    object: read_object(reader)?,
                    place: pose::read_point(reader, "place")?,
                    turn: pose::read_turn(reader)?,
                })
            })?,
            asks: reader.list(OBJECTS_MAX, 8, "asks", Ask::read)?,
            answers: reader.list(OBJECTS_MAX, 7, "answers", Answer::read)?,
        })
    }
}

//! What a node tells another in every tick: where those are that somebody there hears, what it asks for, what it grants.

use serde::Serialize;
use space::{GridPoint, Turn};

use super::{OBJECTS_MAX, read_flag, read_list, read_name, read_seq, version, write_list};
use crate::codec::{DecodeError, Reader, Writer};
use crate::pose::{self, STEPS_MAX};
use crate::session::NICKNAME_MAX;

/// Boxes that an object keeps at most.
const ROOMS_MAX: usize = 4;
/// What stands in a room at most.
const STANDING_MAX: usize = 64;

/// One tick's batch. It stands alone: losing any of them does no lasting harm.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Batch {
    /// The plan that the sender acts by.
    pub version: u64,
    /// The sender's tick.
    pub tick: u64,
    /// Where the sender's objects are.
    pub ghosts: Vec<Ghost>,
    /// What the sender asks for.
    pub asks: Vec<Ask>,
    /// What the sender grants and refuses.
    pub answers: Vec<Answer>,
}

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ghost {
    /// Which.
    pub object: u64,
    /// Where, in steps of the grid.
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    /// How it is turned.
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
}

/// What an object is that is heard across a border.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Introduced {
    /// Which.
    pub object: u64,
    /// The number of its ownership.
    pub seq: u32,
    /// Which of the world's objects or, after all of these, of its avatars.
    pub model: u32,
    /// Whether it hears: somebody listens through it.
    pub is_user: bool,
    /// What it is called.
    pub name: String,
}

/// A solid in its place: a box rounded by a radius, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Half the box's edges.
    pub core: [i32; 3],
    /// By how much it is rounded.
    pub radius: i32,
    /// Where.
    #[serde(serialize_with = "pose::serialize_point")]
    pub at: GridPoint,
}

/// A box: its lowest and its highest corner, in steps.
pub type Corners = [[i32; 3]; 2];

/// What an object needs of the receiver's space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ask {
    /// Which.
    pub object: u64,
    /// The number of its ownership.
    pub seq: u32,
    /// Counts what is asked for this object under this ownership; only the answer to the newest counts.
    pub asked: u32,
    /// Where it is, if it reaches into the receiver's space.
    pub standing: Option<Standing>,
    /// Of the rooms that it has, those that it keeps, by their numbers.
    pub keeps: Vec<u32>,
    /// Where it would like to go.
    pub wants: Option<Corners>,
    /// What it holds, or who holds it: both are the sender's, which keeps them apart, so that their rooms may overlap.
    pub mate: Option<u64>,
}

/// What became of an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Which object.
    pub object: u64,
    /// The number of its ownership.
    pub seq: u32,
    /// Which ask.
    pub asked: u32,
    /// The room that it is granted, called by the number of the ask.
    pub granted: Option<Granted>,
}

/// A room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Granted {
    /// Where.
    pub room: Corners,
    /// What stands in it and stays.
    pub standing: Vec<(u64, Standing)>,
}

impl Standing {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        self.core.iter().for_each(|half| writer.varint(u64::from(half.unsigned_abs())));
        writer.varint(u64::from(self.radius.unsigned_abs()));
        pose::write_point(writer, self.at);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Standing, DecodeError> {
        let mut half = || reader.varint(STEPS_MAX as u64, "solid").map(|half| half as i32);
        let (core, radius) = ([half()?, half()?, half()?], half()?);
        Ok(Standing { core, radius, at: pose::read_point(reader, "at")? })
    }
}

fn write_corners(writer: &mut Writer<'_>, corners: &Corners) {
    let [low, high] = corners;
    for (low, high) in low.iter().zip(high) {
        writer.zigzag(i64::from(*low));
        writer.varint(u64::from(high.saturating_sub(*low).unsigned_abs()));
    }
}

fn read_corners(reader: &mut Reader<'_>, field: &'static str) -> Result<Corners, DecodeError> {
    let [mut low, mut high] = [[0; 3]; 2];
    for (low, high) in low.iter_mut().zip(&mut high) {
        *low = reader.zigzag(2 * i64::from(STEPS_MAX), field)? as i32;
        *high = *low + reader.varint(4 * STEPS_MAX as u64, field)? as i32;
    }
    Ok([low, high])
}

impl Ask {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(u64::from(self.seq));
        writer.u32(self.asked);
        writer.u8(u8::from(self.standing.is_some())
            | u8::from(self.wants.is_some()) << 1
            | u8::from(self.mate.is_some()) << 2);
        if let Some(standing) = &self.standing {
            standing.write(writer);
        }
        write_list(writer, &self.keeps, |number, writer| writer.varint(u64::from(*number)));
        if let Some(corners) = &self.wants {
            write_corners(writer, corners);
        }
        if let Some(mate) = self.mate {
            writer.varint(mate);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Ask, DecodeError> {
        let (object, seq, asked) = (read_name(reader)?, read_seq(reader)?, reader.u32("asked")?);
        let form = reader.u8("form")?;
        if form > 7 {
            return Err(reader.refuse("form"));
        }
        let standing = if form & 1 == 1 { Some(Standing::read(reader)?) } else { None };
        let keeps = read_list(reader, ROOMS_MAX, 1, "keeps", |reader| {
            reader.varint(u64::from(u32::MAX), "keeps").map(|number| number as u32)
        })?;
        let wants = if form & 2 == 2 { Some(read_corners(reader, "wants")?) } else { None };
        let mate = if form & 4 == 4 { Some(read_name(reader)?) } else { None };
        Ok(Ask { object, seq, asked, standing, keeps, wants, mate })
    }
}

impl Answer {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(u64::from(self.seq));
        writer.u32(self.asked);
        writer.u8(u8::from(self.granted.is_some()));
        if let Some(Granted { room, standing }) = &self.granted {
            write_corners(writer, room);
            write_list(writer, standing, |(object, standing), writer| {
                writer.varint(*object);
                standing.write(writer);
            });
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Answer, DecodeError> {
        let (object, seq, asked) = (read_name(reader)?, read_seq(reader)?, reader.u32("asked")?);
        let granted = match read_flag(reader, "granted")? {
            false => None,
            true => Some(Granted {
                room: read_corners(reader, "room")?,
                standing: read_list(reader, STANDING_MAX, 8, "standing", |reader| {
                    Ok((read_name(reader)?, Standing::read(reader)?))
                })?,
            }),
        };
        Ok(Answer { object, seq, asked, granted })
    }
}

impl Introduced {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.object);
        writer.varint(u64::from(self.seq));
        writer.varint(u64::from(self.model));
        writer.u8(u8::from(self.is_user));
        writer.text(&self.name, NICKNAME_MAX);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Introduced, DecodeError> {
        Ok(Introduced {
            object: read_name(reader)?,
            seq: read_seq(reader)?,
            model: reader.varint(u64::from(u32::MAX), "model")? as u32,
            is_user: read_flag(reader, "is_user")?,
            name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
        })
    }
}

impl Batch {
    /// What an object is granted keeps at most so many others where they are.
    pub const STANDING_MAX: usize = STANDING_MAX;

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        writer.varint(self.tick);
        write_list(writer, &self.ghosts, |ghost, writer| {
            writer.varint(ghost.object);
            pose::write_point(writer, ghost.place);
            pose::write_turn(writer, ghost.turn);
        });
        write_list(writer, &self.asks, Ask::write);
        write_list(writer, &self.answers, Answer::write);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Batch, DecodeError> {
        Ok(Batch {
            version: version(reader)?,
            tick: version(reader)?,
            ghosts: read_list(reader, OBJECTS_MAX, 5, "ghosts", |reader| {
                Ok(Ghost {
                    object: read_name(reader)?,
                    place: pose::read_point(reader, "place")?,
                    turn: pose::read_turn(reader)?,
                })
            })?,
            asks: read_list(reader, OBJECTS_MAX, 8, "asks", Ask::read)?,
            answers: read_list(reader, OBJECTS_MAX, 7, "answers", Answer::read)?,
        })
    }
}

//! What a server and an operator say to each other: everything that is in the world, as it is and as it was.
//!
//! A stream of its own, with a version of its own, at `/inspect`. Nobody is an avatar here and nothing can be moved:
//! an operator watches. Whoever shows no token is refused with a [`Refused`], as at the door of the world.

use serde::Serialize;
use space::{GridPoint, ObjectId};

use crate::codec::{DecodeError, Reader, Writer};
use crate::inside::{Cells, Groups, Hearing, Wanted};
use crate::scene::Scene;
use crate::session::{EnteredKind, NICKNAME_MAX, Refused, TICK_US_MAX, TOKEN_MAX};
use crate::shape::Shape;
use crate::{ADDRESS_MAX, MESSAGE_MAX, kind, pose};

/// The version of the operator's stream.
pub const OPERATOR_VERSION: u16 = 3;
/// The most regions of a cluster that are told.
pub const REGIONS_MAX: usize = 1_024;
/// The most objects of one view message, and of one that tells what they are.
pub const OBJECTS_MAX: usize = 2_048;
/// The most bytes of a world's name.
pub const WORLD_NAME_MAX: usize = 192;
/// The largest aura, in metres.
const AURA_MAX: f32 = 16_384.0;

/// A message from an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FromOperator {
    /// Let me watch.
    Watch {
        /// The version that it speaks.
        version: u16,
        /// What it shows; empty where it needs nothing.
        token: Vec<u8>,
    },
    /// Show me the past.
    Play {
        /// The first tick.
        from: u64,
        /// The last one.
        to: u64,
        /// Every how manieth of them, at least 1.
        every: u32,
    },
    /// Tell me this from now on, and nothing else.
    Look(Wanted),
}

/// What an operator watches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Watched {
    /// The version that the server speaks.
    pub version: u16,
    /// What the world is called.
    pub name: String,
    /// How long a tick lasts, in microseconds.
    pub tick_us: u32,
    /// How far one hears, in metres.
    pub aura: f32,
    /// The corners of the world.
    #[serde(serialize_with = "serialize_points")]
    pub bounds: [GridPoint; 2],
    /// The oldest tick that can be shown again, and the newest; none where nothing is kept.
    pub past: Option<(u64, u64)>,
}

/// What an object is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    /// Its name for programs.
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    /// What kind of thing.
    pub kind: EnteredKind,
    /// Whether a client moves it.
    pub is_user: bool,
    /// Its name for people; empty for most.
    pub name: String,
    /// Its solid.
    pub shape: Shape,
}

/// Where objects are after a tick: all of those that can move, or a part of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct View {
    /// The tick.
    pub tick: u64,
    /// Whether it is so now; else it was, and was asked for.
    pub is_live: bool,
    /// Whether no more of this tick follows.
    pub is_last: bool,
    /// Objects, by rising numbers, and where they are.
    #[serde(serialize_with = "serialize_places")]
    pub places: Vec<(ObjectId, GridPoint)>,
}

/// Who decides where, in a world that several servers share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Borders {
    /// The plan that says so; each is one more than the last.
    pub plan: u64,
    /// All regions: together they are the whole world.
    pub regions: Vec<Region>,
}

/// A region of the ground, and who decides about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// What its node is called, or where it is found.
    pub node: String,
    /// Whether that is the node which tells this.
    pub is_own: bool,
    /// Its corners on the ground, x and z, in steps of the grid.
    pub low: [i32; 2],
    /// See above.
    pub high: [i32; 2],
}

/// A message to an operator. What stands is told as to anybody, in [`Scene`]s.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ToOperator {
    /// You may watch.
    Watched(Watched),
    /// You may not, or no longer, or not that.
    Refused(Refused),
    /// What stands.
    Scene(Scene),
    /// What objects are.
    Known(Vec<Known>),
    /// Where they are, or were.
    View(View),
    /// That was what you asked for.
    Played {
        /// The last tick of it.
        to: u64,
    },
    /// Who hears each other.
    Groups(Groups),
    /// The cells into which everybody was sorted.
    Cells(Cells),
    /// Who hears the object that was asked for, and whom it hears.
    Hearing(Hearing),
    /// Which node decides where: told at first and whenever it changes, of a world that has several.
    Borders(Borders),
}

fn serialize_points<S: serde::Serializer>(points: &[GridPoint; 2], serializer: S) -> Result<S::Ok, S::Error> {
    points.map(|point| [point.x, point.y, point.z]).serialize(serializer)
}

fn serialize_places<S: serde::Serializer>(places: &[(ObjectId, GridPoint)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(places.iter().map(|(object, at)| (object.number(), [at.x, at.y, at.z])))
}

impl FromOperator {
    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            FromOperator::Watch { version, token } => {
                let mut writer = Writer::new(&mut bytes, kind::WATCH);
                writer.u16(*version);
                writer.bytes(token, TOKEN_MAX);
            }
            FromOperator::Play { from, to, every } => {
                let mut writer = Writer::new(&mut bytes, kind::PLAY);
                writer.varint(*from);
                writer.varint(*to);
                writer.varint(u64::from(*every));
            }
            FromOperator::Look(wanted) => wanted.write(&mut Writer::new(&mut bytes, kind::LOOK)),
        }
        bytes
    }

    /// The message that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<FromOperator, DecodeError> {
        let mut reader = Reader::new(bytes, MESSAGE_MAX)?;
        let message = match reader.kind() {
            kind::WATCH => FromOperator::Watch {
                version: reader.u16("version")?,
                token: reader.bytes(TOKEN_MAX, "token")?.to_owned(),
            },
            kind::PLAY => {
                let from = reader.varint(u64::MAX, "from")?;
                let to = reader.varint(u64::MAX, "to")?;
                let every = reader.varint(u64::from(u32::MAX), "every")? as u32;
                if every == 0 || to < from {
                    return Err(reader.refuse("every"));
                }
                FromOperator::Play { from, to, every }
            }
            kind::LOOK => FromOperator::Look(Wanted::read(&mut reader)?),
            unknown => return Err(DecodeError::UnknownKind(unknown)),
        };
        reader.end()?;
        Ok(message)
    }
}

impl ToOperator {
    /// The bytes. Of lists that are too long, what is beyond is left out: cut them before.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToOperator::Watched(watched) => watched.write(&mut Writer::new(&mut bytes, kind::WATCHED)),
            ToOperator::Refused(refused) => refused.write(&mut Writer::new(&mut bytes, kind::REFUSED)),
            ToOperator::Scene(scene) => scene.write(&mut Writer::new(&mut bytes, kind::SCENE)),
            ToOperator::Known(known) => {
                let mut writer = Writer::new(&mut bytes, kind::KNOWN);
                let known = &known[..known.len().min(OBJECTS_MAX)];
                writer.varint(known.len() as u64);
                known.iter().for_each(|one| one.write(&mut writer));
            }
            ToOperator::View(view) => view.write(&mut Writer::new(&mut bytes, kind::VIEW)),
            ToOperator::Played { to } => Writer::new(&mut bytes, kind::PLAYED).varint(*to),
            ToOperator::Groups(groups) => groups.write(&mut Writer::new(&mut bytes, kind::GROUPS)),
            ToOperator::Cells(cells) => cells.write(&mut Writer::new(&mut bytes, kind::CELLS)),
            ToOperator::Hearing(hearing) => hearing.write(&mut Writer::new(&mut bytes, kind::HEARING)),
            ToOperator::Borders(borders) => borders.write(&mut Writer::new(&mut bytes, kind::BORDERS)),
        }
        bytes
    }

    /// The message that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<ToOperator, DecodeError> {
        let mut reader = Reader::new(bytes, MESSAGE_MAX)?;
        let message = match reader.kind() {
            kind::WATCHED => ToOperator::Watched(Watched::read(&mut reader)?),
            kind::REFUSED => ToOperator::Refused(Refused::read(&mut reader)?),
            kind::SCENE => ToOperator::Scene(Scene::read(&mut reader)?),
            kind::KNOWN => {
                let count = reader.count(OBJECTS_MAX, KNOWN_BYTES_MIN, "known")?;
                let mut known = Vec::with_capacity(count);
                for _ in 0..count {
                    known.push(Known::read(&mut reader)?);
                }
                ToOperator::Known(known)
            }
            kind::VIEW => ToOperator::View(View::read(&mut reader)?),
            kind::PLAYED => ToOperator::Played { to: reader.varint(u64::MAX, "to")? },
            kind::GROUPS => ToOperator::Groups(Groups::read(&mut reader)?),
            kind::CELLS => ToOperator::Cells(Cells::read(&mut reader)?),
            kind::HEARING => ToOperator::Hearing(Hearing::read(&mut reader)?),
            kind::BORDERS => ToOperator::Borders(Borders::read(&mut reader)?),
            unknown => return Err(DecodeError::UnknownKind(unknown)),
        };
        reader.end()?;
        Ok(message)
    }
}

impl Watched {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.text(&self.name, WORLD_NAME_MAX);
        writer.varint(u64::from(self.tick_us));
        writer.f32(self.aura);
        self.bounds.iter().for_each(|corner| pose::write_point(writer, *corner));
        writer.u8(u8::from(self.past.is_some()));
        if let Some((oldest, newest)) = self.past {
            writer.varint(oldest);
            writer.varint(newest);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Watched, DecodeError> {
        Ok(Watched {
            version: reader.u16("version")?,
            name: reader.text(WORLD_NAME_MAX, "name")?.to_owned(),
            tick_us: reader.varint(u64::from(TICK_US_MAX), "tick_us")? as u32,
            aura: reader.f32(0.0, AURA_MAX, "aura")?,
            bounds: [pose::read_point(reader, "bounds")?, pose::read_point(reader, "bounds")?],
            past: match reader.u8("past")? {
                0 => None,
                1 => Some((reader.varint(u64::MAX, "past")?, reader.varint(u64::MAX, "past")?)),
                _ => return Err(reader.refuse("past")),
            },
        })
    }
}

/// A name, flags, no nickname and a sphere.
const KNOWN_BYTES_MIN: usize = 1 + 1 + 1 + 5;

impl Known {
    fn write(&self, writer: &mut Writer<'_>) {
        pose::write_object(writer, self.object);
        writer.u8(self.kind as u8 | u8::from(self.is_user) << 2);
        writer.text(&self.name, NICKNAME_MAX);
        self.shape.write(writer);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Known, DecodeError> {
        let object = pose::read_object(reader)?;
        let flags = reader.u8("kind")?;
        let kind = match flags & 3 {
            0 => EnteredKind::Avatar,
            1 => EnteredKind::Movable,
            2 => EnteredKind::Mover,
            _ => return Err(reader.refuse("kind")),
        };
        if flags > 7 {
            return Err(reader.refuse("kind"));
        }
        let name = reader.text(NICKNAME_MAX, "name")?.to_owned();
        Ok(Known { object, kind, is_user: flags & 4 != 0, name, shape: Shape::read(reader)? })
    }
}

/// A gap and a place.
const PLACE_BYTES_MIN: usize = 1 + 3;

impl View {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.tick);
        writer.u8(u8::from(self.is_live) | u8::from(self.is_last) << 1);
        let places = &self.places[..self.places.len().min(OBJECTS_MAX)];
        writer.varint(places.len() as u64);
        let mut last = 0;
        for (object, at) in places {
            // By rising numbers, so that most gaps take a byte.
            writer.varint(object.number().wrapping_sub(last));
            last = object.number();
            pose::write_point(writer, *at);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<View, DecodeError> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let flags = reader.u8("flags")?;
        if flags > 3 {
            return Err(reader.refuse("flags"));
        }
        let count = reader.count(OBJECTS_MAX, PLACE_BYTES_MIN, "places")?;
        let (mut places, mut last) = (Vec::with_capacity(count), 0_u64);
        for _ in 0..count {
            let gap = reader.varint(u64::MAX, "places")?;
            let number = last.checked_add(gap).filter(|_| gap > 0).ok_or_else(|| reader.refuse("places"))?;
            let object = ObjectId::new(number).ok_or_else(|| reader.refuse("places"))?;
            last = number;
            places.push((object, pose::read_point(reader, "places")?));
        }
        Ok(View { tick, is_live: flags & 1 != 0, is_last: flags & 2 != 0, places })
    }
}

/// A letter, a flag and four numbers; memory for a region is allowed by no fewer.
const REGION_BYTES_MIN: usize = 2 + 1 + 4;

impl Borders {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.plan);
        let regions = &self.regions[..self.regions.len().min(REGIONS_MAX)];
        writer.varint(regions.len() as u64);
        for region in regions {
            writer.text(&region.node, ADDRESS_MAX);
            writer.u8(u8::from(region.is_own));
            for (low, high) in region.low.iter().zip(&region.high) {
                writer.zigzag(i64::from(*low));
                writer.varint(u64::from(high.saturating_sub(*low).unsigned_abs()));
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Borders, DecodeError> {
        let plan = reader.varint(u64::MAX, "plan")?;
        let count = reader.count(REGIONS_MAX, REGION_BYTES_MIN, "regions")?;
        let mut regions = Vec::with_capacity(count);
        for _ in 0..count {
            let node = reader.text(ADDRESS_MAX, "node")?.to_owned();
            if node.is_empty() {
                return Err(reader.refuse("node"));
            }
            let is_own = match reader.u8("is_own")? {
                0 => false,
                1 => true,
                _ => return Err(reader.refuse("is_own")),
            };
            let [mut low, mut high] = [[0; 2]; 2];
            for (low, high) in low.iter_mut().zip(&mut high) {
                *low = reader.zigzag(i64::from(pose::STEPS_MAX), "low")? as i32;
                *high = *low + reader.varint(2 * pose::STEPS_MAX as u64, "high")? as i32;
            }
            regions.push(Region { node, is_own, low, high });
        }
        Ok(Borders { plan, regions })
    }
}

//! The stream between a server and an operator: everything in the world, as it is and as it was.
//!
//! It has its own version and is served at `/inspect`. An operator watches: it has no avatar and moves nothing. Without
//! a valid token it is [`Refused`], as a client is.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};
use space::{GridPoint, ObjectId};

use crate::codec::{DecodeError, begin, decode};
use crate::inside::{Groups, Hearing, OccupiedCells, Wanted};
use crate::scene::Scene;
use crate::session::{EnteredKind, NICKNAME_MAX, Refused, TICK_US_MAX, TOKEN_MAX};
use crate::shape::CollisionShape;
use crate::{ADDRESS_MAX, MESSAGE_MAX, kind, pose};

/// The version of the operator's stream.
pub const OPERATOR_VERSION: u16 = 3;
/// The most regions of a cluster in one message.
pub const REGIONS_MAX: usize = 1_024;
/// The most objects in one [`WorldView`], and in one message of [`Known`] objects.
pub const OBJECTS_MAX: usize = 2_048;
/// The most bytes of a world's name.
pub const WORLD_NAME_MAX: usize = 192;
/// The largest aura, in metres.
const AURA_MAX: f32 = 16_384.0;

/// A message from an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FromOperator {
    /// Asks to watch.
    Watch {
        version: u16,
        /// Empty where none is needed.
        token: Vec<u8>,
    },
    /// Asks for stored ticks.
    Play {
        /// The first tick.
        from: u64,
        /// The last tick.
        to: u64,
        /// The stride, at least 1.
        every: u32,
    },
    /// Asks for these layers from now on.
    Look(Wanted),
}

/// The answer to [`FromOperator::Watch`]: the world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Watched {
    /// The version that the server speaks.
    pub version: u16,
    /// The world's name.
    pub name: String,
    /// The duration of a tick, in microseconds.
    pub tick_us: u32,
    /// How far users hear, in metres.
    pub aura: f32,
    /// The lowest and the highest corner of the world.
    #[serde(serialize_with = "serialize_points")]
    pub bounds: [GridPoint; 2],
    /// The oldest and the newest stored tick, if there are any.
    pub past: Option<(u64, u64)>,
}

/// The description of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    pub kind: EnteredKind,
    /// Whether a client moves it.
    pub is_user: bool,
    /// Its name for people; often empty.
    pub name: String,
    pub shape: CollisionShape,
}

/// Positions of movable objects after a tick: all of them, or a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorldView {
    pub tick: u64,
    /// Whether this is the newest tick, and not a stored one that was asked for.
    pub is_live: bool,
    /// Whether this is the last part of the tick.
    pub is_last: bool,
    /// By rising numbers of objects.
    #[serde(serialize_with = "serialize_places")]
    pub places: Vec<(ObjectId, GridPoint)>,
}

/// The regions of a world that several servers share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Borders {
    /// The version of the plan that has these regions.
    pub plan: u64,
    /// Together they are the whole world.
    pub regions: Vec<NodeRegion>,
}

/// A region of the ground and the node that decides about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeRegion {
    /// The node's name or address.
    pub node: String,
    /// Whether this is the node that sends the message.
    pub is_own: bool,
    /// The lower corner on the ground, x and z, in grid steps.
    pub low: [i32; 2],
    pub high: [i32; 2],
}

/// A message to an operator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ToOperator {
    /// The operator may watch.
    Watched(Watched),
    /// The operator may not watch, or not any longer, or what it asked for is not available.
    Refused(Refused),
    Scene(Scene),
    /// Descriptions of movable objects.
    Known(Vec<Known>),
    View(WorldView),
    /// The end of the stored ticks that were asked for.
    Played {
        to: u64,
    },
    Groups(Groups),
    Cells(OccupiedCells),
    /// The hearings of the object that was asked for.
    Hearing(Hearing),
    /// Regions of a cluster: at first and after every change.
    Borders(Borders),
}

fn serialize_points<S: serde::Serializer>(points: &[GridPoint; 2], serializer: S) -> Result<S::Ok, S::Error> {
    points.map(|point| [point.x, point.y, point.z]).serialize(serializer)
}

fn serialize_places<S: serde::Serializer>(places: &[(ObjectId, GridPoint)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(places.iter().map(|(object, at)| (object.number(), [at.x, at.y, at.z])))
}

impl FromOperator {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            FromOperator::Watch { version, token } => {
                let mut writer = begin(&mut bytes, kind::WATCH);
                writer.u16(*version);
                writer.bytes(token, TOKEN_MAX);
            }
            FromOperator::Play { from, to, every } => {
                let mut writer = begin(&mut bytes, kind::PLAY);
                writer.varint(*from);
                writer.varint(*to);
                writer.varint(*every);
            }
            FromOperator::Look(wanted) => wanted.write(&mut begin(&mut bytes, kind::LOOK)),
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<FromOperator, DecodeError> {
        decode(bytes, MESSAGE_MAX, |kind, reader| {
            Ok(Some(match kind {
                kind::WATCH => FromOperator::Watch {
                    version: reader.u16("version")?,
                    token: reader.bytes(TOKEN_MAX, "token")?.to_owned(),
                },
                kind::PLAY => {
                    let from = reader.varint(u64::MAX, "from")?;
                    let to = reader.varint(u64::MAX, "to")?;
                    let every = reader.varint32("every")?;
                    reader.check(every > 0 && from <= to, "every")?;
                    FromOperator::Play { from, to, every }
                }
                kind::LOOK => FromOperator::Look(Wanted::read(reader)?),
                _ => return Ok(None),
            }))
        })
    }
}

impl ToOperator {
    /// Encodes the message. Lists that are longer than their bound are cut: split them before.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            ToOperator::Watched(watched) => watched.write(&mut begin(&mut bytes, kind::WATCHED)),
            ToOperator::Refused(refused) => refused.write(&mut begin(&mut bytes, kind::REFUSED)),
            ToOperator::Scene(scene) => scene.write(&mut begin(&mut bytes, kind::SCENE)),
            ToOperator::Known(known) => begin(&mut bytes, kind::KNOWN).list(known, OBJECTS_MAX, Known::write),
            ToOperator::View(view) => view.write(&mut begin(&mut bytes, kind::VIEW)),
            ToOperator::Played { to } => begin(&mut bytes, kind::PLAYED).varint(*to),
            ToOperator::Groups(groups) => groups.write(&mut begin(&mut bytes, kind::GROUPS)),
            ToOperator::Cells(cells) => cells.write(&mut begin(&mut bytes, kind::CELLS)),
            ToOperator::Hearing(hearing) => hearing.write(&mut begin(&mut bytes, kind::HEARING)),
            ToOperator::Borders(borders) => borders.write(&mut begin(&mut bytes, kind::BORDERS)),
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<ToOperator, DecodeError> {
        decode(bytes, MESSAGE_MAX, |kind, reader| {
            Ok(Some(match kind {
                kind::WATCHED => ToOperator::Watched(Watched::read(reader)?),
                kind::REFUSED => ToOperator::Refused(Refused::read(reader)?),
                kind::SCENE => ToOperator::Scene(Scene::read(reader)?),
                kind::KNOWN => ToOperator::Known(reader.list(OBJECTS_MAX, KNOWN_BYTES_MIN, "known", Known::read)?),
                kind::VIEW => ToOperator::View(WorldView::read(reader)?),
                kind::PLAYED => ToOperator::Played { to: reader.varint(u64::MAX, "to")? },
                kind::GROUPS => ToOperator::Groups(Groups::read(reader)?),
                kind::CELLS => ToOperator::Cells(OccupiedCells::read(reader)?),
                kind::HEARING => ToOperator::Hearing(Hearing::read(reader)?),
                kind::BORDERS => ToOperator::Borders(Borders::read(reader)?),
                _ => return Ok(None),
            }))
        })
    }
}

impl Watched {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.text(&self.name, WORLD_NAME_MAX);
        writer.varint(self.tick_us);
        writer.f32(self.aura);
        self.bounds.iter().for_each(|corner| pose::write_point(writer, *corner));
        writer.flag(self.past.is_some());
        if let Some((oldest, newest)) = self.past {
            writer.varint(oldest);
            writer.varint(newest);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Watched, Malformed> {
        Ok(Watched {
            version: reader.u16("version")?,
            name: reader.text(WORLD_NAME_MAX, "name")?.to_owned(),
            tick_us: reader.varint(TICK_US_MAX.into(), "tick_us")? as u32,
            aura: reader.f32(0.0, AURA_MAX, "aura")?,
            bounds: [pose::read_point(reader, "bounds")?, pose::read_point(reader, "bounds")?],
            past: match reader.flag("past")? {
                false => None,
                true => Some((reader.varint(u64::MAX, "past")?, reader.varint(u64::MAX, "past")?)),
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

    fn read(reader: &mut Reader<'_>) -> Result<Known, Malformed> {
        let object = pose::read_object(reader)?;
        let flags = reader.bits(7, "kind")?;
        let kind = EnteredKind::from_number(flags & 3).ok_or_else(|| reader.refuse("kind"))?;
        let name = reader.text(NICKNAME_MAX, "name")?.to_owned();
        Ok(Known { object, kind, is_user: flags & 4 != 0, name, shape: CollisionShape::read(reader)? })
    }
}

/// A gap of numbers and a place.
const PLACE_BYTES_MIN: usize = 1 + 3;

impl WorldView {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.tick);
        writer.u8(u8::from(self.is_live) | u8::from(self.is_last) << 1);
        let mut last = 0;
        writer.list(&self.places, OBJECTS_MAX, |(object, at), writer| {
            // As the distance from the last number, so that most take a byte.
            writer.varint(object.number().wrapping_sub(last));
            last = object.number();
            pose::write_point(writer, *at);
        });
    }

    fn read(reader: &mut Reader<'_>) -> Result<WorldView, Malformed> {
        let tick = reader.varint(u64::MAX, "tick")?;
        let flags = reader.bits(3, "flags")?;
        let mut last = 0_u64;
        let places = reader.list(OBJECTS_MAX, PLACE_BYTES_MIN, "places", |reader| {
            let gap = reader.positive(u64::MAX, "places")?;
            last = last.checked_add(gap).ok_or_else(|| reader.refuse("places"))?;
            let object = ObjectId::new(last).ok_or_else(|| reader.refuse("places"))?;
            Ok((object, pose::read_point(reader, "places")?))
        })?;
        Ok(WorldView { tick, is_live: flags & 1 != 0, is_last: flags & 2 != 0, places })
    }
}

/// A letter, a flag and four numbers; the reader reserves no memory for fewer bytes.
const REGION_BYTES_MIN: usize = 2 + 1 + 4;

impl Borders {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.plan);
        writer.list(&self.regions, REGIONS_MAX, |region, writer| {
            writer.text(&region.node, ADDRESS_MAX);
            writer.flag(region.is_own);
            for (low, high) in region.low.iter().zip(&region.high) {
                writer.zigzag(*low);
                writer.varint(high.saturating_sub(*low).unsigned_abs());
            }
        });
    }

    fn read(reader: &mut Reader<'_>) -> Result<Borders, Malformed> {
        let plan = reader.varint(u64::MAX, "plan")?;
        let regions = reader.list(REGIONS_MAX, REGION_BYTES_MIN, "regions", |reader| {
            let node = reader.text(ADDRESS_MAX, "node")?.to_owned();
            reader.check(!node.is_empty(), "node")?;
            let is_own = reader.flag("is_own")?;
            let [mut low, mut high] = [[0; 2]; 2];
            for (low, high) in low.iter_mut().zip(&mut high) {
                *low = reader.zigzag(pose::STEPS_MAX, "low")? as i32;
                *high = *low + reader.varint(2 * pose::STEPS_MAX as u64, "high")? as i32;
            }
            Ok(NodeRegion { node, is_own, low, high })
        })?;
        Ok(Borders { plan, regions })
    }
}

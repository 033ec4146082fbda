//! What stands in the world, told once: a client sweeps its own avatar against it, so that walls are felt at once.

use serde::Serialize;
use space::{GridPoint, ObjectId, Turn};

use crate::codec::{DecodeError, Reader, Writer};
use crate::pose;
use crate::shape::Shape;

/// The most things of one message.
pub const SOLIDS_MAX: usize = 512;

/// A thing that stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solid {
    /// Its name.
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    /// What it looks like to a collision.
    pub shape: Shape,
    /// Where it is.
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    /// How it is turned.
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
}

/// Some of the things that stand. The last of these messages says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scene {
    /// Whether no more follow.
    pub is_last: bool,
    /// Some things.
    pub solids: Vec<Solid>,
}

/// A name, a sphere, a place and no turn.
const SOLID_BYTES_MIN: usize = 1 + 5 + 3 + 1;

impl Scene {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(u8::from(self.is_last));
        let solids = &self.solids[..self.solids.len().min(SOLIDS_MAX)];
        writer.varint(solids.len() as u64);
        for solid in solids {
            pose::write_object(writer, solid.object);
            solid.shape.write(writer);
            pose::write_point(writer, solid.place);
            pose::write_turn(writer, solid.turn);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Scene, DecodeError> {
        let is_last = reader.u8("is_last")?;
        if is_last > 1 {
            return Err(reader.refuse("is_last"));
        }
        let count = reader.count(SOLIDS_MAX, SOLID_BYTES_MIN, "solids")?;
        let mut solids = Vec::with_capacity(count);
        for _ in 0..count {
            solids.push(Solid {
                object: pose::read_object(reader)?,
                shape: Shape::read(reader)?,
                place: pose::read_point(reader, "place")?,
                turn: pose::read_turn(reader)?,
            });
        }
        Ok(Scene { is_last: is_last == 1, solids })
    }
}

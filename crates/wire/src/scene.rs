//! The fixed objects of a world, sent once: a client predicts the collisions of its own avatar with them.

use crate::pose;
use crate::shape::CollisionShape;
use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};
use space::{GridPoint, ObjectId, Turn};

/// The most objects in one message.
pub const SOLIDS_MAX: usize = 512;

/// A fixed object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixedObject {
    #[serde(serialize_with = "pose::serialize_object")]
    pub object: ObjectId,
    pub shape: CollisionShape,
    #[serde(serialize_with = "pose::serialize_point")]
    pub place: GridPoint,
    #[serde(serialize_with = "pose::serialize_turn")]
    pub turn: Turn,
}

/// Some of the fixed objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scene {
    /// Whether this message is the last one.
    pub is_last: bool,
    pub solids: Vec<FixedObject>,
}

/// A name, a sphere, a place and no turn.
const SOLID_BYTES_MIN: usize = 1 + 5 + 3 + 1;

impl Scene {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.flag(self.is_last);
        writer.list(&self.solids, SOLIDS_MAX, |solid, writer| {
            pose::write_object(writer, solid.object);
            solid.shape.write(writer);
            pose::write_point(writer, solid.place);
            pose::write_turn(writer, solid.turn);
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Scene, Malformed> {
        let is_last = reader.flag("is_last")?;
        let solids = reader.list(SOLIDS_MAX, SOLID_BYTES_MIN, "solids", |reader| {
            Ok(FixedObject {
                object: pose::read_object(reader)?,
                shape: CollisionShape::read(reader)?,
                place: pose::read_point(reader, "place")?,
                turn: pose::read_turn(reader)?,
            })
        })?;
        Ok(Scene { is_last, solids })
    }
}

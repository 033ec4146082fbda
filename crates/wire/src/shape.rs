//! The collision shapes of objects.

use serde::Serialize;
use space::Vec3;
use space::bytes::{Malformed, Reader, Writer};

/// The largest extent of a shape, in metres.
pub const EXTENT_MAX: f32 = 65_536.0;
/// The most bytes of a model's name.
pub const MODEL_MAX: usize = 64;

/// The collision shape of an object, in metres. Sizes are exact: a client sweeps its own avatar against them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum CollisionShape {
    Sphere {
        radius: f32,
    },
    /// A box along its own axes, by half of its edges.
    Box {
        half: [f32; 3],
    },
    /// An upright cylinder with round ends; half the height is from the middle to the centre of either end.
    Capsule {
        half_height: f32,
        radius: f32,
    },
    /// A mesh: its name in the world's file, and the radius of a sphere around it.
    Model {
        name: String,
        radius: f32,
    },
}

impl CollisionShape {
    /// The radius of a sphere around the middle that contains the shape.
    pub fn radius(&self) -> f32 {
        match self {
            CollisionShape::Sphere { radius } | CollisionShape::Model { radius, .. } => *radius,
            CollisionShape::Box { half } => Vec3::from_array(*half).length(),
            CollisionShape::Capsule { half_height, radius } => half_height + radius,
        }
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        match self {
            CollisionShape::Sphere { radius } => {
                writer.u8(0);
                writer.f32(*radius);
            }
            CollisionShape::Box { half } => {
                writer.u8(1);
                half.iter().for_each(|side| writer.f32(*side));
            }
            CollisionShape::Capsule { half_height, radius } => {
                writer.u8(2);
                writer.f32(*half_height);
                writer.f32(*radius);
            }
            CollisionShape::Model { name, radius } => {
                writer.u8(3);
                writer.text(name, MODEL_MAX);
                writer.f32(*radius);
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<CollisionShape, Malformed> {
        let form = reader.u8("shape")?;
        let size = |reader: &mut Reader<'_>| reader.f32(0.0, EXTENT_MAX, "shape");
        Ok(match form {
            0 => CollisionShape::Sphere { radius: size(reader)? },
            1 => CollisionShape::Box { half: [size(reader)?, size(reader)?, size(reader)?] },
            2 => CollisionShape::Capsule { half_height: size(reader)?, radius: size(reader)? },
            3 => CollisionShape::Model { name: reader.text(MODEL_MAX, "shape")?.to_owned(), radius: size(reader)? },
            _ => return Err(reader.refuse("shape")),
        })
    }
}

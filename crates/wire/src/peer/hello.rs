//! Who a peer is, and what it brings along.

use serde::Serialize;

use super::name;
use crate::codec::{DecodeError, Reader, Writer};
use crate::session::NICKNAME_MAX;

/// The largest radius, and the farthest aura, in metres.
const REACH_MAX: f32 = 16_384.0;

/// The first message over a link, in either direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hello {
    /// The protocol that it speaks.
    pub version: u16,
    /// Its number among the peers.
    pub node: u64,
    /// What its user is called.
    pub name: String,
    /// A hash of the rules that all must share: policies, epochs, limits. Peers with different ones part.
    pub rules: u64,
    /// Its clock, in microseconds.
    pub time_us: i64,
}

impl Hello {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.varint(self.node);
        writer.text(&self.name, NICKNAME_MAX);
        writer.i64(self.rules as i64);
        writer.i64(self.time_us);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Hello, DecodeError> {
        Ok(Hello {
            version: reader.u16("version")?,
            node: name::read_node(reader)?,
            name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
            rules: reader.i64("rules")? as u64,
            time_us: reader.i64("time_us")?,
        })
    }
}

/// An object that the sender moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Owns {
    /// How its owner counts it.
    pub index: u32,
    /// The radius of its ball, in metres.
    pub radius: f32,
    /// How far it hears and is heard, in metres.
    pub aura: f32,
}

impl Owns {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(u64::from(self.index));
        writer.f32(self.radius);
        writer.f32(self.aura);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Owns, DecodeError> {
        Ok(Owns {
            index: name::read_index(reader)?,
            radius: reader.f32(0.0, REACH_MAX, "radius")?,
            aura: reader.f32(0.0, REACH_MAX, "aura")?,
        })
    }
}

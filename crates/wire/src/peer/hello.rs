//! The introduction of a peer and of its objects.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

use super::name;
use crate::session::NICKNAME_MAX;

/// The largest radius and the largest aura, in metres.
const REACH_MAX: f32 = 16_384.0;

/// The first message over a link, in either direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeerHello {
    /// The version of the protocol.
    pub version: u16,
    /// The number of the peer.
    pub node: u64,
    /// The nickname of its user.
    pub name: String,
    /// A hash of the settings that all peers must share: policies, epochs, limits.
    pub settings: u64,
    /// Its clock, in microseconds.
    pub time_us: i64,
}

impl PeerHello {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.version);
        writer.varint(self.node);
        writer.text(&self.name, NICKNAME_MAX);
        writer.u64(self.settings);
        writer.i64(self.time_us);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<PeerHello, Malformed> {
        Ok(PeerHello {
            version: reader.u16("version")?,
            node: name::read_node(reader)?,
            name: reader.text(NICKNAME_MAX, "name")?.to_owned(),
            settings: reader.u64("settings")?,
            time_us: reader.i64("time_us")?,
        })
    }
}

/// An object of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Owns {
    /// Its number among the sender's objects.
    pub index: u32,
    pub radius: f32,
    /// How far it hears and is heard, in metres.
    pub aura: f32,
}

impl Owns {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.index);
        writer.f32(self.radius);
        writer.f32(self.aura);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Owns, Malformed> {
        Ok(Owns {
            index: name::read_index(reader)?,
            radius: reader.f32(0.0, REACH_MAX, "radius")?,
            aura: reader.f32(0.0, REACH_MAX, "aura")?,
        })
    }
}

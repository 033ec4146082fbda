//! The result of a walk as bytes, for networks: each contact takes the same room.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | intersection: 0 apart, 1 possible, 2 certain |
//! | 1 | level reached |
//! | 1 | whether the walk was complete |
//! | 1 | number of contacts that follow, at most [`MANIFOLD_MAX`] |
//! | 40 each | node of the first tree and of the second (`u32`); point, normal, least and greatest depth (`f32`) |
//!
//! Numbers are little-endian.

use space::Vec3;
use space::bytes::{Malformed, Reader, Writer};

use super::contact::BallContact;
use super::manifold::MANIFOLD_MAX;
use super::search::Intersection;
use crate::ball_tree::BallTree;
use crate::simd::NodePair;

#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub intersection: Intersection,
    /// No ball of a contact is above this level.
    pub level: u8,
    /// Whether more operations would change nothing.
    pub is_complete: bool,
    /// At most [`MANIFOLD_MAX`].
    pub contacts: Vec<BallContact>,
}

impl Report {
    /// Writes at most [`MANIFOLD_MAX`] contacts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let contacts = &self.contacts[..self.contacts.len().min(MANIFOLD_MAX)];
        let mut bytes = vec![self.intersection as u8, self.level, u8::from(self.is_complete), contacts.len() as u8];
        let mut writer = Writer::new(&mut bytes);
        contacts.iter().for_each(|contact| contact.write(&mut writer));
        bytes
    }

    /// Reads a report; refuses bytes that [`Report::to_bytes`] does not produce.
    pub fn from_bytes(bytes: &[u8]) -> Result<Report, Malformed> {
        let mut reader = Reader::new(bytes);
        let intersection = [Intersection::Apart, Intersection::Possible, Intersection::Certain]
            [usize::from(reader.bits(2, "an intersection")?)];
        let level = reader.bits(BallTree::MAX_DEPTH, "a level")?;
        let is_complete = reader.flag("whether the walk was complete")?;
        let count = reader.bits(MANIFOLD_MAX as u8, "a number of contacts")?;
        let contacts = (0..count).map(|_| BallContact::read(&mut reader)).collect::<Result<_, _>>()?;
        reader.end()?;
        Ok(Report { intersection, level, is_complete, contacts })
    }
}

impl BallContact {
    pub const BYTES: usize = 40;

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.nodes.a);
        writer.u32(self.nodes.b);
        let [point, normal] = [self.point, self.normal].map(|vector| vector.to_array());
        point.into_iter().chain(normal).chain([self.depth.0, self.depth.1]).for_each(|number| writer.f32(number));
    }

    fn read(reader: &mut Reader<'_>) -> Result<BallContact, Malformed> {
        let nodes = NodePair { a: reader.u32("a node")?, b: reader.u32("a node")? };
        let is_node = |node: u32| (node as usize) < BallTree::MAX_NODES;
        reader.check(is_node(nodes.a) && is_node(nodes.b), "nodes of a tree")?;
        let point = Vec3::from_array(reader.vector(f32::MAX, "a point")?);
        let normal = Vec3::from_array(reader.vector(f32::MAX, "a normal")?);
        reader.check(normal.is_normalized(), "a normal of length one")?;
        let depth = (reader.f32(0.0, f32::MAX, "a depth")?, reader.f32(0.0, f32::MAX, "a depth")?);
        reader.check(depth.0 <= depth.1, "a depth that is not below the least")?;
        Ok(BallContact { nodes, point, normal, depth })
    }
}

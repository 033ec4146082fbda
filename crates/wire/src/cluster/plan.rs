//! The plan of a cluster: its members, and the node that decides about each part of space.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

use super::{NODES_MAX, read_node, read_version};
use crate::ADDRESS_MAX;
use crate::pose::STEPS_MAX;

/// The most cuts and leaves of a plan.
const CUTS_MAX: usize = 4 * NODES_MAX;

/// The number of a proposal: the higher round wins, then the higher node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Ballot {
    pub round: u32,
    pub node: u64,
}

/// One version of the partition of space among nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// One more than that of the plan before.
    pub version: u64,
    /// By rising numbers of nodes.
    pub members: Vec<Member>,
    /// A tree that cuts space: each cut is followed by all of its lower side and then by all of its upper side.
    pub cuts: Vec<SpaceCut>,
}

/// A node of the cluster, as the plan has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    pub node: u64,
    /// Its address for clients.
    pub address: String,
    /// Whether it votes and owns no objects.
    pub is_witness: bool,
}

/// A vertex of the tree that cuts space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SpaceCut {
    /// Cut in two, across x, at these grid steps.
    X(i32),
    /// Cut in two, across z.
    Z(i32),
    /// Whole: this node decides about it.
    Leaf(u64),
}

impl Ballot {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.round);
        writer.varint(self.node);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Ballot, Malformed> {
        Ok(Ballot { round: reader.varint32("round")?, node: read_node(reader)? })
    }
}

impl Plan {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        writer.list(&self.members, NODES_MAX, |member, writer| {
            writer.varint(member.node);
            writer.text(&member.address, ADDRESS_MAX);
            writer.flag(member.is_witness);
        });
        writer.list(&self.cuts, CUTS_MAX, |cut, writer| match cut {
            SpaceCut::X(at) => {
                writer.u8(0);
                writer.zigzag(*at);
            }
            SpaceCut::Z(at) => {
                writer.u8(1);
                writer.zigzag(*at);
            }
            SpaceCut::Leaf(node) => {
                writer.u8(2);
                writer.varint(*node);
            }
        });
    }

    /// Refused unless members rise, and the cuts are one whole tree whose leaves are members that own objects.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Plan, Malformed> {
        let version = read_version(reader)?;
        let members = reader.list(NODES_MAX, 3, "members", |reader| {
            Ok(Member {
                node: read_node(reader)?,
                address: reader.text(ADDRESS_MAX, "address")?.to_owned(),
                is_witness: reader.flag("is_witness")?,
            })
        })?;
        let cuts = reader.list(CUTS_MAX, 2, "cuts", |reader| {
            let steps = |reader: &mut Reader<'_>| reader.zigzag(STEPS_MAX, "cuts").map(|at| at as i32);
            Ok(match reader.u8("cuts")? {
                0 => SpaceCut::X(steps(reader)?),
                1 => SpaceCut::Z(steps(reader)?),
                2 => SpaceCut::Leaf(read_node(reader)?),
                _ => return Err(reader.refuse("cuts")),
            })
        })?;
        let mut open = 1usize;
        for cut in &cuts {
            let holds = match cut {
                SpaceCut::X(_) | SpaceCut::Z(_) => open > 0,
                SpaceCut::Leaf(node) => open > 0 && members.iter().any(|m| m.node == *node && !m.is_witness),
            };
            reader.check(holds, "cuts")?;
            open = if matches!(cut, SpaceCut::Leaf(_)) { open - 1 } else { open + 1 };
        }
        reader.check(members.windows(2).all(|two| two[0].node < two[1].node), "members")?;
        reader.check(open == 0, "cuts")?;
        Ok(Plan { version, members, cuts })
    }
}

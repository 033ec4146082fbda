//! The plan of a cluster: who belongs to it, and who decides about which part of space.

use serde::Serialize;

use super::{NODES_MAX, read_flag, read_list, read_node, version, write_list};
use crate::ADDRESS_MAX;
use crate::codec::{DecodeError, Reader, Writer};
use crate::pose::STEPS_MAX;

/// The most cuts and leaves of a plan.
const CUTS_MAX: usize = 4 * NODES_MAX;

/// Which proposal of a plan: the higher round counts, of equals that of the higher node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Ballot {
    /// Counted by whoever proposes.
    pub round: u32,
    /// Who proposes.
    pub node: u64,
}

/// A plan: one version of the partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Its number: one more than that of the plan before.
    pub version: u64,
    /// Who belongs to the cluster, by number.
    pub members: Vec<Member>,
    /// How space is cut: a tree, each cut followed by all of its lower side and then all of its upper side.
    pub cuts: Vec<Cut>,
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its number.
    pub node: u64,
    /// Where its clients find it.
    pub address: String,
    /// Whether it only takes part in votes.
    pub is_witness: bool,
}

/// A part of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Cut {
    /// Cut in two, across x.
    X(i32),
    /// Cut in two, across z.
    Z(i32),
    /// Whole: this node decides about it.
    Leaf(u64),
}

impl Ballot {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(u64::from(self.round));
        writer.varint(self.node);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Ballot, DecodeError> {
        Ok(Ballot { round: reader.varint(u64::from(u32::MAX), "round")? as u32, node: read_node(reader)? })
    }
}

impl Plan {
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.varint(self.version);
        write_list(writer, &self.members, |member, writer| {
            writer.varint(member.node);
            writer.text(&member.address, ADDRESS_MAX);
            writer.u8(u8::from(member.is_witness));
        });
        write_list(writer, &self.cuts, |cut, writer| match cut {
            Cut::X(at) => {
                writer.u8(0);
                writer.zigzag(i64::from(*at));
            }
            Cut::Z(at) => {
                writer.u8(1);
                writer.zigzag(i64::from(*at));
            }
            Cut::Leaf(node) => {
                writer.u8(2);
                writer.varint(*node);
            }
        });
    }

    /// Members rise, and the cuts are one whole tree whose leaves are members with objects.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Plan, DecodeError> {
        let version = version(reader)?;
        let members = read_list(reader, NODES_MAX, 3, "members", |reader| {
            Ok(Member {
                node: read_node(reader)?,
                address: reader.text(ADDRESS_MAX, "address")?.to_owned(),
                is_witness: read_flag(reader, "is_witness")?,
            })
        })?;
        let cuts = read_list(reader, CUTS_MAX, 2, "cuts", |reader| {
            let steps = |reader: &mut Reader<'_>| reader.zigzag(i64::from(STEPS_MAX), "cuts").map(|at| at as i32);
            Ok(match reader.u8("cuts")? {
                0 => Cut::X(steps(reader)?),
                1 => Cut::Z(steps(reader)?),
                2 => Cut::Leaf(read_node(reader)?),
                _ => return Err(reader.refuse("cuts")),
            })
        })?;
        let is_rising = members.windows(2).all(|two| two[0].node < two[1].node);
        let mut open = 1usize;
        for cut in &cuts {
            let holds = match cut {
                Cut::X(_) | Cut::Z(_) => open > 0,
                Cut::Leaf(node) => open > 0 && members.iter().any(|m| m.node == *node && !m.is_witness),
            };
            if !holds {
                return Err(reader.refuse("cuts"));
            }
            open = if matches!(cut, Cut::Leaf(_)) { open - 1 } else { open + 1 };
        }
        if !is_rising {
            return Err(reader.refuse("members"));
        }
        if open != 0 {
            return Err(reader.refuse("cuts"));
        }
        Ok(Plan { version, members, cuts })
    }
}

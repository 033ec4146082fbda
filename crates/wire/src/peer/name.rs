//! Names of objects in a world without a server: the upper bits are the owner's number, the lower ones count its
//! objects from one. So a name says whose the object is, and two peers cannot give the same one.

use space::bytes::{Malformed, Reader};
use space::{NodeId, ObjectId};

/// The bits of a name that count its owner's objects.
const INDEX_BITS: u32 = 24;
/// The highest index.
pub const INDEX_MAX: u32 = (1 << INDEX_BITS) - 1;
/// The highest number of a peer.
pub const NODE_MAX: u64 = (1 << (64 - INDEX_BITS)) - 1;

/// The name of the object that `owner` counts as `index`; `None` if either is zero or too large.
pub fn object(owner: NodeId, index: u32) -> Option<ObjectId> {
    let is_name = (1..=NODE_MAX).contains(&owner.number()) && (1..=INDEX_MAX).contains(&index);
    if is_name { ObjectId::new(owner.number() << INDEX_BITS | u64::from(index)) } else { None }
}

/// The peer that owns an object.
pub fn owner(object: ObjectId) -> NodeId {
    NodeId::new(object.number() >> INDEX_BITS)
}

/// The number of an object among its owner's.
pub fn index(object: ObjectId) -> u32 {
    (object.number() & u64::from(INDEX_MAX)) as u32
}

pub(super) fn read_index(reader: &mut Reader<'_>) -> Result<u32, Malformed> {
    reader.positive(INDEX_MAX.into(), "index").map(|index| index as u32)
}

pub(super) fn read_node(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    reader.positive(NODE_MAX, "node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        for node in [1, 7, NODE_MAX] {
            for count in [1, 2, INDEX_MAX] {
                let name = object(NodeId::new(node), count).unwrap();
                assert_eq!((owner(name), index(name)), (NodeId::new(node), count));
            }
        }
        assert_eq!(object(NodeId::new(0), 1), None);
        assert_eq!(object(NodeId::new(NODE_MAX + 1), 1), None);
        assert_eq!(object(NodeId::new(1), 0), None);
        assert_eq!(object(NodeId::new(1), INDEX_MAX + 1), None);
    }
}

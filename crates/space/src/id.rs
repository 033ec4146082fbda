//! Names and handles: what an object is called, and where its row is.

use std::fmt;
use std::num::NonZeroU64;

/// The name of an object. It is never used twice, so it can be written to a journal or sent to another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(NonZeroU64);

impl ObjectId {
    pub const fn new(number: u64) -> Option<ObjectId> {
        match NonZeroU64::new(number) {
            Some(number) => Some(ObjectId(number)),
            None => None,
        }
    }

    pub const fn number(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {}", self.0)
    }
}

/// A participant: a server, a client or a peer. Where two of them must agree without asking, the lower number wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u64);

impl NodeId {
    pub const fn new(number: u64) -> NodeId {
        NodeId(number)
    }

    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// A stable handle to a row of [`Spheres`](crate::Spheres) while its object lives.
///
/// Rows are reused after a removal: a slot that is kept for longer names the next object there.
/// [`Spheres::was_taken_since`](crate::Spheres::was_taken_since) says whether that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Slot(u32);

impl Slot {
    #[inline]
    pub const fn new(row: u32) -> Slot {
        Slot(row)
    }

    #[inline]
    pub const fn row(self) -> usize {
        self.0 as usize
    }

    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_name() {
        assert_eq!(ObjectId::new(0), None);
        assert_eq!(ObjectId::new(7).unwrap().number(), 7);
        assert_eq!(ObjectId::new(7).unwrap().to_string(), "object 7");
        assert_eq!(Slot::new(3).to_string(), "slot 3");
    }

    #[test]
    fn an_optional_name_costs_no_more_than_a_name() {
        assert_eq!(size_of::<Option<ObjectId>>(), 8);
        assert_eq!(size_of::<Slot>(), 4);
    }
}

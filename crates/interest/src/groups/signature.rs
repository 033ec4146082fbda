//! A Bloom filter of one hash: a set of slots as 128 bits, one bit per slot number modulo 128.
//!
//! Groups have a handful of members and objects some dozens of neighbours, so two words usually rule out what a search
//! or a merge of lists would have to. Lists are compared only where signatures cannot tell.

use space::Slot;

/// A set of slots, approximately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature(u128);

impl Signature {
    #[inline]
    pub fn of(slot: Slot) -> Signature {
        Signature(1 << (slot.number() % 128))
    }

    #[inline]
    pub fn of_all(slots: &[Slot]) -> Signature {
        slots.iter().fold(Signature::default(), |signature, &slot| signature | Signature::of(slot))
    }

    /// Whether the set may be a subset of the other. `false` is certain.
    #[inline]
    pub fn may_lie_within(self, other: Signature) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the set may contain a slot. `false` is certain.
    #[inline]
    pub fn may_hold(self, slot: Slot) -> bool {
        self.0 >> (slot.number() % 128) & 1 == 1
    }
}

impl std::ops::BitOr for Signature {
    type Output = Signature;
    #[inline]
    fn bitor(self, other: Signature) -> Signature {
        Signature(self.0 | other.0)
    }
}

impl std::ops::BitAnd for Signature {
    type Output = Signature;
    #[inline]
    fn bitand(self, other: Signature) -> Signature {
        Signature(self.0 & other.0)
    }
}

//! A quick look at sets of objects: what two words can tell, no list has to.
//!
//! The *shadow* of a set has 128 bits, and that of each member is its slot's number modulo 128. Who is not in the shadow
//! is not in the set, and a set that lies within another has its shadow within the other's. Groups have a handful of
//! members, and objects some dozens of neighbours, so that shadows say no nearly always when lists would; only where
//! they say maybe are lists compared.

use space::Slot;

/// What a set of objects looks like from afar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shadow(u128);

impl Shadow {
    /// The shadow of one object.
    #[inline]
    pub fn of(slot: Slot) -> Shadow {
        Shadow(1 << (slot.number() % 128))
    }

    /// The shadow of some objects.
    #[inline]
    pub fn of_all(slots: &[Slot]) -> Shadow {
        slots.iter().fold(Shadow::default(), |shadow, &slot| shadow | Shadow::of(slot))
    }

    /// Whether a set of this shadow may lie within one of that shadow. If not, it does not.
    #[inline]
    pub fn may_lie_within(self, other: Shadow) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether an object may be in the set. If not, it is not.
    #[inline]
    pub fn may_hold(self, slot: Slot) -> bool {
        self.0 >> (slot.number() % 128) & 1 == 1
    }
}

impl std::ops::BitOr for Shadow {
    type Output = Shadow;
    #[inline]
    fn bitor(self, other: Shadow) -> Shadow {
        Shadow(self.0 | other.0)
    }
}

impl std::ops::BitAnd for Shadow {
    type Output = Shadow;
    #[inline]
    fn bitand(self, other: Shadow) -> Shadow {
        Shadow(self.0 & other.0)
    }
}

impl std::ops::BitOrAssign for Shadow {
    #[inline]
    fn bitor_assign(&mut self, other: Shadow) {
        *self = *self | other;
    }
}

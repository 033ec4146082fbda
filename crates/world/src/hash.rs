//! A fingerprint of a world: equal for equal states, on every machine, in every build.

use std::fmt;

use crate::snapshot;
use crate::world::World;

/// A fingerprint of everything that a world's future depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateHash(pub u64);

impl StateHash {
    /// The fingerprint of a world: that of its snapshot, which holds exactly what the future depends on.
    pub(crate) fn of(world: &World) -> StateHash {
        let mut hasher = Hasher::default();
        snapshot::write_state(world, &mut |bytes| hasher.write(bytes));
        StateHash(hasher.finish())
    }
}

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateHash({self})")
    }
}

/// Mixes words of bytes, one multiplication each. Not for secrets: whoever holds the bytes may forge them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hasher {
    state: u64,
    pending: u64,
    filled: u32,
    length: u64,
}

impl Hasher {
    pub fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.pending |= u64::from(byte) << (8 * self.filled);
            self.filled += 1;
            if self.filled == 8 {
                self.mix();
            }
        }
        self.length += bytes.len() as u64;
    }

    pub fn finish(mut self) -> u64 {
        self.mix();
        self.pending = self.length;
        self.mix();
        let word = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn mix(&mut self) {
        self.state = (self.state.rotate_left(29) ^ self.pending).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (self.pending, self.filled) = (0, 0);
    }
}

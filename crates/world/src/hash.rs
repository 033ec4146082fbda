//! The hash of a world's state: equal for equal states, on every machine, in every build.

use std::fmt;

use crate::snapshot;
use crate::world::World;

/// The hash of everything that a world's future depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateHash(pub u64);

impl StateHash {
    /// The hash of the state as in a snapshot, which holds exactly what the future depends on.
    pub(crate) fn of(world: &World) -> StateHash {
        let mut hasher = Hasher::default();
        snapshot::write_state(world, &mut Vec::new(), &mut |bytes| {
            hasher.write(bytes);
            bytes.clear();
        });
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

/// Mixes words of bytes, one multiplication each. It is not cryptographic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hasher {
    state: u64,
    pending: u64,
    filled: u32,
    length: u64,
}

impl Hasher {
    pub fn write(&mut self, bytes: &[u8]) {
        let words = bytes.chunks_exact(8);
        let rest = words.remainder();
        for word in words {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let filled = self.filled;
            self.pending |= word << (8 * filled);
            self.mix();
            if filled > 0 {
                self.pending = word >> (64 - 8 * filled);
                self.filled = filled;
            }
        }
        for &byte in rest {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_does_not_depend_on_how_bytes_are_cut() {
        let bytes: Vec<u8> = (0..200u32).map(|number| (number * 37 % 251) as u8).collect();
        let whole = |bytes: &[u8]| {
            let mut hasher = Hasher::default();
            hasher.write(bytes);
            hasher.finish()
        };
        for first in 0..60 {
            for second in first..first + 40 {
                let mut hasher = Hasher::default();
                [&bytes[..first], &bytes[first..second], &bytes[second..]].iter().for_each(|part| hasher.write(part));
                assert_eq!(hasher.finish(), whole(&bytes), "cut at {first} and {second}");
            }
        }
        assert_ne!(whole(&[0; 8]), whole(&[0; 9]));
        assert_ne!(whole(&[]), whole(&[0]));
    }
}

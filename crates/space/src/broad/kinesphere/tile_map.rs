//! From a tile's key to its number: a list of all tiles, and an open-addressing hash table of the places in that list.
//!
//! The world has no border, so tiles cannot be an array. The order is the same in every run.

/// Where a tile is, in tiles from the origin along each axis.
pub type TileKey = [i32; 3];

const EMPTY: u32 = u32::MAX;

/// A lookup in the table takes `LOOKUP` times as long as a step through the list.
const LOOKUP: usize = 2;

#[derive(Debug, Default)]
pub struct TileMap {
    tiles: Vec<(TileKey, u32)>,
    /// A power of two of indices into that list, at most half of them in use.
    slots: Vec<u32>,
}

impl TileMap {
    #[inline]
    pub fn get(&self, key: TileKey) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.tiles.get(self.slots[self.find(key)] as usize).map(|&(_, tile)| tile)
    }

    /// Adds to `found` every tile from `first` to `last` along each axis. Returns how many steps through the list that
    /// took, or as long as how many.
    pub fn within(&self, first: TileKey, last: TileKey, found: &mut Vec<u32>) -> u64 {
        let spans: [u32; 3] = std::array::from_fn(|axis| last[axis].abs_diff(first[axis]));
        let lookups = spans.iter().fold(LOOKUP, |keys, &span| keys.saturating_mul(span as usize + 1));
        if lookups > self.tiles.len() {
            let off = |key: TileKey, axis: usize| key[axis].wrapping_sub(first[axis]) as u32;
            let is_within = |key: TileKey| (0..3).fold(true, |is, axis| is & (off(key, axis) <= spans[axis]));
            // Without a branch: each tile is written over the last one that was not within.
            let mut count = found.len();
            found.resize(count + self.tiles.len(), EMPTY);
            for &(key, tile) in &self.tiles {
                found[count] = tile;
                count += usize::from(is_within(key));
            }
            found.truncate(count);
            return self.tiles.len() as u64;
        }
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                found.extend((first[0]..=last[0]).filter_map(|x| self.get([x, y, z])));
            }
        }
        lookups as u64
    }

    pub fn insert(&mut self, key: TileKey, tile: u32) {
        self.make_room(self.tiles.len() + 1);
        let slot = self.find(key);
        match self.tiles.get_mut(self.slots[slot] as usize) {
            Some((_, old)) => *old = tile,
            None => {
                self.slots[slot] = self.tiles.len() as u32;
                self.tiles.push((key, tile));
            }
        }
    }

    pub fn remove(&mut self, key: TileKey) {
        if self.get(key).is_none() {
            return;
        }
        let slot = self.find(key);
        let index = self.slots[slot];
        // The last of the list takes its place there.
        let &(last, _) = self.tiles.last().expect("there is one at least");
        let slot_of_last = self.find(last);
        self.slots[slot_of_last] = index;
        self.tiles.swap_remove(index as usize);
        self.close(slot);
    }

    /// The slot of `key`, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: TileKey) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(key) & mask;
        while self.slots[slot] != EMPTY && self.tiles[self.slots[slot] as usize].0 != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Empties a slot. Later ones of the same run move up, so that each stays reachable without gaps.
    fn close(&mut self, mut hole: usize) {
        let mask = self.slots.len() - 1;
        let mut next = hole;
        loop {
            self.slots[hole] = EMPTY;
            loop {
                next = (next + 1) & mask;
                if self.slots[next] == EMPTY {
                    return;
                }
                let home = hash(self.tiles[self.slots[next] as usize].0) & mask;
                if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(hole) & mask) {
                    break;
                }
            }
            self.slots[hole] = self.slots[next];
            hole = next;
        }
    }

    fn make_room(&mut self, tiles: usize) {
        if tiles * 2 <= self.slots.len() {
            return;
        }
        // Twice what is needed now: tiles at the edges of the world come and go.
        let wider = (tiles * 4).next_power_of_two().max(64);
        self.tiles.reserve_exact(wider / 2 - self.tiles.len());
        self.slots.clear();
        self.slots.resize(wider, EMPTY);
        for index in 0..self.tiles.len() {
            let slot = self.find(self.tiles[index].0);
            self.slots[slot] = index as u32;
        }
    }
}

#[inline]
fn hash([x, y, z]: TileKey) -> usize {
    let mixed = (x as u32 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (y as u32 as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F).rotate_left(21)
        ^ (z as u32 as u64).wrapping_mul(0x1656_67B1_9E37_79F9).rotate_left(42);
    (mixed ^ (mixed >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> 20
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;
    use std::collections::BTreeMap;

    #[test]
    fn a_tile_map_is_a_map() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (mut map, mut twin) = (TileMap::default(), BTreeMap::new());
            for step in 0..3_000 {
                let key = [(); 3].map(|()| random.whole(0, 9) as i32 - 4);
                match random.whole(0, 5) {
                    0 | 1 => {
                        map.insert(key, step);
                        twin.insert(key, step);
                    }
                    2 | 3 => {
                        map.remove(key);
                        twin.remove(&key);
                    }
                    _ => {}
                }
                assert_eq!(map.get(key), twin.get(&key).copied(), "seed {seed}, step {step}");
            }
            assert!(twin.iter().all(|(&key, &tile)| map.get(key) == Some(tile)), "seed {seed}");
            for reach in [0, 1, 3, 400] {
                let (first, last) = ([-reach, -2, -reach], [reach - 1, reach, 2]);
                let is_within = |key: &TileKey| (0..3).all(|axis| (first[axis]..=last[axis]).contains(&key[axis]));
                let mut found = Vec::new();
                map.within(first, last, &mut found);
                found.sort_unstable();
                let mut meant: Vec<u32> =
                    twin.iter().filter(|(key, _)| is_within(key)).map(|(_, &tile)| tile).collect();
                meant.sort_unstable();
                assert_eq!(found, meant, "seed {seed}, within {reach}");
            }
        }
    }
}

//! From a tile's place in its lattice to its number: a small open-addressing table, the same on every run.
//!
//! Worlds are unbounded, so tiles cannot be an array; and every object asks for its tile, so a tree is too slow.

use super::room::roomy;

/// Where a tile is, in tiles from the origin along each axis.
pub type Key = [i32; 3];

const EMPTY: u32 = u32::MAX;

/// A map from tile keys to tile numbers.
#[derive(Debug, Default)]
pub struct TileMap {
    /// A power of two of places, at most half of them taken.
    places: Vec<(Key, u32)>,
    taken: usize,
}

impl TileMap {
    /// The tile at `key`.
    #[inline]
    pub fn get(&self, key: Key) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let (_, tile) = self.places[self.find(key)];
        (tile != EMPTY).then_some(tile)
    }

    /// Calls `found` with every tile from `first` to `last` along each axis. Where fewer could be here than would have to be
    /// asked for, as for a giant among dwarfs, all are looked at.
    pub fn within(&self, first: Key, last: Key, mut found: impl FnMut(u32)) {
        let keys: f64 = (0..3).map(|axis| f64::from(last[axis]) - f64::from(first[axis]) + 1.0).product();
        if keys > self.places.len() as f64 {
            let is_within = |key: &Key| (0..3).all(|axis| (first[axis]..=last[axis]).contains(&key[axis]));
            let tiles = self.places.iter().filter(|(key, tile)| *tile != EMPTY && is_within(key));
            tiles.for_each(|(_, tile)| found(*tile));
            return;
        }
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                for x in first[0]..=last[0] {
                    self.get([x, y, z]).into_iter().for_each(&mut found);
                }
            }
        }
    }

    /// Says that the tile at `key` is `tile`.
    pub fn insert(&mut self, key: Key, tile: u32) {
        self.make_room(self.taken + 1);
        let place = self.find(key);
        self.taken += usize::from(self.places[place].1 == EMPTY);
        self.places[place] = (key, tile);
    }

    /// Forgets the tile at `key`.
    pub fn remove(&mut self, key: Key) {
        if self.places.is_empty() {
            return;
        }
        let mut hole = self.find(key);
        if self.places[hole].1 == EMPTY {
            return;
        }
        self.taken -= 1;
        // Move later entries of the same run into the hole, so that every entry stays reachable without gaps.
        let mask = self.places.len() - 1;
        let mut next = hole;
        loop {
            self.places[hole].1 = EMPTY;
            loop {
                next = (next + 1) & mask;
                if self.places[next].1 == EMPTY {
                    return;
                }
                let home = hash(self.places[next].0) & mask;
                if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(hole) & mask) {
                    break;
                }
            }
            self.places[hole] = self.places[next];
            hole = next;
        }
    }

    /// Takes memory for as many more as there may be.
    pub fn stock_up(&mut self) {
        self.make_room(roomy(self.taken));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<(Key, u32)>()
    }

    /// The place of `key`, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: Key) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(key) & mask;
        while self.places[place].1 != EMPTY && self.places[place].0 != key {
            place = (place + 1) & mask;
        }
        place
    }

    fn make_room(&mut self, tiles: usize) {
        if tiles * 2 <= self.places.len() {
            return;
        }
        let wider = (tiles * 2).next_power_of_two().max(64);
        let old = std::mem::replace(&mut self.places, vec![([0; 3], EMPTY); wider]);
        for (key, tile) in old.into_iter().filter(|(_, tile)| *tile != EMPTY) {
            let place = self.find(key);
            self.places[place] = (key, tile);
        }
    }
}

#[inline]
fn hash([x, y, z]: Key) -> usize {
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
                let mut coordinate = || random.whole(0, 9) as i32 - 4;
                let key = [coordinate(), coordinate(), coordinate()];
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
                let is_within = |key: &Key| (0..3).all(|axis| (first[axis]..=last[axis]).contains(&key[axis]));
                let mut found = Vec::new();
                map.within(first, last, |tile| found.push(tile));
                found.sort_unstable();
                let mut meant: Vec<u32> =
                    twin.iter().filter(|(key, _)| is_within(key)).map(|(_, &tile)| tile).collect();
                meant.sort_unstable();
                assert_eq!(found, meant, "seed {seed}, within {reach}");
            }
        }
    }
}

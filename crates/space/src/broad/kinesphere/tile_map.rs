//! From a tile's place in its lattice to its number: a list of all tiles, and a small open-addressing table of where each is in
//! it. The same on every run.
//!
//! Worlds are unbounded, so tiles cannot be an array; and every object asks for its tile, so a tree is too slow. Who looks far
//! around, or for a few among many, goes through the list.

use super::room::roomy;

/// Where a tile is, in tiles from the origin along each axis.
pub type Key = [i32; 3];

const EMPTY: u32 = u32::MAX;

/// To ask for a tile takes so many times as long as to pass one in the list.
const ASKING: usize = 2;

/// A map from tile keys to tile numbers.
#[derive(Debug, Default)]
pub struct TileMap {
    /// In no order.
    tiles: Vec<(Key, u32)>,
    /// A power of two of places in that list, at most half of them taken.
    places: Vec<u32>,
}

impl TileMap {
    /// The tile at `key`.
    #[inline]
    pub fn get(&self, key: Key) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        self.tiles.get(self.places[self.find(key)] as usize).map(|&(_, tile)| tile)
    }

    /// Adds to `found` every tile from `first` to `last` along each axis; along the first one, one in `step` of them.
    /// Returns how many were passed for that, or what took as long.
    pub fn within(&self, first: Key, last: Key, step: u32, found: &mut Vec<u32>) -> u64 {
        let spans: [u32; 3] = std::array::from_fn(|axis| last[axis].abs_diff(first[axis]));
        let asked = [spans[0] / step, spans[1], spans[2]];
        let asking = asked.iter().fold(ASKING, |keys, &span| keys.saturating_mul(span as usize + 1));
        if asking > self.tiles.len() {
            let off = |key: Key, axis: usize| key[axis].wrapping_sub(first[axis]) as u32;
            let is_within = |key: Key| (0..3).fold(true, |is, axis| is & (off(key, axis) <= spans[axis]));
            let is_meant = |key: Key| is_within(key) & (step == 1 || off(key, 0).is_multiple_of(step));
            // Without a branch on what is found, for that is anybody's guess: each is written over the last one that was not.
            let mut count = found.len();
            found.resize(count + self.tiles.len(), EMPTY);
            for &(key, tile) in &self.tiles {
                found[count] = tile;
                count += usize::from(is_meant(key));
            }
            found.truncate(count);
            return self.tiles.len() as u64;
        }
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                for x in (first[0]..=last[0]).step_by(step as usize) {
                    found.extend(self.get([x, y, z]));
                }
            }
        }
        asking as u64
    }

    /// Says that the tile at `key` is `tile`.
    pub fn insert(&mut self, key: Key, tile: u32) {
        self.make_room(self.tiles.len() + 1);
        let place = self.find(key);
        match self.tiles.get_mut(self.places[place] as usize) {
            Some((_, old)) => *old = tile,
            None => {
                self.places[place] = self.tiles.len() as u32;
                self.tiles.push((key, tile));
            }
        }
    }

    /// Forgets the tile at `key`.
    pub fn remove(&mut self, key: Key) {
        if self.get(key).is_none() {
            return;
        }
        let place = self.find(key);
        let index = self.places[place];
        // The last of the list takes its place there.
        let &(last, _) = self.tiles.last().expect("there is one at least");
        let place_of_last = self.find(last);
        self.places[place_of_last] = index;
        self.tiles.swap_remove(index as usize);
        self.close(place);
    }

    /// Takes memory for as many more as there may be.
    pub fn stock_up(&mut self) {
        self.make_room(roomy(self.tiles.len()));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.tiles.capacity() * size_of::<(Key, u32)>() + self.places.capacity() * 4
    }

    /// The place of `key`, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: Key) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash(key) & mask;
        while self.places[place] != EMPTY && self.tiles[self.places[place] as usize].0 != key {
            place = (place + 1) & mask;
        }
        place
    }

    /// Empties a place: later ones of the same run move up, so that each stays reachable without gaps.
    fn close(&mut self, mut hole: usize) {
        let mask = self.places.len() - 1;
        let mut next = hole;
        loop {
            self.places[hole] = EMPTY;
            loop {
                next = (next + 1) & mask;
                if self.places[next] == EMPTY {
                    return;
                }
                let home = hash(self.tiles[self.places[next] as usize].0) & mask;
                if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(hole) & mask) {
                    break;
                }
            }
            self.places[hole] = self.places[next];
            hole = next;
        }
    }

    fn make_room(&mut self, tiles: usize) {
        if tiles * 2 <= self.places.len() {
            return;
        }
        let wider = (tiles * 2).next_power_of_two().max(64);
        self.tiles.reserve_exact(wider / 2 - self.tiles.len());
        self.places.clear();
        self.places.resize(wider, EMPTY);
        for index in 0..self.tiles.len() {
            let place = self.find(self.tiles[index].0);
            self.places[place] = index as u32;
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
                for step in [1, 2, 5] {
                    let is_meant = |key: &Key| {
                        (0..3).all(|axis| (first[axis]..=last[axis]).contains(&key[axis]))
                            && (key[0] - first[0]) % step as i32 == 0
                    };
                    let mut found = Vec::new();
                    map.within(first, last, step, &mut found);
                    found.sort_unstable();
                    let mut meant: Vec<u32> =
                        twin.iter().filter(|(key, _)| is_meant(key)).map(|(_, &tile)| tile).collect();
                    meant.sort_unstable();
                    assert_eq!(found, meant, "seed {seed}, within {reach}, step {step}");
                }
            }
        }
    }
}

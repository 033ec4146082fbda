//! Moving in and out of tiles.
//!
//! An object is entered where its course is at its tile's middle. Tiles have different middles, so which tile that is
//! takes a try or two; a cell outside the tile will do.

use glam::Vec3;

use super::agenda::LOOK_AHEAD;
use super::course::{Course, REFERENCE_TICKS, drift};
use super::following::{Following, NOWHERE, Newcomer};
use super::renewal::REFINE_EVERY;
use super::tile::NEVER;
use super::tile_map::Key;
use crate::Columns;
use crate::simd::sweep::Row;

/// Rounding of a sum of a few distances, generously.
const ROUND_UP: f32 = 1.0 + 1e-5;

impl Following {
    /// Puts an object into the tile that its course leads to.
    pub(super) fn enter(&mut self, row: u32, columns: Columns<'_>) {
        let middle = self.now + self.half;
        let entry = self.entry(row, middle, columns);
        if entry.velocity == [0.0; 3] {
            let layer = self.layer_for(reach(&entry, self.half), true);
            let cells = self.lattice.layers[layer as usize].cells;
            let (tile, _) =
                self.lattice.tile_or_new(layer, cells.key(cells.cells(entry.place.into())), self.now, NEVER);
            self.move_in(tile, entry);
            return;
        }
        let layer = self.layer_for(reach(&entry, self.half), false);
        let cells = self.lattice.layers[layer as usize].cells;
        let mut key = cells.key(cells.cells(entry.place.into()));
        for _ in 0..4 {
            let Some(tile) = self.lattice.tile_at(layer, key) else { break };
            let entry = self.entry(row, self.lattice.tiles[tile as usize].middle, columns);
            let cell = cells.cells(entry.place.into());
            if cells.is_at(key, cell) {
                self.move_in(tile, entry);
                return;
            }
            key = cells.key(cell);
        }
        key = cells.key(cells.cells(entry.place.into()));
        let due = self.now + 1 + spread(key) % self.life;
        match self.lattice.tile_or_new(layer, key, middle, due) {
            (tile, true) => {
                self.calendar[(due % LOOK_AHEAD) as usize].push(tile);
                self.move_in(tile, entry);
            }
            _ => {
                // It is between two tiles that disagree about the time. Let it stand for a moment.
                let course = self.courses.at(row, self.now, 0.0);
                self.courses.set(row, self.now, Course { velocity: Vec3::ZERO, ..course });
                if !self.outdated.contains(row as usize) {
                    self.outdated.insert(row as usize);
                    self.adopted.push(row);
                }
                self.enter(row, columns);
            }
        }
    }

    /// Takes an object out of its tile, if it is in one. Its course is still the one it was entered with.
    pub(super) fn leave(&mut self, row: u32) {
        let home = std::mem::replace(&mut self.homes[row as usize], NOWHERE);
        if home == NOWHERE {
            return;
        }
        let tile = &mut self.lattice.tiles[home as usize];
        let layer = &mut self.lattice.layers[tile.layer as usize];
        let ahead = if tile.due == NEVER { 0.0 } else { (tile.middle as i64 - self.now as i64) as f32 };
        let cell = layer.cells.cells(self.courses.at(row, self.now, ahead).place);
        let row = tile.find(row, cell).expect("an object is in its home tile");
        tile.dig(row);
        layer.objects -= 1;
        self.any_stood |= layer.standing;
        if tile.due == NEVER && tile.len() == 0 {
            // It never falls due, so nobody else would ever give it up.
            self.lattice.give_up(home);
        }
    }

    /// How an object is entered into a tile with this middle.
    pub(super) fn entry(&self, row: u32, middle: u64, columns: Columns<'_>) -> Row {
        let course = self.courses.at(row, self.now, (middle as i64 - self.now as i64) as f32);
        entered(row, course, columns.radius[row as usize], self.life)
    }

    fn layer_for(&mut self, reach: f32, standing: bool) -> u32 {
        self.lattice.layer_for(reach, standing).unwrap_or_else(|| {
            self.lattice.add_layer(reach * 1.2, 0.0, [3, 1, 1], standing);
            self.lattice.layers.len() as u32 - 1
        })
    }

    fn move_in(&mut self, number: u32, entry: Row) {
        self.homes[entry.id as usize] = number;
        let tile = &mut self.lattice.tiles[number as usize];
        let layer = &mut self.lattice.layers[tile.layer as usize];
        layer.objects += 1;
        if self.is_starting {
            tile.push(entry);
            return;
        }
        tile.insert(entry, &layer.cells, &mut self.bench);
        if tile.due == NEVER && tile.is_sparse() {
            tile.sort(&layer.cells, &mut self.bench);
        }
        self.newcomers.push(Newcomer { tile: number, entry });
        self.newcomer_rows.insert(entry.id as usize);
    }
}

/// Some number for a tile. A new one falls due after a part of a life that this decides: when many begin at once, as when
/// those who stood begin to move, they do not fall due at once for ever.
fn spread(key: Key) -> u64 {
    key.iter()
        .fold(0, |hash: u64, &part| (hash ^ u64::from(part as u32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}

/// How an object is entered whose course is this at the middle of a tile that lives for `life` ticks.
pub(super) fn entered(row: u32, course: Course, radius: f32, life: u64) -> Row {
    let radius = radius + course.slack;
    let speed = course.velocity.length_squared().sqrt();
    // A line is kept as it is at its block's reference tick, and the entry moved on a few lives without a look back.
    let ticks = (REFERENCE_TICKS + REFINE_EVERY * life) as f32;
    let extent = course.place.abs().max_element() + speed * ticks + radius;
    let radius = radius * ROUND_UP + drift(extent);
    Row { place: course.place.into(), velocity: course.velocity.into(), radius, id: row }
}

/// How far an object gets from where it is entered within half the life of its tile.
pub(super) fn reach(entry: &Row, half: u64) -> f32 {
    let speed = Vec3::from(entry.velocity).length_squared().sqrt();
    (entry.radius + speed * half as f32) * ROUND_UP
}

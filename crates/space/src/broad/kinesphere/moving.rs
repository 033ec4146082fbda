//! Moving in and out of tiles.
//!
//! An object is entered where its course is at its tile's middle. Tiles have different middles, so which tile that is
//! takes a try or two; a cell outside the tile will do.
//!
//! Invariants:
//! - Whoever is followed is in one tile, which `homes` names, in the cell where its course is at the tile's middle, give or take
//!   rounding.
//! - Its reach is at most its layer's, and its tile lives no longer than its pace allows.

use crate::Vec3;

use super::agenda::LOOK_AHEAD;
use super::course::{Course, REFERENCE_TICKS, drift};
use super::following::{Following, NOWHERE, Newcomer};
use super::lattice::{FOR_EVER, Lattice, LayerPlan};
use super::outsiders::OUTSIDE;
use super::plan::PLIES;
use super::renewal::REFINE_EVERY;
use super::tile::{NEVER, Tile};
use super::tile_map::Key;
use crate::Columns;
use crate::simd::sweep::Row;

/// Rounding of a sum of a few distances, generously.
const ROUND_UP: f32 = 1.0 + 1e-5;

/// A tile that somebody can move into.
#[derive(Clone, Copy, Debug)]
pub struct Lodging {
    tile: u32,
    layer: u32,
    key: Key,
    middle: u64,
    /// How it is entered there.
    entry: Row,
}

/// Where an object is entered.
#[derive(Clone, Copy, Debug)]
pub struct Whereabouts {
    home: u32,
    /// The row of the tile.
    row: u32,
}

impl Lodging {
    /// Whether the tile is still what it was expected to be. Tiles are given up and taken again under the same number, and
    /// those that are being renewed are elsewhere.
    fn is_there(&self, lattice: &Lattice) -> bool {
        let Tile { layer, key, middle, .. } = lattice.tiles[self.tile as usize];
        (layer, key, middle) == (self.layer, self.key, self.middle)
    }
}

impl Following {
    /// Puts an object into the tile that its course leads to.
    pub(super) fn enter(&mut self, row: u32, columns: Columns<'_>) {
        if let Some(lodging) = self.lodging(|middle| self.entry(row, middle, columns)) {
            self.move_in(lodging.tile, lodging.entry);
            return;
        }
        let entry = self.entry(row, self.now, columns);
        let life = self.life_of(&entry);
        if life == FOR_EVER {
            let layer = self.layer_for(entry.radius * ROUND_UP, FOR_EVER);
            let cells = self.lattice.layers[layer as usize].cells;
            let key = cells.key(cells.cells(entry.place.into()));
            let (tile, _) = self.lattice.tile_or_new(layer, key, row, self.now, NEVER);
            self.move_in(tile, entry);
            return;
        }
        let middle = self.next_life() + life / 2;
        let entry = self.entry(row, middle, columns);
        let layer = self.layer_for(reach(&entry, life), life);
        let cells = self.lattice.layers[layer as usize].cells;
        let key = cells.key(cells.cells(entry.place.into()));
        let due = self.calendar.idlest_tick(self.next_life(), life);
        match self.lattice.tile_or_new(layer, key, row, middle, due) {
            (tile, true) => {
                self.lattice.tiles[tile as usize].work = self.calendar.work_of_one();
                self.calendar.enter(tile, &self.lattice.tiles[tile as usize]);
                self.move_in(tile, entry);
            }
            _ => {
                // It is between two tiles that disagree about the time. Let it stand for a moment.
                let course = self.courses.at(row, self.now, 0.0);
                self.courses.set(row, self.now, Course { velocity: Vec3::ZERO, ..course });
                self.outdate(row);
                self.enter(row, columns);
            }
        }
    }

    /// Notes that an object's meetings no longer hold, though it did not stray.
    pub(super) fn outdate(&mut self, row: u32) {
        if !self.outdated.contains(row as usize) {
            self.outdated.insert(row as usize);
            self.adopted.push(row);
        }
    }

    /// Lets everybody in a tile have no meetings from before: the tile is about to find them anew.
    pub(super) fn outdate_all(&mut self, tile: u32) {
        let stands = self.lattice.layer_of(&self.lattice.tiles[tile as usize]).stands();
        for row in 0..self.lattice.tiles[tile as usize].count() {
            // Who strayed gets another course anyway.
            if let Some(Row { id, .. }) = self.lattice.tiles[tile as usize].get(row)
                && !self.outdated.contains(id as usize)
            {
                self.courses.renew(id);
                self.outdate(id);
                if stands {
                    self.stood.insert(id);
                }
            }
        }
    }

    /// The tile that a moving object belongs to, if that is there; `entry_at` says how it is entered at some middle.
    ///
    /// It may be asked for before the tiles that are due are renewed, and knows what will become of them.
    pub(super) fn lodging(&self, entry_at: impl Fn(u64) -> Row) -> Option<Lodging> {
        let life = self.life_of(&entry_at(self.now));
        if life == FOR_EVER {
            return None;
        }
        let next_middle = self.next_life() + life / 2;
        let entry = entry_at(next_middle);
        let layer = self.lattice.layer_for(reach(&entry, life), life)?;
        let cells = self.lattice.layers[layer as usize].cells;
        let mut key = cells.key(cells.cells(entry.place.into()));
        for _ in 0..4 {
            let number = self.lattice.tile_at(layer, key, entry.id)?;
            let tile = &self.lattice.tiles[number as usize];
            let middle = if tile.due == self.now { next_middle } else { tile.middle };
            let entry = entry_at(middle);
            let cell = cells.cells(entry.place.into());
            if cells.spot(key, cell).is_some() {
                return Some(Lodging { tile: number, layer, key, middle, entry });
            }
            key = cells.key(cell);
        }
        None
    }

    /// Puts an object into the tile that was found for it, if that is still what it was expected to be.
    pub(super) fn move_into(&mut self, lodging: Option<Lodging>) -> bool {
        let lodging = lodging.filter(|lodging| lodging.is_there(&self.lattice));
        lodging.inspect(|lodging| self.move_in(lodging.tile, lodging.entry)).is_some()
    }

    /// The tile that an object is in, and its row there. Its course is still the one it was entered with.
    pub(super) fn whereabouts(&self, row: u32) -> Option<Whereabouts> {
        let home = self.homes[row as usize];
        if home >= OUTSIDE {
            return None;
        }
        let tile = &self.lattice.tiles[home as usize];
        let ahead = if tile.due == NEVER { 0.0 } else { (tile.middle as i64 - self.now as i64) as f32 };
        let cell = self.lattice.layer_of(tile).cells.cells(self.courses.at(row, self.now, ahead).place);
        let found = if tile.is_sorted() { tile.find(row, cell) } else { Some(self.debut.place(row)) };
        let row = found.expect("an object is in its home tile");
        Some(Whereabouts { home, row: row as u32 })
    }

    /// Takes an object out of its tile.
    pub(super) fn leave(&mut self, row: u32, from: Whereabouts) {
        let home = from.home;
        self.homes[row as usize] = NOWHERE;
        let tile = &mut self.lattice.tiles[home as usize];
        let layer = &mut self.lattice.layers[tile.layer as usize];
        tile.dig(from.row as usize);
        layer.objects -= 1;
        if layer.stands() {
            self.stood.insert(row);
        }
        if tile.due == NEVER && tile.len() == 0 {
            // It never falls due, so nobody else would ever give it up.
            self.lattice.give_up(home);
        }
    }

    /// How an object is entered into a tile with this middle.
    pub(super) fn entry(&self, row: u32, middle: u64, columns: Columns<'_>) -> Row {
        let course = self.courses.at(row, self.now, (middle as i64 - self.now as i64) as f32);
        entered(row, course, columns.radius[row as usize])
    }

    /// When the life begins of a tile that begins now: courses may be about to begin, and then none does before.
    fn next_life(&self) -> u64 {
        self.now.max(self.started_at)
    }

    /// For how many ticks the tile of such an object lives.
    fn life_of(&self, entry: &Row) -> u64 {
        // Not by the speed: its square may vanish.
        if entry.velocity == [0.0; 3] { FOR_EVER } else { self.pace.life(entry.radius, speed(entry)) }
    }

    /// The layer for this reach and life. Nobody planned for it if it is a new one: if few are in it, small tiles keep ticks
    /// even, and if many are, there is soon another plan.
    fn layer_for(&mut self, reach: f32, life: u64) -> u32 {
        self.lattice.layer_for(reach, life).unwrap_or_else(|| {
            let (tile_bits, plies) = ([3, 1, 1], if life == FOR_EVER { 1 } else { PLIES });
            self.lattice.add_layer(LayerPlan { least: reach, reach: reach * 1.2, edge: 0.0, tile_bits, life, plies });
            self.lattice.layers.len() as u32 - 1
        })
    }

    fn move_in(&mut self, number: u32, entry: Row) {
        self.homes[entry.id as usize] = number;
        let tile = &mut self.lattice.tiles[number as usize];
        let layer = &mut self.lattice.layers[tile.layer as usize];
        layer.objects += 1;
        if self.debut.has_boarded(entry, tile) {
            return;
        }
        tile.insert(entry, &layer.cells);
        if tile.due == NEVER && tile.is_sparse() {
            tile.sort(&layer.cells, &mut self.bench);
        }
        self.newcomers.push(Newcomer { tile: number, entry });
        self.newcomer_rows.insert(entry.id as usize);
    }
}

/// How an object is entered whose course is this at the middle of a tile.
pub(super) fn entered(row: u32, course: Course, radius: f32) -> Row {
    let radius = radius + course.slack;
    let speed = course.velocity.length_squared().sqrt();
    // A line is kept as it is at its block's reference tick, and the entry moved on a few lives without a look back.
    let ticks = (REFERENCE_TICKS + REFINE_EVERY * LOOK_AHEAD) as f32;
    let extent = course.place.abs().max_element() + speed * ticks + radius;
    let radius = radius * ROUND_UP + drift(extent);
    Row { place: course.place.into(), velocity: course.velocity.into(), radius, id: row }
}

/// How far an object gets from where it is entered within half the life of its tile.
pub(super) fn reach(entry: &Row, life: u64) -> f32 {
    (entry.radius + speed(entry) * (life / 2) as f32) * ROUND_UP
}

fn speed(entry: &Row) -> f32 {
    Vec3::from(entry.velocity).length_squared().sqrt()
}

//! What happens to a tile when it falls due: its objects are entered anew, for another life.
//!
//! Objects that have moved on to the next tile are not thrown out, since finding them a place one by one is dear. They
//! stay as *guests*, up to a cell outside, until the tile they have moved to falls due and adopts them.

use glam::Vec3;

use super::agenda::LOOK_AHEAD;
use super::course::Course;
use super::following::{Following, NOWHERE};
use super::mood::{Mood, bent};
use super::tile::{Cells, Guest};
use crate::Columns;

/// One renewal in so many looks at everybody's position, to correct what velocities are off by.
pub const REFINE_EVERY: u64 = 4;

impl Following {
    /// Renews all tiles that fall due in this tick.
    pub(super) fn renew_due(&mut self, columns: Columns<'_>) {
        self.due.clear();
        self.emigrants.clear();
        let bucket = (self.now % LOOK_AHEAD) as usize;
        let mut candidates = std::mem::take(&mut self.calendar[bucket]);
        for &number in &candidates {
            // A tile that was given up may have been taken again, with another due tick.
            if self.lattice.tiles[number as usize].due != self.now {
                continue;
            }
            self.renew(number, columns);
            self.adopt(number, columns);
            let tile = &mut self.lattice.tiles[number as usize];
            tile.sort(&self.lattice.layers[tile.layer as usize].cells, &mut self.bench);
            if tile.len() == 0 {
                self.lattice.give_up(number);
            } else {
                self.calendar[((self.now + self.life) % LOOK_AHEAD) as usize].push(number);
                self.due.push(number);
            }
        }
        // Nobody lives for so long that this tick's list was written to meanwhile; its memory is kept.
        candidates.clear();
        self.calendar[bucket] = candidates;
    }

    /// Enters everybody of a tile where they will be halfway through its next life.
    fn renew(&mut self, number: u32, columns: Columns<'_>) {
        let middle = self.now + self.half;
        let tile = &mut self.lattice.tiles[number as usize];
        let (layer, key, rows) = (tile.layer as usize, tile.key, tile.count());
        let ticks = (middle - tile.middle) as f32;
        (tile.middle, tile.due, tile.renewed) = (middle, self.now + self.life, self.now);
        tile.clear_guests();
        let (cells, reach) = (self.lattice.layers[layer].cells, self.lattice.layers[layer].reach);
        let refines_all = (self.now / self.life + u64::from(number)).is_multiple_of(REFINE_EVERY);
        for row in 0..rows {
            let Some(mut entry) = self.lattice.tiles[number as usize].get(row) else { continue };
            let is_unsteady = Mood::from_byte(self.moods[entry.id as usize]).level() > 0;
            if is_unsteady || refines_all {
                self.refine(entry.id, columns);
                entry = self.entry(entry.id, middle, columns);
            } else {
                entry.place = (Vec3::from(entry.place) + Vec3::from(entry.velocity) * ticks).into();
            }
            let cell = cells.cells(entry.place.into());
            let fits = entry.velocity != [0.0; 3] && cells.is_at(key, cell) && self.reach(&entry) <= reach;
            let tile = &mut self.lattice.tiles[number as usize];
            if fits {
                tile.replace(row, entry);
                let wanted = cells.key(cell);
                if wanted != key {
                    tile.guests.push(Guest { id: entry.id, cell, wanted });
                }
            } else {
                tile.dig(row);
                self.homes[entry.id as usize] = NOWHERE;
                self.lattice.layers[layer].objects -= 1;
                self.emigrants.push(entry.id);
            }
        }
    }

    /// Corrects the course of an object that kept to it. All its meetings end in this tick, so none is outdated by it.
    fn refine(&mut self, row: u32, columns: Columns<'_>) {
        let age = self.courses.age(row, self.now);
        let old = self.courses.at(row, self.now, 0.0);
        if age < 4 || old.velocity == Vec3::ZERO {
            return;
        }
        let sphere = columns.sphere(row as usize);
        let off = sphere.center - old.place;
        let mood = Mood::from_byte(self.moods[row as usize]).after_keeping(off.length_squared().sqrt(), old.slack);
        let velocity = bent(old.velocity, off, f32::from(age));
        let slack = mood.slack(sphere.radius, velocity);
        self.moods[row as usize] = mood.to_byte();
        self.courses.refine(row, self.now, Course { place: sphere.center, velocity, slack });
    }

    /// Takes in the guests of the tiles around that have moved on to this one.
    fn adopt(&mut self, number: u32, columns: Columns<'_>) {
        let tile = &self.lattice.tiles[number as usize];
        let (key, layer) = (tile.key, tile.layer);
        let cells = self.lattice.layers[layer as usize].cells;
        for step in 0..27 {
            let beside = [key[0] + step % 3 - 1, key[1] + step / 3 % 3 - 1, key[2] + step / 9 - 1];
            let Some(other) = self.lattice.tile_at(layer, beside) else { continue };
            if other == number || self.lattice.tiles[other as usize].renewed == self.now {
                continue;
            }
            let mut guests = std::mem::take(&mut self.lattice.tiles[other as usize].guests);
            guests.retain(|guest| guest.wanted != key || !self.take_over(*guest, other, number, &cells, columns));
            self.lattice.tiles[other as usize].guests = guests;
        }
    }

    /// Moves a guest from one tile to another. Whether it is no longer a guest.
    fn take_over(&mut self, guest: Guest, from: u32, to: u32, cells: &Cells, columns: Columns<'_>) -> bool {
        if self.homes[guest.id as usize] != from {
            // It has strayed since, and found another home.
            return true;
        }
        // From its course, not from where the other tile has it: rounding must not add up from tile to tile.
        let entry = self.entry(guest.id, self.lattice.tiles[to as usize].middle, columns);
        if cells.key(cells.cells(entry.place.into())) != self.lattice.tiles[to as usize].key {
            return false;
        }
        let left = &mut self.lattice.tiles[from as usize];
        let row = left.find(guest.id, guest.cell).expect("an object is in its home tile");
        left.dig(row);
        self.lattice.tiles[to as usize].push(entry);
        self.homes[guest.id as usize] = to;
        // Its meetings were to last until the old tile falls due; now the new one finds them.
        self.courses.renew(guest.id);
        if !self.outdated.contains(guest.id as usize) {
            self.outdated.insert(guest.id as usize);
            self.adopted.push(guest.id);
        }
        true
    }
}

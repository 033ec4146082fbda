//! What happens to a tile when it falls due: its objects are entered anew, for another life.
//!
//! Objects that have moved on to the next tile are not thrown out, since finding them a place one by one is dear. They
//! stay as *guests*, up to a cell outside, until the tile they have moved to falls due and adopts them.
//!
//! Most of it concerns one tile alone, so tiles can be renewed and sorted by several threads at once. What concerns more
//! than the tile is written down in a [`Renewal`] and done afterwards, in an order that no thread has a say in.

use glam::Vec3;
use rayon::prelude::*;

use super::agenda::LOOK_AHEAD;
use super::course::{Course, Courses};
use super::following::{Following, NOWHERE};
use super::lattice::Layer;
use super::mood::{Mood, bent};
use super::moving::{entered, reach};
use super::tile::{Cells, Guest, Tile, Workbench};
use crate::Columns;

/// One renewal in so many looks at everybody's position, to correct what velocities are off by.
pub const REFINE_EVERY: u64 = 4;

/// Some of the tiles that fall due, in one thread's hands, and what has to be done about them afterwards.
#[derive(Debug, Default)]
pub struct Renewal {
    tiles: Vec<(u32, Tile)>,
    /// Rows that left, and the layer that they left.
    emigrants: Vec<(u32, u32)>,
    bench: Workbench,
}

/// A row with a better course, and its new mood.
pub type Refined = (u32, Mood, Course);

impl Renewal {
    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.tiles.capacity() * size_of::<(u32, Tile)>() + self.emigrants.capacity() * 8 + self.bench.bytes()
    }
}

/// What renewing a tile looks at.
struct Terms<'a> {
    now: u64,
    life: u64,
    half: u64,
    courses: &'a Courses,
    moods: &'a [u8],
    layers: &'a [Layer],
    columns: Columns<'a>,
}

impl Following {
    /// Renews all tiles that fall due in this tick.
    pub(super) fn renew_due(&mut self, columns: Columns<'_>) {
        self.due.clear();
        self.emigrants.clear();
        let bucket = (self.now % LOOK_AHEAD) as usize;
        let (tiles, now) = (&self.lattice.tiles, self.now);
        // A tile that was given up may have been taken again, with another due tick.
        self.due.extend(self.calendar[bucket].iter().filter(|&&number| tiles[number as usize].due == now));
        // Nobody lives for so long that this tick's list is written to meanwhile.
        self.calendar[bucket].clear();
        self.renew_tiles(columns);
        for index in 0..self.due.len() {
            self.adopt(self.due[index], columns);
        }
        self.sort_tiles();
        let Following { due, lattice, calendar, .. } = self;
        let next = ((self.now + self.life) % LOOK_AHEAD) as usize;
        due.retain(|&number| {
            let is_used = lattice.tiles[number as usize].len() > 0;
            if is_used {
                calendar[next].push(number);
            } else {
                lattice.give_up(number);
            }
            is_used
        });
    }

    /// Enters everybody of all tiles that fall due where they will be halfway through the tile's next life.
    fn renew_tiles(&mut self, columns: Columns<'_>) {
        let (mut renewals, mut refined) = (self.deal_tiles(), std::mem::take(&mut self.refined));
        let Following { now, life, half, courses, moods, lattice, .. } = &*self;
        let (now, life, half, layers) = (*now, *life, *half, &lattice.layers[..]);
        let terms = Terms { now, life, half, courses, moods, layers, columns };
        let work = |(renewal, refined): (&mut Renewal, &mut Vec<Refined>)| {
            let Renewal { tiles, emigrants, .. } = renewal;
            tiles.iter_mut().for_each(|(number, tile)| terms.renew(*number, tile, refined, emigrants));
        };
        if self.threads < 2 {
            renewals.iter_mut().zip(&mut refined).for_each(work);
        } else {
            renewals.par_iter_mut().zip(&mut refined).for_each(work);
        }
        self.refined = refined;
        for renewal in &mut renewals {
            for (row, layer) in renewal.emigrants.drain(..) {
                self.homes[row as usize] = NOWHERE;
                self.lattice.layers[layer as usize].objects -= 1;
                self.emigrants.push(row);
            }
        }
        self.collect_tiles(renewals);
    }

    /// Sorts the tiles that were renewed and, at the same time, writes down the better courses of those in them: who was
    /// adopted is not among these.
    fn sort_tiles(&mut self) {
        let mut renewals = self.deal_tiles();
        let Following { lattice, refined, moods, courses, now, threads, .. } = self;
        let sort = |Renewal { tiles, bench, .. }: &mut Renewal| {
            tiles.iter_mut().for_each(|(_, tile)| tile.sort(&lattice.layers[tile.layer as usize].cells, bench));
        };
        let mut refine = || {
            for (row, mood, course) in refined.iter_mut().flat_map(|refined| refined.drain(..)) {
                moods[row as usize] = mood.to_byte();
                courses.refine(row, *now, course);
            }
        };
        if *threads < 2 {
            refine();
            renewals.iter_mut().for_each(sort);
        } else {
            rayon::join(refine, || renewals.par_iter_mut().for_each(sort));
        }
        self.collect_tiles(renewals);
    }

    /// Hands the tiles that fall due out.
    fn deal_tiles(&mut self) -> Vec<Renewal> {
        let mut renewals = std::mem::take(&mut self.renewals);
        let shares = renewals.len();
        for (index, &number) in self.due.iter().enumerate() {
            let tile = std::mem::take(&mut self.lattice.tiles[number as usize]);
            renewals[index % shares].tiles.push((number, tile));
        }
        renewals
    }

    fn collect_tiles(&mut self, mut renewals: Vec<Renewal>) {
        for (number, tile) in renewals.iter_mut().flat_map(|renewal| renewal.tiles.drain(..)) {
            self.lattice.tiles[number as usize] = tile;
        }
        self.renewals = renewals;
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
            guests.retain(|guest| {
                cells.key(guest.cell) != key || !self.take_over(*guest, other, number, &cells, columns)
            });
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

impl Terms<'_> {
    fn renew(&self, number: u32, tile: &mut Tile, refined: &mut Vec<Refined>, emigrants: &mut Vec<(u32, u32)>) {
        let middle = self.now + self.half;
        let ticks = (middle - tile.middle) as f32;
        (tile.middle, tile.due, tile.renewed) = (middle, self.now + self.life, self.now);
        tile.clear_guests();
        let (layer, key) = (tile.layer, tile.key);
        let Layer { cells, reach: farthest, .. } = &self.layers[layer as usize];
        let refines_all = (self.now / self.life + u64::from(number)).is_multiple_of(REFINE_EVERY);
        for row in 0..tile.count() {
            let Some(mut entry) = tile.get(row) else { continue };
            let mood = Mood::from_byte(self.moods[entry.id as usize]);
            if mood.level() > 0 || refines_all {
                let ahead = self.half as f32;
                let course = match self.refined(entry.id, mood) {
                    Some((mood, course)) => {
                        refined.push((entry.id, mood, course));
                        Courses::once_set(entry.id, self.now, course, ahead)
                    }
                    None => self.courses.at(entry.id, self.now, ahead),
                };
                entry = entered(entry.id, course, self.columns.radius[entry.id as usize], self.life);
            } else {
                entry.place = (Vec3::from(entry.place) + Vec3::from(entry.velocity) * ticks).into();
            }
            let cell = cells.cells(entry.place.into());
            let fits = entry.velocity != [0.0; 3] && cells.is_at(key, cell) && reach(&entry, self.half) <= *farthest;
            if fits {
                tile.replace(row, entry);
                if cells.key(cell) != key {
                    tile.guests.push(Guest { id: entry.id, cell });
                }
            } else {
                tile.dig(row);
                emigrants.push((entry.id, layer));
            }
        }
    }

    /// A better course for an object that kept to its own. All its meetings end in this tick, so none is outdated by it.
    fn refined(&self, row: u32, mood: Mood) -> Option<(Mood, Course)> {
        let age = self.courses.age(row, self.now);
        let old = self.courses.at(row, self.now, 0.0);
        if age < 4 || old.velocity == Vec3::ZERO {
            return None;
        }
        let sphere = self.columns.sphere(row as usize);
        let off = sphere.center - old.place;
        let mood = mood.after_keeping(off.length_squared().sqrt(), old.slack);
        let velocity = bent(old.velocity, off, f32::from(age));
        let slack = mood.slack(sphere.radius, velocity);
        Some((mood, Course { place: sphere.center, velocity, slack }))
    }
}

//! What happens to a tile when it falls due: its objects are entered anew, for another life.
//!
//! Objects that have moved on to the next tile are not thrown out, since finding them a place one by one is dear. They
//! stay as *guests*, up to a cell outside, until the tile they have moved to falls due and adopts them. Nobody keeps lists
//! of guests: they are those who are entered in another tile's cells.
//!
//! Most of it concerns one tile alone, so tiles can be renewed and sorted by several threads at once. What concerns more
//! than the tile is written down in a [`Renewal`] and done afterwards, in an order that no thread has a say in.

use glam::Vec3;
use rayon::prelude::*;

use super::agenda::LOOK_AHEAD;
use super::course::{Course, Courses, Refiner};
use super::following::{Following, NOWHERE};
use super::lattice::{Lattice, Layer};
use super::mood::{Mood, bent};
use super::moving::{entered, reach};
use super::room::stock_up_as_used;
use super::tile::{Block, Tile, Workbench};
use crate::Columns;
use crate::simd::sweep::Row;

/// One renewal in so many looks at everybody's position, to correct what velocities are off by.
pub const REFINE_EVERY: u64 = 4;

/// Some of the tiles that fall due, in one thread's hands, and what has to be done about them afterwards.
#[derive(Debug, Default)]
pub struct Renewal {
    tiles: Vec<(u32, Tile)>,
    emigrants: Vec<Emigrant>,
    adopted: Vec<Adoption>,
    refined: Vec<Refined>,
    bench: Workbench,
}

/// Somebody who has moved from one tile to another.
#[derive(Clone, Copy, Debug)]
struct Adoption {
    id: u32,
    /// The tile it was in, and its row there.
    from: u32,
    row: u32,
    to: u32,
}

/// Somebody who has left a tile of this layer.
#[derive(Clone, Copy, Debug)]
struct Emigrant {
    id: u32,
    layer: u32,
    refined: Option<Refined>,
}

/// A row with a better course, and its new mood.
#[derive(Clone, Copy, Debug)]
struct Refined {
    id: u32,
    mood: Mood,
    course: Course,
}

impl Renewal {
    /// Writes down the better courses of those in tiles that were renewed at `now`.
    pub fn refine(&mut self, now: u64, courses: &mut Refiner<'_>, moods: &mut [u8]) {
        self.refined.drain(..).for_each(|refined| refined.write(now, courses, moods));
    }

    /// Takes more memory than was ever needed.
    pub fn stock_up(&mut self) {
        stock_up_as_used(&mut self.tiles);
        stock_up_as_used(&mut self.emigrants);
        stock_up_as_used(&mut self.adopted);
        stock_up_as_used(&mut self.refined);
        self.bench.stock_up();
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.tiles.capacity() * size_of::<(u32, Tile)>()
            + self.emigrants.capacity() * size_of::<Emigrant>()
            + self.adopted.capacity() * size_of::<Adoption>()
            + self.refined.capacity() * size_of::<Refined>()
            + self.bench.bytes()
    }
}

impl Refined {
    fn write(self, now: u64, courses: &mut Refiner<'_>, moods: &mut [u8]) {
        moods[self.id as usize] = self.mood.to_byte();
        courses.refine(self.id, now, self.course);
    }
}

/// What renewing a tile looks at. All tiles that fall due are elsewhere: in their places in the lattice are empty ones.
struct Terms<'a> {
    now: u64,
    life: u64,
    half: u64,
    courses: &'a Courses,
    moods: &'a [u8],
    lattice: &'a Lattice,
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
        let mut renewals = self.deal_tiles();
        let Following { now, life, half, courses, moods, lattice, .. } = &*self;
        let terms = Terms { now: *now, life: *life, half: *half, courses, moods, lattice, columns };
        if self.threads < 2 {
            renewals.iter_mut().for_each(|renewal| terms.work(renewal));
        } else {
            renewals.par_iter_mut().with_max_len(1).for_each(|renewal| terms.work(renewal));
        }
        self.collect_tiles(renewals);
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

    /// Takes them back, and does what concerns more than one of them.
    fn collect_tiles(&mut self, mut renewals: Vec<Renewal>) {
        for Renewal { tiles, emigrants, adopted, .. } in &mut renewals {
            for (number, tile) in tiles.drain(..) {
                self.lattice.tiles[number as usize] = tile;
            }
            for Emigrant { id, layer, refined } in emigrants.drain(..) {
                self.homes[id as usize] = NOWHERE;
                self.lattice.layers[layer as usize].objects -= 1;
                self.emigrants.push(id);
                if let Some(refined) = refined {
                    // At once: it is about to be entered elsewhere.
                    refined.write(self.now, &mut self.courses.versions_and_refiner().1, &mut self.moods);
                }
            }
            for Adoption { id, from, row, to } in adopted.drain(..) {
                self.lattice.tiles[from as usize].dig(row as usize);
                self.homes[id as usize] = to;
                // Its meetings were to last until the old tile falls due; now the new one finds them.
                self.courses.renew(id);
                self.outdated.insert(id as usize);
                self.adopted.push(id);
            }
        }
        self.renewals = renewals;
    }
}

impl Terms<'_> {
    fn work(&self, renewal: &mut Renewal) {
        let Renewal { tiles, emigrants, adopted, refined, bench } = renewal;
        for (number, tile) in tiles {
            bench.clear();
            self.renew(*number, tile, bench, refined, emigrants);
            self.adopt(*number, tile, bench, adopted);
            tile.arrange(&self.lattice.layer_of(tile).cells, bench);
        }
    }

    /// Enters everybody of a tile where they will be halfway through the tile's next life.
    fn renew(
        &self,
        number: u32,
        tile: &mut Tile,
        bench: &mut Workbench,
        refined: &mut Vec<Refined>,
        emigrants: &mut Vec<Emigrant>,
    ) {
        let middle = self.now + self.half;
        let ticks = (middle - tile.middle) as f32;
        (tile.middle, tile.due, tile.renewed) = (middle, self.now + self.life, self.now);
        let (layer, key) = (tile.layer, tile.key);
        let Layer { cells, reach: farthest, .. } = self.lattice.layer_of(tile);
        let refines_all = (self.now / self.life + u64::from(number)).is_multiple_of(REFINE_EVERY);
        for row in 0..tile.count() {
            let Some(mut entry) = tile.get(row) else { continue };
            let mood = Mood::from_byte(self.moods[entry.id as usize]);
            let mut better = None;
            if mood.level() > 0 || refines_all {
                let ahead = self.half as f32;
                better = self.refined(entry.id, mood);
                let course = match better {
                    Some(Refined { course, .. }) => Courses::once_set(entry.id, self.now, course, ahead),
                    None => self.courses.at(entry.id, self.now, ahead),
                };
                entry = entered(entry.id, course, self.columns.radius[entry.id as usize], self.life);
            } else {
                entry.place = (Vec3::from(entry.place) + Vec3::from(entry.velocity) * ticks).into();
            }
            let cell = cells.cells(entry.place.into());
            let fits = entry.velocity != [0.0; 3] && cells.is_at(key, cell) && reach(&entry, self.half) <= *farthest;
            if fits {
                bench.put(entry);
                refined.extend(better);
            } else {
                emigrants.push(Emigrant { id: entry.id, layer, refined: better });
            }
        }
    }

    /// Takes in those of the tiles around who have moved on to this one: they are entered in its cells.
    fn adopt(&self, number: u32, tile: &Tile, bench: &mut Workbench, adopted: &mut Vec<Adoption>) {
        let (key, layer) = (tile.key, tile.layer);
        let cells = &self.lattice.layers[layer as usize].cells;
        for step in 0..27 {
            let steps = [step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1];
            let beside = std::array::from_fn(|axis| key[axis].wrapping_add(steps[axis]));
            let Some(other) = self.lattice.tile_at(layer, beside) else { continue };
            let from = &self.lattice.tiles[other as usize];
            let Block { low, high } = from.block().common(cells.block_of(key));
            if low[0] > high[0] {
                continue;
            }
            for (y, z) in (low[2]..=high[2]).flat_map(|z| (low[1]..=high[1]).map(move |y| (y, z))) {
                for row in from.line(y, z, low[0], high[0]) {
                    let Some(Row { id, .. }) = from.get(row as usize) else { continue };
                    // From its course, not from where the other tile has it: rounding must not add up from tile to tile.
                    let course = self.courses.at(id, self.now, self.half as f32);
                    let entry = entered(id, course, self.columns.radius[id as usize], self.life);
                    if cells.key(cells.cells(entry.place.into())) == key {
                        bench.put(entry);
                        adopted.push(Adoption { id, from: other, row, to: number });
                    }
                }
            }
        }
    }

    /// A better course for an object that kept to its own. All its meetings end in this tick, so none is outdated by it.
    fn refined(&self, id: u32, mood: Mood) -> Option<Refined> {
        let age = self.courses.age(id, self.now);
        let old = self.courses.at(id, self.now, 0.0);
        if age < 4 || old.velocity == Vec3::ZERO {
            return None;
        }
        let sphere = self.columns.sphere(id as usize);
        let off = sphere.center - old.place;
        let mood = mood.after_keeping(off.length_squared().sqrt(), old.slack);
        let velocity = bent(old.velocity, off, f32::from(age));
        let slack = mood.slack(sphere.radius, velocity);
        Some(Refined { id, mood, course: Course { place: sphere.center, velocity, slack } })
    }
}

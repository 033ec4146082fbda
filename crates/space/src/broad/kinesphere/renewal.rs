//! What happens to a tile when it falls due: its objects are entered anew, for another life.
//!
//! Objects that have moved on to the next tile are not thrown out, since finding them a place one by one is dear. They
//! stay as *guests*, up to a cell outside, until the tile they have moved to falls due and adopts them. Nobody keeps lists
//! of guests: they are those who are entered in another tile's cells.
//!
//! Two or three tiles fall due in a tick, and some take four times as long as others. So threads share their rows out, not
//! the tiles: in a first step nothing is changed, and what becomes of everybody is written down in a [`Renewal`]. In a
//! second one tiles take their new rows, each by itself, while one thread does what concerns more than one of them, and
//! lets those who strayed into all the other tiles. No thread has a say in any order.

use std::ops::Range;

use crate::Vec3;
use rayon::prelude::*;

use super::course::{Course, Courses, Refiner};
use super::following::{Following, NOWHERE};
use super::lattice::{Lattice, Layer};
use super::mood::{Mood, bent};
use super::moving::{entered, reach};
use super::room::{Part, stock_up_alike, stock_up_as_used};
use super::tile::{Cells, Sheet, Tile, Workbench};
use crate::simd::sweep::{PADDING, Row};
use crate::{Columns, fetch_ahead};

/// A renewal looks at the positions of one object in so many, to correct what velocities are off by: at everybody's in so many
/// renewals. All at once every so many renewals would be as much work, and those ticks the slowest.
pub const REFINE_EVERY: u64 = 4;

/// Ages beyond are not known: who would get older gets another course, but for those whom another tile adopts meanwhile. They may be taken
/// for younger, which costs a stray.
const AGE_MAX: u64 = 256;

/// So many rows of a tile are entered anew in one go, by one thread.
const ROWS_TOGETHER: usize = 1024;

/// The tiles that fall due in a tick, and how the work on them is cut.
#[derive(Debug, Default)]
pub struct Renewals {
    /// All errands, tile by tile.
    errands: Vec<Errand>,
    /// What came of them: each of these had some, one after the other.
    shares: Vec<Renewal>,
    /// The tiles, while they are arranged.
    arranged: Vec<Arranged>,
}

/// What there is to do about a tile, or a part of it.
#[derive(Clone, Copy, Debug)]
struct Errand {
    tile: u32,
    /// Which rows are entered anew; if none, those of the tiles around are looked through for some to adopt.
    rows: Option<(u32, u32)>,
    /// Whose errand it was, and where the rows are that came of it, once it is done.
    share: u32,
    sheet: (u32, u32),
}

/// What came of some errands.
#[derive(Debug, Default)]
struct Renewal {
    /// The rows to come, and where each errand's end.
    bench: Workbench,
    ends: Vec<u32>,
    emigrants: Vec<Emigrant>,
    adopted: Vec<Adoption>,
    refined: Vec<Refined>,
    /// Scratch: the tiles around one.
    beside: Vec<u32>,
}

/// A tile that takes its new rows. In its place in the lattice is an empty one.
#[derive(Debug)]
struct Arranged {
    number: u32,
    tile: Tile,
    cells: Cells,
    life: u64,
    errands: Range<usize>,
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

impl Renewals {
    /// Prepares for so many threads at most.
    pub fn reset(&mut self, shares: usize) {
        self.shares.resize_with(shares, Renewal::default);
    }

    /// Writes down the better courses of those in tiles that were renewed at `now`.
    pub fn refine(&mut self, now: u64, courses: &mut Refiner<'_>, moods: &mut [u8]) {
        for share in &mut self.shares {
            share.refined.drain(..).for_each(|refined| refined.write(now, courses, moods));
        }
    }

    /// Takes more memory for some of the lists than was ever needed.
    pub fn stock_up(&mut self, part: Part) {
        let lists: [fn(&mut Renewals); 8] = [
            |all| stock_up_as_used(&mut all.errands),
            |all| stock_up_as_used(&mut all.arranged),
            |all| Workbench::stock_up(&mut all.shares, |share| &mut share.bench),
            |all| stock_up_alike(&mut all.shares, |share| &mut share.ends),
            |all| stock_up_alike(&mut all.shares, |share| &mut share.emigrants),
            |all| stock_up_alike(&mut all.shares, |share| &mut share.adopted),
            |all| stock_up_alike(&mut all.shares, |share| &mut share.refined),
            |all| stock_up_alike(&mut all.shares, |share| &mut share.beside),
        ];
        part.of(lists).for_each(|stock_up| stock_up(self));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let of_share = |share: &Renewal| {
            share.bench.bytes()
                + (share.ends.capacity() + share.beside.capacity()) * 4
                + share.emigrants.capacity() * size_of::<Emigrant>()
                + share.adopted.capacity() * size_of::<Adoption>()
                + share.refined.capacity() * size_of::<Refined>()
        };
        self.errands.capacity() * size_of::<Errand>()
            + self.arranged.capacity() * size_of::<Arranged>()
            + self.shares.iter().map(of_share).sum::<usize>()
    }

    /// Cuts the work on some tiles into errands.
    fn cut(&mut self, due: &[u32], lattice: &Lattice) {
        self.errands.clear();
        for &tile in due {
            let count = lattice.tiles[tile as usize].count();
            let errand = |rows| Errand { tile, rows, share: 0, sheet: (0, 0) };
            for first in (0..count).step_by(ROWS_TOGETHER) {
                let rows = (first as u32, (first + ROWS_TOGETHER).min(count) as u32);
                self.errands.push(errand(Some(rows)));
            }
            self.errands.push(errand(None));
        }
    }

    /// Runs all errands.
    fn run(&mut self, terms: &Terms<'_>, threads: usize) {
        let Renewals { errands, shares, .. } = self;
        let count = shares.len();
        let part = |index: usize| index * errands.len() / count..(index + 1) * errands.len() / count;
        let work = |(index, share): (usize, &mut Renewal)| terms.work(&errands[part(index)], share);
        if threads < 2 {
            shares.iter_mut().enumerate().for_each(work);
        } else {
            shares.par_iter_mut().with_max_len(1).enumerate().for_each(work);
        }
        for (index, share) in shares.iter().enumerate() {
            let from = index * errands.len() / count;
            let mut start = 0;
            for (errand, &end) in errands[from..].iter_mut().zip(&share.ends) {
                (errand.share, errand.sheet) = (index as u32, (start, end));
                start = end;
            }
        }
    }

    /// Takes the tiles out of the lattice, each with its errands.
    fn take_tiles(&mut self, lattice: &mut Lattice) {
        let mut first = 0;
        for errands in self.errands.chunk_by(|one, next| one.tile == next.tile) {
            let number = errands[0].tile;
            let &Layer { cells, life, .. } = lattice.layer_of(&lattice.tiles[number as usize]);
            let tile = std::mem::take(&mut lattice.tiles[number as usize]);
            self.arranged.push(Arranged { number, tile, cells, life, errands: first..first + errands.len() });
            first += errands.len();
        }
    }

    /// The rows that came of some errands.
    fn sheets<'a>(errands: &'a [Errand], shares: &'a [Renewal]) -> impl Iterator<Item = Sheet<'a>> + Clone {
        errands
            .iter()
            .map(|errand| shares[errand.share as usize].bench.sheet(errand.sheet.0 as usize..errand.sheet.1 as usize))
    }
}

impl Refined {
    fn write(self, now: u64, courses: &mut Refiner<'_>, moods: &mut [u8]) {
        moods[self.id as usize] = self.mood.to_byte();
        courses.refine(self.id, now, self.course);
    }
}

/// What renewing a tile looks at.
struct Terms<'a> {
    now: u64,
    courses: &'a Courses,
    moods: &'a [u8],
    lattice: &'a Lattice,
    columns: Columns<'a>,
}

impl Following {
    /// Renews all tiles that fall due in this tick, and lets those who strayed into the other ones.
    pub(super) fn renew_due(&mut self, columns: Columns<'_>) {
        self.due.clear();
        let now = self.now;
        self.calendar.take(now, &mut self.due);
        debug_assert!(
            self.due.iter().all(|&tile| self.lattice.tiles[tile as usize].due == now),
            "who is entered is due"
        );
        let mut renewals = std::mem::take(&mut self.renewals);
        renewals.cut(&self.due, &self.lattice);
        let Following { courses, moods, lattice, .. } = &*self;
        renewals.run(&Terms { now, courses, moods, lattice, columns }, self.threads);
        renewals.take_tiles(&mut self.lattice);
        let Renewals { errands, shares, arranged } = &mut renewals;
        let arrange = |arranged: &mut Arranged| {
            let Arranged { tile, cells, life, .. } = arranged;
            (tile.middle, tile.due, tile.renewed) = (now + *life / 2, now + *life, now);
            tile.lives = tile.lives.wrapping_add(1);
            tile.arrange(cells, Renewals::sheets(&errands[arranged.errands.clone()], shares));
        };
        if self.threads < 2 {
            arranged.iter_mut().for_each(arrange);
            self.settle(shares);
        } else {
            rayon::join(|| arranged.par_iter_mut().with_max_len(1).for_each(arrange), || self.settle(shares));
        }
        for Arranged { number, tile, .. } in arranged.drain(..) {
            self.lattice.tiles[number as usize] = tile;
        }
        self.renewals = renewals;
        let Following { due, lattice, calendar, .. } = self;
        due.retain(|&number| {
            let life = lattice.layer_of(&lattice.tiles[number as usize]).life;
            let tile = &mut lattice.tiles[number as usize];
            let is_used = tile.len() > 0;
            if is_used {
                tile.due = calendar.next_tick(now, life, tile.work);
                calendar.enter(number, tile);
                tile.work = 0;
            } else {
                lattice.give_up(number);
            }
            is_used
        });
    }

    /// Does what concerns more than one tile, while those that are due are being arranged.
    fn settle(&mut self, shares: &[Renewal]) {
        for Renewal { emigrants, adopted, .. } in shares {
            for &Emigrant { id, layer, refined } in emigrants {
                self.homes[id as usize] = NOWHERE;
                self.lattice.layers[layer as usize].objects -= 1;
                if let Some(refined) = refined {
                    // At once: it is about to be entered elsewhere.
                    refined.write(self.now, &mut self.courses.versions_and_refiner().1, &mut self.moods);
                }
            }
            for &Adoption { id, from, row, to } in adopted {
                self.lattice.tiles[from as usize].dig(row as usize);
                self.homes[id as usize] = to;
                // Its meetings were to last until the old tile falls due; now the new one finds them.
                self.courses.renew(id);
                self.outdated.insert(id as usize);
                self.adopted.push(id);
            }
        }
        // Not before: rows move when somebody comes in.
        self.take_strays_in();
        let emigrants = shares.iter().flat_map(|share| &share.emigrants);
        self.homeless.extend(emigrants.map(|emigrant| emigrant.id));
    }
}

impl Terms<'_> {
    fn work(&self, errands: &[Errand], renewal: &mut Renewal) {
        renewal.bench.clear();
        renewal.ends.clear();
        renewal.emigrants.clear();
        renewal.adopted.clear();
        for errand in errands {
            let tile = &self.lattice.tiles[errand.tile as usize];
            match errand.rows {
                Some((first, end)) => self.renew(errand.tile, tile, first as usize..end as usize, renewal),
                None => self.adopt(errand.tile, tile, renewal),
            }
            renewal.ends.push(renewal.bench.len() as u32);
        }
    }

    /// Enters some of a tile where they will be halfway through the tile's next life.
    fn renew(&self, number: u32, tile: &Tile, rows: Range<usize>, renewal: &mut Renewal) {
        let life = self.lattice.layer_of(tile).life;
        let ticks = (self.now + life / 2 - tile.middle) as f32;
        let round = u64::from(tile.lives) + u64::from(number);
        let is_its_turn = |id: u32| (round + u64::from(id)).is_multiple_of(REFINE_EVERY);
        // Who goes from tile to tile might miss one turn after another.
        let is_old = |id: u32| self.age(id) + life > AGE_MAX;
        for row in rows {
            // Neighbours in a tile are anywhere in memory: what a later one takes is fetched meanwhile.
            if let Some(Row { id, .. }) = tile.get(row + PADDING) {
                fetch_ahead(&self.moods[id as usize]);
                self.courses.fetch_age(id);
                if is_its_turn(id) {
                    self.courses.fetch(id, self.columns);
                }
            }
            let Some(mut entry) = tile.get(row) else { continue };
            let mood = Mood::from_byte(self.moods[entry.id as usize]);
            let mut better = None;
            if mood.level() > 0 || is_its_turn(entry.id) || is_old(entry.id) {
                let ahead = (life / 2) as f32;
                better = self.refined(entry.id, mood);
                let course = match better {
                    Some(Refined { course, .. }) => Courses::once_set(entry.id, self.now, course, ahead),
                    None => self.courses.at(entry.id, self.now, ahead),
                };
                entry = entered(entry.id, course, self.columns.radius[entry.id as usize]);
            } else {
                entry.place = (Vec3::from(entry.place) + Vec3::from(entry.velocity) * ticks).into();
            }
            self.put(tile, entry, better, renewal);
        }
    }

    /// Puts an object of a tile on the bench, if it may stay there.
    #[inline]
    fn put(&self, tile: &Tile, entry: Row, better: Option<Refined>, renewal: &mut Renewal) {
        let Layer { cells, reach: farthest, life, .. } = self.lattice.layer_of(tile);
        let fits = entry.velocity != [0.0; 3] && reach(&entry, *life) <= *farthest;
        match cells.spot(tile.key, cells.cells(entry.place.into())) {
            Some(spot) if fits => {
                renewal.bench.put(entry, spot);
                renewal.refined.extend(better);
            }
            _ => renewal.emigrants.push(Emigrant { id: entry.id, layer: tile.layer, refined: better }),
        }
    }

    /// Takes in those of the tiles around who have moved on to this one: they are entered in its cells.
    fn adopt(&self, number: u32, tile: &Tile, renewal: &mut Renewal) {
        let Renewal { bench, adopted, beside, .. } = renewal;
        let key = tile.key;
        let Layer { cells, life, .. } = self.lattice.layer_of(tile);
        beside.clear();
        self.lattice.tiles_beside(tile, beside);
        for &other in beside.iter() {
            let from = &self.lattice.tiles[other as usize];
            // One that is due, too, enters its own anew, its guests among them.
            if from.due == self.now {
                continue;
            }
            let block = from.block().common(cells.block_of(key));
            for (y, z) in block.lines() {
                for row in from.line(y, z, block.low[0], block.high[0]) {
                    let Some(Row { id, .. }) = from.get(row as usize) else { continue };
                    // From its course, not from where the other tile has it: rounding must not add up from tile to tile.
                    let course = self.courses.at(id, self.now, (life / 2) as f32);
                    let entry = entered(id, course, self.columns.radius[id as usize]);
                    let cell = cells.cells(entry.place.into());
                    if cells.key(cell) == key {
                        bench.put(entry, cells.spot(key, cell).expect("it is in the tile"));
                        adopted.push(Adoption { id, from: other, row, to: number });
                    }
                }
            }
        }
    }

    /// How many ticks ago the course was set of somebody in a tile that is due. It was not in this one: who strayed is in no
    /// tile yet.
    #[inline]
    fn age(&self, id: u32) -> u64 {
        match self.courses.age(id, self.now) {
            0 => AGE_MAX,
            age => u64::from(age),
        }
    }

    /// A better course for an object that kept to its own. All its meetings end in this tick, so none is outdated by it.
    fn refined(&self, id: u32, mood: Mood) -> Option<Refined> {
        let age = self.age(id);
        let old = self.courses.at(id, self.now, 0.0);
        if age < 4 || old.velocity == Vec3::ZERO {
            return None;
        }
        let sphere = self.columns.sphere(id as usize);
        let off = sphere.center - old.place;
        let mood = mood.after_keeping(off.length_squared().sqrt(), old.slack);
        let velocity = bent(old.velocity, off, age as f32);
        let slack = mood.slack(sphere.radius, velocity);
        Some(Refined { id, mood, course: Course { place: sphere.center, velocity, slack } })
    }
}

#[cfg(test)]
mod tests {
    use crate::broad::kinesphere::Kinesphere;
    use crate::workload::Random;
    use crate::{BroadPhase, Slot, Sphere, Spheres, Vec3};

    /// Steps are rounded, and the more coarsely the farther away: a line that was right goes wrong by and by. Whoever goes
    /// straight is seen to do so after any time, from one tile to the next.
    #[test]
    fn who_goes_straight_does_not_stray_however_long() {
        let mut random = Random::new(1);
        let mut spheres = Spheres::new();
        let velocities: Vec<Vec3> = (0..2_000).map(|_| random.direction() * 0.1).collect();
        for _ in &velocities {
            spheres.insert(Sphere::new(random.point(150.0) + Vec3::splat(200.0), 1.0)).unwrap();
        }
        let mut kinesphere = Kinesphere::new().eager();
        let (mut pairs, mut strayed) = (Vec::new(), 0);
        for tick in 0..1_600 {
            kinesphere.pairs(&spheres, &mut pairs);
            if tick >= 600 {
                assert!(kinesphere.is_following());
                strayed += kinesphere.following.strayed.len();
            }
            spheres.end_tick();
            for (row, velocity) in velocities.iter().enumerate() {
                let slot = Slot::new(row as u32);
                spheres.move_to(slot, spheres.get(slot).unwrap().center + *velocity).unwrap();
            }
        }
        assert!(strayed < 300, "{strayed} of {} in a thousand ticks", velocities.len());
    }
}

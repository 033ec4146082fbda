//! The renewal of tiles that expire: their objects are entered anew, for another life.
//!
//! An object that has moved on to the next tile is not sent there at once, since finding a place for each is slow. It
//! stays up to a cell outside its tile until the tile that it has moved to is renewed and *adopts* it: there, too,
//! everything has to be sorted and searched. Only an object that is farther out emigrates, and arrives elsewhere as a
//! newcomer.
//!
//! Threads share the tiles. In a first step nothing is changed, and each [`Renewal`] notes what becomes of its tile;
//! then one thread settles what concerns several tiles; then each tile takes its new rows.

use rayon::prelude::*;

use super::flight_plans::{FlightPlan, FlightPlans, Refinement};
use super::tile::{Tile, Unsorted};
use super::tiles::{GridLayer, Tiles, entered, reach};
use crate::simd::sweep::{PADDING, Row};
use crate::{Columns, Vec3, fetch_ahead};

/// Scratch for the tiles that are renewed in a tick.
#[derive(Debug, Default)]
pub struct Renewals {
    all: Vec<Renewal>,
    count: usize,
}

/// What becomes of a tile.
#[derive(Debug, Default)]
struct Renewal {
    number: u32,
    unsorted: Unsorted,
    emigrants: Vec<u32>,
    adopted: Vec<Adoption>,
    refined: Vec<Refinement>,
    beside: Vec<u32>,
    /// The tile, while it is taken out.
    tile: Tile,
}

/// An object that has moved on from another tile, and its row there.
#[derive(Clone, Copy, Debug)]
struct Adoption {
    id: u32,
    from: (u32, u32),
}

struct View<'a> {
    now: u64,
    tiles: &'a Tiles,
    plans: &'a FlightPlans,
    columns: Columns<'a>,
}

impl Renewals {
    /// Renews the tiles that expired at `now`, and leaves those of them in the list that go on.
    pub fn renew(
        &mut self,
        now: u64,
        threads: usize,
        expired: &mut Vec<u32>,
        tiles: &mut Tiles,
        plans: &mut FlightPlans,
        columns: Columns<'_>,
    ) {
        self.count = expired.len();
        if self.all.len() < self.count {
            self.all.resize_with(self.count, Renewal::default);
        }
        let renewals = &mut self.all[..self.count];
        renewals.iter_mut().zip(&*expired).for_each(|(renewal, &number)| renewal.number = number);
        let view = View { now, tiles, plans, columns };
        each(threads, renewals, |renewal| view.look(renewal));
        renewals.iter_mut().for_each(|renewal| renewal.settle(now, tiles, plans));
        let life = tiles.life();
        each(threads, renewals, |Renewal { tile, unsorted, .. }| {
            (tile.middle, tile.expires, tile.renewed) = (now + life / 2, now + life, now);
            tile.lives = tile.lives.wrapping_add(1);
            tile.replace(unsorted);
        });
        for renewal in renewals {
            tiles.put_back(renewal.number, std::mem::take(&mut renewal.tile));
        }
        expired.retain(|&number| tiles.go_on(number));
    }

    /// The objects that the last renewals left without a tile.
    pub fn emigrants(&self) -> impl Iterator<Item = u32> + '_ {
        self.all[..self.count].iter().flat_map(|renewal| &renewal.emigrants).copied()
    }

    /// The objects that were adopted by another tile, and have another version.
    pub fn adopted(&self) -> impl Iterator<Item = u32> + '_ {
        self.all[..self.count].iter().flat_map(|renewal| &renewal.adopted).map(|adoption| adoption.id)
    }
}

fn each(threads: usize, renewals: &mut [Renewal], work: impl Fn(&mut Renewal) + Send + Sync) {
    if threads < 2 {
        renewals.iter_mut().for_each(work);
    } else {
        renewals.par_iter_mut().with_max_len(1).for_each(work);
    }
}

impl Renewal {
    /// Does what concerns more than one tile, and takes the tile out.
    fn settle(&mut self, now: u64, tiles: &mut Tiles, plans: &mut FlightPlans) {
        self.refined.drain(..).for_each(|refined| plans.refine(now, refined));
        let layer = tiles.get(self.number).layer;
        self.emigrants.iter().for_each(|&id| tiles.emigrate(id, layer));
        for &Adoption { id, from } in &self.adopted {
            tiles.adopt(id, from, self.number);
            // What was found for it holds until the old tile expires; now the new tile finds it.
            plans.outdate(id);
        }
        self.tile = tiles.take(self.number);
    }
}

impl View<'_> {
    fn look(&self, renewal: &mut Renewal) {
        let tile = self.tiles.get(renewal.number);
        renewal.unsorted.clear();
        renewal.emigrants.clear();
        renewal.adopted.clear();
        self.enter_own(tile, renewal);
        self.find_adopted(tile, renewal);
    }

    /// Enters the objects of a tile where they will be halfway through its next life.
    fn enter_own(&self, tile: &Tile, renewal: &mut Renewal) {
        let life = self.tiles.life();
        let GridLayer { grid, reach: widest, .. } = self.tiles.layer_of(tile);
        let ticks = (self.now + life / 2 - tile.middle) as f32;
        let round = u64::from(tile.lives) + u64::from(renewal.number);
        for row in 0..tile.count() {
            // Neighbours in a tile are anywhere in memory: what a later one takes is fetched meanwhile.
            if let Some(Row { id, .. }) = tile.get(row + PADDING) {
                self.plans.fetch_age(id);
            }
            if let Some(Row { id, .. }) = tile.get(row + PADDING / 2)
                && self.plans.is_refinable(id, self.now, life, round)
            {
                self.plans.fetch(id, self.columns);
            }
            let Some(mut entry) = tile.get(row) else { continue };
            let id = entry.id;
            let is_refinable = self.plans.is_refinable(id, self.now, life, round);
            let refined = if is_refinable { self.plans.refined(id, self.now, self.columns) } else { None };
            if let Some(Refinement { plan, .. }) = refined {
                let place = plan.place + plan.velocity * (life / 2) as f32;
                entry = entered(id, FlightPlan { place, ..plan }, self.columns.radius[id as usize]);
            } else {
                entry.place = (Vec3::from(entry.place) + Vec3::from(entry.velocity) * ticks).into();
            }
            renewal.refined.extend(refined);
            let fits = entry.velocity != [0.0; 3] && reach(&entry, life) <= *widest;
            let cell = grid.cell_at(entry.place.into());
            if fits && grid.is_at(tile.key, cell) {
                renewal.unsorted.push((entry, cell));
            } else {
                renewal.emigrants.push(id);
            }
        }
    }

    /// Finds the objects of the tiles around that have moved on to this one: they are entered in its cells.
    fn find_adopted(&self, tile: &Tile, renewal: &mut Renewal) {
        let Renewal { number, unsorted, adopted, beside, .. } = renewal;
        let life = self.tiles.life();
        let GridLayer { grid, .. } = self.tiles.layer_of(tile);
        beside.clear();
        self.tiles.beside(tile, beside);
        for &other in beside.iter() {
            let from = self.tiles.get(other);
            // A tile that expires in the same tick enters its own objects anew.
            if other == *number || from.expires == self.now {
                continue;
            }
            let common = from.cells().common(grid.cells_of_tile(tile.key));
            for (y, z) in common.lines() {
                let rows = from.line(y, z, common.low[0], common.high[0]);
                from.rows()[rows.start as usize..rows.end as usize].iter().step_by(2).for_each(fetch_ahead);
                for row in rows {
                    let Some(Row { id, .. }) = from.get(row as usize) else { continue };
                    // From its plan, not from the other tile's entry: rounding must not add up from tile to tile.
                    let plan = self.plans.at(id, self.now, (life / 2) as f32);
                    let entry = entered(id, plan, self.columns.radius[id as usize]);
                    let cell = grid.cell_at(entry.place.into());
                    if grid.key(cell) == tile.key {
                        unsorted.push((entry, cell));
                        adopted.push(Adoption { id, from: (other, row) });
                    }
                }
            }
        }
    }
}

//! Which objects may meet: renewed tiles are searched cell by cell, newcomers and objects of thinly filled layers one
//! by one.
//!
//! Every encounter has to be found exactly once. A pair is found
//! - by the newcomer, if one of the two came into its tile in this tick; by the one with the higher id if both did;
//! - otherwise by the tile that was renewed in this tick; by the one with the higher number if both were.
//!
//! A single object looks along its path: into the cells in which an object may be entered that it may touch until its
//! tile expires. If it is fast or large, that is a small part of what is within its reach.

use std::iter::Sum;
use std::ops::Range;

use super::schedule::EncounterSchedule;
use super::tile::{CellBox, NEVER, Tile};
use super::tiles::{TileArrival, Tiles, ahead, outward};
use super::window::RelativeMotion;
use crate::bits::RowSet;
use crate::simd::sweep::{Gathered, Mover, Row};
use crate::{Columns, Vec3, fetch_ahead};

#[derive(Clone, Copy, Debug)]
pub struct EncounterSearch<'a> {
    pub now: u64,
    pub tiles: &'a Tiles,
    /// For the objects' true radii.
    pub columns: Columns<'a>,
    pub versions: &'a [u8],
    /// The objects that came into their tiles in this tick.
    pub newcomers: &'a RowSet,
    pub objects: usize,
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchCounts {
    /// Tiles that were passed in a list, or looked up, to find those near.
    pub passed: u64,
    /// Lines of cells that single objects looked into.
    pub lines: u64,
    pub runs: u64,
    pub tests: u64,
    pub found: u64,
}

impl Sum for SearchCounts {
    fn sum<I: Iterator<Item = SearchCounts>>(counts: I) -> SearchCounts {
        counts.fold(SearchCounts::default(), |sum, next| SearchCounts {
            passed: sum.passed + next.passed,
            lines: sum.lines + next.lines,
            runs: sum.runs + next.runs,
            tests: sum.tests + next.tests,
            found: sum.found + next.found,
        })
    }
}

/// Memory that searching borrows, so that a steady tick allocates nothing.
#[derive(Debug, Default)]
pub struct SearchScratch {
    pub counts: SearchCounts,
    /// Tiles around, of the same layer and of others, and those of the others near the line of cells at hand.
    kin: Vec<u32>,
    others: Vec<u32>,
    beside: Vec<u32>,
    strips: Vec<Strip>,
    /// The rows that a single object looks at, and those that the next one will look at.
    runs: Vec<RowRun>,
    runs_ahead: Vec<RowRun>,
    gathered: Gathered,
    hits: Vec<u32>,
    /// Pairs that meet and are not entered yet.
    met: Vec<[Mover; 2]>,
}

/// A line of cells of some tile, from its first to its last cell.
#[derive(Clone, Copy, Debug)]
struct Strip {
    tile: u32,
    y: i32,
    z: i32,
    low: i32,
    high: i32,
    shift: f32,
    ticks: f32,
}

/// Some rows of a tile, one after another.
#[derive(Clone, Copy, Debug)]
struct RowRun {
    tile: u32,
    first: u32,
    end: u32,
    shift: f32,
    ticks: f32,
}

/// Some lines of cells of a tile, one after another: a piece of work for a thread.
#[derive(Clone, Copy, Debug)]
pub struct TileSlice {
    tile: u32,
    first: u32,
    end: u32,
}

/// The cells of another layer that a box of cells reaches, worked out once for all tiles of that layer.
struct ReachedCells {
    from: CellBox,
    layer: u32,
    cells: CellBox,
}

/// A slice has `SLICE_ROWS` rows, or is one line: enough that it is worth looking for the tiles around, and few enough
/// that threads can share one or two large tiles.
const SLICE_ROWS: u32 = 128;

/// `MET_TOGETHER` encounters are found before they are entered: what that takes is anywhere in memory, and is fetched
/// meanwhile.
const MET_TOGETHER: usize = 32;

/// `GATHERED_TOGETHER` rows, or a run more, are gathered for a single object and then tested: they stay in the fastest
/// cache.
const GATHERED_TOGETHER: usize = 512;

/// The objects of a layer that has less than a tenth of all look one by one.
pub const THIN_LAYER: usize = 10;

/// More ticks than anything is believed for. Finite, since it is multiplied by velocities of zero.
const ENDLESS: f32 = 1e6;

impl TileSlice {
    /// Cuts a tile into slices.
    pub fn cut(number: u32, tile: &Tile, slices: &mut Vec<TileSlice>) {
        let (mut first, mut rows) = (0, 0);
        for line in 0..tile.lines() {
            rows += tile.rows_of_line(line).len() as u32;
            if rows >= SLICE_ROWS || line + 1 == tile.lines() {
                slices.push(TileSlice { tile: number, first, end: line + 1 });
                (first, rows) = (line + 1, 0);
            }
        }
    }

    fn lines(&self) -> Range<u32> {
        self.first..self.end
    }
}

impl EncounterSearch<'_> {
    /// Finds the encounters of a slice of a tile that was renewed in this tick.
    pub fn search_slice(&self, slice: &TileSlice, scratch: &mut SearchScratch, schedule: &mut EncounterSchedule) {
        let tile = self.tiles.get(slice.tile);
        if self.tiles.layer_of(tile).objects * THIN_LAYER < self.objects {
            self.search_one_by_one(slice, scratch, schedule);
            return;
        }
        self.find_neighbours(slice.tile, tile, scratch);
        for line in slice.lines() {
            let (y, z) = tile.line_at(line);
            self.search_line(slice.tile, y, z, scratch, schedule);
        }
        self.enter_met(scratch, schedule);
    }

    /// Finds the encounters of some newcomers.
    pub fn search_newcomers(
        &self,
        arrivals: &[TileArrival],
        scratch: &mut SearchScratch,
        schedule: &mut EncounterSchedule,
    ) {
        let lookers = arrivals.iter().map(|&TileArrival { tile, entry }| Looker { tile, entry, before: u32::MAX });
        let is_mine = |id: u32, other: u32| !self.newcomers.contains(other) || other < id;
        self.look_alone(lookers, |_| false, is_mine, scratch, schedule);
    }

    fn search_one_by_one(&self, slice: &TileSlice, scratch: &mut SearchScratch, schedule: &mut EncounterSchedule) {
        let tile = self.tiles.get(slice.tile);
        let rows = slice.lines().flat_map(|line| tile.rows_of_line(line));
        let entries = rows.filter_map(|row| tile.get(row as usize).map(|entry| (row, entry)));
        let lookers = entries.filter(|(_, entry)| !self.newcomers.contains(entry.id)).map(|(before, entry)| Looker {
            tile: slice.tile,
            entry,
            before,
        });
        let looks_itself = |other: u32| self.looks_itself(other, slice.tile);
        self.look_alone(lookers, looks_itself, |_, other| !self.newcomers.contains(other), scratch, schedule);
    }

    fn search_line(&self, number: u32, y: i32, z: i32, scratch: &mut SearchScratch, schedule: &mut EncounterSchedule) {
        let tile = self.tiles.get(number);
        let (stored, shift, ticks) = (tile.rows(), self.shift(tile), self.ticks(tile, tile));
        let CellBox { low, high } = tile.cells();
        if tile.line(y, z, low[0], high[0]).is_empty() {
            return;
        }
        self.find_strips(number, y, z, scratch);
        for x in low[0]..=high[0] {
            let here = tile.line(y, z, x, x);
            if here.is_empty() {
                continue;
            }
            scratch.gathered.clear();
            scratch.gathered.add(stored, tile.line(y, z, x, (x + 1).min(high[0])), shift, ticks);
            self.gather_strips(x, scratch);
            let mut reached = ReachedCells::by(CellBox { low: [x, y, z], high: [x, y, z] });
            for index in 0..scratch.beside.len() {
                let number = scratch.beside[index];
                let other = self.tiles.get(number);
                let (shift, ticks) = (self.shift(other), self.ticks(tile, other));
                let cells = self.reached_cells(tile, &mut reached, other);
                for (y, z) in cells.lines() {
                    let rows = other.line(y, z, cells.low[0], cells.high[0]);
                    if !rows.is_empty() {
                        scratch.counts.runs += 1;
                        scratch.gathered.add(other.rows(), rows, shift, ticks);
                    }
                }
            }
            for index in 0..here.len() {
                self.look(index, scratch, schedule, |id, other| {
                    !self.newcomers.contains(id) && !self.newcomers.contains(other)
                });
            }
        }
    }

    /// Finds the tiles that a tile has to be searched against: its kin of the same layer, and the others.
    fn find_neighbours(&self, number: u32, tile: &Tile, scratch: &mut SearchScratch) {
        let (low, high) = tile.bounds();
        scratch.others.clear();
        scratch.kin.clear();
        scratch.counts.passed += self.tiles.near(low, high, self.tiles.layer_of(tile).reach, &mut scratch.others);
        scratch.others.retain(|&other| {
            if other == number || self.looks_itself(other, number) {
                return false;
            }
            let is_kin = self.tiles.get(other).layer == tile.layer;
            if is_kin {
                scratch.kin.push(other);
            }
            !is_kin
        });
    }

    /// Finds the lines of cells around the line at `y` and `z` of a tile: those ahead of it in the tile itself, since
    /// the ones behind have looked already, and all in the tiles around. And the tiles of other layers that are near.
    fn find_strips(&self, number: u32, y: i32, z: i32, scratch: &mut SearchScratch) {
        let tile = self.tiles.get(number);
        let CellBox { low, high } = tile.cells();
        let line = CellBox { low: [low[0], y, z], high: [high[0], y, z] };
        scratch.strips.clear();
        for (y, z) in [(y + 1, z), (y - 1, z + 1), (y, z + 1), (y + 1, z + 1)] {
            scratch.strips.extend(self.strip(tile, number, y, z));
        }
        for &other in &scratch.kin {
            let common = self.tiles.get(other).cells().common(line.grown());
            common.lines().for_each(|(y, z)| scratch.strips.extend(self.strip(tile, other, y, z)));
        }
        let mut reached = ReachedCells::by(line);
        let is_near = |other: &u32| !self.reached_cells(tile, &mut reached, self.tiles.get(*other)).is_empty();
        scratch.beside.clear();
        scratch.beside.extend(scratch.others.iter().copied().filter(is_near));
    }

    /// The line at `y` and `z` of another tile, if there is an object in it.
    fn strip(&self, tile: &Tile, number: u32, y: i32, z: i32) -> Option<Strip> {
        let other = self.tiles.get(number);
        let CellBox { low, high } = other.cells();
        if !(low[1]..=high[1]).contains(&y) || !(low[2]..=high[2]).contains(&z) {
            return None;
        }
        let (shift, ticks) = (self.shift(other), self.ticks(tile, other));
        let is_empty = other.line(y, z, low[0], high[0]).is_empty();
        (!is_empty).then_some(Strip { tile: number, y, z, low: low[0], high: high[0], shift, ticks })
    }

    /// Gathers the cells of all strips that touch the one at `x`.
    #[inline]
    fn gather_strips(&self, x: i32, scratch: &mut SearchScratch) {
        for strip in &scratch.strips {
            let (first, last) = ((x - 1).max(strip.low), (x + 1).min(strip.high));
            if first <= last {
                let tile = self.tiles.get(strip.tile);
                let rows = tile.line(strip.y, strip.z, first, last);
                if !rows.is_empty() {
                    scratch.counts.runs += 1;
                    scratch.gathered.add(tile.rows(), rows, strip.shift, strip.ticks);
                }
            }
        }
    }

    /// Whether, of two tiles, the other one finds what both may meet.
    fn looks_itself(&self, other: u32, number: u32) -> bool {
        self.tiles.get(other).renewed == self.now && other > number
    }

    /// The cells of a tile of another layer in which an object may be entered that those of a box of cells may meet.
    #[inline]
    fn reached_cells(&self, tile: &Tile, reached: &mut ReachedCells, other: &Tile) -> CellBox {
        if reached.layer != other.layer {
            let (layer, others) = (self.tiles.layer_of(tile), self.tiles.layer_of(other));
            let (low, high) = layer.grid.corners(reached.from);
            let margin = Vec3::splat(outward(layer.reach + others.reach, low.abs().max(high.abs())));
            (reached.layer, reached.cells) = (other.layer, others.grid.cells_of(low - margin, high + margin));
        }
        reached.cells.common(other.cells())
    }

    /// From the moment of which a tile's rows speak to now, in ticks.
    #[inline]
    fn shift(&self, tile: &Tile) -> f32 {
        -ahead(tile, self.now)
    }

    /// For how many ticks after this one both tiles' rows hold.
    #[inline]
    fn ticks(&self, tile: &Tile, other: &Tile) -> f32 {
        let end = tile.expires.min(other.expires);
        debug_assert!(end > self.now, "a tile that expires was renewed");
        if end == NEVER { ENDLESS } else { (end as i64 - 1 - self.now as i64) as f32 }
    }

    /// Finds which of the rows gathered after `index` the one there may meet; `is_mine` says whether it is the one to
    /// find the pair.
    #[inline]
    fn look(
        &self,
        index: usize,
        scratch: &mut SearchScratch,
        schedule: &mut EncounterSchedule,
        is_mine: impl Fn(u32, u32) -> bool,
    ) {
        let mover = scratch.gathered.get(index);
        scratch.counts.tests += (scratch.gathered.len() - index - 1) as u64;
        for &hit in scratch.gathered.meets(&mover, index + 1, &mut scratch.hits) {
            let other = scratch.gathered.get(hit as usize);
            if is_mine(mover.id, other.id) {
                scratch.met.push([mover, other]);
                for id in [mover.id, other.id].map(|id| id as usize) {
                    fetch_ahead(&self.columns.radius[id]);
                    fetch_ahead(&self.versions[id]);
                }
            }
        }
        if scratch.met.len() >= MET_TOGETHER {
            self.enter_met(scratch, schedule);
        }
    }

    fn enter_met(&self, scratch: &mut SearchScratch, schedule: &mut EncounterSchedule) {
        scratch.counts.found += scratch.met.len() as u64;
        scratch.met.drain(..).for_each(|[mine, other]| self.enter(mine, other, schedule));
    }

    fn enter(&self, mine: Mover, other: Mover, schedule: &mut EncounterSchedule) {
        let radius = |id: u32| f64::from(self.columns.radius[id as usize]);
        let outer = f64::from(mine.radius) + f64::from(other.radius);
        let inner = 2.0 * (radius(mine.id) + radius(other.id)) - outer;
        let difference = |a: &[f32; 3], b: &[f32; 3]| [0, 1, 2].map(|axis| f64::from(b[axis]) - f64::from(a[axis]));
        let motion = RelativeMotion {
            offset: difference(&mine.place, &other.place),
            velocity: difference(&mine.velocity, &other.velocity),
        };
        if mine.velocity == [0.0; 3] && other.velocity == [0.0; 3] {
            let must = inner > 0.0 && motion.distance2() < inner * inner;
            schedule.add_standing(mine.id, other.id, must, self.versions);
            return;
        }
        let end = other.ticks.min(mine.ticks) as u8 + 1;
        if let Some(window) = motion.window(outer, inner, end) {
            schedule.add(self.now, mine.id, other.id, window, self.versions);
        }
    }
}

impl ReachedCells {
    fn by(from: CellBox) -> ReachedCells {
        ReachedCells { from, layer: u32::MAX, cells: from }
    }
}

/// A single object that looks around.
#[derive(Clone, Copy, Debug)]
struct Looker {
    tile: u32,
    entry: Row,
    /// Of its own tile it looks only at the rows before this one.
    before: u32,
}

impl EncounterSearch<'_> {
    /// Finds what each looker may meet, but for the tiles that are `spared` and the pairs that are not `is_mine`. While
    /// one looks, the rows that the next one will look at are fetched.
    fn look_alone(
        &self,
        mut lookers: impl Iterator<Item = Looker>,
        is_spared: impl Fn(u32) -> bool,
        is_mine: impl Fn(u32, u32) -> bool,
        scratch: &mut SearchScratch,
        schedule: &mut EncounterSchedule,
    ) {
        let mut next = lookers.next();
        next.iter().for_each(|looker| self.list_runs(looker, &is_spared, scratch));
        while let Some(Looker { tile, entry, .. }) = next {
            std::mem::swap(&mut scratch.runs, &mut scratch.runs_ahead);
            next = lookers.next();
            next.iter().for_each(|looker| self.list_runs(looker, &is_spared, scratch));
            let tile = self.tiles.get(tile);
            let (shift, ticks) = (self.shift(tile), self.ticks(tile, tile));
            scratch.counts.runs += scratch.runs.len() as u64;
            scratch.gathered.clear();
            scratch.gathered.add_one(entry, shift, ticks);
            for index in 0..scratch.runs.len() {
                let RowRun { tile, first, end, shift: of_run, ticks: with_run } = scratch.runs[index];
                scratch.gathered.add(self.tiles.get(tile).rows(), first..end, of_run, with_run);
                if scratch.gathered.len() > GATHERED_TOGETHER {
                    self.look(0, scratch, schedule, &is_mine);
                    scratch.gathered.clear();
                    scratch.gathered.add_one(entry, shift, ticks);
                }
            }
            self.look(0, scratch, schedule, &is_mine);
        }
        self.enter_met(scratch, schedule);
    }

    /// Lists the rows that a looker may meet, and begins to fetch them.
    fn list_runs(&self, looker: &Looker, is_spared: impl Fn(u32) -> bool, scratch: &mut SearchScratch) {
        let Looker { tile: own, entry, before } = *looker;
        let tile = self.tiles.get(own);
        let (low, high) = self.path(looker);
        scratch.others.clear();
        scratch.counts.passed += self.tiles.near(low, high, entry.radius, &mut scratch.others);
        scratch.runs_ahead.clear();
        for &number in &scratch.others {
            if number != own && is_spared(number) {
                continue;
            }
            let other = self.tiles.get(number);
            let (shift, ticks) = (self.shift(other), self.ticks(tile, other));
            let layer = self.tiles.layer_of(other);
            let margin = Vec3::splat(outward(entry.radius + layer.reach, low.abs().max(high.abs())));
            let cells = layer.grid.cells_of(low - margin, high + margin).common(other.cells());
            for (y, z) in cells.lines() {
                scratch.counts.lines += 1;
                let rows = other.line(y, z, cells.low[0], cells.high[0]);
                let (first, end) = (rows.start, if number == own { rows.end.min(before) } else { rows.end });
                if first < end {
                    // Two rows are a cache line.
                    other.rows()[first as usize..end as usize].iter().step_by(2).for_each(fetch_ahead);
                    scratch.runs_ahead.push(RowRun { tile: number, first, end, shift, ticks });
                }
            }
        }
    }

    /// The box of the places where a looker is until its tile expires.
    fn path(&self, looker: &Looker) -> (Vec3, Vec3) {
        let tile = self.tiles.get(looker.tile);
        let velocity = Vec3::from(looker.entry.velocity);
        let here = Vec3::from(looker.entry.place) + velocity * self.shift(tile);
        let there = here + velocity * self.ticks(tile, tile);
        (here.min(there), here.max(there))
    }
}

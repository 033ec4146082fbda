//! Who may meet whom: tiles that fall due look all around them; newcomers, and those who are few, look
//! [for themselves](super::alone).
//!
//! Every meeting has to be found exactly once. A pair is found by
//! - its tile, when both live in one that was renewed in this tick;
//! - the tile of the two that was renewed in this tick, or the one with the higher number if both were;
//! - the newcomer, when one of the two came in this tick, or the one with the higher id if both did.

use std::iter::Sum;
use std::ops::Range;

use crate::DVec3;

use super::agenda::Agenda;
use super::alone::ALONE;
use super::encounter::Approach;
use super::lattice::{Lattice, outward};
use super::outsiders::Busy;
use super::tile::{Block, NEVER, Tile};
use crate::bits::Bits;
use crate::simd::sweep::{Gathered, Mover};
use crate::{Columns, fetch_ahead};

/// What a search can see.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The tick.
    pub now: u64,
    /// All tiles.
    pub lattice: &'a Lattice,
    /// For the objects' true radii.
    pub columns: Columns<'a>,
    /// The versions of all courses.
    pub versions: &'a [u8],
    /// The objects that came into their tiles in this tick.
    pub newcomers: &'a Bits,
    /// How many objects there are.
    pub objects: usize,
}

/// More ticks than anything that moves is believed for. Finite, for it is multiplied by velocities of zero.
const ENDLESS: f32 = 1e6;

/// What a search took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Tiles that were passed in a list, or asked for, to find those near.
    pub passed: u64,
    /// Lines of cells that somebody looked at on its own.
    pub lines: u64,
    /// Runs of rows that were gathered.
    pub runs: u64,
    /// Tests of courses against each other.
    pub tests: u64,
    /// Meetings found.
    pub found: u64,
}

/// Memory that searching borrows, so that a steady tick allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Tiles of the same layer that a tile is examined against.
    kin: Vec<u32>,
    /// Tiles of other layers.
    pub(super) others: Vec<u32>,
    /// Those of them that touch the line of cells at hand.
    beside: Vec<u32>,
    strips: Vec<Strip>,
    /// What the one who looks around alone looks at, and the next one.
    pub(super) runs: Vec<Run>,
    pub(super) runs_ahead: Vec<Run>,
    pub(super) gathered: Gathered,
    pub(super) hits: Vec<u32>,
    /// Those who found more than a few, each in one look.
    pub(super) busy: Vec<Busy>,
    /// Whom an outsider overlapped before.
    pub(super) marks: Bits,
    /// How many were gathered at once, at most.
    most_gathered: usize,
    /// Who was found to meet, and is not entered yet.
    met: Vec<[Mover; 2]>,
    pub tally: Tally,
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |sum, next| Tally {
            passed: sum.passed + next.passed,
            lines: sum.lines + next.lines,
            runs: sum.runs + next.runs,
            tests: sum.tests + next.tests,
            found: sum.found + next.found,
        })
    }
}

impl Tally {
    /// What was added to an earlier one.
    pub fn since(self, earlier: Tally) -> Tally {
        Tally {
            passed: self.passed - earlier.passed,
            lines: self.lines - earlier.lines,
            runs: self.runs - earlier.runs,
            tests: self.tests - earlier.tests,
            found: self.found - earlier.found,
        }
    }
}

impl Scratch {
    /// Takes memory for more than a tile usually needs, so that it need not be taken bit by bit.
    pub fn reserve(&mut self) {
        for list in [&mut self.kin, &mut self.others, &mut self.beside] {
            list.reserve(128);
        }
        self.strips.reserve(128);
        self.runs.reserve(128);
        self.runs_ahead.reserve(128);
        self.hits.resize(256, 0);
        self.met.reserve(2 * MET_TOGETHER);
        self.busy.reserve(64);
        self.most_gathered = 0;
        self.gathered.reserve(256);
    }

    /// Takes memory for twice as many as any of these owners has gathered so far, for all of them.
    pub fn stock_up<S>(owners: &mut [S], scratch: impl Fn(&mut S) -> &mut Scratch) {
        let most = owners.iter_mut().map(|owner| scratch(owner).most_gathered).max().unwrap_or(0);
        for owner in owners {
            let Scratch { gathered, hits, .. } = scratch(owner);
            gathered.reserve(2 * most);
            hits.resize(hits.len().max(gathered.room()), 0);
        }
    }

    /// Notes how many were gathered, once per gathering.
    pub(super) fn note_gathered(&mut self) {
        self.most_gathered = self.most_gathered.max(self.gathered.len());
    }

    /// How many meetings were found.
    #[inline]
    pub(super) fn found(&self) -> u64 {
        self.tally.found + self.met.len() as u64
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let numbers = [&self.kin, &self.others, &self.beside, &self.hits];
        numbers.into_iter().map(Vec::capacity).sum::<usize>() * 4
            + self.strips.capacity() * size_of::<Strip>()
            + (self.runs.capacity() + self.runs_ahead.capacity()) * size_of::<Run>()
            + self.met.capacity() * size_of::<[Mover; 2]>()
            + self.gathered.bytes()
            + self.busy.capacity() * size_of::<Busy>()
            + self.marks.bytes()
    }
}

/// A line of cells of some tile.
#[derive(Clone, Copy, Debug)]
struct Strip {
    tile: u32,
    y: i32,
    z: i32,
    /// Its first and its last cell.
    low: i32,
    high: i32,
    shift: f32,
    ticks: f32,
}

/// Some rows of a tile, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub tile: u32,
    /// The first row, and the one after the last.
    pub first: u32,
    pub end: u32,
    pub shift: f32,
    pub ticks: f32,
}

/// Some lines of cells of a tile, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub tile: u32,
    /// The first line, and the one after the last.
    first: u32,
    end: u32,
}

/// Which cells of another layer those of a block of cells reach. Tiles of one layer are looked at one after another, so that this is worked
/// out once for all of them.
struct Reached {
    from: Block,
    /// The other layer, if any yet.
    layer: u32,
    block: Block,
}

impl Reached {
    fn by(from: Block) -> Reached {
        Reached { from, layer: u32::MAX, block: from }
    }
}

/// A piece has so many rows, or is one line: enough that looking for the tiles around it is worth it, and so few that there
/// are many pieces for threads to share even where one or two large tiles fall due.
const PIECE_ROWS: u32 = 128;

/// So many meetings are found before they are entered. What that takes of both objects is anywhere in memory, and is fetched
/// meanwhile.
const MET_TOGETHER: usize = 32;

impl Piece {
    /// Its lines.
    pub fn lines(&self) -> Range<u32> {
        self.first..self.end
    }

    /// Cuts a tile into pieces.
    pub fn cut(number: u32, tile: &Tile, pieces: &mut Vec<Piece>) {
        let (mut first, mut rows) = (0, 0);
        for line in 0..tile.lines() {
            rows += tile.rows_of_line(line).len() as u32;
            if rows >= PIECE_ROWS || line + 1 == tile.lines() {
                pieces.push(Piece { tile: number, first, end: line + 1 });
                (first, rows) = (line + 1, 0);
            }
        }
    }
}

impl Search<'_> {
    /// Finds the meetings of everybody in a piece of a tile that was renewed in this tick.
    pub fn examine(&self, piece: &Piece, scratch: &mut Scratch, agenda: &mut Agenda) {
        let tile = self.tile(piece.tile);
        if self.lattice.layer_of(tile).objects * ALONE < self.objects {
            self.examine_one_by_one(piece, scratch, agenda);
            return;
        }
        self.find_neighbours(piece.tile, tile, scratch);
        for line in piece.lines() {
            let (y, z) = tile.line_at(line);
            self.examine_line(piece.tile, y, z, scratch, agenda);
        }
        self.enter_met(scratch, agenda);
    }

    fn examine_line(&self, number: u32, y: i32, z: i32, scratch: &mut Scratch, agenda: &mut Agenda) {
        let tile = self.tile(number);
        let (stored, shift, ticks) = (tile.rows(), self.shift(tile), self.ticks(tile, tile));
        let Block { low, high } = tile.block();
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
            let mut reached = Reached::by(Block { low: [x, y, z], high: [x, y, z] });
            for index in 0..scratch.beside.len() {
                self.runs_around(tile, &mut reached, scratch.beside[index], |run| {
                    scratch.tally.runs += 1;
                    self.gather(run, &mut scratch.gathered);
                });
            }
            scratch.note_gathered();
            for index in 0..here.len() {
                self.look(index, scratch, agenda, |id, other| {
                    !self.newcomers.contains(id as usize) && !self.newcomers.contains(other as usize)
                });
            }
        }
    }

    /// Finds the tiles that a tile has to be examined against: its kin, and the others.
    fn find_neighbours(&self, number: u32, tile: &Tile, scratch: &mut Scratch) {
        let (low, high) = tile.bounds();
        scratch.others.clear();
        scratch.kin.clear();
        let reach = self.lattice.layer_of(tile).reach;
        scratch.tally.passed += self.lattice.tiles_near(low, high, reach, &mut scratch.others);
        scratch.others.retain(|&other| {
            let neighbour = self.tile(other);
            if other == number || self.looks_itself(other, number) {
                return false;
            }
            if neighbour.layer == tile.layer {
                scratch.kin.push(other);
            }
            neighbour.layer != tile.layer
        });
    }

    /// Finds the lines of cells around the line at `y` and `z` of a tile: those ahead of it in the tile itself, for the
    /// ones behind have looked already; and all in the tiles around. And the tiles of other layers that are near.
    fn find_strips(&self, number: u32, y: i32, z: i32, scratch: &mut Scratch) {
        let tile = self.tile(number);
        let Block { low, high } = tile.block();
        let line = Block { low: [low[0], y, z], high: [high[0], y, z] };
        scratch.strips.clear();
        for (y, z) in [(y + 1, z), (y - 1, z + 1), (y, z + 1), (y + 1, z + 1)] {
            scratch.strips.extend(self.strip(tile, number, y, z));
        }
        for &other in &scratch.kin {
            let common = self.tile(other).block().common(line.grown());
            common.lines().for_each(|(y, z)| scratch.strips.extend(self.strip(tile, other, y, z)));
        }
        scratch.beside.clear();
        let (others, mut reached) = (scratch.others.iter().copied(), Reached::by(line));
        scratch
            .beside
            .extend(others.filter(|&other| !self.neighbourhood(tile, &mut reached, self.tile(other)).is_empty()));
    }

    /// The line at `y` and `z` of another tile, if it has one there with anybody in it.
    fn strip(&self, tile: &Tile, number: u32, y: i32, z: i32) -> Option<Strip> {
        let other = self.tile(number);
        let Block { low, high } = other.block();
        if !(low[1]..=high[1]).contains(&y) || !(low[2]..=high[2]).contains(&z) {
            return None;
        }
        let (shift, ticks) = (self.shift(other), self.ticks(tile, other));
        let is_empty = other.line(y, z, low[0], high[0]).is_empty();
        (!is_empty).then_some(Strip { tile: number, y, z, low: low[0], high: high[0], shift, ticks })
    }

    /// Gathers the cells of all strips that touch the one at `x`.
    #[inline]
    fn gather_strips(&self, x: i32, scratch: &mut Scratch) {
        for strip in &scratch.strips {
            let (first, last) = ((x - 1).max(strip.low), (x + 1).min(strip.high));
            if first <= last {
                let tile = self.tile(strip.tile);
                let rows = tile.line(strip.y, strip.z, first, last);
                if !rows.is_empty() {
                    scratch.tally.runs += 1;
                    scratch.gathered.add(tile.rows(), rows, strip.shift, strip.ticks);
                }
            }
        }
    }

    /// Whether, of two tiles, the other one looks at this one.
    pub(super) fn looks_itself(&self, other: u32, number: u32) -> bool {
        self.tile(other).renewed == self.now && other > number
    }

    #[inline]
    pub(super) fn gather(&self, Run { tile, first, end, shift, ticks }: Run, gathered: &mut Gathered) {
        gathered.add(self.tile(tile).rows(), first..end, shift, ticks);
    }

    /// Calls `found` with the rows of another tile that those of a block of cells may meet.
    #[inline]
    fn runs_around(&self, tile: &Tile, reached: &mut Reached, number: u32, mut found: impl FnMut(Run)) {
        let other = self.tile(number);
        let (shift, ticks) = (self.shift(other), self.ticks(tile, other));
        let block = self.neighbourhood(tile, reached, other);
        block.lines().for_each(|(y, z)| {
            let rows = other.line(y, z, block.low[0], block.high[0]);
            if !rows.is_empty() {
                found(Run { tile: number, first: rows.start, end: rows.end, shift, ticks });
            }
        });
    }

    /// The cells of another tile, of another layer, in which somebody may be entered whom those of a block of cells may meet.
    #[inline]
    fn neighbourhood(&self, tile: &Tile, reached: &mut Reached, other: &Tile) -> Block {
        if reached.layer != other.layer {
            let (layer, others) = (self.lattice.layer_of(tile), self.lattice.layer_of(other));
            let (low, high) = layer.cells.corners(reached.from);
            let margin = outward(layer.reach + others.reach, low.abs().max(high.abs()));
            (reached.layer, reached.block) = (other.layer, others.cells.block(low - margin, high + margin));
        }
        reached.block.common(other.block())
    }

    #[inline]
    pub(super) fn tile(&self, number: u32) -> &Tile {
        &self.lattice.tiles[number as usize]
    }

    /// From the moment that a tile's rows speak of to now, in ticks.
    #[inline]
    pub(super) fn shift(&self, tile: &Tile) -> f32 {
        if tile.due == NEVER { 0.0 } else { (self.now as i64 - tile.middle as i64) as f32 }
    }

    /// For how many ticks after this one both tiles answer.
    #[inline]
    pub(super) fn ticks(&self, tile: &Tile, other: &Tile) -> f32 {
        let end = tile.due.min(other.due);
        debug_assert!(end > self.now, "whoever is due was renewed");
        if end == NEVER { ENDLESS } else { (end as i64 - 1 - self.now as i64) as f32 }
    }

    /// Finds whom, of those gathered after it, the one at `index` may meet; `is_mine` says whether it is for this one
    /// to tell.
    #[inline]
    pub(super) fn look(
        &self,
        index: usize,
        scratch: &mut Scratch,
        agenda: &mut Agenda,
        is_mine: impl Fn(u32, u32) -> bool,
    ) {
        let mover = scratch.gathered.get(index);
        scratch.tally.tests += (scratch.gathered.len() - index - 1) as u64;
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
            self.enter_met(scratch, agenda);
        }
    }

    /// Enters the meetings that were found.
    pub(super) fn enter_met(&self, scratch: &mut Scratch, agenda: &mut Agenda) {
        scratch.tally.found += scratch.met.len() as u64;
        scratch.met.drain(..).for_each(|[mine, other]| self.enter(mine, other, agenda));
    }

    /// Enters a meeting.
    fn enter(&self, mine: Mover, other: Mover, agenda: &mut Agenda) {
        let radius = |id: u32| f64::from(self.columns.radius[id as usize]);
        let outer = f64::from(mine.radius) + f64::from(other.radius);
        let inner = 2.0 * (radius(mine.id) + radius(other.id)) - outer;
        let difference = |axis: usize, a: &[f32; 3], b: &[f32; 3]| f64::from(b[axis]) - f64::from(a[axis]);
        let offset = DVec3::from_array([0, 1, 2].map(|axis| difference(axis, &mine.place, &other.place)));
        let velocity = DVec3::from_array([0, 1, 2].map(|axis| difference(axis, &mine.velocity, &other.velocity)));
        if mine.velocity == [0.0; 3] && other.velocity == [0.0; 3] {
            let must = inner > 0.0 && offset.length_squared() < inner * inner;
            agenda.add_standing(mine.id, other.id, must, self.versions);
            return;
        }
        let end = other.ticks.min(mine.ticks) as u8 + 1;
        if let Some(ticks) = (Approach { offset, velocity, outer, inner }).window(end) {
            agenda.add(self.now, mine.id, other.id, ticks, self.versions);
        }
    }
}

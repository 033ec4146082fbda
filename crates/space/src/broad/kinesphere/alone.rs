//! Those who look around on their own: newcomers, and those who are few among many others.
//!
//! Objects of a tile that have many like themselves around look together, cell by cell ([`search`](super::search)). Who is
//! alone looks along its path: into the cells, of all layers, that somebody may be in whom it may touch on its way. That is a
//! small part of what is within its reach, if it is fast or large.
//!
//! Invariant: whoever is in none of these cells comes no closer than both radii and slacks before the looker's tile falls due.

use crate::Vec3;

use super::agenda::Agenda;
use super::following::Newcomer;
use super::lattice::outward;
use super::outsiders::{Busy, FEW};
use super::search::{Piece, Run, Scratch, Search};
use crate::fetch_ahead;
use crate::simd::sweep::Row;

/// Somebody who looks around.
#[derive(Clone, Copy, Debug)]
struct Looker {
    /// The tile it is in, and how it is entered there.
    tile: u32,
    entry: Row,
    /// Of its own tile it looks only at the rows before this one.
    before: u32,
}

/// Objects of a layer that has less than one in so many of all look around alone.
pub const ALONE: usize = 10;

/// So many are gathered, or a line of cells more, and then looked at: they stay in the fastest cache.
const TOGETHER: usize = 512;

impl Search<'_> {
    /// Finds the meetings of some newcomers.
    pub fn welcome(&self, newcomers: &[Newcomer], scratch: &mut Scratch, agenda: &mut Agenda) {
        let lookers = newcomers.iter().map(|&Newcomer { tile, entry }| Looker { tile, entry, before: u32::MAX });
        // Of two newcomers the one with the higher id finds the other; and nobody meets itself.
        let is_mine = |id: u32, other: u32| !self.newcomers.contains(other as usize) || other < id;
        self.look_alone(lookers, |_| false, is_mine, scratch, agenda);
    }

    /// Finds the meetings of everybody in a piece of a tile that was renewed in this tick, one by one.
    pub fn examine_one_by_one(&self, piece: &Piece, scratch: &mut Scratch, agenda: &mut Agenda) {
        let is_new = |id: u32| self.newcomers.contains(id as usize);
        let tile = self.tile(piece.tile);
        let rows = piece.lines().flat_map(|line| tile.rows_of_line(line));
        let entries = rows.filter_map(|row| tile.get(row as usize).map(|entry| (row, entry)));
        let lookers = entries.filter(|(_, entry)| !is_new(entry.id)).map(|(before, entry)| Looker {
            tile: piece.tile,
            entry,
            before,
        });
        let looks_itself = |other: u32| self.looks_itself(other, piece.tile);
        self.look_alone(lookers, looks_itself, |_, other| !is_new(other), scratch, agenda);
    }

    /// Finds whom each looker may meet, but for those of tiles that are `spared`, and whom it is not for this one to tell. What
    /// is around them is anywhere in memory: while one looks, what the next one will look at is on its way.
    fn look_alone(
        &self,
        mut lookers: impl Iterator<Item = Looker>,
        is_spared: impl Fn(u32) -> bool,
        is_mine: impl Fn(u32, u32) -> bool,
        scratch: &mut Scratch,
        agenda: &mut Agenda,
    ) {
        let mut next = lookers.next();
        next.iter().for_each(|looker| self.list_runs(looker, &is_spared, scratch));
        while let Some(Looker { tile, entry, .. }) = next {
            std::mem::swap(&mut scratch.runs, &mut scratch.runs_ahead);
            next = lookers.next();
            next.iter().for_each(|looker| self.list_runs(looker, &is_spared, scratch));
            let tile = self.tile(tile);
            let (shift, ticks) = (self.shift(tile), self.ticks(tile, tile));
            let found_before = scratch.found();
            scratch.tally.runs += scratch.runs.len() as u64;
            scratch.gathered.clear();
            scratch.gathered.add_one(entry, shift, ticks);
            for index in 0..scratch.runs.len() {
                self.gather(scratch.runs[index], &mut scratch.gathered);
                if scratch.gathered.len() > TOGETHER {
                    scratch.note_gathered();
                    self.look(0, scratch, agenda, &is_mine);
                    scratch.gathered.clear();
                    scratch.gathered.add_one(entry, shift, ticks);
                }
            }
            scratch.note_gathered();
            self.look(0, scratch, agenda, &is_mine);
            let found = scratch.found() - found_before;
            if found >= FEW && entry.velocity != [0.0; 3] {
                scratch.busy.push(Busy { row: entry.id, found, life: self.lattice.layer_of(tile).life });
            }
        }
        self.enter_met(scratch, agenda);
    }

    /// Lists the rows that a looker may meet, and begins to fetch them.
    fn list_runs(&self, looker: &Looker, is_spared: impl Fn(u32) -> bool, scratch: &mut Scratch) {
        let Looker { tile: own, entry, before } = *looker;
        let tile = self.tile(own);
        let (low, high) = self.path(looker);
        scratch.others.clear();
        scratch.tally.passed += self.lattice.tiles_near(low, high, entry.radius, &mut scratch.others);
        scratch.runs_ahead.clear();
        for &number in &scratch.others {
            let other = self.tile(number);
            let (shift, ticks) = (self.shift(other), self.ticks(tile, other));
            if number != own && is_spared(number) {
                continue;
            }
            let layer = self.lattice.layer_of(other);
            let margin = outward(entry.radius + layer.reach, low.abs().max(high.abs()));
            let block = layer.cells.block(low - margin, high + margin).common(other.block());
            for (y, z) in block.lines() {
                scratch.tally.lines += 1;
                let rows = other.line(y, z, block.low[0], block.high[0]);
                let end = if number == own { rows.end.min(before) } else { rows.end };
                if rows.start < end {
                    let run = Run { tile: number, first: rows.start, end, shift, ticks };
                    // Two rows are a line of cache.
                    other.rows()[run.first as usize..run.end as usize].iter().step_by(2).for_each(fetch_ahead);
                    scratch.runs_ahead.push(run);
                }
            }
        }
    }

    /// The box of the places where a looker is until its tile falls due.
    fn path(&self, looker: &Looker) -> (Vec3, Vec3) {
        let tile = self.tile(looker.tile);
        let velocity = Vec3::from(looker.entry.velocity);
        let here = Vec3::from(looker.entry.place) + velocity * self.shift(tile);
        let there = here + velocity * self.ticks(tile, tile);
        (here.min(there), here.max(there))
    }
}

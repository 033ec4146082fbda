//! A tick while objects are followed along their courses.
//!
//! In order: who strayed leaves its tile and gets another course; tiles that fall due are renewed; newcomers move into
//! their tiles; renewed tiles and newcomers look for meetings; and the agendas report who overlaps, and so do outsiders.
//!
//! Invariants, when pairs are reported:
//! - Everybody is in one tile, or an outsider: `homes` says which. Nobody is homeless.
//! - No tile is due; of each two objects in tiles, whoever got its course or its tile last has looked for the other.
//! - Whose version changed in this tick is in `outdated`.

use rayon::prelude::*;

use super::agenda::{Agenda, Moment, Turnover};
use super::beginning::Debut;
use super::calendar::Calendar;
use super::course::Courses;
use super::lattice::Lattice;
use super::outsiders::{Busy, Lookout, OUTSIDE, Outsider, Outsiders};
use super::pace::Pace;
use super::packed::Packed;
use super::plan::Plan;
use super::renewal::{REFINE_EVERY, Renewals};
use super::room::{Part, Turn, stock_up_alike, stock_up_as_used};
use super::search::{Piece, Scratch, Search, Tally};
use super::strays::Departure;
use super::tile::Workbench;
use crate::bits::Bits;
use crate::broad::Work;
use crate::simd::mentions::Few;
use crate::simd::sweep::Row;
use crate::{Columns, Pair, Spheres};

/// No tile.
pub const NOWHERE: u32 = u32::MAX;

/// Meetings are kept in so many agendas, one for so many objects, whatever the number of threads: the result cannot
/// depend on that. A small world has few, so that its lists stay together in memory.
const SHARES_MAX: usize = 32;
const OBJECTS_PER_SHARE: usize = 16_384;

/// Everything that is known about objects that are followed.
#[derive(Debug, Default)]
pub struct Following {
    pub(super) now: u64,
    /// How many ticks tiles live for.
    pub(super) pace: Pace,
    pub(super) threads: usize,
    pub(super) courses: Courses,
    /// Each row's [`Mood`].
    pub(super) moods: Vec<u8>,
    /// The tile each row lives in.
    pub(super) homes: Vec<u32>,
    pub(super) lattice: Lattice,
    /// The layers from this one on were not planned.
    pub(super) planned_layers: usize,
    /// If more move than this, the plan was made for others.
    pub(super) movers_max: usize,
    /// When tiles fall due.
    pub(super) calendar: Calendar,
    /// Rows that strayed, came, went or changed size in this tick.
    pub(super) strayed: Vec<u32>,
    /// What becomes of each of them.
    pub(super) departures: Vec<Departure>,
    /// Those of them who need a tile once all tiles are renewed, and after them those who left one when it was.
    pub(super) homeless: Vec<u32>,
    /// Those of them who stood before.
    pub(super) stood: Few,
    /// Rows whose tile changed though their course did not.
    pub(super) adopted: Vec<u32>,
    /// Rows whose meetings of earlier ticks no longer hold: those who strayed, and those whose tile changed.
    pub(super) outdated: Bits,
    /// Tiles renewed in this tick, and scratch: those of them that were not to fall due yet.
    pub(super) due: Vec<u32>,
    pub(super) early: Vec<u32>,
    pub(super) newcomers: Vec<Newcomer>,
    pub(super) newcomer_rows: Bits,
    /// The tiles renewed in this tick, cut into pieces of work.
    pieces: Vec<Piece>,
    pub(super) bench: Workbench,
    pub(super) renewals: Renewals,
    /// What is kept while courses begin.
    pub(super) debut: Debut,
    pub(super) shares: Vec<Share>,
    /// Those who are in no tile, and scratch: those who were busy in this tick.
    pub(super) outsiders: Outsiders,
    pub(super) busy: Vec<Busy>,
    /// When tiles had, or will have, their first life, and from when on lists get more memory than they have needed until then.
    pub(super) started_at: u64,
    pub(super) stock_up_at: u64,
    /// Whether the lists that are empty between ticks ever did. They keep their memory, also when courses begin anew.
    is_stocked_up: bool,
    /// How many pairs the last report had, and how many positions it compared.
    reported: usize,
    compared: u64,
    /// What looking around took outsiders then.
    looked: Tally,
    /// All spheres, for reports that compare many.
    packed: Packed,
}

/// Somebody who came into a tile in this tick.
#[derive(Clone, Copy, Debug)]
pub struct Newcomer {
    /// The tile.
    pub tile: u32,
    /// How it is entered there.
    pub entry: Row,
}

/// The meetings that one task looks after, and its memory.
#[derive(Debug, Default)]
pub(super) struct Share {
    agenda: Agenda,
    pub(super) scratch: Scratch,
    pairs: Vec<Pair>,
    turnover: Turnover,
    compared: u64,
    /// The pieces of tiles that it examined, by tile, and how long each took; and what those took that looked around for the first time.
    worked: Vec<(u32, u32)>,
    once: Tally,
}

/// What a tick took, to be weighed against finding the pairs afresh.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Objects that strayed or moved in.
    pub newcomers: usize,
    /// Objects in tiles that were renewed.
    pub renewed: usize,
    /// What looking for meetings took, and what looking around took outsiders in the last report.
    pub search: Tally,
    /// What looking for meetings took those who do so only once, as courses begin. It says nothing about other ticks.
    pub once: Tally,
    /// Pairs of the last report, and those of them that rest.
    pub reported: usize,
    pub resting: usize,
    /// Positions that the last report compared.
    pub compared: u64,
}

impl Effort {
    /// The same as whoever asks is told.
    pub fn to_work(self) -> Work {
        Work { sphere_tests: self.search.tests + self.once.tests, cells: self.renewed as u64, ..Work::default() }
    }
}

impl Following {
    /// Ends all meetings, adding the pairs that were reported last to `lost`.
    pub fn stop(&mut self, lost: &mut Vec<Pair>) {
        for share in &mut self.shares {
            share.agenda.clear(lost);
        }
        self.outsiders.stop(lost);
    }

    /// Takes in the positions of tick `now`. Says what it took, or `None` when so many strayed that it gave up.
    pub fn advance(&mut self, spheres: &Spheres, now: u64) -> Option<Effort> {
        if !self.keep_up(spheres, now) {
            return None;
        }
        let search = self.search(spheres.columns());
        self.note_work();
        if let Some(turn) = Turn::at(now, self.stock_up_at, self.pace.longest) {
            self.stock_up(turn);
        }
        let tiles = &self.lattice.tiles;
        let renewed = self.due.iter().map(|&tile| tiles[tile as usize].len()).sum();
        let once: Tally = self.shares.iter().map(|share| share.once).sum();
        let (newcomers, reported, compared) = (self.newcomers.len(), self.reported, self.compared);
        let search = [search.since(once), self.looked].into_iter().sum();
        let resting = self.shares.iter().map(|share| share.agenda.resting()).sum();
        let effort = Effort { newcomers, renewed, search, once, reported, resting, compared };
        self.note_burdens(Plan::time_of(effort, spheres.len()));
        Some(effort)
    }

    /// Takes in the positions of tick `now`, and enters everybody where it belongs. Says whether it could: not if so many strayed that
    /// it is not worth it.
    pub(super) fn keep_up(&mut self, spheres: &Spheres, now: u64) -> bool {
        let is_first_look = std::mem::replace(&mut self.now, now) != now;
        self.forget_last_tick(spheres.rows());
        self.courses.check(now, spheres, self.threads, &mut self.strayed);
        for &row in &self.strayed {
            self.outdated.insert(row as usize);
        }
        for &slot in spheres.reshaped() {
            if !self.outdated.contains(slot.row()) && self.homes[slot.row()] != OUTSIDE {
                self.outdated.insert(slot.row());
                self.strayed.push(slot.number());
            }
        }
        self.take_back(spheres);
        self.cast_out(spheres);
        if self.strayed.len() * 8 > spheres.len() {
            return false;
        }
        let columns = spheres.columns();
        if is_first_look {
            self.hasten_tiles();
            self.take_turns();
        }
        self.see_strays_off(spheres);
        self.renew_due(columns);
        for index in 0..self.homeless.len() {
            self.enter(self.homeless[index], columns);
        }
        true
    }

    /// Makes `pairs` those that overlap, and adds what changed to `turnover`. Returns how many positions were compared.
    pub fn report(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        self.pack(spheres);
        let columns = spheres.columns();
        let (now, versions) = (self.now, self.courses.versions());
        let moment = Moment {
            now,
            columns,
            packed: &self.packed,
            outdated: &self.outdated,
            is_any_outdated: !self.strayed.is_empty() || !self.adopted.is_empty(),
            stood: self.stood,
            versions,
        };
        let (outsiders, rows) = self.outsiders.with_rows(turnover);
        let newcomers = &self.newcomer_rows;
        let search =
            Search { now, lattice: &self.lattice, columns, versions, newcomers, objects: self.lattice.objects() };
        let lookout = Lookout { search, outsiders: rows, moment: &moment };
        // Each share has some of the outsiders, the last ones none.
        let part = outsiders.len().div_ceil(self.shares.len()).max(1);
        self.shares.iter_mut().for_each(|share| share.scratch.tally = Tally::default());
        if self.threads < 2 {
            pairs.clear();
            let mut parts = outsiders.chunks_mut(part);
            let report = |Share { agenda, scratch, .. }: &mut Share| {
                let compared = agenda.report(&moment, pairs, turnover);
                compared + parts.next().map_or(0, |part| lookout.report(part, scratch, pairs, turnover))
            };
            self.compared = self.shares.iter_mut().map(report).sum();
            self.reported = pairs.len();
            self.looked = self.shares.iter().map(|share| share.scratch.tally).sum();
            return self.compared + self.looked.tests;
        }
        let is_wanted = turnover.is_wanted;
        self.shares.par_iter_mut().with_max_len(1).for_each(|share| {
            share.pairs.clear();
            share.turnover.is_wanted = is_wanted;
            share.compared = share.agenda.report(&moment, &mut share.pairs, &mut share.turnover);
        });
        let with_outsiders = self.shares.par_iter_mut().zip(outsiders.par_chunks_mut(part));
        with_outsiders.with_max_len(1).for_each(|(share, part): (&mut Share, &mut [Outsider])| {
            let Share { scratch, pairs, turnover, compared, .. } = share;
            *compared += lookout.report(part, scratch, pairs, turnover);
        });
        // What `pairs` has is overwritten: clearing it would mean to fill it twice.
        pairs.resize(self.shares.iter().map(|share| share.pairs.len()).sum(), Pair::of_rows(0, 1));
        put_together(&self.shares, pairs);
        for share in &mut self.shares {
            turnover.gained.append(&mut share.turnover.gained);
            turnover.lost.append(&mut share.turnover.lost);
        }
        self.compared = self.shares.iter().map(|share| share.compared).sum();
        self.reported = pairs.len();
        self.looked = self.shares.iter().map(|share| share.scratch.tally).sum();
        self.compared + self.looked.tests
    }

    /// Brings the numbers of each sphere together, if so many are about to be compared, one by one and in no order,
    /// that this is cheaper than looking into four columns each time.
    fn pack(&mut self, spheres: &Spheres) {
        if self.compared * 8 <= spheres.rows() as u64 {
            self.packed.clear();
            return;
        }
        self.packed.take(spheres.columns(), self.threads);
    }

    /// Whether the plan no longer fits those it was made for: many are in layers that it did not have, or move though they
    /// stood.
    pub fn has_outgrown_its_plan(&self, objects: usize) -> bool {
        let layers = &self.lattice.layers;
        let misfits: usize = layers[self.planned_layers..].iter().map(|layer| layer.objects).sum();
        misfits * 5 > objects || self.lattice.movers() > self.movers_max
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let rows = [&self.strayed, &self.homeless, &self.adopted, &self.due, &self.early];
        let rows: usize = rows.into_iter().map(Vec::capacity).sum();
        let shares = self.shares.iter().map(|share| {
            share.agenda.bytes()
                + share.scratch.bytes()
                + share.turnover.bytes()
                + (share.pairs.capacity() + share.worked.capacity()) * 8
        });
        self.courses.bytes()
            + self.moods.capacity()
            + self.homes.capacity() * 4
            + self.lattice.bytes()
            + self.outdated.bytes()
            + self.newcomer_rows.bytes()
            + rows * 4
            + self.newcomers.capacity() * size_of::<Newcomer>()
            + self.calendar.bytes()
            + self.bench.bytes()
            + self.renewals.bytes()
            + self.departures.capacity() * size_of::<Departure>()
            + self.pieces.capacity() * size_of::<Piece>()
            + self.packed.bytes()
            + self.outsiders.bytes()
            + self.busy.capacity() * size_of::<Busy>()
            + self.debut.bytes()
            + shares.sum::<usize>()
    }

    /// Makes as many agendas as so many objects are to have, all of them empty.
    pub(super) fn open_shares(&mut self, objects: usize) {
        self.shares.resize_with((objects / OBJECTS_PER_SHARE).clamp(1, SHARES_MAX), Share::default);
        self.renewals.reset(self.shares.len());
        for share in &mut self.shares {
            share.agenda.open(self.pace.longest);
            share.scratch.reserve();
            share.worked.reserve(64);
        }
    }

    /// Makes room for new rows, and forgets what the last tick left behind.
    fn forget_last_tick(&mut self, rows: usize) {
        self.courses.grow(rows);
        if rows > self.homes.len() {
            self.moods.resize(rows, 0);
            self.homes.resize(rows, NOWHERE);
            self.outdated.grow(rows);
            self.newcomer_rows.grow(rows);
        }
        for row in self.strayed.drain(..).chain(self.adopted.drain(..)) {
            self.outdated.remove(row as usize);
        }
        self.early.clear();
        self.debut.forget_last_tick();
        self.stood = Few::default();
        for newcomer in self.newcomers.drain(..) {
            self.newcomer_rows.remove(newcomer.entry.id as usize);
        }
    }

    /// Takes more memory than was ever needed, so that the ticks to come need not. Some numbers take their time to become
    /// what they usually are: so this is done once more after twice the time.
    fn stock_up(&mut self, turn: Turn) {
        let soon = self.started_at + REFINE_EVERY * self.pace.longest;
        let is_first_time = self.stock_up_at == soon;
        match turn {
            Turn::First => self.lattice.stock_up(),
            Turn::Shared(part) => {
                self.lattice.stock_up_tiles(part);
                for (index, share) in self.shares.iter_mut().enumerate() {
                    share.agenda.stock_up(|list| part.has(index * Agenda::LISTS + list));
                }
                let usual = self.lattice.tiles.len() / self.pace.longest as usize;
                self.calendar.stock_up(part, usual);
                if !is_first_time && !self.is_stocked_up {
                    self.stock_up_lists_of_a_tick(part);
                }
            }
            Turn::Last if is_first_time => self.stock_up_at = soon + REFINE_EVERY * self.pace.longest,
            Turn::Last => self.is_stocked_up = true,
        }
    }

    /// The part of it that concerns lists that are empty between ticks.
    fn stock_up_lists_of_a_tick(&mut self, part: Part) {
        let lists: [fn(&mut Following); 10] = [
            |all| stock_up_as_used(&mut all.strayed),
            |all| stock_up_as_used(&mut all.homeless),
            |all| stock_up_as_used(&mut all.adopted),
            |all| stock_up_as_used(&mut all.due),
            |all| stock_up_as_used(&mut all.departures),
            |all| stock_up_as_used(&mut all.newcomers),
            |all| stock_up_as_used(&mut all.pieces),
            |all| Scratch::stock_up(&mut all.shares, |share| &mut share.scratch),
            |all| stock_up_alike(&mut all.shares, |share| &mut share.pairs),
            |all| stock_up_alike(&mut all.shares, |share| &mut share.worked),
        ];
        part.of(lists).for_each(|stock_up| stock_up(self));
        self.renewals.stock_up(part);
    }

    /// Lets renewed tiles and newcomers look for meetings.
    ///
    /// At the same time the better courses of those in renewed tiles are written down: whoever searches looks at tiles.
    pub(super) fn search(&mut self, columns: Columns<'_>) -> Tally {
        self.pieces.clear();
        let Following { lattice: Lattice { tiles, .. }, pieces, due, debut, .. } = self;
        due.iter().for_each(|&number| Piece::cut(number, &tiles[number as usize], pieces));
        let usual = pieces.len();
        debut.looking().iter().for_each(|&number| Piece::cut(number, &tiles[number as usize], pieces));
        let Following { now, lattice, pieces, newcomers, newcomer_rows, courses, moods, renewals, .. } = self;
        let objects = lattice.objects();
        let (versions, mut refiner) = courses.versions_and_refiner();
        let search = Search { now: *now, lattice, columns, versions, newcomers: newcomer_rows, objects };
        let mut refine = || renewals.refine(*now, &mut refiner, moods);
        let shares = self.shares.len();
        // Neighbours go to the same share: what one has looked at the next one finds in cache.
        let part = |index: usize, count: usize| index * count / shares..(index + 1) * count / shares;
        let task = |(index, share): (usize, &mut Share)| {
            (share.scratch.tally, share.once) = (Tally::default(), Tally::default());
            for number in part(index, pieces.len()) {
                let (piece, before) = (&pieces[number], share.scratch.tally);
                search.examine(piece, &mut share.scratch, &mut share.agenda);
                let took = share.scratch.tally.since(before);
                share.worked.push((piece.tile, Plan::time_to_examine(took) as u32));
                if number >= usual {
                    share.once = [share.once, took].into_iter().sum();
                }
            }
            search.welcome(&newcomers[part(index, newcomers.len())], &mut share.scratch, &mut share.agenda);
        };
        if self.threads < 2 {
            refine();
            self.shares.iter_mut().enumerate().for_each(task);
        } else {
            let shares = &mut self.shares;
            rayon::join(refine, || shares.par_iter_mut().with_max_len(1).enumerate().for_each(task));
        }
        for share in &mut self.shares {
            for (tile, work) in share.worked.drain(..) {
                let sum = &mut self.lattice.tiles[tile as usize].work;
                *sum = sum.saturating_add(work);
            }
        }
        self.shares.iter().map(|share| share.scratch.tally).sum()
    }
}

/// Copies the pairs of all shares to where they belong.
fn put_together(shares: &[Share], pairs: &mut [Pair]) {
    if let [share] = shares {
        pairs.copy_from_slice(&share.pairs);
        return;
    }
    let (first, second) = shares.split_at(shares.len() / 2);
    let (pairs_of_first, pairs_of_second) = pairs.split_at_mut(first.iter().map(|share| share.pairs.len()).sum());
    rayon::join(|| put_together(first, pairs_of_first), || put_together(second, pairs_of_second));
}

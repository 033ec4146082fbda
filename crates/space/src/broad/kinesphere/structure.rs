//! The kinetic data structure, and a tick of it.
//!
//! Invariants, when pairs are reported:
//! - Every object has a flight plan that it keeps to, and is in one tile, which has not expired.
//! - Of each two objects, the one that got its plan or its tile last has been searched for encounters with the other.
//! - A row whose version changed in this tick is in `outdated`.

use rayon::prelude::*;

use super::flight_plans::{FlightPlan, FlightPlans, drift};
use super::renewal::Renewals;
use super::schedule::{EncounterSchedule, ReportView, Turnover};
use super::search::{EncounterSearch, SearchCounts, SearchScratch, TileSlice};
use super::tiles::{TileArrival, Tiles};
use super::tolerance::Tolerance;
use super::tuning::Tuning;
use crate::bits::RowSet;
use crate::simd::mentions::Few;
use crate::{Columns, Pair, Slot, Spheres, Vec3};

/// There is one schedule for every 16,384 objects, whatever the number of threads: the result cannot depend on that.
const OBJECTS_PER_SHARE: usize = 16_384;
const SHARES_MAX: usize = 32;

/// If more than one object in eight departs in a tick, nothing is worth remembering.
const DEPARTED_ONE_IN: usize = 8;

/// All that is remembered about a world whose objects have flight plans.
#[derive(Debug, Default)]
pub struct Structure {
    now: u64,
    threads: usize,
    plans: FlightPlans,
    tiles: Tiles,
    renewals: Renewals,
    shares: Vec<Share>,
    /// If more objects move than this, the structure was tuned for another world.
    movers_max: usize,
    /// Rows that departed from their plans, came, went or changed size in this tick.
    departed: Vec<u32>,
    /// Rows that have another version than in the last tick, and those of them that stood.
    outdated: RowSet,
    stood: Few,
    /// Tiles that expired in this tick and were renewed.
    expired: Vec<u32>,
    /// The same, cut into pieces of work.
    slices: Vec<TileSlice>,
    arrivals: Vec<TileArrival>,
    newcomers: RowSet,
    /// What the last report had and compared.
    reported: usize,
    compared: u64,
}

/// The encounters that one task looks after, and its memory.
#[derive(Debug, Default)]
struct Share {
    schedule: EncounterSchedule,
    scratch: SearchScratch,
    pairs: Vec<Pair>,
    turnover: Turnover,
}

/// What a tick took.
#[derive(Clone, Copy, Debug, Default)]
pub struct TickCounts {
    pub arrivals: usize,
    /// Objects in tiles that were renewed.
    pub renewed: usize,
    pub search: SearchCounts,
    /// Pairs of the last report, and the positions that it compared.
    pub reported: usize,
    pub compared: u64,
}

impl Structure {
    /// A structure that uses `threads` threads.
    pub fn with_threads(threads: usize) -> Structure {
        Structure { threads, ..Structure::default() }
    }

    /// Gives every object a flight plan at tick `now`, enters all into tiles and finds all encounters. `velocity` says
    /// how a row moves, as far as is known.
    pub fn start(
        &mut self,
        spheres: &Spheres,
        now: u64,
        tuning: &Tuning,
        velocity: impl Fn(usize) -> Vec3,
    ) -> SearchCounts {
        (self.now, self.movers_max) = (now, tuning.movers_max);
        let (rows, columns) = (spheres.rows(), spheres.columns());
        let tolerance = Tolerance::new(tuning.level);
        self.plans.reset(rows, now, tolerance);
        self.tiles.reset(rows, tuning.life, &tuning.layers);
        self.forget_last_tick(rows);
        self.expired.clear();
        self.shares.resize_with((spheres.len() / OBJECTS_PER_SHARE).clamp(1, SHARES_MAX), Share::default);
        self.shares.iter_mut().for_each(|share| share.schedule.open(tuning.life));
        for row in spheres.alive().iter() {
            let velocity = velocity(row);
            let slack = tolerance.slack(columns.radius[row], velocity);
            self.plans.set(row as u32, now, FlightPlan { place: columns.sphere(row).center, velocity, slack });
        }
        self.tiles.fill(now, spheres, &self.plans, &mut self.expired);
        self.search(columns)
    }

    /// Forgets all encounters, adding the pairs that were reported last to `lost`.
    pub fn stop(&mut self, lost: &mut Vec<Pair>) {
        self.shares.iter_mut().for_each(|share| share.schedule.clear(lost));
    }

    /// Takes in the positions of tick `now`. Says what that took, or `None` if too many departed.
    pub fn advance(&mut self, spheres: &Spheres, now: u64) -> Option<TickCounts> {
        self.now = now;
        self.forget_last_tick(spheres.rows());
        self.find_departed(spheres);
        if self.departed.len() * DEPARTED_ONE_IN > spheres.len() {
            return None;
        }
        self.replan_departed(spheres);
        self.renew_expired(spheres.columns());
        self.enter_homeless(spheres);
        let search = self.search(spheres.columns());
        let renewed = self.expired.iter().map(|&tile| self.tiles.get(tile).len()).sum();
        let (arrivals, reported, compared) = (self.arrivals.len(), self.reported, self.compared);
        Some(TickCounts { arrivals, renewed, search, reported, compared })
    }

    /// Makes `pairs` those that overlap, and adds what changed to `turnover`. Returns how many positions were compared.
    pub fn report(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        let Structure { outdated, plans, shares, .. } = self;
        let (columns, versions) = (spheres.columns(), plans.versions());
        let view = ReportView { now: self.now, columns, outdated, stood: self.stood, versions };
        if self.threads < 2 {
            pairs.clear();
            self.compared = shares.iter_mut().map(|share| share.schedule.report(&view, pairs, turnover)).sum();
        } else {
            let is_wanted = turnover.is_wanted;
            let report = |share: &mut Share| {
                share.pairs.clear();
                share.turnover.is_wanted = is_wanted;
                share.schedule.report(&view, &mut share.pairs, &mut share.turnover)
            };
            self.compared = shares.par_iter_mut().with_max_len(1).map(report).sum();
            // What `pairs` has is overwritten: clearing it would mean to fill it twice.
            pairs.resize(shares.iter().map(|share| share.pairs.len()).sum(), Pair::of_rows(0, 1));
            put_together(shares, pairs);
            for share in &mut *shares {
                turnover.gained.append(&mut share.turnover.gained);
                turnover.lost.append(&mut share.turnover.lost);
            }
        }
        self.reported = pairs.len();
        self.compared
    }

    /// Whether it was tuned for another world: many objects are in layers that were not planned, or move though they
    /// stood.
    pub fn has_outgrown_its_tuning(&self, objects: usize) -> bool {
        self.tiles.unplanned() * 5 > objects || self.tiles.moving() > self.movers_max
    }

    /// Checks the invariants that can be seen from positions, for tests.
    ///
    /// # Panics
    /// If one does not hold.
    pub fn assert_well_formed(&self, spheres: &Spheres) {
        for slot in spheres.slots() {
            let FlightPlan { place, slack, .. } = self.plans.at(slot.number(), self.now, 0.0);
            let center = spheres.columns().sphere(slot.row()).center;
            let off = (center - place).length_squared().sqrt();
            let rounding = drift(center.abs().max_element());
            assert!(off <= slack * 1.000_1 + rounding, "{slot:?} is within {slack} of its line: {off}");
        }
        self.tiles.assert_well_formed(self.now, spheres, &self.plans);
    }

    fn forget_last_tick(&mut self, rows: usize) {
        self.plans.grow(rows);
        self.tiles.grow(rows);
        self.outdated.grow(rows);
        self.newcomers.grow(rows);
        self.departed.clear();
        self.outdated.clear();
        self.stood = Few::default();
        self.expired.clear();
        self.arrivals.clear();
        self.newcomers.clear();
    }

    fn find_departed(&mut self, spheres: &Spheres) {
        self.plans.check(self.now, spheres, self.threads, &mut self.departed);
        for &row in &self.departed {
            self.outdated.insert(row);
        }
        for slot in spheres.reshaped() {
            if self.outdated.insert(slot.number()) {
                self.departed.push(slot.number());
            }
        }
        // The rows of one tile after another: what they touch is still in the cache.
        let tiles = &self.tiles;
        self.departed.sort_unstable_by_key(|&row| (tiles.home(row), row));
    }

    /// Takes what departed out of the tiles, and gives it other plans. Each row has one version more afterwards,
    /// whatever became of its object and of others that had the slot meanwhile.
    fn replan_departed(&mut self, spheres: &Spheres) {
        const AHEAD: usize = 4;
        let columns = spheres.columns();
        for (index, &row) in self.departed.iter().enumerate() {
            if let Some(&later) = self.departed.get(index + AHEAD) {
                self.plans.fetch(later, columns);
            }
            if self.tiles.leave(self.now, row, &self.plans) {
                self.stood.insert(row);
            }
            let slot = Slot::new(row);
            if spheres.is_alive(slot) {
                self.plans.replan(row, self.now, columns, spheres.was_taken_in_this_tick(slot));
            } else {
                self.plans.clear(row);
            }
        }
    }

    fn renew_expired(&mut self, columns: Columns<'_>) {
        let Structure { now, threads, expired, tiles, plans, renewals, outdated, .. } = self;
        tiles.take_expired(*now, expired);
        renewals.renew(*now, *threads, expired, tiles, plans, columns);
        renewals.adopted().for_each(|id| assert!(outdated.insert(id), "what departed is in no tile"));
    }

    /// Enters what departed into the tiles where the new plans lead, and what the renewed tiles could not keep.
    fn enter_homeless(&mut self, spheres: &Spheres) {
        let Structure { now, tiles, plans, renewals, departed, outdated, arrivals, newcomers, .. } = self;
        let departed = departed.iter().copied().filter(|&row| spheres.is_alive(Slot::new(row)));
        for row in departed.chain(renewals.emigrants()) {
            let radius = spheres.columns().radius[row as usize];
            let arrival = tiles.enter(*now, row, radius, plans).unwrap_or_else(|| {
                // It is between two tiles that disagree about the time, and is planned to stand for a moment.
                let plan = plans.at(row, *now, 0.0);
                plans.set(row, *now, FlightPlan { velocity: Vec3::ZERO, ..plan });
                outdated.insert(row);
                tiles.enter(*now, row, radius, plans).expect("standing objects have one middle")
            });
            arrivals.push(arrival);
            newcomers.insert(row);
        }
    }

    /// Searches renewed tiles and newcomers for encounters.
    fn search(&mut self, columns: Columns<'_>) -> SearchCounts {
        self.slices.clear();
        for &number in &self.expired {
            TileSlice::cut(number, self.tiles.get(number), &mut self.slices);
        }
        let Structure { now, tiles, plans, slices, arrivals, newcomers, shares, .. } = self;
        let (versions, objects, count) = (plans.versions(), tiles.objects(), shares.len());
        let search = EncounterSearch { now: *now, tiles, columns, versions, newcomers, objects };
        // Neighbours go to the same share: what one has looked at the next one finds in the cache.
        let part = |index: usize, work: usize| index * work / count..(index + 1) * work / count;
        let task = |(index, share): (usize, &mut Share)| {
            let Share { schedule, scratch, .. } = share;
            scratch.counts = SearchCounts::default();
            for slice in &slices[part(index, slices.len())] {
                search.search_slice(slice, scratch, schedule);
            }
            search.search_newcomers(&arrivals[part(index, arrivals.len())], scratch, schedule);
        };
        if self.threads < 2 {
            shares.iter_mut().enumerate().for_each(task);
        } else {
            shares.par_iter_mut().with_max_len(1).enumerate().for_each(task);
        }
        shares.iter().map(|share| share.scratch.counts).sum()
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

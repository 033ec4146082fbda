//! The schedule: encounters that wait in the event queue, run, or last for as long as two objects stand.
//!
//! While an encounter waits it is the certificate that its pair is apart; the certificate fails at its first tick.
//! While it runs it is looked at once per tick: in the ticks at which the pair must overlap it is reported as it is, in
//! the others the positions are compared. It ends when one of its tiles expires, which finds it again. Two standing
//! objects have tiles that never expire: their encounter lasts until one of them departs from its plan.
//!
//! Invariants:
//! - At any tick at which two objects may overlap there is exactly one encounter of the two that runs or lasts.
//! - An encounter is void once one of its objects has another version: running ones at once, waiting ones when their
//!   time comes.

use super::LOOK_AHEAD;
use super::tile::roomy;
use super::window::EncounterWindow;
use crate::bits::RowSet;
use crate::simd::mentions::Few;
use crate::{Columns, Pair, fetch_ahead};

/// The versions of this many encounters are fetched before they are looked at.
const FETCHED_TOGETHER: usize = 32;
/// Resting pairs are passed 1,024 at a time, in search of those that are over.
const TOGETHER: usize = 1_024;

/// The encounters of one share of the world.
#[derive(Debug, Default)]
pub struct EncounterSchedule {
    /// The event queue: by the tick at which encounters begin, modulo the number of ticks in a life.
    waiting: Vec<Vec<Encounter>>,
    running: Vec<Encounter>,
    /// Encounters of standing objects that the positions decide. They have no ticks.
    standing: Vec<Encounter>,
    /// Pairs of standing objects that overlap wherever they are within their slack, ready to be reported.
    resting: Vec<Pair>,
    /// The versions of both objects of each of those.
    resting_versions: Vec<[u8; 2]>,
    /// How many of those were in the last report.
    resting_reported: usize,
    /// Scratch: those of them that may be over.
    suspects: Vec<u32>,
    /// Scratch: running encounters that the positions decide, and whether those pairs overlap.
    doubtful: Vec<u32>,
    touches: Vec<bool>,
}

/// Two flight plans that come close. Ticks are modulo 256, which is unambiguous: none is more than [`LOOK_AHEAD`] away.
#[derive(Clone, Copy, Debug, Default)]
struct Encounter {
    a: u32,
    b: u32,
    must_from: u8,
    must_until: u8,
    may_until: u8,
    version_a: u8,
    version_b: u8,
    was_reported: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct ReportView<'a> {
    pub now: u64,
    pub columns: Columns<'a>,
    /// The rows that have another version than in the last tick.
    pub outdated: &'a RowSet,
    pub stood: Few,
    pub versions: &'a [u8],
}

/// Pairs whose encounters began or ceased to report them. A pair is in both lists if its encounter was found anew.
#[derive(Debug, Default)]
pub struct Turnover {
    pub is_wanted: bool,
    pub gained: Vec<Pair>,
    pub lost: Vec<Pair>,
}

impl EncounterSchedule {
    /// Empties it, for encounters that begin less than `life` ticks after they are found.
    pub fn open(&mut self, life: u64) {
        debug_assert!(life <= LOOK_AHEAD, "ticks are unambiguous");
        self.clear(&mut Vec::new());
        self.waiting.resize_with(life as usize, Vec::new);
        self.suspects.reserve(TOGETHER);
    }

    /// Adds an encounter whose window is counted from `now`.
    pub fn add(&mut self, now: u64, a: u32, b: u32, window: EncounterWindow, versions: &[u8]) {
        let tick = now as u8;
        let encounter = Encounter {
            a,
            b,
            must_from: tick.wrapping_add(window.must_from),
            must_until: tick.wrapping_add(window.must_until),
            may_until: tick.wrapping_add(window.may_until),
            version_a: versions[a as usize],
            version_b: versions[b as usize],
            was_reported: false,
        };
        if window.may_from == 0 {
            self.running.push(encounter);
            return;
        }
        let ticks = self.waiting.len();
        let waiting = &mut self.waiting[(now as usize + usize::from(window.may_from)) % ticks];
        if waiting.len() == waiting.capacity() {
            // Not twice as much: there are many lists, and each is as long as the others at some time.
            waiting.reserve_exact(roomy(waiting.len()) - waiting.len());
        }
        waiting.push(encounter);
    }

    /// Adds an encounter of two standing objects, which `must` overlap wherever they are within their slack, or may.
    pub fn add_standing(&mut self, a: u32, b: u32, must: bool, versions: &[u8]) {
        let (version_a, version_b) = (versions[a as usize], versions[b as usize]);
        if must {
            let pair = Pair::of_rows(a, b);
            let in_order = if pair.a().number() == a { [version_a, version_b] } else { [version_b, version_a] };
            self.resting.push(pair);
            self.resting_versions.push(in_order);
        } else {
            self.standing.push(Encounter { a, b, version_a, version_b, ..Encounter::default() });
        }
    }

    /// Adds to `pairs` all pairs that overlap, to `turnover` what changed. Returns how many positions were compared.
    pub fn report(&mut self, view: &ReportView<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        self.advance(view);
        self.report_resting(view, pairs, turnover);
        self.report_running(view, pairs, turnover) + self.report_standing(view, pairs, turnover)
    }

    /// Drops everything, adding the pairs that were reported last to `lost`.
    pub fn clear(&mut self, lost: &mut Vec<Pair>) {
        let reported = self.running.iter().chain(&self.standing).filter(|one| one.was_reported);
        lost.extend(reported.map(|one| Pair::of_rows(one.a, one.b)));
        lost.extend_from_slice(&self.resting[..self.resting_reported]);
        self.waiting.iter_mut().for_each(Vec::clear);
        self.running.clear();
        self.standing.clear();
        self.resting.clear();
        self.resting_versions.clear();
        self.resting_reported = 0;
    }

    /// Lets the encounters run whose certificates fail in this tick.
    fn advance(&mut self, view: &ReportView<'_>) {
        let EncounterSchedule { waiting, running, .. } = self;
        let tick = view.now as usize % waiting.len();
        let version = |row: u32| &view.versions[row as usize];
        for some in waiting[tick].chunks(FETCHED_TOGETHER) {
            some.iter().flat_map(|one| [one.a, one.b]).for_each(|row| fetch_ahead(version(row)));
            let holds = |one: &&Encounter| *version(one.a) == one.version_a && *version(one.b) == one.version_b;
            running.extend(some.iter().filter(holds));
        }
        waiting[tick].clear();
    }

    /// The hot loop. It mostly reads: the last encounter takes the place of one that is over.
    fn report_running(&mut self, view: &ReportView<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        let tick = view.now as u8;
        self.doubtful.clear();
        pairs.reserve(self.running.len());
        let mut index = 0;
        while let Some(one) = self.running.get_mut(index) {
            let ends = (one.may_until.wrapping_sub(tick) as i8) <= 0;
            if ends || view.voids(one.a, one.version_a) || view.voids(one.b, one.version_b) {
                if one.was_reported {
                    turnover.note(Pair::of_rows(one.a, one.b), false);
                }
                // Doubtful ones came before it, and stay where they are.
                self.running.swap_remove(index);
                continue;
            }
            index += 1;
            let must = tick.wrapping_sub(one.must_from) < one.must_until.wrapping_sub(one.must_from);
            if !must {
                self.doubtful.push(index as u32 - 1);
                view.fetch(one.a);
                view.fetch(one.b);
                continue;
            }
            let pair = Pair::of_rows(one.a, one.b);
            pairs.push(pair);
            if !one.was_reported {
                one.was_reported = true;
                turnover.note(pair, true);
            }
        }
        // All comparisons come before what depends on them, without a branch between: their cache misses overlap.
        self.touches.clear();
        let running = &self.running;
        self.touches.extend(self.doubtful.iter().map(|&index| {
            let one = &running[index as usize];
            view.overlap(one.a, one.b)
        }));
        for (&index, &touches) in self.doubtful.iter().zip(&self.touches) {
            let Encounter { a, b, was_reported, .. } = &mut self.running[index as usize];
            tell(Pair::of_rows(*a, *b), touches, was_reported, pairs, turnover);
        }
        self.doubtful.len() as u64
    }

    /// Reports what rests as it is. It is looked at only when an object that stood has departed.
    fn report_resting(&mut self, view: &ReportView<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) {
        if !view.stood.is_empty() {
            self.forget_resting(view, turnover);
        }
        if turnover.is_wanted {
            turnover.gained.extend_from_slice(&self.resting[self.resting_reported..]);
        }
        self.resting_reported = self.resting.len();
        pairs.extend_from_slice(&self.resting);
    }

    /// Drops what is void, the last ones first: where one is dropped, one takes its place that has been looked at.
    fn forget_resting(&mut self, view: &ReportView<'_>, turnover: &mut Turnover) {
        let EncounterSchedule { resting, resting_versions, resting_reported, suspects, .. } = self;
        for first in (0..resting.len()).step_by(TOGETHER).rev() {
            let end = resting.len().min(first + TOGETHER);
            suspects.clear();
            view.stood.mentioned(&resting[first..end], suspects);
            for &suspect in suspects.iter().rev() {
                let mut index = first + suspect as usize;
                let (pair, [version_a, version_b]) = (resting[index], resting_versions[index]);
                if !view.voids(pair.a().number(), version_a) && !view.voids(pair.b().number(), version_b) {
                    continue;
                }
                // Reported ones stay before the others.
                if index < *resting_reported {
                    turnover.note(pair, false);
                    *resting_reported -= 1;
                    resting.swap(index, *resting_reported);
                    resting_versions.swap(index, *resting_reported);
                    index = *resting_reported;
                }
                resting.swap_remove(index);
                resting_versions.swap_remove(index);
            }
        }
    }

    fn report_standing(&mut self, view: &ReportView<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        if !view.stood.is_empty() {
            self.standing.retain(|one| {
                let is_over = view.voids(one.a, one.version_a) || view.voids(one.b, one.version_b);
                if is_over && one.was_reported {
                    turnover.note(Pair::of_rows(one.a, one.b), false);
                }
                !is_over
            });
        }
        self.touches.clear();
        self.touches.extend(self.standing.iter().map(|one| view.overlap(one.a, one.b)));
        pairs.reserve(self.standing.len());
        for (one, &touches) in self.standing.iter_mut().zip(&self.touches) {
            tell(Pair::of_rows(one.a, one.b), touches, &mut one.was_reported, pairs, turnover);
        }
        self.standing.len() as u64
    }
}

/// Reports a pair whose positions were compared, and notes whether that is a change.
fn tell(pair: Pair, touches: bool, was_reported: &mut bool, pairs: &mut Vec<Pair>, turnover: &mut Turnover) {
    if touches {
        pairs.push(pair);
    }
    if touches != *was_reported {
        *was_reported = touches;
        turnover.note(pair, touches);
    }
}

impl Turnover {
    /// Notes that a pair is reported from now on, or no longer.
    pub fn note(&mut self, pair: Pair, is_reported: bool) {
        if self.is_wanted {
            let changed = if is_reported { &mut self.gained } else { &mut self.lost };
            changed.push(pair);
        }
    }
}

impl ReportView<'_> {
    /// Whether what was computed under a version of a row is void. The bits of all rows stay in cache.
    #[inline]
    fn voids(&self, row: u32, version: u8) -> bool {
        self.outdated.contains(row) && self.versions[row as usize] != version
    }

    #[inline]
    fn fetch(&self, row: u32) {
        let Columns { x, y, z, radius } = self.columns;
        [x, y, z, radius].into_iter().for_each(|column| fetch_ahead(&column[row as usize]));
    }

    #[inline]
    fn overlap(&self, a: u32, b: u32) -> bool {
        self.columns.sphere(a as usize).overlaps(self.columns.sphere(b as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    const ROWS: u32 = 70;
    const LIFE: u64 = 96;

    /// An encounter as its slow twin knows it: with ticks that are not modulo anything, gone through in every tick.
    struct Promise {
        pair: Pair,
        may: (u64, u64),
        must: (u64, u64),
        /// How many versions both had had when it was found.
        versions: [u32; 2],
    }

    /// A schedule reports what its slow twin does, and what it says has
    /// changed leads from one tick to the next.
    #[test]
    fn a_schedule_reports_what_was_promised() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let mut schedule = EncounterSchedule::default();
            schedule.open(LIFE);
            let mut promises: Vec<Promise> = Vec::new();
            let (mut departures, mut reported) = ([0; ROWS as usize], Vec::new());
            let departs_one_in = [3, 30, 1_000][seed as usize % 3];
            for now in 1_000..1_400 {
                let (mut outdated, mut stood) = (RowSet::default(), Few::default());
                outdated.grow(ROWS as usize);
                for row in 0..ROWS {
                    if random.whole(0, departs_one_in) == 0 {
                        departures[row as usize] += 1 + random.whole(0, 2);
                        outdated.insert(row);
                        stood.insert(row);
                    }
                }
                let versions = departures.map(|times| times as u8);
                let of_pair = |pair: Pair| [pair.a(), pair.b()].map(|slot| departures[slot.row()]);
                promises.retain(|promise| now < promise.may.1 && of_pair(promise.pair) == promise.versions);
                for _ in 0..20 {
                    let (a, b) = (random.whole(0, ROWS), random.whole(0, ROWS));
                    let pair = Pair::of_rows(a, b);
                    if a == b || promises.iter().any(|promise| promise.pair == pair) {
                        continue;
                    }
                    let [mut may, mut must] = [(0, u64::MAX); 2];
                    if random.whole(0, 4) == 0 {
                        let is_certain = random.whole(0, 2) == 0;
                        must.1 = if is_certain { u64::MAX } else { 0 };
                        schedule.add_standing(a, b, is_certain, &versions);
                    } else {
                        let mut ticks = [(); 4].map(|()| random.whole(0, LIFE as u32) as u8);
                        ticks.sort_unstable();
                        let [may_from, must_from, must_until, may_until] = ticks;
                        let window = EncounterWindow { may_from, must_from, must_until, may_until: may_until + 1 };
                        let tick = |ahead: u8| now + u64::from(ahead);
                        (may, must) = ((tick(may_from), tick(may_until) + 1), (tick(must_from), tick(must_until)));
                        schedule.add(now, a, b, window, &versions);
                    }
                    promises.push(Promise { pair, may, must, versions: of_pair(pair) });
                }
                let [x, y, z] = [(); 3].map(|()| [(); ROWS as usize].map(|()| random.between(0.0, 3.0)));
                let columns = Columns { x: &x, y: &y, z: &z, radius: &[0.7; ROWS as usize] };
                let overlap = |pair: Pair| columns.sphere(pair.a().row()).overlaps(columns.sphere(pair.b().row()));
                let is_within = |(from, until): (u64, u64)| (from..until).contains(&now);
                let is_due =
                    |promise: &&Promise| is_within(promise.may) && (is_within(promise.must) || overlap(promise.pair));
                let mut expected: Vec<Pair> = promises.iter().filter(is_due).map(|promise| promise.pair).collect();
                let view = ReportView { now, columns, outdated: &outdated, stood, versions: &versions };
                let mut turnover = Turnover { is_wanted: true, ..Turnover::default() };
                let mut pairs = Vec::new();
                schedule.report(&view, &mut pairs, &mut turnover);
                pairs.sort_unstable();
                expected.sort_unstable();
                assert_eq!(pairs, expected, "seed {seed}, tick {now}");
                // A pair that was found anew is in both lists.
                let mut next: Vec<Pair> = reported;
                next.append(&mut turnover.gained);
                for pair in turnover.lost {
                    let index = next.iter().position(|one| *one == pair);
                    next.swap_remove(index.unwrap_or_else(|| panic!("seed {seed}, tick {now}: {pair:?} was not told")));
                }
                next.sort_unstable();
                assert_eq!(next, pairs, "seed {seed}, tick {now}: what changed");
                reported = pairs;
            }
            assert!(!reported.is_empty() || departs_one_in == 3, "seed {seed}: no pair overlapped");
            let mut lost = Vec::new();
            schedule.clear(&mut lost);
            lost.sort_unstable();
            assert_eq!(lost, reported, "seed {seed}: what was reported last is lost");
        }
    }
}

//! What is coming up: meetings that were found, waiting for their time, running, or standing.
//!
//! A meeting is known from the tick it is found until one of its objects' tiles falls due, when it is found again.
//! Until its first tick it waits, untouched. While it runs it is looked at once per tick: in the ticks at which the
//! pair must overlap it is reported as it is, and only in the doubtful ones the positions are compared. Two standing
//! objects have no due tick: their meeting stands until one of them strays.
//!
//! Invariants:
//! - At any tick at which two objects may overlap there is exactly one meeting of the two that runs or stands.
//! - A meeting dies in the tick in which one of its objects strays: running ones at once, for all are looked at every
//!   tick; waiting ones when their time comes, for the courses' versions have changed since they were made.

use super::encounter::Window;
use super::packed::Packed;
use super::queues::Queues;
use super::room::{make_room, stock_up};
use crate::bits::Bits;
use crate::simd::mentions::Few;
use crate::{Columns, Pair, fetch_ahead};

/// No tile lives for longer than this many ticks, and no meeting is entered for a later time; a power of two.
pub const LOOK_AHEAD: u64 = 128;

/// So many resting meetings are passed at a time, in search of those that are over.
const TOGETHER: usize = 1_024;

/// The meetings of one share of the world.
#[derive(Debug, Default)]
pub struct Agenda {
    /// By the tick at which they begin, modulo how many there are: at least as many as tiles live for.
    waiting: Queues<Meeting>,
    running: Vec<Meeting>,
    /// Standing meetings that the positions decide.
    standing: Vec<Standing>,
    /// Standing meetings of objects that overlap wherever they are within their slack: ready to be reported.
    resting: Vec<Pair>,
    /// The versions of both courses of each of those.
    resting_versions: Vec<[u8; 2]>,
    /// How many of those the last report had.
    resting_reported: usize,
    /// Scratch: those of them that may be over.
    suspects: Vec<u32>,
    /// Scratch: running meetings that only the positions can decide.
    doubtful: Vec<u32>,
    /// Scratch: whether those overlap.
    touches: Vec<bool>,
}

/// Two courses that come close. Ticks are modulo 256, which is unambiguous: no meeting is longer than 128.
#[derive(Clone, Copy, Debug, Default)]
struct Meeting {
    a: u32,
    b: u32,
    must_from: u8,
    must_until: u8,
    may_until: u8,
    version_a: u8,
    version_b: u8,
    /// Whether it was reported last.
    touching: bool,
}

/// Two objects that stand close to each other.
#[derive(Clone, Copy, Debug)]
struct Standing {
    a: u32,
    b: u32,
    version_a: u8,
    version_b: u8,
    touching: bool,
}

/// What an agenda needs to know about the tick it reports.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The tick.
    pub now: u64,
    /// Where everybody is.
    pub columns: Columns<'a>,
    /// The same, where that has been prepared.
    pub packed: &'a Packed,
    /// The rows that have a new course, or none, since the last tick.
    pub outdated: &'a Bits,
    /// Whether there are any.
    pub is_any_outdated: bool,
    /// Those of them who stood before.
    pub stood: Few,
    /// The versions of all courses.
    pub versions: &'a [u8],
}

/// Pairs whose meetings began or ceased to report them. A pair may be in both: its meeting was found anew.
#[derive(Debug, Default)]
pub struct Turnover {
    /// Whether anybody wants to know. If not, nothing is noted.
    pub is_wanted: bool,
    /// Reported by a meeting that did not report it in the last tick.
    pub gained: Vec<Pair>,
    /// No longer reported by a meeting that did.
    pub lost: Vec<Pair>,
}

impl Agenda {
    /// How many lists it has.
    pub const LISTS: usize = 7;

    /// Makes an empty agenda ready for meetings that begin less than `life` ticks after they are found.
    pub fn open(&mut self, life: u64) {
        self.waiting.reset(life as usize);
        self.suspects.reserve(TOGETHER);
    }

    /// Enters a meeting of `a` and `b` whose window is counted from `now`.
    pub fn add(&mut self, now: u64, a: u32, b: u32, window: Window, versions: &[u8]) {
        let tick = now as u8;
        let meeting = Meeting {
            a,
            b,
            must_from: tick.wrapping_add(window.must_from),
            must_until: tick.wrapping_add(window.must_until),
            may_until: tick.wrapping_add(window.may_until),
            version_a: versions[a as usize],
            version_b: versions[b as usize],
            touching: false,
        };
        if window.may_from == 0 {
            self.running.push(meeting);
        } else {
            let bucket = (now + u64::from(window.may_from)) as usize % self.waiting.len();
            self.waiting.push(bucket, meeting);
        }
    }

    /// Enters a meeting of two standing objects; `must` says that they overlap wherever they are within their slack.
    pub fn add_standing(&mut self, a: u32, b: u32, must: bool, versions: &[u8]) {
        let (version_a, version_b) = (versions[a as usize], versions[b as usize]);
        if must {
            let pair = Pair::of_rows(a, b);
            let in_order = if pair.a().number() == a { [version_a, version_b] } else { [version_b, version_a] };
            self.resting.push(pair);
            self.resting_versions.push(in_order);
        } else {
            self.standing.push(Standing { a, b, version_a, version_b, touching: false });
        }
    }

    /// Adds to `pairs` all pairs that overlap at this moment, and to `turnover` what changed. Returns how many positions
    /// were compared.
    pub fn report(&mut self, moment: &Moment<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        self.begin_due(moment);
        self.report_resting(moment, pairs, turnover);
        self.report_running(moment, pairs, turnover) + self.report_standing(moment, pairs, turnover)
    }

    /// How many pairs of the last report were told unseen, for both objects rest.
    pub fn resting(&self) -> usize {
        self.resting_reported
    }

    /// Drops everything, adding the pairs that were reported last to `lost`.
    pub fn clear(&mut self, lost: &mut Vec<Pair>) {
        lost.extend(self.running.iter().filter(|m| m.touching).map(|m| Pair::of_rows(m.a, m.b)));
        lost.extend(self.standing.iter().filter(|m| m.touching).map(|m| Pair::of_rows(m.a, m.b)));
        lost.extend_from_slice(&self.resting[..self.resting_reported]);
        self.waiting.reset(self.waiting.len());
        self.running.clear();
        self.standing.clear();
        self.resting.clear();
        self.resting_versions.clear();
        self.resting_reported = 0;
    }

    /// Takes more memory than was ever needed, for some of its lists: `is_its_turn` says whether for the one with this number.
    pub fn stock_up(&mut self, is_its_turn: impl Fn(usize) -> bool) {
        let Agenda { waiting, running, standing, resting, resting_versions, doubtful, touches, .. } = self;
        let compared = doubtful.len().max(standing.len());
        let lists: [&mut dyn FnMut(); Agenda::LISTS] = [
            &mut || waiting.stock_up(),
            &mut || stock_up(running),
            &mut || stock_up(standing),
            &mut || stock_up(resting),
            &mut || stock_up(resting_versions),
            &mut || stock_up(doubtful),
            &mut || make_room(touches, compared),
        ];
        for (_, stock_up) in lists.into_iter().enumerate().filter(|(number, _)| is_its_turn(*number)) {
            stock_up();
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.waiting.bytes()
            + self.running.capacity() * size_of::<Meeting>()
            + self.standing.capacity() * size_of::<Standing>()
            + self.resting.capacity() * size_of::<Pair>()
            + self.resting_versions.capacity() * 2
            + (self.suspects.capacity() + self.doubtful.capacity()) * 4
            + self.touches.capacity()
    }

    fn begin_due(&mut self, moment: &Moment<'_>) {
        let bucket = moment.now as usize % self.waiting.len();
        let (versions, running) = (moment.versions, &mut self.running);
        let version = |row: u32| &versions[row as usize];
        self.waiting.drain(bucket, |meetings| {
            meetings.iter().flat_map(|meeting| [meeting.a, meeting.b]).for_each(|row| fetch_ahead(version(row)));
            let holds = |meeting: &&Meeting| {
                *version(meeting.a) == meeting.version_a && *version(meeting.b) == meeting.version_b
            };
            running.extend(meetings.iter().filter(holds));
        });
    }

    /// The hot loop. It mostly reads: the last meeting takes the place of one that is over.
    fn report_running(&mut self, moment: &Moment<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        let tick = moment.now as u8;
        self.doubtful.clear();
        pairs.reserve(self.running.len());
        let mut index = 0;
        while let Some(meeting) = self.running.get_mut(index) {
            let ends = (meeting.may_until.wrapping_sub(tick) as i8) <= 0;
            if ends || moment.outdates(meeting.a, meeting.version_a) || moment.outdates(meeting.b, meeting.version_b) {
                if meeting.touching {
                    turnover.note(Pair::of_rows(meeting.a, meeting.b), false);
                }
                // Those that are doubtful came before it, and stay where they are.
                self.running.swap_remove(index);
                continue;
            }
            index += 1;
            let must = tick.wrapping_sub(meeting.must_from) < meeting.must_until.wrapping_sub(meeting.must_from);
            if !must {
                self.doubtful.push(index as u32 - 1);
                moment.fetch(meeting.a);
                moment.fetch(meeting.b);
                continue;
            }
            let pair = Pair::of_rows(meeting.a, meeting.b);
            pairs.push(pair);
            if !meeting.touching {
                meeting.touching = true;
                turnover.note(pair, true);
            }
        }
        let doubts = self.doubtful.len() as u64;
        self.report_doubtful(moment, pairs, turnover);
        doubts
    }

    /// Compares positions, which are on their way. All comparisons come first, without a branch between them: what has to be
    /// waited for is waited for together.
    fn report_doubtful(&mut self, moment: &Moment<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) {
        self.touches.clear();
        self.touches.extend(self.doubtful.iter().map(|&index| {
            let meeting = &self.running[index as usize];
            moment.overlap(meeting.a, meeting.b)
        }));
        for (&index, &touches) in self.doubtful.iter().zip(&self.touches) {
            let Meeting { a, b, touching, .. } = &mut self.running[index as usize];
            tell(Pair::of_rows(*a, *b), touches, touching, pairs, turnover);
        }
    }

    /// Reports what rests as it is. Only when somebody who stood has strayed is any of it looked at.
    fn report_resting(&mut self, moment: &Moment<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) {
        if !moment.stood.is_empty() {
            self.forget_resting(moment, turnover);
        }
        if turnover.is_wanted {
            turnover.gained.extend_from_slice(&self.resting[self.resting_reported..]);
        }
        self.resting_reported = self.resting.len();
        pairs.extend_from_slice(&self.resting);
    }

    /// Drops what rests of those who strayed. Some at a time, the last ones first: where one is dropped another takes its place
    /// that has been looked at.
    fn forget_resting(&mut self, moment: &Moment<'_>, turnover: &mut Turnover) {
        let Agenda { resting, resting_versions, resting_reported, suspects, .. } = self;
        for first in (0..resting.len()).step_by(TOGETHER).rev() {
            let end = resting.len().min(first + TOGETHER);
            suspects.clear();
            moment.stood.mentioned(&resting[first..end], suspects);
            for &suspect in suspects.iter().rev() {
                let mut index = first + suspect as usize;
                let (pair, [version_a, version_b]) = (resting[index], resting_versions[index]);
                if !moment.outdates(pair.a().number(), version_a) && !moment.outdates(pair.b().number(), version_b) {
                    continue;
                }
                // Those that were reported stay before those that were not.
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

    /// As [`Agenda::report_running`], for those that have no end.
    fn report_standing(&mut self, moment: &Moment<'_>, pairs: &mut Vec<Pair>, turnover: &mut Turnover) -> u64 {
        if !moment.stood.is_empty() {
            self.standing.retain(|meeting| {
                let is_over =
                    moment.outdates(meeting.a, meeting.version_a) || moment.outdates(meeting.b, meeting.version_b);
                if is_over && meeting.touching {
                    turnover.note(Pair::of_rows(meeting.a, meeting.b), false);
                }
                !is_over
            });
        }
        self.touches.clear();
        self.touches.extend(self.standing.iter().map(|meeting| moment.overlap(meeting.a, meeting.b)));
        pairs.reserve(self.standing.len());
        for (meeting, &touches) in self.standing.iter_mut().zip(&self.touches) {
            tell(Pair::of_rows(meeting.a, meeting.b), touches, &mut meeting.touching, pairs, turnover);
        }
        self.standing.len() as u64
    }
}

/// Tells of two whose positions were compared, and what that changes if they were touching before, or not.
fn tell(pair: Pair, touches: bool, touching: &mut bool, pairs: &mut Vec<Pair>, turnover: &mut Turnover) {
    if touches {
        pairs.push(pair);
    }
    if touches != *touching {
        *touching = touches;
        turnover.note(pair, touches);
    }
}

impl Turnover {
    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        (self.gained.capacity() + self.lost.capacity()) * size_of::<Pair>()
    }

    /// Notes that a pair is reported from now on, or no longer, if anybody wants to know.
    pub fn note(&mut self, pair: Pair, is_reported: bool) {
        if self.is_wanted {
            let changed = if is_reported { &mut self.gained } else { &mut self.lost };
            changed.push(pair);
        }
    }
}

impl Moment<'_> {
    /// Whether a row has another course than in the last tick, or none. The bits stay in cache.
    #[inline]
    pub fn is_outdated(&self, row: u32) -> bool {
        self.outdated.words()[row as usize / 64] >> (row % 64) & 1 == 1
    }

    /// Begins to fetch where somebody is.
    #[inline]
    fn fetch(&self, row: u32) {
        let row = row as usize;
        if self.packed.is_empty() {
            let Columns { x, y, z, radius } = self.columns;
            [x, y, z, radius].into_iter().for_each(|column| fetch_ahead(&column[row]));
        } else {
            self.packed.fetch(row);
        }
    }

    /// Lets the positions decide.
    #[inline]
    pub fn overlap(&self, a: u32, b: u32) -> bool {
        if self.packed.is_empty() {
            return self.columns.sphere(a as usize).overlaps(self.columns.sphere(b as usize));
        }
        self.packed.overlap(a, b)
    }

    /// Whether a course that had this version is no longer followed.
    #[inline]
    fn outdates(&self, row: u32, version: u8) -> bool {
        self.is_any_outdated && self.is_outdated(row) && self.versions[row as usize] != version
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    const ROWS: u32 = 70;
    const LIFE: u64 = 96;

    /// A meeting as its slow twin knows it: with ticks that do not come round, and gone through in every tick.
    struct Promise {
        pair: Pair,
        /// When it may overlap, and when it must.
        may: (u64, u64),
        must: (u64, u64),
        /// How often both had strayed when it was made.
        strayed: [u32; 2],
    }

    /// Whoever strays and however often, whatever waits, runs, stands or rests: what an agenda tells in a tick is what its slow twin
    /// does, and what it says has changed leads from one tick to the next.
    #[test]
    fn an_agenda_tells_what_was_promised() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let mut agenda = Agenda::default();
            agenda.open(LIFE);
            let mut promises: Vec<Promise> = Vec::new();
            let (mut strayed, mut told) = ([0; ROWS as usize], Vec::new());
            let stray_one_in = [3, 30, 1_000][seed as usize % 3];
            for now in 1_000..1_400 {
                let (mut outdated, mut stood) = (Bits::default(), Few::default());
                outdated.grow(ROWS as usize);
                for row in 0..ROWS {
                    if random.whole(0, stray_one_in) == 0 {
                        strayed[row as usize] += 1 + random.whole(0, 2);
                        outdated.insert(row as usize);
                        stood.insert(row);
                    }
                }
                let versions = strayed.map(|times| times as u8);
                let times = |pair: Pair| [pair.a(), pair.b()].map(|slot| strayed[slot.row()]);
                promises.retain(|promise| now < promise.may.1 && times(promise.pair) == promise.strayed);
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
                        agenda.add_standing(a, b, is_certain, &versions);
                    } else {
                        let mut ticks = [(); 4].map(|()| random.whole(0, LIFE as u32) as u8);
                        ticks.sort_unstable();
                        let [may_from, must_from, must_until, may_until] = ticks;
                        let window = Window { may_from, must_from, must_until, may_until: may_until + 1 };
                        let tick = |ahead: u8| now + u64::from(ahead);
                        (may, must) = ((tick(may_from), tick(may_until) + 1), (tick(must_from), tick(must_until)));
                        agenda.add(now, a, b, window, &versions);
                    }
                    promises.push(Promise { pair, may, must, strayed: times(pair) });
                }
                let [x, y, z] = [(); 3].map(|()| [(); ROWS as usize].map(|()| random.between(0.0, 3.0)));
                let columns = Columns { x: &x, y: &y, z: &z, radius: &[0.7; ROWS as usize] };
                let overlap = |pair: Pair| columns.sphere(pair.a().row()).overlaps(columns.sphere(pair.b().row()));
                let is_within = |(from, until): (u64, u64)| (from..until).contains(&now);
                let is_told =
                    |promise: &&Promise| is_within(promise.may) && (is_within(promise.must) || overlap(promise.pair));
                let mut expected: Vec<Pair> = promises.iter().filter(is_told).map(|promise| promise.pair).collect();
                let moment = Moment {
                    now,
                    columns,
                    packed: &Packed::default(),
                    outdated: &outdated,
                    is_any_outdated: outdated.count() > 0,
                    stood,
                    versions: &versions,
                };
                let mut turnover = Turnover { is_wanted: true, ..Turnover::default() };
                let mut pairs = Vec::new();
                agenda.report(&moment, &mut pairs, &mut turnover);
                pairs.sort_unstable();
                expected.sort_unstable();
                assert_eq!(pairs, expected, "seed {seed}, tick {now}");
                // A pair that was found anew is in both lists.
                let mut next: Vec<Pair> = told;
                next.append(&mut turnover.gained);
                for pair in turnover.lost {
                    let index = next.iter().position(|one| *one == pair);
                    next.swap_remove(index.unwrap_or_else(|| panic!("seed {seed}, tick {now}: {pair:?} was not told")));
                }
                next.sort_unstable();
                assert_eq!(next, pairs, "seed {seed}, tick {now}: what changed");
                told = pairs;
            }
            assert!(!told.is_empty() || stray_one_in == 3, "seed {seed}: nobody touched");
            let mut lost = Vec::new();
            agenda.clear(&mut lost);
            lost.sort_unstable();
            assert_eq!(lost, told, "seed {seed}: what was told last is lost");
        }
    }
}

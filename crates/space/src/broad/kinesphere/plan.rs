//! How to cut space and time: what to expect of objects, how long tiles live, and which layers there are.
//!
//! A long life means that an object is sorted and looks for others rarely, but then sweeps a larger ball and has more
//! others to look at. A wide slack means that courses last, but more meetings are doubtful. Layers keep large balls from
//! widening the cells of small ones, but every object has to look into every layer. All this is weighed by an estimate
//! of what a tick costs, on a sample. No clock is involved, so the plan is the same on every machine; the prices below
//! are nanoseconds on one of them, and only their ratios matter.

use std::ops::Range;

use crate::Vec3;

use super::alone::ALONE;
use super::course::drift;
use super::cuts::{Cut, Cuts, Population};
use super::following::Effort;
use super::lattice::{FOR_EVER, LayerPlan};
use super::mood::{SLACKS, size};
use super::pace::{LIVES_MAX, Pace};
use super::scout::{FOLLOWED, Outlook, sample};
use super::search::Tally;
use crate::Spheres;
use crate::simd::grid::bounds;

/// What the plan is made from.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Radius and speed of some objects that stand for all.
    pub sample: Vec<(f32, f32)>,
    /// Those of some that move: where few do, hardly any of them are among the others.
    pub movers: Vec<(f32, f32)>,
    /// How many objects there are, and how many of them move.
    pub objects: usize,
    pub moving: usize,
    /// Objects per cubic metre where objects are.
    pub density: f64,
    /// What rounding may add to a reach.
    pub drift: f64,
    /// Scratch: how far those of the sample reach who stand, and the movers of each life.
    reaches: [Vec<f64>; 1 + LIVES_MAX],
}

/// How to cut space and time.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many ticks tiles live for.
    pub pace: Pace,
    /// Which of [`SLACKS`] objects get at first.
    pub level: usize,
    /// Whether all are expected to stand, moving or not.
    pub all_stand: bool,
    /// How many are expected to move at most: many more, and the plan no longer fits.
    pub movers_max: usize,
    /// The layers of standing objects, then those of moving ones.
    pub layers: Vec<LayerPlan>,
    /// What a tick costs, per object.
    pub cost: f64,
    /// The same, or more where ticks are not even: of two plans the one with the lower rank is better.
    rank: f64,
}

/// What to expect of objects.
#[derive(Clone, Copy, Debug)]
struct Idea {
    life: u64,
    level: usize,
    all_stand: bool,
    /// For how many ticks a course lasts then.
    lasting: f64,
}

/// A tick, however few objects there are: lists of tiles, of due ticks and of meetings, which other work has meanwhile
/// pushed out of the caches.
const TICK: f64 = 40_000.0;
/// An object to which nothing happens: two bits.
const IDLE: f64 = 0.1;
/// Checking a course, and reporting its share of meetings.
const CHECK: f64 = 3.0;
/// Entering an object anew and sorting it.
pub const SORT: f64 = 80.0;
/// Renewing a tile, whoever is in it.
const TILE: f64 = 1_200.0;
/// Looking into a layer, whoever is there.
pub const LOOK: f64 = 80.0;
/// Looking at one line of cells.
pub const LINE: f64 = 4.0;
/// The same for somebody who is alone, with whatever is there: every line is somewhere else in memory.
pub const LINE_ALONE: f64 = 100.0;
/// Passing a tile in a list, to see whether it is near.
pub const PASS: f64 = 10.0;
/// Gathering a run of rows from somewhere, however short.
const RUN: f64 = 16.0;
/// Testing two courses against each other.
pub const TEST: f64 = 1.8;
/// Working out when two meet, and entering that.
const FIND: f64 = 130.0;
/// Reporting a meeting.
const REPORT: f64 = 7.0;
/// Comparing the positions of a doubtful meeting.
const COMPARE: f64 = 10.0;
/// Looking around in a tick, without being followed; and for each whom one overlaps.
const OUTSIDE: f64 = 1_000.0;
const OUTSIDE_EACH: f64 = 10.0;
/// Finding another course and another place for one that strayed, where objects move and where they stand.
const STRAY: f64 = 1_200.0;
const STRAY_STANDING: f64 = 700.0;
/// Sorting an object into a grid of the moment; testing it against another there; reporting a pair.
const DIRECT: f64 = 18.5;
const DIRECT_TEST: f64 = 0.7;
const DIRECT_PAIR: f64 = 14.0;

/// If fewer than one in so many move, whatever layers they have will do.
const MANY_MOVE: usize = 20;
/// How much dearer it is to look around from thin tiles, which are mostly surface.
const THIN: f64 = 1.3;
/// By how much a plan ranks lower that has too few tiles for their life, as in a small world: each of them makes a slow
/// tick, while with a shorter life cells are smaller.
const LUMPY: f64 = 1.5;
/// The objects of a cell are dealt out among no more tiles than this: whoever is near has to look into every one.
pub const PLIES: u32 = 8;
/// Estimates are rough, and changing one's mind is dear: courses have to promise this share of what it costs to find pairs
/// afresh, or less.
const PROMISE: f64 = 0.8;
/// Courses that last for fewer ticks, on average, are not worth setting.
const SHORTEST: f64 = 12.0;
/// Another plan is not better unless it costs this share or less.
const BETTER: f64 = 0.999;
/// Lives that are considered; the first will do anywhere.
const LIVES: [u64; 9] = [48, 64, 96, 32, 24, 16, 12, 8, 6];
/// The longest of them.
const LONGEST: u64 = 96;
/// Who gets so many times as far as objects are apart within half a life is hasty, and gets a shorter one.
const STRIDE: f64 = 2.0;

impl Plan {
    /// The least that a tick costs, per object, whatever there is to do in it.
    fn least_cost(objects: usize) -> f64 {
        CHECK + TICK / objects.max(1) as f64
    }

    /// Whether there may be a plan that promises to cost less than `limit`, per object and tick.
    pub fn may_pay(objects: usize, limit: f64) -> bool {
        Plan::least_cost(objects) < PROMISE * limit
    }

    /// What a tick costs, per object, in which a grid of the moment takes so many tests to find so many pairs.
    pub fn direct_cost(objects: usize, pairs: usize, tests: u64) -> f64 {
        DIRECT + (tests as f64 * DIRECT_TEST + pairs as f64 * DIRECT_PAIR) / objects.max(1) as f64
    }

    /// What a tick cost, per object, that took this effort.
    pub fn cost_of(effort: Effort, objects: usize) -> f64 {
        Plan::least_cost(objects) + work(effort) / objects.max(1) as f64
    }

    /// How long a tick took, to be compared with others of the same world.
    pub fn time_of(effort: Effort, objects: usize) -> f64 {
        let moving = Effort { reported: effort.reported - effort.resting, ..effort };
        IDLE * objects as f64 + work(moving)
    }

    /// How long such a search took.
    pub fn time_to_search(Tally { passed, lines, runs, tests, found }: Tally) -> f64 {
        passed as f64 * PASS + lines as f64 * LINE_ALONE + runs as f64 * RUN + tests as f64 * TEST + found as f64 * FIND
    }

    /// How long it took to renew a tile, or a piece of it, and to search from there.
    pub fn time_to_examine(search: Tally) -> f64 {
        TILE + Plan::time_to_search(search)
    }

    /// How long it takes to find so many meetings.
    pub fn time_to_find(meetings: u64) -> f64 {
        meetings as f64 * FIND
    }

    /// Whether it is cheaper to look around in every tick than to find so many meetings every so many ticks, and to report
    /// them in between.
    pub fn is_cheaper_outside(meetings: u64, life: u64) -> bool {
        OUTSIDE + meetings as f64 * OUTSIDE_EACH < meetings as f64 * (FIND / life as f64 + REPORT)
    }
}

/// What an effort costs, in all.
fn work(effort: Effort) -> f64 {
    let Effort { newcomers, renewed, search, reported, compared, .. } = effort;
    // Strays are dearer where tiles fall due, for then everybody moves.
    let stray = if renewed > newcomers { STRAY } else { STRAY_STANDING };
    newcomers as f64 * stray
        + renewed as f64 * (SORT + LOOK)
        + Plan::time_to_search(search)
        + reported as f64 * REPORT
        + compared as f64 * COMPARE
}

impl Census {
    /// Looks at a sample of a world in which so many pairs overlap; `velocity` says how a row moves.
    pub fn take(&mut self, spheres: &Spheres, pairs: usize, velocity: impl Fn(usize) -> Vec3) {
        let columns = spheres.columns();
        let objects = spheres.len();
        let size_and_speed = |row: usize| (columns.radius[row], velocity(row).length_squared().sqrt());
        let moved = spheres.moved().count();
        self.movers.clear();
        self.movers.extend(sample(spheres.moved(), moved).map(size_and_speed));
        // Some have come or gone instead.
        let looked_at = self.movers.len().max(1);
        self.movers.retain(|&(_, speed)| speed > 0.0);
        // For each idea they will be sorted by how far they reach: where they are alike in size or in speed, that is in this order.
        let sum = |(radius, speed): &(f32, f32)| f64::from(*radius) + f64::from(*speed);
        self.movers.sort_unstable_by(|one, other| sum(one).total_cmp(&sum(other)));
        (self.objects, self.moving) = (objects, moved * self.movers.len() / looked_at);
        self.sample.clear();
        self.sample.extend(sample(spheres.alive(), objects).map(size_and_speed));
        let sample = &self.sample;
        // Two estimates of how densely objects are packed: by the space they take up, and by how often they overlap,
        // which is higher where they cluster.
        let n = objects as f64;
        // Somebody takes up room even where all are on one plane or line.
        let largest = sample.iter().map(|(radius, _)| f64::from(*radius)).fold(1e-3, f64::max);
        let bounds = [columns.x, columns.y, columns.z].map(bounds);
        let volume: f64 = bounds.iter().map(|(low, high)| f64::from(high - low).max(2.0 * largest)).product();
        let ball = |index: usize| {
            let (one, other) = (sample[index].0, sample[(index * 7 + 1) % sample.len()].0);
            f64::from(one + other).powi(3) * 4.19
        };
        let ball = (0..sample.len()).map(ball).sum::<f64>() / sample.len().max(1) as f64;
        let by_pairs = if ball > 0.0 { 2.0 * pairs as f64 / n / ball } else { 0.0 };
        self.density = (n / volume).max(by_pairs);
        let extent = bounds.iter().map(|(low, high)| low.abs().max(high.abs())).fold(0.0, f32::max);
        self.drift = f64::from(drift(extent));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        (self.sample.capacity() + self.movers.capacity()) * size_of::<(f32, f32)>()
            + self.reaches.iter().map(|reaches| reaches.capacity() * 8).sum::<usize>()
    }

    /// Makes `best` the best plan of itself and of those with some of the [`SLACKS`] that promise to cost less than `limit`, per
    /// object and tick.
    pub fn improve(&mut self, best: &mut Option<Plan>, levels: Range<usize>, outlook: Outlook, limit: f64) {
        let mut reaches = std::mem::take(&mut self.reaches);
        let meetings = Meetings::of(self);
        let mut consider = |idea: Idea| {
            let least_rank = best.as_ref().map_or(f64::INFINITY, |best| best.rank * BETTER);
            if idea.lasting >= SHORTEST
                && let Some(plan) = self.plan_for(idea, &meetings, &mut reaches, PROMISE * limit, least_rank)
            {
                *best = Some(plan);
            }
        };
        for level in levels {
            let slack = f64::from(SLACKS[level]);
            // On a bend one gets off the line with the square of the time, in a crowd from one's place with the root.
            let followed = FOLLOWED as f64;
            let on_line = followed * (slack / f64::from(outlook.off_line).max(1e-9)).sqrt();
            let in_place = slack / f64::from(outlook.off_place).max(1e-9);
            // Unless they go straight on: then they get away from it all the same.
            let is_straight = 2.0 * outlook.off_line < outlook.off_place;
            let in_place = followed * if is_straight { in_place } else { in_place * in_place };
            // If few move they do not decide: more may begin to, and differently.
            let lives = if self.moving * MANY_MOVE < self.objects { &LIVES[..1] } else { &LIVES[..] };
            for &life in lives {
                // Courses are set anew when tiles fall due, so only those stray who get off sooner: one in four where
                // courses last just as long as tiles, fewer where they last longer.
                let strays = 0.25 * (life as f64 / on_line).powi(2) / life as f64;
                let turn = f64::from(outlook.turn);
                consider(Idea { life, level, all_stand: false, lasting: 1.0 / (strays + turn) });
            }
            // Where three in four stand anyway, how far they get says nothing about the others.
            if self.moving * 4 > self.objects {
                consider(Idea { life: LONGEST, level, all_stand: true, lasting: in_place });
            }
        }
        self.reaches = reaches;
    }

    /// The best layers for an idea, if all costs less than `limit` and has a lower rank than another one.
    fn plan_for(
        &self,
        idea: Idea,
        expected: &Meetings,
        reaches: &mut [Vec<f64>],
        limit: f64,
        least_rank: f64,
    ) -> Option<Plan> {
        let Idea { life, level, all_stand, lasting } = idea;
        let slack = SLACKS[level];
        let pace = Pace { longest: life, stride: (STRIDE * self.density.cbrt().recip()) as f32 };
        // Those who stand, then those of each life: they are in different layers.
        let lives = || std::iter::once(FOR_EVER).chain(pace.lives());
        let reach = |&(radius, speed): &(f32, f32), life: u64| {
            let way = if life == FOR_EVER { 0.0 } else { f64::from(speed) * life as f64 / 2.0 };
            f64::from(radius + slack * size(radius, speed)) + self.drift + way
        };
        reaches.iter_mut().for_each(Vec::clear);
        let standing = self.sample.iter().filter(|(_, speed)| all_stand || *speed == 0.0);
        reaches[0].extend(standing.map(|one| reach(one, FOR_EVER)));
        for mover in self.movers.iter().filter(|_| !all_stand) {
            let life = pace.life(mover.0, mover.1);
            let index = lives().position(|other| other == life).expect("it is one of them");
            reaches[index].push(reach(mover, life));
        }
        let renewals =
            reaches.iter().zip(lives()).skip(1).map(|(some, life)| some.len() as f64 / life as f64).sum::<f64>();
        let ticks = if renewals > 0.0 { self.movers.len() as f64 / renewals } else { life as f64 };
        let stray = if all_stand { STRAY_STANDING } else { STRAY };
        let mut cost = Plan::least_cost(self.objects) + stray / lasting.max(1.0);
        let (meetings, met) = expected.met(f64::from(slack), if all_stand { 0.0 } else { ticks });
        // Those of different tiles are found from both sides; those of two who stand, only when one of them strays.
        let of_movers = 1.0 - (1.0 - expected.moving).powi(2);
        let found = if all_stand { meetings / lasting.max(1.0) } else { 1.6 * of_movers * met / ticks };
        let doubtful = expected.doubtful(f64::from(slack)).min(meetings);
        cost += COMPARE * doubtful + REPORT * (meetings - doubtful) + FIND * found;
        if cost >= limit.min(least_rank) {
            return None;
        }
        let all = Population { objects: self.objects as f64, density: self.density };
        let moving_share = if all_stand { 0.0 } else { self.moving as f64 / all.objects.max(1.0) };
        let mut cuts = [Cuts::NONE; 1 + LIVES_MAX];
        let mut is_lumpy = false;
        for (index, (life, reaches)) in lives().zip(reaches).enumerate() {
            let share = match index {
                0 => 1.0 - moving_share,
                _ => moving_share * reaches.len() as f64 / self.movers.len().max(1) as f64,
            };
            let (best, cost_each) = Cuts::best(reaches, all.share(share), &cuts[..index]);
            cuts[index] = best;
            if life != FOR_EVER {
                let shapes = best.iter().map(|cut| self.shape(cut, life));
                let is_thin = shapes.clone().any(|shape| shape.tile_bits[1] < 2);
                cost += if is_thin { THIN } else { 1.0 } * cost_each * share / life as f64;
                is_lumpy |= shapes.clone().any(|shape| shape.is_lumpy);
            }
            if cost >= limit.min(least_rank) {
                return None;
            }
        }
        let rank = if is_lumpy { LUMPY * cost } else { cost };
        if rank >= least_rank {
            return None;
        }
        let layers_of =
            |(cuts, life): (&Cuts<'_>, u64)| cuts.iter().map(|cut| self.layer(cut, life)).collect::<Vec<_>>();
        let layers = cuts.iter().zip(lives()).flat_map(layers_of).collect();
        let movers_max = if all_stand { self.objects } else { (2 * self.moving).max(self.objects / MANY_MOVE) };
        Some(Plan { pace, level, all_stand, movers_max, layers, cost, rank })
    }

    /// The tiles of a layer that live for so many ticks.
    fn shape(&self, cut: Cut, life: u64) -> Shape {
        let Population { objects, density } = cut.population;
        let in_a_cell = (density * cut.edge.powi(3)).min(objects);
        let is_sparse = objects * (ALONE as f64) < self.objects as f64;
        let wanted = (objects / (4.0 * life as f64)).max(0.25);
        let (tile_bits, plies) = match (life, is_sparse) {
            (FOR_EVER, _) => ([6, 2, 2], 1),
            (_, true) => {
                // If there are ticks enough for each to have one of its own, two who share a tile make a slow one.
                let plies = if objects < life as f64 { f64::from(PLIES) } else { in_a_cell / wanted };
                (compact(wanted / in_a_cell), plies.ceil().clamp(1.0, f64::from(PLIES)) as u32)
            }
            _ => match long(objects / in_a_cell.max(1.0), life as f64) {
                Some(long) => (long, 1),
                None => return Shape { tile_bits: [1, 1, 1], plies: 2, is_lumpy: true },
            },
        };
        Shape { tile_bits, plies, is_lumpy: false }
    }

    fn layer(&self, cut: Cut, life: u64) -> LayerPlan {
        let Shape { tile_bits, plies, .. } = self.shape(cut, life);
        // A little more than the sample has seen, for those it has not.
        LayerPlan {
            least: cut.least as f32,
            reach: (cut.reach * 1.03) as f32,
            edge: (cut.edge * 1.03) as f32,
            tile_bits,
            life,
            plies,
        }
    }
}

/// The shape of tiles of so many cells in all that live for so many ticks, if there are cells enough.
///
/// They are long, since lines of cells are read in one go, and four or two lines thick; but there are enough of them for two
/// to fall due in three ticks: more would be smoother still, but thin tiles are mostly surface, and what they find there is
/// found from both sides.
fn long(cells: f64, life: f64) -> Option<[u32; 3]> {
    let side = cells.cbrt();
    let across = |thick: u32| (side / f64::from(1 << thick)).max(1.0).powi(2);
    let thick = if across(2) * 2.0 >= life { 2 } else { 1 };
    let enough = |long: &u32| across(thick) * (side / f64::from(1 << long)).max(1.0) * 1.5 >= life;
    (2..=6).rev().find(enough).map(|long| [long, thick, thick])
}

/// The shape of tiles of at most so many cells each, for a few among many others: what such an object finds is hardly ever
/// one of them, and each looks at so many that a tick should not have many of them.
fn compact(cells: f64) -> [u32; 3] {
    let bits = cells.max(1.0).log2() as u32;
    let thick = (bits / 3).min(2);
    [(bits - 2 * thick).min(6), thick, thick]
}

/// How the objects of a layer share tiles.
#[derive(Clone, Copy, Debug)]
struct Shape {
    tile_bits: [u32; 3],
    plies: u32,
    /// Whether there are too few of them to spread them over their life.
    is_lumpy: bool,
}

/// What there is to know about meetings, per object, at any slack and for any stretch of time.
#[derive(Clone, Copy, Debug)]
struct Meetings {
    /// Half of the others within a ball of two radii, on average.
    near: f64,
    /// By how much that grows per tick if the ball is swept along the object's way.
    per_tick: f64,
    /// The share of objects that move.
    moving: f64,
}

impl Meetings {
    fn of(census: &Census) -> Meetings {
        let mean = |value: fn(f64, f64) -> f64| {
            let values = census.sample.iter().map(|&(radius, speed)| value(f64::from(radius), f64::from(speed)));
            values.sum::<f64>() / census.sample.len().max(1) as f64
        };
        let half = 0.5 * census.density;
        Meetings {
            near: half * 4.19 * 8.0 * mean(|radius, _| radius * radius * radius),
            per_tick: half * std::f64::consts::PI * 4.0 * 1.3 * mean(|radius, speed| radius * radius * speed),
            moving: census.moving as f64 / census.objects.max(1) as f64,
        }
    }

    /// Meetings at any time, and within so many ticks.
    fn met(&self, slack: f64, ticks: f64) -> (f64, f64) {
        let now = self.near * (1.0 + slack).powi(3);
        (now, now + self.per_tick * (1.0 + slack).powi(2) * ticks)
    }

    /// Doubtful meetings at any time: those in the shell that the slack leaves undecided.
    fn doubtful(&self, slack: f64) -> f64 {
        self.near * ((1.0 + slack).powi(3) - (1.0 - slack).max(0.0).powi(3)) * self.moving
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMOOTH: Outlook = Outlook { off_line: 0.0, off_place: 0.4, turn: 0.0 };

    /// The best plan for many of these.
    fn plan(movers: Vec<(f32, f32)>, outlook: Outlook) -> Option<Plan> {
        let objects = 100_000;
        let mut census = Census {
            sample: movers.clone(),
            movers,
            objects,
            moving: objects,
            density: 0.012,
            drift: 1e-4,
            ..Census::default()
        };
        let mut best = None;
        census.improve(&mut best, 0..SLACKS.len(), outlook, f64::INFINITY);
        best
    }

    #[test]
    fn smooth_motion_gets_a_long_life_and_a_narrow_slack() {
        let plan = plan(vec![(1.0, 0.1); 100], SMOOTH).unwrap();
        assert!(plan.pace.longest >= 24 && plan.level == 0 && plan.layers.len() == 1 && !plan.all_stand, "{plan:?}");
    }

    #[test]
    fn bends_get_a_short_life_and_a_wide_slack() {
        let sample = vec![(1.0, 0.1); 100];
        let smooth = plan(sample.clone(), SMOOTH).unwrap();
        let bent = plan(sample, Outlook { off_line: 0.003, ..SMOOTH }).unwrap();
        assert!(bent.pace.longest < smooth.pace.longest && bent.level > smooth.level, "{bent:?}");
    }

    #[test]
    fn milling_objects_are_expected_to_stand() {
        let plan = plan(vec![(1.0, 0.1); 100], Outlook { off_line: 0.5, off_place: 0.2, ..SMOOTH }).unwrap();
        assert!(plan.all_stand, "{plan:?}");
    }

    #[test]
    fn what_cannot_be_predicted_is_not() {
        assert_eq!(plan(vec![(1.0, 90.0); 100], Outlook { off_line: 2.0, off_place: 1.0, ..SMOOTH }), None);
    }
}

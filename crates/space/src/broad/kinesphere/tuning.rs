//! How to cut space and time: whether flight plans pay, how long tiles live, how much slack there is, and which layers.
//!
//! A long life means that an object is sorted and searched rarely, but then it reaches farther and has more neighbours.
//! A wide slack means that plans are kept longer, but more pairs are doubtful. Layers keep large reaches from widening
//! the cells of small ones, but every object has to look into every layer. All this is weighed by an estimate of what a
//! tick costs, on a sample that is followed for a few ticks. No clock is involved, so the outcome is the same on every
//! machine: the prices below are nanoseconds on one machine, and only their ratios matter.

use super::flight_plans::drift;
use super::search::{SearchCounts, THIN_LAYER};
use super::structure::TickCounts;
use super::tiles::LayerSettings;
use super::tolerance::{SLACKS, size};
use crate::bits::Bits;
use crate::simd::grid::bounds;
use crate::{Spheres, Vec3};

#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    pub life: u64,
    pub level: usize,
    pub layers: Vec<LayerSettings>,
    /// If more objects move than this, it no longer fits.
    pub movers_max: usize,
    pub cost: f64,
}

/// A sample of the objects, followed for a few ticks.
#[derive(Debug, Default)]
pub struct Survey {
    /// A sample of all objects, then one of those that move: where few do, hardly any of them are in the first.
    rows: Vec<u32>,
    of_all: usize,
    /// How many objects moved in the first tick.
    moved: usize,
    /// The places of all these rows, tick after tick.
    places: Vec<Vec3>,
    census: Census,
    /// Scratch: how far rows get off, and how far objects reach that stand, and that move.
    offs: Vec<f32>,
    reaches: [Vec<f64>; 2],
}

#[derive(Clone, Debug, Default)]
struct Census {
    /// Radius and speed of some objects that stand for all, and of some that move.
    sample: Vec<(f32, f32)>,
    movers: Vec<(f32, f32)>,
    objects: usize,
    moving: usize,
    /// Objects per cubic metre where there are objects.
    density: f64,
    drift: f64,
    /// How far three in four objects get off the line through their first two places, as a share of their size.
    off_line: f32,
    /// The share of objects that turn in a tick, unlike most: they depart before long, whatever the slack.
    turn: f32,
}

/// Ticks that a sample is followed for.
const FOLLOWED: usize = 4;
/// Objects in a sample, at least and at most, and objects per one of them: a survey may not take longer than a tick.
const SAMPLE: (usize, usize) = (64, 1_024);
const OBJECTS_PER_SAMPLE: usize = 48;

/// An object that gets off its line by this share of its size, and `UNLIKE` times as far as most, has turned.
const TURNED: f32 = 0.05;
const UNLIKE: f32 = 4.0;

/// A tick, however few objects there are: lists of tiles and ticks that are in no cache. In a small world the grid is
/// as good, and more even.
const TICK: f64 = 100_000.0;
/// Checking a flight plan, and reporting its share of encounters.
const CHECK: f64 = 3.0;
/// Entering an object anew and sorting it.
const SORT: f64 = 80.0;
/// Looking into a layer, and at one line of cells there; and for an object that looks by itself, whose lines are
/// anywhere in memory.
const LOOK: f64 = 80.0;
const LINE: f64 = 4.0;
const LINE_ALONE: f64 = 100.0;
/// Passing a tile in a list, to see whether it is near, and how many tiles of a layer are passed.
const PASS: f64 = 10.0;
const PASSED: f64 = 64.0;
/// Gathering a run of rows, and testing two lines against each other.
const RUN: f64 = 16.0;
const TEST: f64 = 1.8;
/// Computing when two meet; reporting an encounter; comparing the positions of a doubtful one.
const FIND: f64 = 130.0;
const REPORT: f64 = 7.0;
const COMPARE: f64 = 10.0;
/// Another flight plan and another place for an object that departed.
const DEPARTURE: f64 = 1_200.0;
/// The plain grid: sorting an object, testing two, reporting a pair.
const GRID: f64 = 18.5;
const GRID_TEST: f64 = 0.7;
const GRID_PAIR: f64 = 14.0;

/// Lives that are considered; the first will do anywhere.
const LIVES: [u64; 9] = [48, 64, 96, 32, 24, 16, 12, 8, 6];
/// If fewer than one object in `MANY_MOVE` moves, whatever life they have will do.
const MANY_MOVE: usize = 20;
/// Plans that are kept for fewer ticks, on average, are not worth making.
const SHORTEST: f64 = 12.0;
/// Estimates are rough, so flight plans have to promise this share of the grid's cost, or less.
const PROMISE: f64 = 0.8;
/// How much dearer it is to search thin tiles, which are mostly surface.
const THIN_TILES: f64 = 1.3;
/// Objects per cell that cells are widened for, where nothing else asks for wide cells.
const OCCUPANCY: f64 = 2.5;
/// A new layer may begin where the reach has grown by one of these factors; the best of them is taken, if it is better
/// than those before by a tenth.
const LAYER_FACTORS: [f64; 4] = [f64::INFINITY, 8.0, 3.0, 1.7];
const LAYERS_MAX: usize = 6;

/// The least that a tick costs, per object, whatever there is to do in it.
fn least_cost(objects: usize) -> f64 {
    CHECK + TICK / objects.max(1) as f64
}

/// What a tick of the plain grid costs, per object, that makes `tests` tests to find `pairs` pairs.
pub fn grid_cost(objects: usize, pairs: usize, tests: u64) -> f64 {
    GRID + (tests as f64 * GRID_TEST + pairs as f64 * GRID_PAIR) / objects.max(1) as f64
}

/// Whether there may be a tuning that pays where the grid has this cost.
pub fn may_pay(objects: usize, grid_cost: f64) -> bool {
    least_cost(objects) < PROMISE * grid_cost
}

pub fn tick_cost(counts: TickCounts, objects: usize) -> f64 {
    let TickCounts { arrivals, renewed, search: SearchCounts { passed, lines, runs, tests, found }, .. } = counts;
    let cost = arrivals as f64 * DEPARTURE
        + renewed as f64 * (SORT + LOOK)
        + passed as f64 * PASS
        + lines as f64 * LINE_ALONE
        + runs as f64 * RUN
        + tests as f64 * TEST
        + found as f64 * FIND
        + counts.reported as f64 * REPORT
        + counts.compared as f64 * COMPARE;
    least_cost(objects) + cost / objects.max(1) as f64
}

/// Of `count` rows, some that stand for all.
fn sample(rows: &Bits, count: usize) -> impl Iterator<Item = u32> + '_ {
    let size = (count / OBJECTS_PER_SAMPLE).clamp(SAMPLE.0, SAMPLE.1);
    rows.every(count.div_ceil(size)).map(|row| row as u32)
}

impl Survey {
    pub fn reset(&mut self) {
        self.rows.clear();
        self.places.clear();
    }

    /// Notes where the sample is in the tick at hand. Says whether it has been followed for long enough.
    pub fn observe(&mut self, spheres: &Spheres) -> bool {
        if self.rows.is_empty() {
            self.rows.extend(sample(spheres.alive(), spheres.len()));
            self.of_all = self.rows.len();
            self.moved = spheres.moved().count();
            self.rows.extend(sample(spheres.moved(), self.moved));
        }
        let columns = spheres.columns();
        self.places.extend(self.rows.iter().map(|&row| columns.sphere(row as usize).center));
        self.of_all > 0 && self.places.len() == self.rows.len() * (FOLLOWED + 1)
    }

    /// The best tuning for what was observed, if one pays where the grid finds `pairs` pairs at `grid_cost`.
    pub fn tune(&mut self, spheres: &Spheres, pairs: usize, grid_cost: f64) -> Option<Tuning> {
        self.take_census(spheres, pairs);
        self.reset();
        let (census, reaches) = (&self.census, &mut self.reaches);
        let mut best: Option<Tuning> = None;
        for (level, &slack) in SLACKS.iter().enumerate() {
            // On a bend an object gets off its line with the square of the time.
            let kept = FOLLOWED as f64 * f64::from(slack / census.off_line.max(1e-9)).sqrt();
            // If few move they do not decide: more may begin to, and differently.
            let lives = if census.moving * MANY_MOVE < census.objects { &LIVES[..1] } else { &LIVES[..] };
            for &life in lives {
                // Plans are refined when tiles are renewed, so only objects depart that get off sooner: one in four
                // where plans are kept for just as long as tiles live, fewer where they are kept longer.
                let departures = 0.25 * life as f64 / kept.powi(2) + f64::from(census.turn);
                if departures * SHORTEST > 1.0 {
                    continue;
                }
                let limit = best.as_ref().map_or(PROMISE * grid_cost, |best| best.cost * 0.999);
                best = census.tuning(life, level, departures, limit, reaches).or(best);
            }
        }
        best
    }

    fn take_census(&mut self, spheres: &Spheres, pairs: usize) {
        let columns = spheres.columns();
        self.census.off_line = self.off_line(spheres);
        let Survey { rows, of_all, moved, places, census, offs, .. } = self;
        // A line is known from one step, and may be left with each of those that follow.
        let turned = offs.iter().filter(|&&off| off > TURNED.max(UNLIKE * census.off_line)).count();
        census.turn = turned as f32 / (*of_all * (FOLLOWED - 1)) as f32;
        let count = rows.len();
        let at = |index: usize| {
            let step = places[FOLLOWED * count + index] - places[(FOLLOWED - 1) * count + index];
            (columns.radius[rows[index] as usize], step.length_squared().sqrt())
        };
        census.sample.clear();
        census.sample.extend((0..*of_all).map(at).filter(|(_, speed)| speed.is_finite()));
        census.movers.clear();
        census.movers.extend((*of_all..count).map(at).filter(|&(_, speed)| speed > 0.0 && speed.is_finite()));
        census.objects = spheres.len();
        census.moving = *moved * census.movers.len() / (count - *of_all).max(1);
        let sample = &census.sample;
        // Two estimates of the density: by the space that objects take up, and by how often they overlap, which is
        // higher where they cluster.
        let n = spheres.len() as f64;
        let largest = sample.iter().map(|(radius, _)| f64::from(*radius)).fold(1e-3, f64::max);
        let bounds = [columns.x, columns.y, columns.z].map(bounds);
        let volume: f64 = bounds.iter().map(|(low, high)| f64::from(high - low).max(2.0 * largest)).product();
        let ball = |index: usize| {
            let (one, other) = (sample[index].0, sample[(index * 7 + 1) % sample.len()].0);
            f64::from(one + other).powi(3) * 4.19
        };
        let ball = (0..sample.len()).map(ball).sum::<f64>() / sample.len().max(1) as f64;
        let by_pairs = if ball > 0.0 { 2.0 * pairs as f64 / n / ball } else { 0.0 };
        census.density = (n / volume).max(by_pairs);
        let extent = bounds.iter().map(|(low, high)| low.abs().max(high.abs())).fold(0.0, f32::max);
        census.drift = f64::from(drift(extent));
    }

    /// How far three in four get off the line through their first two places, as a share of their size.
    fn off_line(&mut self, spheres: &Spheres) -> f32 {
        let Survey { rows, of_all, places, offs, .. } = self;
        offs.clear();
        for (index, &row) in rows[..*of_all].iter().enumerate() {
            let place = |tick: usize| places[tick * rows.len() + index];
            let step = place(1) - place(0);
            let off2 = |tick: usize| (place(tick) - place(0) - step * tick as f32).length_squared();
            // NaN, of an object that was removed meanwhile, is the farthest.
            let worst = (2..=FOLLOWED).map(off2).fold(0.0, |worst, next| if next <= worst { worst } else { next });
            // What rounding alone may do says nothing about how an object moves.
            let rounding = place(0).abs().max_element() * (8.0 * f32::EPSILON);
            let size = size(spheres.columns().radius[row as usize], step.length_squared().sqrt());
            offs.push(if worst <= rounding * rounding { 0.0 } else { worst.sqrt() / size });
        }
        let decisive = (offs.len() - 1) * 3 / 4;
        *offs.select_nth_unstable_by(decisive, f32::total_cmp).1
    }
}

impl Census {
    /// The tuning for a life and a slack, where this share of objects departs in a tick, if it costs less than `limit`.
    fn tuning(
        &self,
        life: u64,
        level: usize,
        departures: f64,
        limit: f64,
        reaches: &mut [Vec<f64>; 2],
    ) -> Option<Tuning> {
        let slack = SLACKS[level];
        let reach = |&(radius, speed): &(f32, f32)| {
            f64::from(radius + slack * size(radius, speed)) + self.drift + f64::from(speed) * life as f64 / 2.0
        };
        let [standing, moving] = reaches;
        standing.clear();
        standing.extend(self.sample.iter().filter(|(_, speed)| *speed == 0.0).map(reach));
        moving.clear();
        moving.extend(self.movers.iter().map(reach));
        let share = self.moving as f64 / self.objects.max(1) as f64;
        let mut cost = least_cost(self.objects) + DEPARTURE * departures + self.encounter_cost(slack, life, share);
        if cost >= limit {
            return None;
        }
        let n = self.objects as f64;
        let still = LayerCuts::best(standing, n * (1.0 - share), self.density * (1.0 - share), None).0;
        let (cuts, each) = LayerCuts::best(moving, n * share, self.density * share, Some(&still));
        let is_thin = cuts.iter().any(|cut| self.tile_bits(cut, life)[1] < 2);
        cost += if is_thin { THIN_TILES } else { 1.0 } * each * share / life as f64;
        if cost >= limit {
            return None;
        }
        let settings = |cut: &LayerCut, tile_bits: [u32; 3], stands: bool| LayerSettings {
            // A little more than the sample has seen.
            least: cut.least as f32,
            reach: (cut.reach * 1.03) as f32,
            edge: (cut.edge * 1.03) as f32,
            tile_bits,
            stands,
        };
        let layers = still.iter().map(|cut| settings(cut, [6, 2, 2], true));
        let layers = layers.chain(cuts.iter().map(|cut| settings(cut, self.tile_bits(cut, life), false))).collect();
        let movers_max = (2 * self.moving).max(self.objects / MANY_MOVE);
        Some(Tuning { life, level, layers, movers_max, cost })
    }

    /// What it costs to find encounters, to report them and to compare positions, per object and tick.
    fn encounter_cost(&self, slack: f32, life: u64, moving: f64) -> f64 {
        let mean = |value: fn(f64, f64) -> f64| {
            let values = self.sample.iter().map(|&(radius, speed)| value(f64::from(radius), f64::from(speed)));
            values.sum::<f64>() / self.sample.len().max(1) as f64
        };
        let (half, slack) = (0.5 * self.density, f64::from(slack));
        // Half of the others within a ball of two radii, and by how much that grows per tick if the ball is swept.
        let near = half * 4.19 * 8.0 * mean(|radius, _| radius * radius * radius);
        let swept = half * std::f64::consts::PI * 4.0 * 1.3 * mean(|radius, speed| radius * radius * speed);
        let encounters = near * (1.0 + slack).powi(3);
        let met = encounters + swept * (1.0 + slack).powi(2) * life as f64;
        // Doubtful are those in the shell that the slack leaves undecided.
        let shell = near * ((1.0 + slack).powi(3) - (1.0 - slack).max(0.0).powi(3)) * moving;
        let doubtful = shell.min(encounters);
        // Encounters of different tiles are found from both sides; those of standing objects are not found again.
        let found = 1.6 * (1.0 - (1.0 - moving).powi(2)) * met / life as f64;
        COMPARE * doubtful + REPORT * (encounters - doubtful) + FIND * found
    }

    /// The shape of the tiles of a layer of moving objects.
    fn tile_bits(&self, cut: &LayerCut, life: u64) -> [u32; 3] {
        let in_a_cell = (cut.density * cut.edge.powi(3)).min(cut.objects);
        if cut.objects * (THIN_LAYER as f64) < self.objects as f64 {
            // Each of a few objects among many looks at many others, so a tick should not have many of them.
            let bits = (cut.objects / (4.0 * life as f64) / in_a_cell).max(1.0).log2() as u32;
            let thick = (bits / 3).min(2);
            return [(bits - 2 * thick).min(6), thick, thick];
        }
        long_tiles(cut.objects / in_a_cell.max(1.0), life as f64)
    }
}

/// The shape of tiles for a layer of `cells` cells, of which two are to expire in three ticks.
///
/// They are long, since lines of cells are read in one go, and four or two lines thick: thin tiles are mostly surface,
/// and what is found there is found from both sides.
fn long_tiles(cells: f64, life: f64) -> [u32; 3] {
    let side = cells.cbrt();
    let across = |thick: u32| (side / f64::from(1 << thick)).max(1.0).powi(2);
    let thick = if across(2) * 2.0 >= life { 2 } else { 1 };
    let enough = |long: &u32| across(thick) * (side / f64::from(1 << long)).max(1.0) * 1.5 >= life;
    (2..=6).rev().find(enough).map_or([1, 1, 1], |long| [long, thick, thick])
}

/// A run of similar reaches: a layer to be.
#[derive(Clone, Copy, Debug, Default)]
struct LayerCut {
    objects: f64,
    density: f64,
    least: f64,
    reach: f64,
    edge: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct LayerCuts {
    cuts: [LayerCut; LAYERS_MAX],
    count: usize,
}

impl LayerCuts {
    /// Cuts the reaches of a sample of `objects` objects, and says what an object costs each time that its tile
    /// expires. Those `around` have to be looked at, too: standing objects around moving ones.
    fn best(reaches: &mut [f64], objects: f64, density: f64, around: Option<&LayerCuts>) -> (LayerCuts, f64) {
        reaches.sort_unstable_by(f64::total_cmp);
        let mut best = (LayerCuts::default(), f64::INFINITY);
        for factor in LAYER_FACTORS.into_iter().filter(|_| !reaches.is_empty()) {
            let cuts = LayerCuts::at(reaches, factor, objects, density, around);
            let cost = cuts.cost(around);
            if cost < best.1 * 0.9 {
                best = (cuts, cost);
            }
        }
        (best.0, if best.1.is_finite() { best.1 } else { 0.0 })
    }

    fn iter(&self) -> impl Iterator<Item = &LayerCut> + Clone {
        self.cuts[..self.count].iter()
    }

    /// Begins a layer wherever the reach has grown by this factor.
    fn at(reaches: &[f64], factor: f64, objects: f64, density: f64, around: Option<&LayerCuts>) -> LayerCuts {
        let density_around: f64 = around.iter().flat_map(|cuts| cuts.iter()).map(|cut| cut.density).sum();
        let mut cuts = LayerCuts::default();
        let mut start = 0;
        while start < reaches.len() {
            let is_last = cuts.count + 1 == LAYERS_MAX;
            let limit = if is_last { f64::INFINITY } else { reaches[start] * factor };
            let end = start + reaches[start..].partition_point(|&reach| reach <= limit);
            let share = (end - start) as f64 / reaches.len() as f64;
            let (objects, density) = (objects * share, density * share);
            let (least, reach) = (reaches[start], reaches[end - 1]);
            let roomy = (OCCUPANCY / (density + density_around).max(1e-30)).cbrt();
            cuts.cuts[cuts.count] = LayerCut { objects, density, least, reach, edge: (2.0 * reach).max(roomy) };
            cuts.count += 1;
            start = end;
        }
        cuts
    }

    /// What an object costs when its tile expires: it is sorted, and looks into every layer.
    fn cost(&self, around: Option<&LayerCuts>) -> f64 {
        let others = || around.into_iter().flat_map(LayerCuts::iter);
        let own: f64 = self.iter().map(|cut| cut.objects).sum();
        let objects = own + others().map(|cut| cut.objects).sum::<f64>();
        let each = |looker: &LayerCut| {
            if looker.objects * (THIN_LAYER as f64) < objects {
                let width = |layer: &LayerCut| 2.0 * (looker.reach + layer.reach) + layer.edge;
                return SORT + self.iter().chain(others()).map(|layer| layer.cost_alone(width(layer))).sum::<f64>();
            }
            // The objects of a cell look together. Within a layer most pairs are tested once, from one of the two.
            let of_own = |layer: &LayerCut| {
                let once = if layer.reach == looker.reach { 0.66 } else { 1.0 };
                LOOK + once * layer.cost_of_a_look(2.0 * looker.reach + 2.0 * layer.edge)
            };
            let of_other = |layer: &LayerCut| {
                LOOK + layer.cost_of_a_look(looker.edge + 2.0 * (looker.reach + layer.reach) + layer.edge)
            };
            SORT + self.iter().map(of_own).sum::<f64>() + others().map(of_other).sum::<f64>()
        };
        self.iter().map(|looker| looker.objects * each(looker)).sum::<f64>() / own.max(1e-30)
    }
}

impl LayerCut {
    fn in_cube(&self, width: f64) -> f64 {
        (self.density * width.powi(3)).min(self.objects)
    }

    /// What it costs to look at all objects in a cube of this width.
    fn cost_of_a_look(&self, width: f64) -> f64 {
        LINE * (width / self.edge).powi(2).min(self.objects) + TEST * self.in_cube(width)
    }

    /// The same for a single object, which looks along a path that is thinner than such a cube.
    fn cost_alone(&self, width: f64) -> f64 {
        let lines = (0.5 * (width / self.edge).powi(2)).min(self.objects);
        LOOK + PASS * self.objects.min(PASSED) + LINE_ALONE * lines + TEST * self.in_cube(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Motion, Settings, Workload};

    /// What a survey of a workload tells.
    fn survey(motion: Motion) -> (Census, Option<Tuning>) {
        let mut workload = Workload::new(Settings { motion, objects: 20_000, ..Settings::default() }).unwrap();
        let mut survey = Survey::default();
        workload.step();
        while !survey.observe(workload.spheres()) {
            workload.step();
        }
        let tuning = survey.tune(workload.spheres(), 10_000, 200.0);
        (survey.census, tuning)
    }

    #[test]
    fn motions_are_told_apart() {
        let (uniform, tuning) = survey(Motion::Uniform);
        let tuning = tuning.expect("straight motion can be predicted");
        assert!(uniform.off_line < 1e-3 && tuning.life >= 24 && tuning.level == 0, "{tuning:?}");
        assert_eq!(survey(Motion::Static).0.off_line, 0.0);
        let (turning, bent) = survey(Motion::Turning);
        assert!((0.01..0.05).contains(&turning.off_line), "{turning:?}");
        assert!(bent.is_none_or(|bent| bent.life < tuning.life && bent.level > 0));
        let (teleport, none) = survey(Motion::Teleport);
        assert!(teleport.off_line > 1.0 && none.is_none());
    }

    /// Objects that are alike are not quite, after some arithmetic.
    #[test]
    fn a_few_giants_get_a_layer_of_their_own() {
        let mut reaches: Vec<f64> = (0..1_000).map(|number| 3.0 + 1e-7 * f64::from(number)).collect();
        assert_eq!(LayerCuts::best(&mut reaches, 1e5, 0.012, None).0.count, 1);
        reaches.extend([200.0; 3]);
        let (cuts, _) = LayerCuts::best(&mut reaches, 1e5, 0.012, None);
        assert_eq!(cuts.iter().map(|cut| cut.least).collect::<Vec<_>>(), [3.0, 200.0]);
        assert!((cuts.iter().map(|cut| cut.objects).sum::<f64>() - 1e5).abs() < 1.0);
    }
}

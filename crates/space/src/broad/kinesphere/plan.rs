//! How to cut space and time: what to expect of objects, how long tiles live, and which layers there are.
//!
//! A long life means that an object is sorted and looks for others rarely, but then sweeps a larger ball and has more
//! others to look at. A wide slack means that courses last, but more meetings are doubtful. Layers keep large balls from
//! widening the cells of small ones, but every object has to look into every layer. All this is weighed by an estimate
//! of what a tick costs, on a sample. No clock is involved, so the plan is the same on every machine; the prices below
//! are nanoseconds on one of them, and only their ratios matter.

use glam::Vec3;

use super::course::drift;
use super::following::Effort;
use super::mood::SLACKS;
use super::scout::{FOLLOWED, Outlook, spaced};
use crate::Spheres;

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
}

/// How to cut space and time.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many ticks a tile lives for.
    pub life: u64,
    /// Which of [`SLACKS`] objects get at first.
    pub level: usize,
    /// Whether all are expected to stand, moving or not.
    pub all_stand: bool,
    /// The layers of moving objects, then those of standing ones.
    pub layers: Vec<LayerPlan>,
    /// What a tick costs, per object.
    pub cost: f64,
}

/// One layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerPlan {
    /// The largest reach it takes.
    pub reach: f32,
    /// The edge of its cells.
    pub edge: f32,
    /// A tile has two to these powers of cells along each axis.
    pub tile_bits: [u32; 3],
    /// Whether its objects stand.
    pub standing: bool,
}

/// A tick, however few objects there are: lists of tiles, of due ticks and of meetings, which other work has meanwhile
/// pushed out of the caches.
const TICK: f64 = 80_000.0;
/// Checking a course, and reporting its share of meetings.
const CHECK: f64 = 5.0;
/// Entering an object anew and sorting it.
const SORT: f64 = 80.0;
/// Looking into a layer, whoever is there.
const LOOK: f64 = 80.0;
/// Looking at one line of cells.
const LINE: f64 = 4.0;
/// Testing two courses against each other.
const TEST: f64 = 1.8;
/// Working out when two meet, and entering that.
const FIND: f64 = 130.0;
/// Reporting a meeting.
const REPORT: f64 = 7.0;
/// Comparing the positions of a doubtful meeting.
const COMPARE: f64 = 10.0;
/// Finding another course and another place for one that strayed, where objects move and where they stand.
const STRAY: f64 = 1_800.0;
const STRAY_STANDING: f64 = 700.0;
/// Sorting an object into a grid of the moment; testing it against another there; reporting a pair.
const DIRECT: f64 = 18.5;
const DIRECT_TEST: f64 = 0.7;
const DIRECT_PAIR: f64 = 14.0;

/// How much dearer it is to look around from thin tiles, which are mostly surface.
const THIN: f64 = 1.3;
/// Objects per cell, in whatever layer, that cells are widened for, where nothing else asks for wide cells.
const OCCUPANCY: f64 = 2.5;
/// A layer with a smaller share of all objects is sparse.
const SPARSE: f64 = 0.1;
/// More layers than this never pay.
const LAYERS: usize = 6;
/// Estimates are rough: courses have to promise this share of what it costs to find pairs afresh, or less.
const PROMISE: f64 = 0.9;
/// Courses that last for fewer ticks, on average, are not worth setting.
const SHORTEST: f64 = 12.0;
/// Lives that are considered.
const LIVES: [u64; 9] = [6, 8, 12, 16, 24, 32, 48, 64, 96];

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
        let Effort { newcomers, renewed, tests, found, reported, compared } = effort;
        // Strays are dearer where tiles fall due, for then everybody moves.
        let stray = if renewed > newcomers { STRAY } else { STRAY_STANDING };
        let sum = newcomers as f64 * stray
            + renewed as f64 * (SORT + LOOK)
            + tests as f64 * TEST
            + found as f64 * FIND
            + reported as f64 * REPORT
            + compared as f64 * COMPARE;
        Plan::least_cost(objects) + sum / objects.max(1) as f64
    }
}

impl Census {
    /// Looks at a sample of a world in which so many pairs overlap; `velocity` says how a row moves.
    pub fn take(spheres: &Spheres, pairs: usize, velocity: impl Fn(usize) -> Vec3) -> Census {
        let columns = spheres.columns();
        let objects = spheres.len();
        let is_moving = |row: &usize| velocity(*row) != Vec3::ZERO;
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut moving = 0;
        for row in spheres.alive().iter() {
            let center = columns.sphere(row).center;
            (low, high) = (low.min(center), high.max(center));
            moving += usize::from(is_moving(&row));
        }
        let size_and_speed = |row: usize| (columns.radius[row], velocity(row).length_squared().sqrt());
        let movers = spaced(spheres.alive().iter().filter(is_moving), moving).map(size_and_speed).collect();
        let sample: Vec<(f32, f32)> = spaced(spheres.alive().iter(), objects).map(size_and_speed).collect();
        // Two estimates of how densely objects are packed: by the space they take up, and by how often they overlap,
        // which is higher where they cluster.
        let n = objects as f64;
        // Somebody takes up room even where all are on one plane or line.
        let largest = sample.iter().map(|(radius, _)| f64::from(*radius)).fold(1e-3, f64::max);
        let volume: f64 = (high - low).to_array().iter().map(|&side| f64::from(side).max(2.0 * largest)).product();
        let ball = |index: usize| {
            let (one, other) = (sample[index].0, sample[(index * 7 + 1) % sample.len()].0);
            f64::from(one + other).powi(3) * 4.19
        };
        let ball = (0..sample.len()).map(ball).sum::<f64>() / sample.len().max(1) as f64;
        let by_pairs = if ball > 0.0 { 2.0 * pairs as f64 / n / ball } else { 0.0 };
        let density = (n / volume).max(by_pairs);
        let drift = f64::from(drift(low.abs().max(high.abs()).max_element()));
        Census { sample, movers, objects, moving, density, drift }
    }

    /// The best plan, if any promises to cost less than `limit`, per object and tick.
    pub fn plan(&self, outlook: Outlook, limit: f64) -> Option<Plan> {
        let mut best: Option<Plan> = None;
        let meetings = Meetings::of(self);
        let mut consider = |life, level, all_stand, lasting| {
            let limit = best.as_ref().map_or(PROMISE * limit, |best| best.cost);
            if lasting >= SHORTEST
                && let Some(plan) = self.plan_for(&meetings, life, level, all_stand, lasting, limit)
            {
                best = Some(plan);
            }
        };
        for (level, slack) in SLACKS.into_iter().enumerate() {
            let slack = f64::from(slack);
            // On a bend one gets off the line with the square of the time, in a crowd from one's place with the root.
            let followed = FOLLOWED as f64;
            let on_line = followed * (slack / f64::from(outlook.off_line).max(1e-9)).sqrt();
            let in_place = followed * (slack / f64::from(outlook.off_place).max(1e-9)).powi(2);
            for life in LIVES {
                // Courses are set anew when tiles fall due, so only those stray who get off sooner: one in four where
                // courses last just as long as tiles, fewer where they last longer.
                let strays = 0.25 * (life as f64 / on_line).powi(2);
                consider(life, level, false, life as f64 / strays);
            }
            // Where three in four stand anyway, how far they get says nothing about the others.
            if self.moving * 4 > self.objects {
                consider(LIVES[LIVES.len() - 1], level, true, in_place);
            }
        }
        best
    }

    /// The best layers for this life and slack, if a course lasts for `lasting` ticks and all costs less than `limit`.
    fn plan_for(
        &self,
        expected: &Meetings,
        life: u64,
        level: usize,
        all_stand: bool,
        lasting: f64,
        limit: f64,
    ) -> Option<Plan> {
        let slack = SLACKS[level];
        let ticks = life as f64;
        let stray = if all_stand { STRAY_STANDING } else { STRAY };
        let mut cost = Plan::least_cost(self.objects) + stray / lasting.max(1.0);
        let (meetings, met) = expected.met(f64::from(slack), if all_stand { 0.0 } else { ticks });
        // Those of different tiles are found from both sides.
        let found = if all_stand { meetings / lasting.max(1.0) } else { 1.6 * met / ticks };
        let doubtful = expected.doubtful(f64::from(slack)).min(meetings);
        cost += COMPARE * doubtful + REPORT * (meetings - doubtful) + FIND * found;
        if cost >= limit {
            return None;
        }
        let way = |speed: f32| f64::from(speed) * ticks / 2.0;
        let reach = |&(radius, speed): &(f32, f32)| f64::from(radius + slack * radius.max(speed)) + self.drift;
        let moving_share = if all_stand { 0.0 } else { self.moving as f64 / self.objects.max(1) as f64 };
        let (moving_density, standing_density) = (self.density * moving_share, self.density * (1.0 - moving_share));
        let stands = |&&(_, speed): &&(f32, f32)| all_stand || speed == 0.0;
        let standing = cut(self.sample.iter().filter(stands).map(reach).collect(), standing_density, &[]);
        let mut layers = Vec::new();
        if !all_stand {
            let reaches = self.movers.iter().map(|mover| reach(mover) + way(mover.1)).collect();
            let (moving, cost_each) = cut(reaches, moving_density, &standing.0);
            layers.extend(moving.iter().map(|cut| self.layer(cut, moving_share, ticks, false)));
            let is_thin = layers.iter().any(|layer: &LayerPlan| layer.tile_bits[1] < 2);
            let surface = if is_thin { THIN } else { 1.0 };
            cost += surface * cost_each * moving_share / ticks;
        }
        layers.extend(standing.0.iter().map(|cut| self.layer(cut, 1.0 - moving_share, ticks, true)));
        (cost < limit).then_some(Plan { life, level, all_stand, layers, cost })
    }

    fn layer(&self, cut: &Cut, share: f64, life: f64, standing: bool) -> LayerPlan {
        let objects = self.objects as f64 * share * cut.share;
        let cells = objects / (cut.density * cut.edge.powi(3)).max(1.0);
        let side = cells.cbrt();
        // Tiles are long, since lines of cells are read in one go, and four or two lines thick; but there are enough of
        // them for two to fall due in three ticks: more would be smoother still, but thin tiles are mostly surface, and
        // what they find there is found from both sides.
        let across = |thick: u32| (side / f64::from(1 << thick)).max(1.0).powi(2);
        // Those of a few large objects may be as small as it takes: what such an object finds is hardly ever another one,
        // and each looks at so many small ones that a tick should not have many of them.
        let is_sparse = share * cut.share < SPARSE;
        let thick =
            if standing || across(2) * 2.0 >= life { 2 } else { u32::from(!is_sparse || across(1) * 2.0 >= life) };
        let enough = |long: &u32| standing || across(thick) * (side / f64::from(1 << long)).max(1.0) * 1.5 >= life;
        let shortest = if is_sparse { 0 } else { 2 };
        let long = (shortest..=6).rev().find(enough).unwrap_or(shortest);
        // A little more than the sample has seen, for those it has not.
        LayerPlan {
            reach: (cut.reach * 1.03) as f32,
            edge: (cut.edge * 1.03) as f32,
            tile_bits: [long, thick, thick],
            standing,
        }
    }
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
            moving: mean(|_, speed| if speed == 0.0 { 0.0 } else { 1.0 }),
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

/// A run of similar reaches.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Their share of all that are cut.
    share: f64,
    /// How many there are in a cubic metre.
    density: f64,
    reach: f64,
    edge: f64,
}

/// Those who have to be looked at but are cut by themselves: the standing ones around the moving ones.
type Around<'a> = &'a [Cut];

/// Cuts reaches into the runs that cost least, and says what an object costs then.
fn cut(mut reaches: Vec<f64>, density: f64, around: Around<'_>) -> (Vec<Cut>, f64) {
    if reaches.is_empty() {
        return (Vec::new(), 0.0);
    }
    reaches.sort_unstable_by(f64::total_cmp);
    let last = reaches.len();
    let price_of = |ends: &[usize]| cost(&cuts(&reaches, ends, density, around), around);
    let mut ends = vec![last];
    let mut best = price_of(&ends);
    while ends.len() < LAYERS {
        // Cuts are tried where the reach has grown by a fifth.
        let mut candidate: Option<(f64, Vec<usize>)> = None;
        let mut previous = 0.0;
        for end in 1..last {
            if reaches[end - 1] < previous * 1.2 || reaches[end - 1] == reaches[end] || ends.contains(&end) {
                continue;
            }
            previous = reaches[end - 1];
            let mut more = ends.clone();
            more.push(end);
            more.sort_unstable();
            let price = price_of(&more);
            if candidate.as_ref().is_none_or(|(least, _)| price < *least) {
                candidate = Some((price, more));
            }
        }
        match candidate {
            Some((price, more)) if price < best * 0.9 => (best, ends) = (price, more),
            _ => break,
        }
    }
    (cuts(&reaches, &ends, density, around), best)
}

fn cuts(reaches: &[f64], ends: &[usize], density: f64, around: Around<'_>) -> Vec<Cut> {
    let mut start = 0;
    let density_around: f64 = around.iter().map(|layer| layer.density).sum();
    ends.iter()
        .map(|&end| {
            let share = (end - start) as f64 / reaches.len() as f64;
            let (density, reach) = (density * share, reaches[end - 1]);
            start = end;
            let roomy = (OCCUPANCY / (density + density_around).max(1e-30)).cbrt();
            Cut { share, density, reach, edge: (2.0 * reach).max(roomy) }
        })
        .collect()
}

/// What an object costs when its tile falls due, on average: it is sorted, and looks into every layer.
fn cost(layers: &[Cut], around: Around<'_>) -> f64 {
    let mut sum = 0.0;
    for looker in layers {
        let look = |layer: &Cut, width: f64| (width / layer.edge).powi(2) * LINE + TEST * layer.density * width.powi(3);
        let mut each = SORT;
        for layer in layers {
            // Within a layer most pairs are looked at once, from one of the two.
            let once = if layer.reach == looker.reach { 0.66 } else { 1.0 };
            each += LOOK + once * look(layer, 2.0 * looker.reach + layer.edge + layer.edge);
        }
        for layer in around {
            each += LOOK + look(layer, looker.edge + 2.0 * (looker.reach + layer.reach) + layer.edge);
        }
        sum += looker.share * each;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMOOTH: Outlook = Outlook { off_line: 0.0, off_place: 0.4 };

    fn census(movers: Vec<(f32, f32)>) -> Census {
        let objects = 100_000;
        Census { sample: movers.clone(), movers, objects, moving: objects, density: 0.012, drift: 1e-4 }
    }

    #[test]
    fn smooth_motion_gets_a_long_life_and_a_narrow_slack() {
        let plan = census(vec![(1.0, 0.1); 100]).plan(SMOOTH, f64::INFINITY).unwrap();
        assert!(plan.life >= 24 && plan.level == 0 && plan.layers.len() == 1 && !plan.all_stand, "{plan:?}");
    }

    #[test]
    fn bends_get_a_short_life_and_a_wide_slack() {
        let sample = vec![(1.0, 0.1); 100];
        let smooth = census(sample.clone()).plan(SMOOTH, f64::INFINITY).unwrap();
        let bent = census(sample).plan(Outlook { off_line: 0.003, off_place: 0.4 }, f64::INFINITY).unwrap();
        assert!(bent.life < smooth.life && bent.level > smooth.level, "{bent:?}");
    }

    #[test]
    fn milling_objects_are_expected_to_stand() {
        let plan =
            census(vec![(1.0, 0.1); 100]).plan(Outlook { off_line: 0.5, off_place: 0.2 }, f64::INFINITY).unwrap();
        assert!(plan.all_stand, "{plan:?}");
    }

    #[test]
    fn what_cannot_be_predicted_is_not() {
        assert_eq!(census(vec![(1.0, 90.0); 100]).plan(Outlook { off_line: 2.0, off_place: 1.0 }, f64::INFINITY), None);
    }

    #[test]
    fn a_few_giants_get_a_layer_of_their_own() {
        let mut sample = vec![(1.0, 0.1); 1_000];
        sample.extend([(200.0, 0.1); 3]);
        let plan = census(sample).plan(SMOOTH, f64::INFINITY).unwrap();
        assert_eq!(plan.layers.len(), 2, "{plan:?}");
    }
}

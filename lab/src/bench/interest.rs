//! What does it cost to know which objects should hear each other, beyond knowing which overlap?
//!
//! Each case runs on the same frames as its peers, one after the other within each tick, and the order rotates. *Beyond
//! the pairs* is the processor time of everything, less that of the same broad phase on the same frames when all that
//! is asked for is the pairs and which of them began and ended. The peer is the plain grid, which tells the pairs
//! alone.

use std::hint::black_box;

use ::interest::published::{CliqueFinder, OrderedAxis, RelationFinder, Relations};
use ::interest::{Audience, AudienceSearch, AudienceSettings, Aura, Graph, GroupChange, GroupCover, greedy_cover};
use clap::Args;
use kinesphere::failure::Failure;
use serde::Serialize;
use space::broad::PlainGrid;
use space::workload::{self, Motion, Workload, WorkloadError};
use space::{BroadPhase, Kinesphere, Slot, Spheres};

use crate::crowds;
use crate::report::csv::to_table;
use crate::stopwatch::{Stopwatch, timed};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// What do relations, audiences and groups cost, beyond the pairs?
///
/// Relations, audiences and groups against the plain grid on the same frames, the papers' best algorithm against ours,
/// and repaired groups against fresh ones. Fails if a case misses what it must reach, unless worlds smaller than the
/// default are asked for.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// Objects of the large world
    #[arg(long, default_value_t = OBJECTS, value_name = "N", value_parser = range(1..=Spheres::MAX_OBJECTS))]
    pub objects: usize,
    /// Objects of the world of crowds
    #[arg(long, default_value_t = CROWDED, value_name = "N", value_parser = range(1..=1_000_000usize))]
    pub crowded: usize,
    /// Objects of the papers' world
    #[arg(long, default_value_t = SEEKERS, value_name = "N", value_parser = range(1..=20_000usize))]
    pub seekers: usize,
    /// Ticks before measuring
    #[arg(long, default_value_t = 40, value_name = "TICKS", value_parser = range(0..=100_000u32))]
    pub warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = 60, value_parser = range(1..=100_000u32))]
    pub ticks: u32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The sizes of the worlds for which the goals are set.
const OBJECTS: usize = 1_000_000;
const CROWDED: usize = 100_000;
const SEEKERS: usize = 4_000;

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub case: &'static str,
    /// The number that counts.
    pub ratio: f64,
    /// What must be reached.
    pub must: f64,
    /// What should be reached.
    pub goal: f64,
    pub more_is_better: bool,
    /// What the ratio is of.
    pub of: &'static str,
    /// What was measured of ours: milliseconds per tick of the whole, groups, or changes per tick.
    pub ours: f64,
    /// What is taken off: the broad phase alone, in milliseconds per tick.
    pub less: f64,
    /// What that is divided by: milliseconds per tick of the peer, groups, or changes per tick.
    pub peer: f64,
    /// Objects of the world.
    pub objects: usize,
    /// Overlapping others per object.
    pub neighbours: f64,
}

impl Row {
    /// Whether what must be reached is.
    fn holds(&self) -> bool {
        if self.more_is_better { self.ratio >= self.must } else { self.ratio <= self.must }
    }
}

impl Study for Settings {
    const NAME: &'static str = "bench interest";
    const EXAMPLE: &'static str = "--objects 100000 --json";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = ();

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        Ok((all_cases(self, stopwatch, progress).map_err(refused)?, ()))
    }

    fn text(Report { settings, rows, .. }: &Report<Settings>) -> String {
        let table = to_table(rows);
        let meanings: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.case, row.of)).collect();
        let Settings { ticks, warm, seed, .. } = settings;
        format!("{table}\n{}\n{ticks} ticks after {warm}, seed {seed}\n", meanings.join("\n"))
    }

    fn failures(Report { settings, rows, .. }: &Report<Settings>) -> Vec<String> {
        let Settings { objects, crowded, seekers, .. } = *settings;
        let is_judged = objects >= OBJECTS && crowded >= CROWDED && seekers >= SEEKERS;
        let misses = rows.iter().filter(|row| is_judged && !row.holds());
        misses.map(|row| format!("{} is {:.2}, must be {}", row.case, row.ratio, row.must)).collect()
    }
}

fn all_cases(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Vec<Row>, WorkloadError> {
    let per_case = settings.warm + settings.ticks;
    let total = per_case * 4 + CROWD_TICKS;
    let uniform = workload::Settings {
        motion: Motion::Uniform,
        objects: settings.objects,
        coverage_percent: 5.0,
        seed: settings.seed,
        ..workload::Settings::default()
    };
    let mut step = |case: u32, tick: u32| progress(case * per_case + tick, total);
    let mut rows = Vec::new();

    let (mut finder, mut relations) = (CliqueFinder::new(), Relations::new());
    let relations = |auras: &Spheres, stopwatch: &mut dyn Stopwatch| {
        let found = timed(stopwatch, || {
            finder.relations(auras, &mut relations);
            black_box(&relations);
        });
        found.1.cpu_ms
    };
    let workload = Workload::new(uniform.clone())?;
    rows.push(race(workload, settings, stopwatch, &mut |tick| step(0, tick), relations).row("all-relations", 0.8, 0.4));

    let workload = Workload::new(uniform)?;
    let audience_settings = AudienceSettings { search: AudienceSearch::AllPairs, ..AudienceSettings::default() };
    let mut audience = Audience::with(audience_settings).expect("the default makes sense");
    let columns = workload.spheres().columns();
    for slot in workload.spheres().slots() {
        let sphere = columns.sphere(slot.row());
        audience.insert(sphere.center, Aura::new(sphere.radius)).expect("the world is within the limits");
    }
    let listen = |auras: &Spheres, stopwatch: &mut dyn Stopwatch| {
        // To move its objects is the caller's work, as it is to move those of the other worlds.
        let columns = auras.columns();
        for row in auras.moved().iter() {
            let moved = audience.move_to(Slot::new(row as u32), columns.sphere(row).center);
            moved.expect("the same objects live in both worlds");
        }
        let updated = timed(stopwatch, || {
            audience.update();
            black_box((audience.entered(), audience.left()));
        });
        updated.1.cpu_ms
    };
    rows.push(race(workload, settings, stopwatch, &mut |tick| step(1, tick), listen).row("audience", 0.25, 0.12));

    let mut broad_phase = Kinesphere::new().tracking_changes();
    let (mut pairs, mut groups) = (Vec::new(), GroupCover::new());
    let workload = crowds::workload(settings.crowded, 100, 30.0, settings.warm..per_case, settings.seed)?;
    let group = |auras: &Spheres, stopwatch: &mut dyn Stopwatch| {
        let grouped = timed(stopwatch, || {
            broad_phase.pairs(auras, &mut pairs);
            black_box(groups.update(broad_phase.began(), broad_phase.ended()));
        });
        grouped.1.cpu_ms
    };
    rows.push(race(workload, settings, stopwatch, &mut |tick| step(2, tick), group).row("groups-of-crowds", 2.0, 0.8));

    rows.push(seekers(settings, stopwatch, &mut |tick| step(3, tick))?);
    rows.extend(crowd(settings, &mut |tick| step(4, tick))?);
    progress(total, total);
    Ok(rows)
}

/// Mean processor time per tick, in milliseconds.
struct Times {
    ours: f64,
    kinesphere: f64,
    grid: f64,
    objects: usize,
    neighbours: f64,
}

impl Times {
    fn row(&self, case: &'static str, must: f64, goal: f64) -> Row {
        Row {
            case,
            of: "CPU beyond the pairs, over plain-grid",
            ratio: (self.ours - self.kinesphere) / self.grid,
            must,
            goal,
            more_is_better: false,
            ours: self.ours,
            less: self.kinesphere,
            peer: self.grid,
            objects: self.objects,
            neighbours: self.neighbours,
        }
    }
}

/// Runs ours, the broad phase alone and the plain grid on the same frames. `ours` says how long it took.
fn race(
    mut workload: Workload,
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32),
    mut ours: impl FnMut(&Spheres, &mut dyn Stopwatch) -> f64,
) -> Times {
    let mut kinesphere = Kinesphere::new().tracking_changes();
    let (mut grid, mut pairs) = (PlainGrid::default(), Vec::new());
    let mut sums = [0.0; 3];
    let mut found = 0;
    for tick in 0..settings.warm + settings.ticks {
        progress(tick);
        let mut times = [0.0; 3];
        for turn in 0..3 {
            // The first to run rotates, so that none always meets the cold cache.
            let index = (turn + tick as usize) % 3;
            times[index] = match index {
                0 => ours(workload.spheres(), stopwatch),
                1 => timed(stopwatch, || black_box(kinesphere.pairs(workload.spheres(), &mut pairs))).1.cpu_ms,
                _ => timed(stopwatch, || black_box(grid.pairs(workload.spheres(), &mut pairs))).1.cpu_ms,
            };
        }
        if tick >= settings.warm {
            sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
            found += pairs.len();
        }
        workload.step();
    }
    let [ours, kinesphere, grid] = sums.map(|sum| sum / f64::from(settings.ticks));
    let objects = workload.spheres().len();
    let neighbours = 2.0 * found as f64 / f64::from(settings.ticks) / objects.max(1) as f64;
    Times { ours, kinesphere, grid, objects, neighbours }
}

/// Ticks until the papers' world has clustered.
const CLUSTERING: u32 = 600;

/// The papers' own world and their best algorithm.
fn seekers(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32),
) -> Result<Row, WorkloadError> {
    let mut workload = Workload::new(workload::Settings {
        motion: Motion::Seekers,
        objects: settings.seekers,
        coverage_percent: 20.0,
        seed: settings.seed,
        ..workload::Settings::default()
    })?;
    (0..CLUSTERING).for_each(|_| workload.step());
    let (mut axis, mut ours, mut relations) = (OrderedAxis::new(), CliqueFinder::new(), Relations::new());
    let (mut sums, mut pairs) = ([0.0; 2], 0);
    for tick in 0..settings.warm + settings.ticks {
        progress(tick);
        for turn in 0..2 {
            let is_ours = (turn + tick).is_multiple_of(2);
            let finder: &mut dyn RelationFinder = if is_ours { &mut ours } else { &mut axis };
            let elapsed = timed(stopwatch, || black_box(finder.relations(workload.spheres(), &mut relations))).1;
            if tick >= settings.warm {
                sums[usize::from(!is_ours)] += elapsed.cpu_ms;
            }
        }
        pairs = ours.pairs().len();
        workload.step();
    }
    let [ours, axis] = sums.map(|sum| sum / f64::from(settings.ticks));
    Ok(Row {
        case: "ordered-axis-over-ours",
        ratio: axis / ours,
        must: 30.0,
        goal: 100.0,
        more_is_better: true,
        of: "CPU of a whole frame of ordered axis, over ours",
        ours: axis,
        less: 0.0,
        peer: ours,
        objects: settings.seekers,
        neighbours: 2.0 * pairs as f64 / settings.seekers.max(1) as f64,
    })
}

/// Ticks for which the single crowd moves.
const CROWD_TICKS: u32 = 300;

/// One crowd of 200 with 60 neighbours each: a cover that was repaired in every tick against a fresh one. No clock.
fn crowd(settings: &Settings, progress: &mut dyn FnMut(u32)) -> Result<[Row; 2], WorkloadError> {
    let mut workload = crowds::workload(200, 200, 60.0, 0..CROWD_TICKS, settings.seed)?;
    let mut broad_phase = Kinesphere::new().tracking_changes();
    let (mut pairs, mut graph, mut groups) = (Vec::new(), Graph::new(), GroupCover::new());
    let (mut changes, mut edge_changes, mut found) = (0, 0, 0);
    for tick in 0..CROWD_TICKS {
        progress(tick);
        broad_phase.pairs(workload.spheres(), &mut pairs);
        graph.update(broad_phase.began(), broad_phase.ended());
        let is_membership = |change: &&GroupChange| matches!(change, GroupChange::Joined(..) | GroupChange::Left(..));
        let all_changes = groups.update(broad_phase.began(), broad_phase.ended());
        let joined_and_left = all_changes.iter().filter(is_membership).count();
        if tick > 0 {
            changes += joined_and_left;
            edge_changes += graph.began().len() + graph.ended().len();
        }
        found += pairs.len();
        workload.step();
    }
    let fresh = greedy_cover(&graph).len();
    let per_tick = |sum: usize| sum as f64 / f64::from(CROWD_TICKS - 1);
    let neighbours = 2.0 * found as f64 / f64::from(CROWD_TICKS) / 200.0;
    let row = |case, of, must, goal, ours: f64, peer: f64| Row {
        case,
        ratio: ours / peer,
        must,
        goal,
        more_is_better: false,
        of,
        ours,
        less: 0.0,
        peer,
        objects: 200,
        neighbours,
    };
    Ok([
        row("groups-over-fresh", "groups, over a fresh greedy cover", 1.6, 1.2, groups.len() as f64, fresh as f64),
        row(
            "changes-over-edge-changes",
            "membership changes per tick, over edge changes",
            2.6,
            2.1,
            per_tick(changes),
            per_tick(edge_changes),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_bench_has_all_six_cases() {
        let report = tried::<Settings>("--objects 2000 --crowded 1000 --seekers 200 --warm 2 --ticks 3", 2);
        assert_eq!(report.rows.len(), 6);
        assert_eq!(report.rows[0].ratio, 0.0, "the test's clock takes the same time for everything");
        assert_eq!(report.rows[3].ratio, 1.0);
        assert!((report.rows[2].neighbours - 30.0).abs() < 6.0, "{}", report.rows[2].neighbours);
        assert!(report.rows[4..].iter().all(Row::holds), "{:?}", report.rows);
    }
}

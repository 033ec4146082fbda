//! What does it cost to know who should hear whom, beyond knowing who overlaps?
//!
//! Each case runs on the same frames as its peers, one after the other within each tick, and the order rotates. *Beyond
//! the pairs* is the processor time of everything, less that of the same broad phase on the same frames when all that is
//! asked for is the pairs and which of them began and ended. The peer is the plain grid, which tells the pairs alone.

use std::hint::black_box;

use ::interest::published::{CliqueFinder, OrderedAxis, RelationFinder, Relations};
use ::interest::{Audience, AudienceSearch, AudienceSettings, Aura, Graph, GroupChange, GroupCover, greedy_cover};
use serde::Serialize;
use space::broad::PlainGrid;
use space::workload::{self, Motion, Workload};
use space::{BroadPhase, Kinesphere, Slot, Spheres};

use crate::crowds;
use crate::report::number::significant;
use crate::setting::{self, SettingsError};
use crate::stopwatch::{Stopwatch, timed};
use kinesphere::table::Table;

/// The longest run of a case.
pub const TICKS_MAX: u32 = 100_000;

/// What to measure. The defaults are what must be reached.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Objects of the large world.
    pub objects: usize,
    /// Objects of the world of crowds.
    pub crowded: usize,
    /// Objects of the papers' world.
    pub seekers: usize,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// The same seed gives the same frames.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { objects: 1_000_000, crowded: 100_000, seekers: 4_000, warm: 40, ticks: 60, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// What the frames were made from.
    pub seed: u64,
    /// One per case.
    pub rows: Vec<Row>,
}

/// One case.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is measured.
    pub case: &'static str,
    /// The number that counts.
    pub ratio: f64,
    /// What must be reached.
    pub must: f64,
    /// What should be.
    pub goal: f64,
    /// Whether more is better.
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
    pub fn holds(&self) -> bool {
        if self.more_is_better { self.ratio >= self.must } else { self.ratio <= self.must }
    }
}

/// Measures. `progress` is told how many ticks are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, SettingsError> {
    check(settings)?;
    let per_case = settings.warm + settings.ticks;
    let (total, mut done) = (per_case * 4 + CROWD_TICKS, 0);
    let mut rows = Vec::new();
    let uniform = workload::Settings {
        motion: Motion::Uniform,
        objects: settings.objects,
        coverage_percent: 5.0,
        seed: settings.seed,
        ..workload::Settings::default()
    };
    {
        let mut finder = CliqueFinder::new();
        let mut relations = Relations::new();
        let times = race(
            Workload::new(uniform.clone())?,
            settings,
            stopwatch,
            &mut |tick| progress(tick, total),
            |auras, stopwatch| {
                timed(stopwatch, || {
                    finder.relations(auras, &mut relations);
                    black_box(&relations);
                })
                .1
                .cpu_ms
            },
        );
        rows.push(times.row("all-relations", "CPU beyond the pairs, over plain-grid", 0.8, 0.4));
    }
    done += per_case;
    {
        let workload = Workload::new(uniform)?;
        let search = AudienceSearch::AllPairs;
        let settings_of_audience = AudienceSettings { search, ..AudienceSettings::default() };
        let mut audience = Audience::with(settings_of_audience).expect("the default makes sense");
        let columns = workload.spheres().columns();
        for slot in workload.spheres().slots() {
            let sphere = columns.sphere(slot.row());
            audience.insert(sphere.center, Aura::new(sphere.radius)).expect("the world is within the limits");
        }
        let times =
            race(workload, settings, stopwatch, &mut |tick| progress(done + tick, total), |auras, stopwatch| {
                // To move its objects is the caller's work, as it is to move those of the other worlds.
                let columns = auras.columns();
                for row in auras.moved().iter() {
                    let moved = audience.move_to(Slot::new(row as u32), columns.sphere(row).center);
                    moved.expect("the same objects live in both worlds");
                }
                timed(stopwatch, || {
                    audience.update();
                    black_box((audience.entered(), audience.left()));
                })
                .1
                .cpu_ms
            });
        rows.push(times.row("audience", "CPU beyond the pairs, over plain-grid", 0.25, 0.12));
    }
    done += per_case;
    {
        let mut broad_phase = Kinesphere::new().tracking_changes();
        let (mut pairs, mut groups) = (Vec::new(), GroupCover::new());
        let measured = settings.warm..settings.warm + settings.ticks;
        let workload = crowds::workload(settings.crowded, 100, 30.0, measured, settings.seed)?;
        let times =
            race(workload, settings, stopwatch, &mut |tick| progress(done + tick, total), |auras, stopwatch| {
                timed(stopwatch, || {
                    broad_phase.pairs(auras, &mut pairs);
                    black_box(groups.update(broad_phase.began(), broad_phase.ended()));
                })
                .1
                .cpu_ms
            });
        rows.push(times.row("groups-of-crowds", "CPU beyond the pairs, over plain-grid", 2.0, 0.8));
    }
    done += per_case;
    rows.push(seekers(settings, stopwatch, &mut |tick| progress(done + tick, total))?);
    done += per_case;
    rows.extend(crowd(settings, &mut |tick| progress(done + tick, total))?);
    progress(total, total);
    Ok(Report { command: settings.command(), warm: settings.warm, ticks: settings.ticks, seed: settings.seed, rows })
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
    fn row(&self, case: &'static str, of: &'static str, must: f64, goal: f64) -> Row {
        Row {
            case,
            ratio: (self.ours - self.kinesphere) / self.grid,
            must,
            goal,
            more_is_better: false,
            of,
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
            // Who goes first rotates: none always meets the cold cache.
            let who = (turn + tick as usize) % 3;
            times[who] = match who {
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
) -> Result<Row, SettingsError> {
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

/// How long the crowd mills about.
const CROWD_TICKS: u32 = 300;

/// One crowd of 200 with 60 neighbours each: what remains of a cover that was repaired three hundred times. No clock.
fn crowd(settings: &Settings, progress: &mut dyn FnMut(u32)) -> Result<[Row; 2], SettingsError> {
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

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { objects, crowded, seekers, warm, ticks, seed } = self;
        format!(
            "cargo run --release -p lab -- bench interest --objects {objects} --crowded {crowded} --seekers {seekers} --warm {warm} \
             --ticks {ticks} --seed {seed}"
        )
    }
}

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["case", "ratio", "must", "goal", "whole", "less", "over", "objects", "neighbours"]);
        for row in &self.rows {
            let numbers = [row.ratio, row.must, row.goal, row.ours, row.less, row.peer].map(significant);
            let rest = [row.objects.to_string(), significant(row.neighbours)];
            table.row(std::iter::once(row.case.to_owned()).chain(numbers).chain(rest));
        }
        let meanings: Vec<String> = self.rows.iter().map(|row| format!("{}: {}", row.case, row.of)).collect();
        format!("{table}\n{}\n{} ticks after {}, seed {}\n", meanings.join("\n"), self.ticks, self.warm, self.seed)
    }

    /// The cases that miss what must be reached.
    pub fn misses(&self) -> Vec<&Row> {
        self.rows.iter().filter(|row| !row.holds()).collect()
    }
}

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let most = Spheres::MAX_OBJECTS as f64;
    let rules = [
        ("objects", settings.objects as f64, 1.0..=most, "1 to 16,777,216"),
        ("crowded", settings.crowded as f64, 1.0..=1e6, "1 to 1,000,000"),
        ("seekers", settings.seekers as f64, 1.0..=20_000.0, "1 to 20,000"),
        ("ticks", f64::from(settings.ticks), 1.0..=f64::from(TICKS_MAX), "1 to 100,000"),
        ("warm", f64::from(settings.warm), 0.0..=f64::from(TICKS_MAX), "0 to 100,000"),
    ];
    setting::check(rules)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;

    #[test]
    fn a_bench_has_all_six_cases_and_refuses_nonsense() {
        let settings = Settings { objects: 2_000, crowded: 1_000, seekers: 200, warm: 2, ticks: 3, seed: 1 };
        let report = measure(&settings, &mut SteadyStopwatch::new(2), &mut |_, _| {}).unwrap();
        assert_eq!(report.rows.len(), 6);
        assert_eq!(report.rows[0].ratio, 0.0, "the test's clock takes the same time for everything");
        assert_eq!(report.rows[3].ratio, 1.0);
        assert!((report.rows[2].neighbours - 30.0).abs() < 6.0, "{}", report.rows[2].neighbours);
        let covers: Vec<&Row> = report.rows[4..].iter().collect();
        assert!(covers.iter().all(|row| row.holds()), "{covers:?}");
        let refused = measure(&Settings { ticks: 0, ..settings }, &mut SteadyStopwatch::new(2), &mut |_, _| {});
        assert_eq!(refused.unwrap_err().to_string(), "`ticks` is 0, expected 1 to 100,000");
    }
}

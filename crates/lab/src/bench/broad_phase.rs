//! How long does each method take from new positions to the complete list of pairs?
//!
//! All methods see the same frames in the same run, one after the other within a tick, and the order rotates: what
//! the machine does to one it does to all, and none always meets the cold cache. Methods run along, unmeasured, for the
//! last ticks of the warm-up, so that none is judged by its first tick. Every list of every tick is compared.

use std::hint::black_box;

use serde::Serialize;
use space::workload::{self, Motion, Workload, WorkloadError};
use space::{BroadPhase, Pair, Spheres};

use crate::fingerprint::Fingerprint;
use crate::method::{Circumstances, Method, UnknownMethod};
use crate::report::number::{grouped, significant};
use crate::report::table::Table;
use crate::stopwatch::{Elapsed, Stopwatch, timed};

/// For how many ticks of the warm-up the methods run along.
pub const RUN_ALONG: u32 = 10;
/// The longest run, warm-up included.
pub const TICKS_MAX: u32 = 1_000_000;
/// The most threads.
pub const THREADS_MAX: usize = 256;

/// What to measure. The defaults make a run of some seconds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the objects look and move.
    pub motion: Motion,
    /// How many there are.
    pub objects: usize,
    /// The spheres' volumes, as a percentage of the world's.
    pub coverage_percent: f32,
    /// How far an object moves per tick, in radii of the smallest.
    pub speed: f32,
    /// The same seed gives the same frames.
    pub seed: u64,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// Threads that a method may use.
    pub threads: usize,
    /// Who takes part; empty for all that are feasible.
    pub methods: Vec<&'static Method>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            motion: Motion::Uniform,
            objects: 10_000,
            coverage_percent: 5.0,
            speed: 0.1,
            seed: 1,
            warm: 20,
            ticks: 200,
            threads: 1,
            methods: Vec::new(),
        }
    }
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BenchError {
    /// A world that cannot be.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A method that does not exist.
    #[error(transparent)]
    Method(#[from] UnknownMethod),
    /// A number beyond its bounds.
    #[error("`{field}` is {value}, expected {expected}")]
    OutOfRange {
        /// Which setting.
        field: &'static str,
        /// What was given.
        value: u64,
        /// What makes sense.
        expected: &'static str,
    },
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// How the objects moved.
    pub workload: &'static str,
    /// How many there were.
    pub objects: usize,
    /// The spheres' volumes, as a percentage of the world's.
    pub coverage_percent: f32,
    /// Radii of the smallest object per tick.
    pub speed: f32,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// Threads that a method could use.
    pub threads: usize,
    /// What the frames were made from.
    pub seed: u64,
    /// Overlapping pairs per object, mean over the measured ticks.
    pub pairs_per_object: f64,
    /// Processor time to read every position once and to write the pairs: nothing can be faster.
    pub floor_cpu_ms_mean: f64,
    /// One per method.
    pub rows: Vec<Row>,
    /// Who found other pairs than the rest, and when; empty if all is well.
    pub disagreements: Vec<Disagreement>,
}

/// How one method did.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub method: &'static str,
    /// How it was set up, if there are several ways: the fastest in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'static str>,
    /// Processor time per tick, mean.
    pub cpu_ms_mean: f64,
    /// Processor time of the fastest tick.
    pub cpu_ms_min: f64,
    /// Processor time of the slowest tick.
    pub cpu_ms_max: f64,
    /// Time on the wall per tick, mean.
    pub wall_ms_mean: f64,
    /// Tests of two spheres per tick, mean.
    pub sphere_tests: u64,
    /// Memory held at the end, without the caller's own.
    pub bytes_per_object: f64,
    /// Whether its pairs were the right ones on every tick.
    pub agrees: bool,
}

/// A method that found other pairs than the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// Its name.
    pub method: &'static str,
    /// The first tick on which it did, counted from the first frame.
    pub tick: u64,
    /// How many pairs it found.
    pub found: usize,
    /// How many there are.
    pub expected: usize,
}

/// Measures. `progress` is told how many ticks are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, BenchError> {
    check(settings)?;
    let mut workload = Workload::new(workload::Settings {
        motion: settings.motion,
        objects: settings.objects,
        coverage_percent: settings.coverage_percent,
        speed: settings.speed,
        seed: settings.seed,
        ..workload::Settings::default()
    })?;
    let mut runners = runners(settings);
    let mut floor = Floor::default();
    let mut pairs = Vec::new();
    let mut pairs_found = 0;

    let total = settings.warm + settings.ticks;
    for tick in 0..total {
        progress(tick, total);
        if tick > 0 {
            workload.step();
        }
        if tick + RUN_ALONG < settings.warm {
            continue;
        }
        let is_measured = tick >= settings.warm;
        let count = runners.len();
        for turn in 0..count {
            let runner = &mut runners[(turn + tick as usize) % count];
            runner.run(workload.spheres(), &mut pairs, stopwatch, is_measured);
        }
        let expected = compare(&mut runners, workload.spheres().tick().number());
        if is_measured {
            pairs_found += expected.pairs;
            floor.run(workload.spheres(), &pairs, stopwatch);
        }
    }
    progress(total, total);
    Ok(report(settings, runners, floor, pairs_found))
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { objects, coverage_percent, speed, seed, warm, ticks, threads, .. } = self;
        let methods: Vec<&str> = self.chosen().iter().map(|method| method.name).collect();
        format!(
            "kinesphere bench broad-phase --objects {objects} --coverage {coverage_percent} --workload {} --speed {speed} \
             --warm {warm} --ticks {ticks} --threads {threads} --seed {seed} --methods {}",
            self.motion.name(),
            methods.join(",")
        )
    }

    fn chosen(&self) -> Vec<&'static Method> {
        if self.methods.is_empty() { Method::feasible(self.objects) } else { self.methods.clone() }
    }
}

impl Report {
    /// Whether every method found the right pairs on every tick.
    pub fn agrees(&self) -> bool {
        self.disagreements.is_empty()
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let ours = self.rows.iter().find(|row| row.method == "kinesphere").or(self.rows.first());
        let grid = self.rows.iter().find(|row| row.method == "plain-grid");
        let mut rivals: Vec<&Row> = ours.into_iter().chain(grid).collect();
        rivals.dedup_by_key(|rival| rival.method);
        let mut headings = vec!["method".to_owned()];
        headings.extend(rivals.iter().map(|rival| format!("/ {}", rival.method)));
        headings
            .extend(["cpu ms", "min", "max", "wall ms", "sphere tests", "bytes/object", "agrees"].map(str::to_owned));
        let mut table = Table::new(headings);
        for row in &self.rows {
            let mut cells = vec![row.method.to_owned()];
            cells.extend(rivals.iter().map(|rival| format!("{:.2}", row.cpu_ms_mean / rival.cpu_ms_mean)));
            cells.extend([row.cpu_ms_mean, row.cpu_ms_min, row.cpu_ms_max, row.wall_ms_mean].map(significant));
            cells.push(grouped(row.sphere_tests));
            cells.push(format!("{:.0}", row.bytes_per_object));
            cells.push(if row.agrees { "yes" } else { "NO" }.to_owned());
            cells.extend(row.variant.map(|variant| format!("({variant})")));
            table.row(cells);
        }
        format!(
            "{} objects, {}, {} % coverage, {} radii per tick, {} ticks after {}, {}, seed {}\n\
             {} pairs per object; to read the positions and write the pairs takes {} ms\n\n{table}",
            grouped(self.objects as u64),
            self.workload,
            self.coverage_percent,
            self.speed,
            self.ticks,
            self.warm,
            if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) },
            self.seed,
            significant(self.pairs_per_object),
            significant(self.floor_cpu_ms_mean),
        )
    }
}

/// A method at work, and what was seen of it.
struct Runner {
    method: &'static str,
    variant: Option<&'static str>,
    broad_phase: Box<dyn BroadPhase>,
    times: Vec<Elapsed>,
    sphere_tests: u64,
    last: Fingerprint,
    disagreement: Option<Disagreement>,
}

impl Runner {
    fn run(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>, stopwatch: &mut dyn Stopwatch, is_measured: bool) {
        let (work, elapsed) = timed(stopwatch, || self.broad_phase.pairs(spheres, pairs));
        if is_measured {
            self.times.push(elapsed);
            self.sphere_tests += work.sphere_tests;
        }
        self.last = Fingerprint::of(pairs);
    }

    fn cpu_ms_mean(&self) -> f64 {
        mean(self.times.iter().map(|time| time.cpu_ms))
    }

    fn row(&self, objects: usize) -> Row {
        let cpu = || self.times.iter().map(|time| time.cpu_ms);
        Row {
            method: self.method,
            variant: self.variant,
            cpu_ms_mean: self.cpu_ms_mean(),
            cpu_ms_min: cpu().fold(f64::INFINITY, f64::min),
            cpu_ms_max: cpu().fold(0.0, f64::max),
            wall_ms_mean: mean(self.times.iter().map(|time| time.wall_ms)),
            sphere_tests: self.sphere_tests / self.times.len() as u64,
            bytes_per_object: self.broad_phase.bytes() as f64 / objects.max(1) as f64,
            agrees: self.disagreement.is_none(),
        }
    }
}

/// What any method must do at least: read the positions, write the pairs.
#[derive(Default)]
struct Floor {
    written: Vec<Pair>,
    cpu_ms: Vec<f64>,
}

impl Floor {
    fn run(&mut self, spheres: &Spheres, pairs: &[Pair], stopwatch: &mut dyn Stopwatch) {
        let written = &mut self.written;
        let ((), elapsed) = timed(stopwatch, || {
            let columns = spheres.columns();
            black_box([columns.x, columns.y, columns.z, columns.radius].map(lane_sums));
            written.clear();
            written.extend_from_slice(black_box(pairs));
            black_box(&written);
        });
        self.cpu_ms.push(elapsed.cpu_ms);
    }
}

/// Sums in eight lanes: one after the other, additions would take longer than memory does.
fn lane_sums(column: &[f32]) -> [f32; Spheres::BLOCK] {
    let mut sums = [0.0; Spheres::BLOCK];
    for block in column.chunks_exact(Spheres::BLOCK) {
        for (sum, number) in sums.iter_mut().zip(block) {
            *sum += number;
        }
    }
    sums
}

fn check(settings: &Settings) -> Result<(), BenchError> {
    let rules = [
        ("ticks", u64::from(settings.ticks), 1..=u64::from(TICKS_MAX), "1 to 1,000,000 ticks"),
        ("warm", u64::from(settings.warm), 0..=u64::from(TICKS_MAX), "0 to 1,000,000 ticks"),
        ("threads", settings.threads as u64, 1..=THREADS_MAX as u64, "1 to 256 threads"),
    ];
    for (field, value, range, expected) in rules {
        if !range.contains(&value) {
            return Err(BenchError::OutOfRange { field, value, expected });
        }
    }
    Ok(())
}

fn runners(settings: &Settings) -> Vec<Runner> {
    let circumstances = Circumstances { threads: settings.threads };
    let mut runners = Vec::new();
    for method in settings.chosen() {
        for contender in (method.make)(circumstances) {
            runners.push(Runner {
                method: method.name,
                variant: contender.variant,
                broad_phase: contender.broad_phase,
                times: Vec::with_capacity(settings.ticks as usize),
                sphere_tests: 0,
                last: Fingerprint::default(),
                disagreement: None,
            });
        }
    }
    runners
}

/// Notes who differs, and says from what. Brute force is right by definition; without it, most are.
fn compare(runners: &mut [Runner], tick: u64) -> Fingerprint {
    let by_definition = runners.iter().find(|runner| runner.method == "brute-force");
    let votes = |of: Fingerprint| runners.iter().filter(|runner| runner.last == of).count();
    // Of equally many the first counts.
    let by_majority = runners.iter().rev().max_by_key(|runner| votes(runner.last));
    let expected = by_definition.or(by_majority).map(|runner| runner.last).unwrap_or_default();
    for runner in runners.iter_mut().filter(|runner| runner.last != expected && runner.disagreement.is_none()) {
        let (found, expected) = (runner.last.pairs, expected.pairs);
        runner.disagreement = Some(Disagreement { method: runner.method, tick, found, expected });
    }
    expected
}

fn report(settings: &Settings, runners: Vec<Runner>, floor: Floor, pairs_found: usize) -> Report {
    let mut rows: Vec<Row> = Vec::new();
    for row in runners.iter().map(|runner| runner.row(settings.objects)) {
        match rows.iter_mut().find(|other| other.method == row.method) {
            Some(other) if row.cpu_ms_mean < other.cpu_ms_mean => *other = row,
            Some(_) => {}
            None => rows.push(row),
        }
    }
    let disagreements: Vec<Disagreement> = runners.into_iter().filter_map(|runner| runner.disagreement).collect();
    for row in &mut rows {
        // One wrong way to set it up makes the method wrong, even if another was faster.
        row.agrees = disagreements.iter().all(|disagreement| disagreement.method != row.method);
    }
    Report {
        command: settings.command(),
        workload: settings.motion.name(),
        objects: settings.objects,
        coverage_percent: settings.coverage_percent,
        speed: settings.speed,
        warm: settings.warm,
        ticks: settings.ticks,
        threads: settings.threads,
        seed: settings.seed,
        pairs_per_object: pairs_found as f64 / f64::from(settings.ticks) / settings.objects.max(1) as f64,
        floor_cpu_ms_mean: mean(floor.cpu_ms.iter().copied()),
        rows,
        disagreements,
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    values.sum::<f64>() / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Contender;
    use crate::stopwatch::SteadyStopwatch;
    use space::{BruteForce, Work};

    fn tiny(methods: Vec<&'static Method>) -> Settings {
        Settings { objects: 300, coverage_percent: 50.0, ticks: 12, warm: 15, methods, ..Settings::default() }
    }

    fn named(names: &[&str]) -> Vec<&'static Method> {
        names.iter().map(|name| Method::named(name).unwrap()).collect()
    }

    fn run(settings: &Settings) -> Report {
        measure(settings, &mut SteadyStopwatch::new(3), &mut |_, _| {}).unwrap()
    }

    /// Forgets a pair from the tenth tick on.
    struct Forgetful;

    impl BroadPhase for Forgetful {
        fn update(&mut self, _spheres: &Spheres) -> Work {
            Work::default()
        }
        fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
            let work = BruteForce.pairs(spheres, pairs);
            if spheres.tick().number() >= 10 {
                pairs.pop();
            }
            work
        }
        fn bytes(&self) -> usize {
            0
        }
    }

    static FORGETFUL: Method = Method {
        name: "forgetful",
        objects_max: 0,
        make: |_| vec![Contender { variant: None, broad_phase: Box::new(Forgetful) }],
    };

    #[test]
    fn times_are_those_of_the_stopwatch_and_everybody_agrees() {
        let report = run(&tiny(Vec::new()));
        assert!(report.agrees() && report.rows.len() > 2 && report.pairs_per_object > 0.5);
        for row in &report.rows {
            assert_eq!((row.cpu_ms_mean, row.cpu_ms_min, row.cpu_ms_max, row.wall_ms_mean), (3.0, 3.0, 3.0, 6.0));
            assert!(row.agrees && row.sphere_tests > 0);
        }
        assert_eq!(report.floor_cpu_ms_mean, 3.0);
        let brute_force = report.rows.iter().find(|row| row.method == "brute-force").unwrap();
        assert_eq!(brute_force.sphere_tests, 300 * 299 / 2);
    }

    #[test]
    fn a_method_that_loses_a_pair_is_caught_and_named() {
        for others in [named(&["brute-force"]), named(&["plain-grid", "parry-rebuild"])] {
            let mut methods = vec![&FORGETFUL];
            methods.extend(others);
            let report = run(&tiny(methods));
            assert!(!report.agrees());
            let [wrong] = &report.disagreements[..] else { panic!("{:?}", report.disagreements) };
            assert_eq!((wrong.method, wrong.tick, wrong.found), ("forgetful", 10, wrong.expected - 1));
            assert_eq!(report.rows.iter().map(|row| row.agrees).collect::<Vec<_>>()[..2], [false, true]);
            assert!(report.to_text().contains("NO"));
        }
    }

    #[test]
    fn of_several_ways_to_set_a_method_up_the_fastest_is_reported() {
        // The second to run is charged less: readings come in ever shorter steps.
        struct Hurrying(SteadyStopwatch);
        impl Stopwatch for Hurrying {
            fn read(&mut self) -> crate::stopwatch::Reading {
                self.0.step.cpu = self.0.step.cpu * 9 / 10;
                self.0.read()
            }
        }
        let settings = Settings { ticks: 1, warm: 0, ..tiny(named(&["parry-refit"])) };
        let report = measure(&settings, &mut Hurrying(SteadyStopwatch::new(100)), &mut |_, _| {}).unwrap();
        assert_eq!(report.rows.len(), 1);
        assert_eq!(report.rows[0].variant, Some("rebuilt every 20 ticks"));
    }

    #[test]
    fn the_table_compares_with_ours_and_with_the_plain_grid() {
        let mut report = run(&tiny(named(&["plain-grid", "brute-force"])));
        report.rows[0].method = "kinesphere";
        report.rows[1].method = "plain-grid";
        report.rows[1].cpu_ms_mean = 7.5;
        let text = report.to_text();
        assert!(text.contains("/ kinesphere  / plain-grid"), "{text}");
        assert!(text.lines().any(|line| line.split_whitespace().take(3).eq(["kinesphere", "1.00", "0.40"])), "{text}");
        assert!(text.lines().any(|line| line.split_whitespace().take(3).eq(["plain-grid", "2.50", "1.00"])), "{text}");
    }

    #[test]
    fn progress_ends_where_it_said_it_would() {
        let mut seen = Vec::new();
        let settings = tiny(named(&["plain-grid"]));
        measure(&settings, &mut SteadyStopwatch::new(1), &mut |done, total| seen.push((done, total))).unwrap();
        assert_eq!(seen.first(), Some(&(0, 27)));
        assert_eq!(seen.last(), Some(&(27, 27)));
    }

    #[test]
    fn an_empty_world_has_no_pairs_and_an_impossible_one_is_refused() {
        let report = run(&Settings { objects: 0, ..tiny(Vec::new()) });
        assert!(report.agrees() && report.pairs_per_object == 0.0);
        let refused = |settings: Settings| {
            measure(&settings, &mut SteadyStopwatch::new(1), &mut |_, _| {}).unwrap_err().to_string()
        };
        assert_eq!(refused(Settings { ticks: 0, ..tiny(Vec::new()) }), "`ticks` is 0, expected 1 to 1,000,000 ticks");
        assert_eq!(refused(Settings { threads: 0, ..tiny(Vec::new()) }), "`threads` is 0, expected 1 to 256 threads");
        assert!(refused(Settings { speed: -1.0, ..tiny(Vec::new()) }).starts_with("`speed` is -1"));
        assert!(refused(Settings { objects: 1_000_000_000, ..tiny(Vec::new()) }).starts_with("1000000000 objects"));
    }
}

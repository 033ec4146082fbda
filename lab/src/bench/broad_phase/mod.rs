//! How long does each method take from new positions to the complete list of pairs?
//!
//! All methods see the same frames in the same run, one after the other within a tick, in an order that is drawn anew
//! for each: what the machine does to one it does to all, and none always follows the one that empties the cache.
//! Methods run along, unmeasured, for the last ticks of the warm-up, so that none is judged by its first tick. Every
//! list of every tick is compared; with that of a reference, also unmeasured, if there is only one method.
//!
//! A machine that others share takes time from single ticks. Of several runs on the same frames each tick counts with
//! the least that it took, so what is left is what the method needs for that tick.

mod runner;

use std::fmt;

use clap::Args;
use kinesphere::failure::Failure;
use kinesphere::table::Table;
use serde::{Serialize, Serializer};
use space::workload::{self, Motion, Random, Workload, WorkloadError};

use super::workload_name;
use crate::method::{BroadPhaseMethod, known, named};
use crate::report::number::{grouped, significant};
use crate::stopwatch::{Stopwatch, TickTimes};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};
use runner::{Floor, Reference, Runner};

/// For how many ticks of the warm-up the methods run along.
const RUN_ALONG: u32 = 10;

/// How fast are broad phases, from new positions to the complete list of overlapping pairs?
///
/// All methods on the same frames, in one run, one after the other within each tick. Every list of pairs is compared;
/// a disagreement fails the command.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many objects there are
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub objects: usize,
    /// Volume of all spheres, as a percentage of the world's
    #[arg(long = "coverage", default_value_t = 5.0, value_name = "PERCENT")]
    pub coverage_percent: f32,
    #[arg(
        long,
        default_value = Motion::Uniform.name(),
        value_name = "NAME",
        help = format!("How the objects move: {}", Motion::known())
    )]
    #[serde(serialize_with = "workload_name")]
    pub workload: Motion,
    /// How far an object moves per tick, in radii of the smallest
    #[arg(long, default_value_t = 0.1, value_name = "RADII")]
    pub speed: f32,
    /// Ticks before measuring; methods run along for the last ten
    #[arg(long, default_value_t = 20, value_name = "TICKS", value_parser = range(0..=1_000_000u32))]
    pub warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = 200, value_parser = range(1..=1_000_000u32))]
    pub ticks: u32,
    /// Runs on the same frames: each tick counts with the least it took, which tells a slow tick from a busy machine
    #[arg(long, default_value_t = 1, value_parser = range(1..=1_000u32))]
    pub runs: u32,
    /// Threads that a method may use
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = range(1..=256usize))]
    pub threads: usize,
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "A,B,...",
        value_parser = named,
        help = format!("The methods that take part, separated by commas: {} [default: all that are feasible]", known())
    )]
    #[serde(serialize_with = "method_names")]
    pub methods: Vec<&'static BroadPhaseMethod>,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

fn method_names<S: Serializer>(methods: &[&BroadPhaseMethod], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(methods.iter().map(|method| method.name))
}

/// What was found beside the rows.
#[derive(Clone, Debug, Serialize)]
pub struct PairFacts {
    /// Overlapping pairs per object, mean over the measured ticks.
    pub pairs_per_object: f64,
    /// Processor time to read every position once and to write the pairs: nothing can be faster.
    pub floor_cpu_ms_mean: f64,
    /// The method with which the pairs of a single method were compared; it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<&'static str>,
    /// Methods that found other pairs than the rest; empty if all is well.
    pub disagreements: Vec<Disagreement>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub method: &'static str,
    /// How it was set up, if there are several ways: the fastest in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'static str>,
    #[serde(flatten)]
    pub times: TickTimes,
    /// Tests of two spheres per tick, mean.
    pub sphere_tests: u64,
    /// Memory held at the end, without the caller's own.
    pub bytes_per_object: f64,
    /// Whether its pairs were the right ones on every tick: those of brute force if it took part; else, of a method
    /// alone, those of the reference; else those that more than half of the methods found. Without such a majority no
    /// method agrees.
    pub agrees: bool,
}

/// A method that found other pairs than the rest, or than the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    pub method: &'static str,
    /// The first tick on which it did, counted from the first frame.
    pub tick: u64,
    pub found: usize,
    /// How many there are; unknown if no answer was that of more than half of the methods.
    pub expected: Option<usize>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Disagreement { method, tick, found, .. } = self;
        match self.expected {
            Some(expected) => write!(formatter, "{method} found {found} pairs instead of {expected} at tick {tick}"),
            None => write!(formatter, "{method} found {found} pairs at tick {tick}, where no answer has a majority"),
        }
    }
}

impl Study for Settings {
    const NAME: &'static str = "bench broad-phase";
    const EXAMPLE: &'static str = "--objects 100000 --workload seekers --warm 3000 --json";
    const UNIT: &'static str = "ticks";
    const HAS_PAGE: bool = false;
    type Row = Row;
    type Facts = PairFacts;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        if self.threads == 1 {
            return self.measure(stopwatch, progress).map_err(refused);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|error| Failure::Machine(format!("{} threads: {error}", self.threads)))?;
        pool.install(|| self.measure(stopwatch, progress)).map_err(refused)
    }

    fn text(Report { settings, facts, rows, .. }: &Report<Settings>) -> String {
        let ours = rows.iter().find(|row| row.method == "kinesphere").or(rows.first());
        let grid = rows.iter().find(|row| row.method == "plain-grid");
        let mut rivals: Vec<&Row> = ours.into_iter().chain(grid).collect();
        rivals.dedup_by_key(|rival| rival.method);
        let mut headings = vec!["method".to_owned()];
        headings.extend(rivals.iter().map(|rival| format!("/ {}", rival.method)));
        headings
            .extend(["cpu ms", "min", "max", "wall ms", "sphere tests", "bytes/object", "agrees"].map(str::to_owned));
        let mut table = Table::new(headings);
        for row in rows {
            let TickTimes { cpu_ms_mean, cpu_ms_min, cpu_ms_max, wall_ms_mean } = row.times;
            let mut cells = vec![row.method.to_owned()];
            cells.extend(rivals.iter().map(|rival| format!("{:.2}", cpu_ms_mean / rival.times.cpu_ms_mean)));
            cells.extend([cpu_ms_mean, cpu_ms_min, cpu_ms_max, wall_ms_mean].map(significant));
            cells.push(grouped(row.sphere_tests));
            cells.push(format!("{:.0}", row.bytes_per_object));
            cells.push(if row.agrees { "yes" } else { "NO" }.to_owned());
            cells.extend(row.variant.map(|variant| format!("({variant})")));
            table.row(cells);
        }
        let reference =
            facts.reference.map_or(String::new(), |method| format!("; pairs compared with those of {method}"));
        format!(
            "{} objects, {}, {} % coverage, {} radii per tick, {} ticks after {}{}, {}, seed {}\n\
             {} pairs per object; to read the positions and write the pairs takes {} ms{reference}\n\n{table}",
            grouped(settings.objects as u64),
            settings.workload.name(),
            settings.coverage_percent,
            settings.speed,
            settings.ticks,
            settings.warm,
            if settings.runs == 1 { String::new() } else { format!(", each the least of {} runs", settings.runs) },
            if settings.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", settings.threads) },
            settings.seed,
            significant(facts.pairs_per_object),
            significant(facts.floor_cpu_ms_mean),
        )
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        report.facts.disagreements.iter().map(ToString::to_string).collect()
    }
}

impl Settings {
    fn measure(
        &self,
        stopwatch: &mut dyn Stopwatch,
        progress: Progress<'_>,
    ) -> Result<Results<Settings>, WorkloadError> {
        let mut random = Random::new(self.seed);
        let per_run = self.warm + self.ticks;
        let total = per_run * self.runs;
        let mut race = Race::run(self, &mut random, stopwatch, &mut |tick| progress(tick, total))?;
        for run in 1..self.runs {
            let again = Race::run(self, &mut random, stopwatch, &mut |tick| progress(run * per_run + tick, total))?;
            race.keep_least(again);
        }
        progress(total, total);
        Ok(race.results(self))
    }

    /// The frames, from the first.
    fn frames(&self) -> Result<Workload, WorkloadError> {
        Workload::new(workload::Settings {
            motion: self.workload,
            objects: self.objects,
            coverage_percent: self.coverage_percent,
            speed: self.speed,
            seed: self.seed,
            ..workload::Settings::default()
        })
    }

    fn chosen(&self) -> Vec<&'static BroadPhaseMethod> {
        if self.methods.is_empty() { BroadPhaseMethod::feasible(self.objects) } else { self.methods.clone() }
    }
}

/// What was seen of all methods on the frames of a workload.
struct Race {
    runners: Vec<Runner>,
    floor: Floor,
    reference: Option<&'static str>,
    pairs_found: usize,
}

impl Race {
    /// Sends all methods through the frames, from the first.
    fn run(
        settings: &Settings,
        random: &mut Random,
        stopwatch: &mut dyn Stopwatch,
        progress: &mut dyn FnMut(u32),
    ) -> Result<Race, WorkloadError> {
        let mut workload = settings.frames()?;
        let methods = settings.chosen();
        let mut runners = Runner::all(&methods, settings.threads);
        let mut reference = Reference::of(&methods, settings.objects);
        let mut order: Vec<usize> = (0..runners.len()).collect();
        let mut floor = Floor::default();
        let mut pairs = Vec::new();
        let mut pairs_found = 0;
        for tick in 0..settings.warm + settings.ticks {
            progress(tick);
            if tick > 0 {
                workload.step();
            }
            if tick + RUN_ALONG < settings.warm {
                continue;
            }
            let is_measured = tick >= settings.warm;
            shuffle(&mut order, random);
            for &turn in &order {
                runners[turn].run(workload.spheres(), &mut pairs, stopwatch, is_measured);
            }
            let right = reference.as_mut().map(|reference| reference.find(workload.spheres()));
            let expected = runner::compare(&mut runners, right, workload.spheres().tick().number());
            if is_measured {
                pairs_found += expected.map_or(pairs.len(), |expected| expected.pairs);
                floor.run(workload.spheres(), &pairs, stopwatch);
            }
        }
        Ok(Race { runners, floor, reference: reference.map(|reference| reference.method), pairs_found })
    }

    /// Of each tick, the least that it took in this run or the other.
    fn keep_least(&mut self, other: Race) {
        self.runners.iter_mut().zip(other.runners).for_each(|(runner, again)| runner.keep_least(again));
        self.floor.keep_least(&other.floor);
    }

    fn results(self, settings: &Settings) -> Results<Settings> {
        let Race { runners, floor, reference, pairs_found } = self;
        let mut rows: Vec<Row> = Vec::new();
        for row in runners.iter().map(|runner| runner.row(settings.objects)) {
            match rows.iter_mut().find(|other| other.method == row.method) {
                Some(other) if row.times.cpu_ms_mean < other.times.cpu_ms_mean => *other = row,
                Some(_) => {}
                None => rows.push(row),
            }
        }
        let disagreements: Vec<Disagreement> = runners.into_iter().filter_map(|runner| runner.disagreement).collect();
        for row in &mut rows {
            // One wrong way to set it up makes the method wrong, even if another was faster.
            row.agrees = disagreements.iter().all(|disagreement| disagreement.method != row.method);
        }
        let facts = PairFacts {
            pairs_per_object: pairs_found as f64 / f64::from(settings.ticks) / settings.objects.max(1) as f64,
            floor_cpu_ms_mean: floor.cpu_ms_mean(),
            reference,
            disagreements,
        };
        (rows, facts)
    }
}

/// Puts the methods into a random order.
fn shuffle(order: &mut [usize], random: &mut Random) {
    for last in (1..order.len()).rev() {
        order.swap(last, random.whole(0, last as u32 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Contender;
    use crate::stopwatch::{Reading, SteadyStopwatch};
    use crate::study;
    use space::broad::BruteForce;
    use space::{BroadPhase, Pair, Spheres, Work};

    fn tiny(methods: Vec<&'static BroadPhaseMethod>) -> Settings {
        let settings = study::settings("--objects 300 --coverage 50 --ticks 12 --warm 15").unwrap();
        Settings { methods, ..settings }
    }

    fn all_named(names: &[&str]) -> Vec<&'static BroadPhaseMethod> {
        names.iter().map(|name| named(name).unwrap()).collect()
    }

    fn run(settings: &Settings) -> Report<Settings> {
        run_with(settings, &mut SteadyStopwatch::new(3))
    }

    fn run_with(settings: &Settings, stopwatch: &mut dyn Stopwatch) -> Report<Settings> {
        study::run(settings.clone(), stopwatch, &mut |_, _| {}).unwrap()
    }

    fn agrees(report: &Report<Settings>) -> bool {
        report.facts.disagreements.is_empty()
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
    }

    static FORGETFUL: BroadPhaseMethod = BroadPhaseMethod {
        name: "forgetful",
        objects_max: 0,
        make: |_| vec![Contender { variant: None, broad_phase: Box::new(Forgetful) }],
    };

    #[test]
    fn times_are_those_of_the_stopwatch_and_all_methods_agree() {
        let report = run(&tiny(Vec::new()));
        assert!(agrees(&report) && report.rows.len() > 2 && report.facts.pairs_per_object > 0.5);
        for row in &report.rows {
            let TickTimes { cpu_ms_mean, cpu_ms_min, cpu_ms_max, wall_ms_mean } = row.times;
            assert_eq!((cpu_ms_mean, cpu_ms_min, cpu_ms_max, wall_ms_mean), (3.0, 3.0, 3.0, 6.0));
            assert!(row.agrees && row.sphere_tests > 0);
        }
        assert_eq!(report.facts.floor_cpu_ms_mean, 3.0);
        let brute_force = report.rows.iter().find(|row| row.method == "brute-force").unwrap();
        assert_eq!(brute_force.sphere_tests, 300 * 299 / 2);
    }

    #[test]
    fn a_method_that_loses_a_pair_is_caught_and_named() {
        for others in [all_named(&["brute-force"]), all_named(&["plain-grid", "parry-rebuild"])] {
            let mut methods = vec![&FORGETFUL];
            methods.extend(others);
            let report = run(&tiny(methods));
            assert!(!agrees(&report));
            let [wrong] = &report.facts.disagreements[..] else { panic!("{:?}", report.facts.disagreements) };
            assert_eq!((wrong.method, wrong.tick, wrong.found), ("forgetful", 10, wrong.expected.unwrap() - 1));
            assert_eq!(report.rows.iter().map(|row| row.agrees).collect::<Vec<_>>()[..2], [false, true]);
            assert!(report.to_text().contains("NO"));
        }
    }

    #[test]
    fn a_method_alone_is_held_against_another_that_is_not_reported() {
        let report = run(&tiny(vec![&FORGETFUL]));
        assert_eq!((report.facts.reference, report.rows.len()), (Some("plain-grid"), 1));
        let [wrong] = &report.facts.disagreements[..] else { panic!("{:?}", report.facts.disagreements) };
        assert_eq!((wrong.method, wrong.tick, wrong.found), ("forgetful", 10, wrong.expected.unwrap() - 1));
        assert!(!report.rows[0].agrees && report.to_text().contains("; pairs compared with those of plain-grid\n"));
        // Named twice, or set up in two ways, it is still alone.
        assert!(!agrees(&run(&tiny(vec![&FORGETFUL, &FORGETFUL]))));
        assert_eq!(run(&tiny(all_named(&["parry-refit"]))).facts.reference, Some("plain-grid"));
        for (objects, reference) in [(300, "brute-force"), (5_000, "parry-rebuild")] {
            let report = run(&Settings { objects, ticks: 1, ..tiny(all_named(&["plain-grid"])) });
            assert!(agrees(&report) && report.facts.reference == Some(reference), "{:?}", report.facts.disagreements);
        }
        for methods in [vec!["brute-force"], vec!["plain-grid", "octree"]] {
            assert_eq!(run(&tiny(all_named(&methods))).facts.reference, None);
        }
    }

    #[test]
    fn without_a_majority_all_methods_disagree() {
        let methods = vec![&FORGETFUL, named("plain-grid").unwrap()];
        for methods in [methods.clone(), methods.into_iter().rev().collect()] {
            let report = run(&tiny(methods));
            assert!(report.rows.iter().all(|row| !row.agrees), "{:?}", report.facts.disagreements);
            assert!(report.facts.disagreements.iter().all(|wrong| (wrong.tick, wrong.expected) == (10, None)));
            let text = report.facts.disagreements[0].to_string();
            assert!(text.ends_with(" at tick 10, where no answer has a majority"), "{text}");
        }
        // Two ways to set one method up are one vote, not two.
        let mut methods = all_named(&["parry-refit"]);
        methods.push(&FORGETFUL);
        assert_eq!(run(&tiny(methods)).facts.disagreements.len(), 3);
    }

    #[test]
    fn of_several_ways_to_set_a_method_up_the_fastest_is_reported() {
        // The second to run is charged less: readings come in ever shorter steps.
        struct Hurrying(SteadyStopwatch);
        impl Stopwatch for Hurrying {
            fn read(&mut self) -> Reading {
                self.0.step.cpu = self.0.step.cpu * 9 / 10;
                self.0.read()
            }
        }
        let fastest = |seed| {
            let settings = Settings { ticks: 1, warm: 0, seed, ..tiny(all_named(&["parry-refit"])) };
            let report = run_with(&settings, &mut Hurrying(SteadyStopwatch::new(100)));
            assert_eq!(report.rows.len(), 1);
            report.rows[0].variant.unwrap()
        };
        // The order is random.
        let seen: std::collections::BTreeSet<&str> = (0..20).map(fastest).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["optimised every tick", "rebuilt every 20 ticks"]);
    }

    #[test]
    fn of_several_runs_each_tick_counts_with_the_least_it_took() {
        // Every seventh reading comes late, as on a machine that others share: no method is as slow in every run.
        struct Disturbed(SteadyStopwatch, u32);
        impl Stopwatch for Disturbed {
            fn read(&mut self) -> Reading {
                self.1 += 1;
                if self.1.is_multiple_of(7) {
                    self.0.read();
                }
                self.0.read()
            }
        }
        let slowest = |runs| {
            let settings = Settings { runs, ..tiny(all_named(&["plain-grid", "brute-force"])) };
            let report = run_with(&settings, &mut Disturbed(SteadyStopwatch::new(3), 0));
            assert!(agrees(&report) && report.command.contains(&format!("--runs {runs} ")));
            assert!(report.facts.pairs_per_object > 0.5 && report.rows.iter().all(|row| row.times.cpu_ms_min == 3.0));
            (report.rows.iter().map(|row| row.times.cpu_ms_max).fold(0.0, f64::max), report.facts.pairs_per_object)
        };
        let (once, often) = (slowest(1), slowest(5));
        assert_eq!((once.0, often.0), (6.0, 3.0));
        assert_eq!(once.1, often.1, "more runs find no more pairs per tick");
    }

    #[test]
    fn a_disagreement_in_any_run_counts() {
        let settings = Settings { runs: 3, ..tiny(vec![&FORGETFUL, named("brute-force").unwrap()]) };
        let report = run(&settings);
        assert_eq!(report.facts.disagreements.len(), 1);
        assert!(!report.rows[0].agrees && report.rows[1].agrees);
    }

    #[test]
    fn the_table_compares_with_ours_and_with_the_plain_grid() {
        let mut report = run(&tiny(all_named(&["plain-grid", "brute-force"])));
        report.rows[0].method = "kinesphere";
        report.rows[1].method = "plain-grid";
        report.rows[1].times.cpu_ms_mean = 7.5;
        let text = report.to_text();
        assert!(text.contains("/ kinesphere  / plain-grid"), "{text}");
        assert!(text.lines().any(|line| line.split_whitespace().take(3).eq(["kinesphere", "1.00", "0.40"])), "{text}");
        assert!(text.lines().any(|line| line.split_whitespace().take(3).eq(["plain-grid", "2.50", "1.00"])), "{text}");
    }

    #[test]
    fn progress_ends_where_it_said_it_would() {
        for (runs, total) in [(1, 27), (3, 81)] {
            let mut seen = Vec::new();
            let settings = Settings { runs, ..tiny(all_named(&["plain-grid"])) };
            study::run(settings, &mut SteadyStopwatch::new(1), &mut |done, total| seen.push((done, total))).unwrap();
            assert_eq!((seen.first(), seen.last()), (Some(&(0, total)), Some(&(total, total))));
            assert!(seen.is_sorted());
        }
    }

    #[test]
    fn an_empty_world_has_no_pairs_and_an_impossible_one_is_refused() {
        let report = run(&Settings { objects: 0, ..tiny(Vec::new()) });
        assert!(agrees(&report) && report.facts.pairs_per_object == 0.0);
        let refused = |settings: Settings| {
            study::run(settings, &mut SteadyStopwatch::new(1), &mut |_, _| {}).unwrap_err().to_string()
        };
        assert!(refused(Settings { speed: -1.0, ..tiny(Vec::new()) }).starts_with("`speed` is -1"));
        assert!(refused(Settings { objects: 1_000_000_000, ..tiny(Vec::new()) }).starts_with("1000000000 objects"));
    }
}

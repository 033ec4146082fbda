//! How long does each method take from new positions to the complete list of pairs?
//!
//! All methods see the same frames in the same run, one after the other within a tick, in an order that is drawn anew
//! for each: what the machine does to one it does to all, and none always follows the one that empties the cache. Methods
//! run along, unmeasured, for the last ticks of the warm-up, so that none is judged by its first tick. Every list of every
//! tick is compared; with that of a reference, also unmeasured, if there is only one method.
//!
//! A machine that others share takes time from single ticks. Of several runs on the same frames each tick counts with the
//! least that it took, so what is left is what the method needs for that tick, and the slowest is slow by itself.

mod report;
mod runner;

pub use report::{Disagreement, Report, Row};

use space::workload::{self, Motion, Random, Workload, WorkloadError};

use crate::method::Method;
use crate::setting::{self, OutOfRange};
use crate::stopwatch::Stopwatch;
use runner::{Floor, Reference, Runner};

/// For how many ticks of the warm-up the methods run along.
pub const RUN_ALONG: u32 = 10;
/// The longest run, warm-up included.
pub const TICKS_MAX: u32 = 1_000_000;
/// The most runs on the same frames.
pub const RUNS_MAX: u32 = 1_000;
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
    /// Runs on the same frames, of which each tick counts with the least that it took.
    pub runs: u32,
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
            runs: 1,
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
    /// A number beyond its bounds.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

/// Measures. `progress` is told how many ticks are done, of how many.
pub fn measure(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Report, BenchError> {
    check(settings)?;
    let mut random = Random::new(settings.seed);
    let per_run = settings.warm + settings.ticks;
    let total = per_run * settings.runs;
    let mut race = Race::run(settings, &mut random, stopwatch, &mut |tick| progress(tick, total))?;
    for run in 1..settings.runs {
        let again = Race::run(settings, &mut random, stopwatch, &mut |tick| progress(run * per_run + tick, total))?;
        race.keep_least(again);
    }
    progress(total, total);
    Ok(race.report(settings))
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
    ) -> Result<Race, BenchError> {
        let mut workload = settings.workload()?;
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

    fn report(self, settings: &Settings) -> Report {
        let Race { runners, floor, reference, pairs_found } = self;
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
            runs: settings.runs,
            threads: settings.threads,
            seed: settings.seed,
            pairs_per_object: pairs_found as f64 / f64::from(settings.ticks) / settings.objects.max(1) as f64,
            floor_cpu_ms_mean: floor.cpu_ms_mean(),
            reference,
            rows,
            disagreements,
        }
    }
}

/// Puts the methods into another order, any of them as likely as another.
fn shuffle(order: &mut [usize], random: &mut Random) {
    for last in (1..order.len()).rev() {
        order.swap(last, random.whole(0, last as u32 + 1) as usize);
    }
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { objects, coverage_percent, speed, seed, warm, ticks, runs, threads, .. } = self;
        let methods: Vec<&str> = self.chosen().iter().map(|method| method.name).collect();
        format!(
            "cargo run --release -p lab -- bench broad-phase --objects {objects} --coverage {coverage_percent} --workload {} --speed {speed} \
             --warm {warm} --ticks {ticks} --runs {runs} --threads {threads} --seed {seed} --methods {}",
            self.motion.name(),
            methods.join(",")
        )
    }

    /// The frames, from the first.
    fn workload(&self) -> Result<Workload, WorkloadError> {
        Workload::new(workload::Settings {
            motion: self.motion,
            objects: self.objects,
            coverage_percent: self.coverage_percent,
            speed: self.speed,
            seed: self.seed,
            ..workload::Settings::default()
        })
    }

    fn chosen(&self) -> Vec<&'static Method> {
        if self.methods.is_empty() { Method::feasible(self.objects) } else { self.methods.clone() }
    }
}

fn check(settings: &Settings) -> Result<(), BenchError> {
    let rules = [
        ("ticks", f64::from(settings.ticks), 1.0..=f64::from(TICKS_MAX), "1 to 1,000,000 ticks"),
        ("warm", f64::from(settings.warm), 0.0..=f64::from(TICKS_MAX), "0 to 1,000,000 ticks"),
        ("runs", f64::from(settings.runs), 1.0..=f64::from(RUNS_MAX), "1 to 1,000 runs"),
        ("threads", settings.threads as f64, 1.0..=THREADS_MAX as f64, "1 to 256 threads"),
    ];
    setting::check(rules)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Contender;
    use crate::stopwatch::SteadyStopwatch;
    use space::broad::BruteForce;
    use space::{BroadPhase, Pair, Spheres, Work};

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
            assert_eq!((wrong.method, wrong.tick, wrong.found), ("forgetful", 10, wrong.expected.unwrap() - 1));
            assert_eq!(report.rows.iter().map(|row| row.agrees).collect::<Vec<_>>()[..2], [false, true]);
            assert!(report.to_text().contains("NO"));
        }
    }

    #[test]
    fn a_method_alone_is_held_against_another_that_is_not_reported() {
        let report = run(&tiny(vec![&FORGETFUL]));
        assert_eq!((report.reference, report.rows.len()), (Some("plain-grid"), 1));
        let [wrong] = &report.disagreements[..] else { panic!("{:?}", report.disagreements) };
        assert_eq!((wrong.method, wrong.tick, wrong.found), ("forgetful", 10, wrong.expected.unwrap() - 1));
        assert!(!report.rows[0].agrees && report.to_text().contains("; pairs compared with those of plain-grid\n"));
        // Named twice, or set up in two ways, it is still alone.
        assert!(!run(&tiny(vec![&FORGETFUL, &FORGETFUL])).agrees());
        assert_eq!(run(&tiny(named(&["parry-refit"]))).reference, Some("plain-grid"));
        for (objects, reference) in [(300, "brute-force"), (5_000, "parry-rebuild")] {
            let report = run(&Settings { objects, ticks: 1, ..tiny(named(&["plain-grid"])) });
            assert!(report.agrees() && report.reference == Some(reference), "{:?}", report.disagreements);
        }
        for methods in [vec!["brute-force"], vec!["plain-grid", "octree"]] {
            assert_eq!(run(&tiny(named(&methods))).reference, None);
        }
    }

    #[test]
    fn nobody_is_believed_without_a_majority() {
        let methods = vec![&FORGETFUL, Method::named("plain-grid").unwrap()];
        for methods in [methods.clone(), methods.into_iter().rev().collect()] {
            let report = run(&tiny(methods));
            assert!(report.rows.iter().all(|row| !row.agrees), "{:?}", report.disagreements);
            assert!(report.disagreements.iter().all(|wrong| (wrong.tick, wrong.expected) == (10, None)));
            let text = report.disagreements[0].to_string();
            assert!(text.ends_with(" at tick 10, where no answer has a majority"), "{text}");
        }
        // Two ways to set one method up are one vote, not two.
        let mut methods = named(&["parry-refit"]);
        methods.push(&FORGETFUL);
        assert_eq!(run(&tiny(methods)).disagreements.len(), 3);
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
        let fastest = |seed| {
            let settings = Settings { ticks: 1, warm: 0, seed, ..tiny(named(&["parry-refit"])) };
            let report = measure(&settings, &mut Hurrying(SteadyStopwatch::new(100)), &mut |_, _| {}).unwrap();
            assert_eq!(report.rows.len(), 1);
            report.rows[0].variant.unwrap()
        };
        // Who is second is drawn by lot.
        let seen: std::collections::BTreeSet<&str> = (0..20).map(fastest).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["optimised every tick", "rebuilt every 20 ticks"]);
    }

    #[test]
    fn of_several_runs_each_tick_counts_with_the_least_it_took() {
        // Every seventh reading comes late, as on a machine that others share: no method is as slow in every run.
        struct Disturbed(SteadyStopwatch, u32);
        impl Stopwatch for Disturbed {
            fn read(&mut self) -> crate::stopwatch::Reading {
                self.1 += 1;
                if self.1.is_multiple_of(7) {
                    self.0.read();
                }
                self.0.read()
            }
        }
        let slowest = |runs| {
            let settings = Settings { runs, ..tiny(named(&["plain-grid", "brute-force"])) };
            let report = measure(&settings, &mut Disturbed(SteadyStopwatch::new(3), 0), &mut |_, _| {}).unwrap();
            assert!(report.agrees() && report.command.contains(&format!("--runs {runs} ")));
            assert!(report.pairs_per_object > 0.5 && report.rows.iter().all(|row| row.cpu_ms_min == 3.0));
            (report.rows.iter().map(|row| row.cpu_ms_max).fold(0.0, f64::max), report.pairs_per_object)
        };
        let (once, often) = (slowest(1), slowest(5));
        assert_eq!((once.0, often.0), (6.0, 3.0));
        assert_eq!(once.1, often.1, "more runs find no more pairs per tick");
    }

    #[test]
    fn a_disagreement_in_any_run_counts() {
        let settings = Settings { runs: 3, ..tiny(vec![&FORGETFUL, Method::named("brute-force").unwrap()]) };
        let report = run(&settings);
        assert_eq!(report.disagreements.len(), 1);
        assert!(!report.rows[0].agrees && report.rows[1].agrees);
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
        for (runs, total) in [(1, 27), (3, 81)] {
            let mut seen = Vec::new();
            let settings = Settings { runs, ..tiny(named(&["plain-grid"])) };
            measure(&settings, &mut SteadyStopwatch::new(1), &mut |done, total| seen.push((done, total))).unwrap();
            assert_eq!((seen.first(), seen.last()), (Some(&(0, total)), Some(&(total, total))));
            assert!(seen.is_sorted());
        }
    }

    #[test]
    fn an_empty_world_has_no_pairs_and_an_impossible_one_is_refused() {
        let report = run(&Settings { objects: 0, ..tiny(Vec::new()) });
        assert!(report.agrees() && report.pairs_per_object == 0.0);
        let refused = |settings: Settings| {
            measure(&settings, &mut SteadyStopwatch::new(1), &mut |_, _| {}).unwrap_err().to_string()
        };
        assert_eq!(refused(Settings { ticks: 0, ..tiny(Vec::new()) }), "`ticks` is 0, expected 1 to 1,000,000 ticks");
        assert_eq!(refused(Settings { runs: 0, ..tiny(Vec::new()) }), "`runs` is 0, expected 1 to 1,000 runs");
        assert_eq!(refused(Settings { threads: 0, ..tiny(Vec::new()) }), "`threads` is 0, expected 1 to 256 threads");
        assert!(refused(Settings { speed: -1.0, ..tiny(Vec::new()) }).starts_with("`speed` is -1"));
        assert!(refused(Settings { objects: 1_000_000_000, ..tiny(Vec::new()) }).starts_with("1000000000 objects"));
    }
}

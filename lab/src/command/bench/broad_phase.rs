//! `lab bench broad-phase`: which method finds the pairs fastest?

use clap::Args;
use lab::bench::broad_phase::{self, Report, Settings};
use lab::method::{Method, known};
use space::workload::Motion;

use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::output::say;

/// All methods on the same frames, in one run, one after the other within each tick. Every list of pairs is compared;
/// a disagreement fails the command.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: cargo run --release -p lab -- bench broad-phase --objects 100000 --workload seekers --warm 3000 --json"
)]
pub struct BroadPhase {
    /// How many objects there are
    #[arg(long, default_value_t = Settings::default().objects, value_name = "N")]
    objects: usize,
    /// Volume of all spheres, as a percentage of the world's
    #[arg(long, default_value_t = Settings::default().coverage_percent, value_name = "PERCENT")]
    coverage: f32,
    #[arg(
        long,
        default_value = Settings::default().motion.name(),
        value_name = "NAME",
        help = format!("How the objects move: {}", Motion::known())
    )]
    workload: Motion,
    /// How far an object moves per tick, in radii of the smallest
    #[arg(long, default_value_t = Settings::default().speed, value_name = "RADII")]
    speed: f32,
    /// Ticks before measuring; methods run along for the last ten
    #[arg(long, default_value_t = Settings::default().warm, value_name = "TICKS")]
    warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = Settings::default().ticks)]
    ticks: u32,
    /// Runs on the same frames: each tick counts with the least it took, which tells a slow tick from a busy machine
    #[arg(long, default_value_t = Settings::default().runs)]
    runs: u32,
    /// Threads that a method may use
    #[arg(long, default_value_t = Settings::default().threads, value_name = "K")]
    threads: usize,
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "A,B,...",
        value_parser = method,
        help = format!("Who takes part, separated by commas: {} [default: all that are feasible]", known())
    )]
    methods: Vec<&'static Method>,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: BroadPhase) -> Result<(), Failure> {
    let settings = Settings {
        motion: arguments.workload,
        objects: arguments.objects,
        coverage_percent: arguments.coverage,
        speed: arguments.speed,
        seed: arguments.seed,
        warm: arguments.warm,
        ticks: arguments.ticks,
        runs: arguments.runs,
        threads: arguments.threads,
        methods: arguments.methods,
    };
    let report = measured(&settings)?;
    say(&report, &report.to_text(), arguments.json)?;
    verdict(&report)
}

fn measured(settings: &Settings) -> Result<Report, Failure> {
    let measure = || {
        watched("bench broad-phase", "ticks", |progress| {
            broad_phase::measure(settings, &mut ProcessClock::new(), progress)
        })
    };
    if settings.threads <= 1 || settings.threads > broad_phase::THREADS_MAX {
        return measure();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    pool.map_err(|error| Failure::Machine(format!("{} threads: {error}", settings.threads)))?.install(measure)
}

fn verdict(report: &Report) -> Result<(), Failure> {
    let Some(first) = report.disagreements.first() else { return Ok(()) };
    let wrong = report.disagreements.iter().map(ToString::to_string);
    Err(Failure::Check(format!(
        "the methods disagree (seed {}):\n  {}\nTo see `{}` fail again: {}",
        report.seed,
        wrong.collect::<Vec<_>>().join("\n  "),
        first.method,
        report.command
    )))
}

fn method(name: &str) -> Result<&'static Method, String> {
    Method::named(name).map_err(|error| error.to_string())
}

//! `lab bench motion`: what does collision prediction cost?

use clap::Args;
use lab::bench::motion::{self, RATIO_MAX, Settings};

use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::output::say;

/// Replicas with collision prediction against the same ones extrapolated through everything, in one run. Fails if the
/// prediction takes more than twenty times as long.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- bench motion --replicas 100000 --json")]
pub struct Motion {
    /// How many replicas there are
    #[arg(long, default_value_t = Settings::default().replicas, value_name = "N")]
    replicas: usize,
    /// How many objects stand in their way
    #[arg(long, default_value_t = Settings::default().objects, value_name = "N")]
    objects: usize,
    /// Updates per replica and second
    #[arg(
        long,
        default_value_t = Settings::default().updates_per_s,
        value_name = "PER_SECOND",
        allow_negative_numbers = true
    )]
    updates: f64,
    /// Ticks before measuring
    #[arg(long, default_value_t = Settings::default().warm, value_name = "TICKS")]
    warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = Settings::default().ticks)]
    ticks: u32,
    /// The same seed gives the same world
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Motion) -> Result<(), Failure> {
    let settings = Settings {
        replicas: arguments.replicas,
        objects: arguments.objects,
        updates_per_s: arguments.updates,
        warm: arguments.warm,
        ticks: arguments.ticks,
        seed: arguments.seed,
    };
    let report =
        watched("bench motion", "ticks", |progress| motion::measure(&settings, &mut ProcessClock::new(), progress))?;
    say(&report, &report.to_text(), arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    Err(Failure::Check(format!(
        "collision prediction takes {:.1} times as long as extrapolation, {RATIO_MAX} are allowed.\nTo see it again: {}",
        report.ratio, report.command
    )))
}

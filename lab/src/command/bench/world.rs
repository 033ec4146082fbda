//! `lab bench world`: what does a tick cost?

use clap::Args;
use lab::bench::world::{self, Settings};

use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::output::say;

/// Steps a plaza full of people and says what a tick costs, stage by stage. Fails if two solids overlap at the end.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- bench world --objects 50000 --movers 20 --json")]
pub struct World {
    /// How many avatars there are
    #[arg(long, default_value_t = Settings::default().avatars, value_name = "N")]
    objects: usize,
    /// How many of them walk
    #[arg(
        long,
        default_value_t = Settings::default().movers_percent,
        value_name = "PERCENT",
        allow_negative_numbers = true
    )]
    movers: f64,
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
pub fn run(arguments: World) -> Result<(), Failure> {
    let settings = Settings {
        avatars: arguments.objects,
        movers_percent: arguments.movers,
        warm: arguments.warm,
        ticks: arguments.ticks,
        seed: arguments.seed,
    };
    let report =
        watched("bench world", "ticks", |progress| world::measure(&settings, &mut ProcessClock::new(), progress))?;
    say(&report, &report.to_text(), arguments.json)?;
    if report.holds {
        return Ok(());
    }
    Err(Failure::Check(format!("solids overlap at the end.\nTo see it again: {}", report.command)))
}

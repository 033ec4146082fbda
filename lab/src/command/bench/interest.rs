//! `lab bench interest`: what does it cost to know who should hear whom?

use clap::Args;
use lab::bench::interest::{self, Settings};

use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::output::say;

/// Relations, audiences and groups against the plain grid on the same frames, the papers' best algorithm against ours, and
/// repaired groups against fresh ones. Fails if a case misses what it must reach, unless worlds smaller than the default
/// are asked for.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- bench interest --objects 100000 --json")]
pub struct Interest {
    /// Objects of the large world
    #[arg(long, default_value_t = Settings::default().objects, value_name = "N")]
    objects: usize,
    /// Objects of the world of crowds
    #[arg(long, default_value_t = Settings::default().crowded, value_name = "N")]
    crowded: usize,
    /// Objects of the papers' world
    #[arg(long, default_value_t = Settings::default().seekers, value_name = "N")]
    seekers: usize,
    /// Ticks before measuring
    #[arg(long, default_value_t = Settings::default().warm, value_name = "TICKS")]
    warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = Settings::default().ticks)]
    ticks: u32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Interest) -> Result<(), Failure> {
    let Interest { objects, crowded, seekers, warm, ticks, seed, json } = arguments;
    let settings = Settings { objects, crowded, seekers, warm, ticks, seed };
    let report = watched("bench interest", "ticks", |progress| {
        interest::measure(&settings, &mut ProcessClock::new(), progress)
    })?;
    say(&report, &report.to_text(), json)?;
    let standard = Settings::default();
    let is_judged = objects >= standard.objects && crowded >= standard.crowded && seekers >= standard.seekers;
    let misses = report.misses();
    if misses.is_empty() || !is_judged {
        return Ok(());
    }
    let misses: Vec<String> =
        misses.iter().map(|row| format!("{} is {:.2}, must be {}", row.case, row.ratio, row.must)).collect();
    Err(Failure::Check(format!("missed:\n  {}\nTo see it again: {}", misses.join("\n  "), report.command)))
}

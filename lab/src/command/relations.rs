//! `lab relations`: how many comparisons do relations take?

use std::path::PathBuf;

use clap::Args;
use lab::experiment::relations::{self, Settings};

use super::out::Out;
use super::present;
use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Runs the papers' algorithms and ours among target seekers, prints a verdict on each of the papers' claims, and writes
/// plots, numbers and a page. Fails only if they find different relations: that a claim does not hold is a result.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: cargo run --release -p lab -- relations --objects 1000,4000 --coverage 5,20 --json"
)]
pub struct Relations {
    /// How many objects, a world each [default: 1000,2000,3000,4000]
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    objects: Vec<usize>,
    /// Volumes of all spheres, as percentages of the world's [default: 1,5,10,20]
    #[arg(long, value_delimiter = ',', value_name = "PERCENT,...")]
    coverage: Vec<f32>,
    /// Ticks before measuring, in which objects cluster
    #[arg(long, default_value_t = Settings::default().warm, value_name = "TICKS")]
    warm: u32,
    /// Frames measured per world
    #[arg(long, default_value_t = Settings::default().frames)]
    frames: u32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/relations", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Relations) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let mut settings =
        Settings { warm: arguments.warm, frames: arguments.frames, seed: arguments.seed, ..Settings::default() };
    if !arguments.objects.is_empty() {
        settings.objects = arguments.objects;
    }
    if !arguments.coverage.is_empty() {
        settings.coverage = arguments.coverage;
    }
    let report =
        watched("relations", "frames", |progress| relations::run(&settings, &mut ProcessClock::new(), progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    let Some(wrong) = report.rows.iter().find(|row| !row.agrees) else { return Ok(()) };
    Err(Failure::Check(format!(
        "`{}` found other relations than the others with {} objects at {} % (seed {}).\nTo see it again: {}",
        wrong.algorithm, wrong.objects, wrong.coverage, report.seed, report.command
    )))
}

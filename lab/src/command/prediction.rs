//! `lab prediction`: does predicting collisions make replicas better?

use std::path::PathBuf;

use clap::Args;
use lab::experiment::prediction::{self, Settings};

use super::out::Out;
use super::present;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Lets an owner move along the paper's path, corridors and random walks, and an observer watch by sixteen methods; prints
/// a verdict on each claim, and writes plots, numbers and a page. Fails only if what must hold does not: a goal that is
/// missed is a result.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- prediction --latency 0,200 --json")]
pub struct Prediction {
    /// One-way latencies on the paper's path, in milliseconds
    #[arg(long, value_delimiter = ',', value_name = "MS,MS,...", default_values_t = Settings::default().latencies_ms)]
    latency: Vec<u32>,
    /// How many corridors, lossy links and random walks
    #[arg(long, default_value_t = Settings::default().seeds, value_name = "N")]
    seeds: u32,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/prediction", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Prediction) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let settings = Settings { latencies_ms: arguments.latency, seeds: arguments.seeds };
    let report = watched("prediction", "steps", |progress| prediction::run(&settings, progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    let failures = report.failures().join("\n  ");
    Err(Failure::Check(format!("what must hold does not:\n  {failures}\nTo see it again: {}", report.command)))
}

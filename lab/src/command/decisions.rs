//! `lab decisions`: whose word counts?

use std::path::PathBuf;

use clap::Args;
use lab::experiment::decisions::{self, Settings};

use super::out::Out;
use super::present;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Lets two hosts see their objects collide, thousands of times per setting, and counts who decides under which rule.
/// Fails if two decide in one term, if a failure has no explanation, or if hosts end with different verdicts.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- decisions --encounters 1000 --json")]
pub struct Decisions {
    /// Encounters per setting
    #[arg(long, default_value_t = Settings::default().encounters, value_name = "N")]
    encounters: u32,
    /// The first encounter's seed
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/decisions", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Decisions) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let settings = Settings { encounters: arguments.encounters, seed: arguments.seed };
    let report = watched("decisions", "settings", |progress| decisions::run(&settings, progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    let failures = report.failures().join("\n  ");
    Err(Failure::Check(format!("promises are broken:\n  {failures}\nTo see it again: {}", report.command)))
}

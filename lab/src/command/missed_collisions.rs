//! `lab missed-collisions`: who walks through whom?

use std::path::PathBuf;

use clap::Args;
use lab::experiment::missed_collisions::{self, Settings};

use super::out::Out;
use super::present;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Lets two avatars walk into each other over a network that loses messages, and counts how often they end up inside each
/// other: with peers who believe what they heard last, with dead reckoning, and with a server. Fails if the server misses
/// one.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- missed-collisions --encounters 200 --json")]
pub struct MissedCollisions {
    /// Encounters per setting
    #[arg(long, default_value_t = Settings::default().encounters, value_name = "N")]
    encounters: u32,
    /// The first encounter's seed
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/missed-collisions", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: MissedCollisions) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let settings = Settings { encounters: arguments.encounters, seed: arguments.seed };
    let report = watched("missed-collisions", "settings", |progress| missed_collisions::run(&settings, progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    Err(Failure::Check(format!("the server missed a collision.\nTo see it again: {}", report.command)))
}

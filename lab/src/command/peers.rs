//! `lab peers`: a world without a server.

use std::path::PathBuf;

use clap::Args;
use lab::experiment::peers::{self, Settings};

use super::out::Out;
use super::present;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Lets up to N hosts meet in a hall without a server, and measures what it costs to see each other, how far off
/// that is, and whether all agree on who met whom. Fails if a promise is broken.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- peers --hosts 8 --seconds 30 --json")]
pub struct Peers {
    /// Up to this many hosts
    #[arg(long, default_value_t = Settings::default().hosts, value_name = "N")]
    hosts: usize,
    /// Seconds per setting, of the hosts' time
    #[arg(long, default_value_t = Settings::default().seconds, value_name = "S")]
    seconds: u32,
    /// One way between two hosts, in milliseconds
    #[arg(long, default_value_t = Settings::default().latency_ms, value_name = "MS")]
    latency: u32,
    /// Contested contacts on bad networks, at least
    #[arg(long, default_value_t = Settings::default().contests, value_name = "N")]
    contests: u64,
    /// The first seed
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/peers", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Peers) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let Peers { hosts, seconds, latency, contests, seed, .. } = arguments;
    let settings = Settings { hosts, seconds, latency_ms: latency, contests, seed };
    let report = watched("peers", "runs", |progress| peers::run(&settings, progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    let failures = report.failures().join("\n  ");
    Err(Failure::Check(format!("promises are broken:\n  {failures}\nTo see it again: {}", report.command)))
}

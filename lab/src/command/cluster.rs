//! `lab cluster`: many servers as one world.

use std::path::PathBuf;

use clap::Args;
use lab::experiment::cluster::{self, Settings};

use super::out::Out;
use super::present;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use lab::stopwatch::ProcessClock;

/// Lets many servers be one world, in the lab's own time: measures what goes between them, kills some, and looks
/// whether an object is ever lost, doubled or in another's place. Fails if a promise is broken.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- cluster --nodes 6 --seeds 0..2000 --json")]
pub struct Cluster {
    /// Nodes of the measured cluster
    #[arg(long, default_value_t = Settings::default().nodes, value_name = "N")]
    nodes: usize,
    /// Users per node
    #[arg(long, default_value_t = Settings::default().users, value_name = "N")]
    users: usize,
    /// Seconds of the measured run, of the nodes' time
    #[arg(long, default_value_t = Settings::default().seconds, value_name = "S")]
    seconds: u32,
    /// Runs on bad networks: from this seed up to, and without, that one
    #[arg(long, default_value = "0..200", value_name = "FROM..TO", value_parser = seeds)]
    seeds: (u64, u64),
    /// Up to this many nodes, with as much space each
    #[arg(long, default_value_t = Settings::default().scale_to, value_name = "N")]
    scale_to: usize,
    /// All interleavings of one object among three nodes, up to this many steps
    #[arg(long, default_value_t = Settings::default().depth, value_name = "N")]
    depth: usize,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/cluster", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Cluster) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let Cluster { nodes, users, seconds, seeds: (first_seed, end_seed), scale_to, depth, .. } = arguments;
    let settings = Settings { nodes, users, seconds, first_seed, end_seed, scale_to, depth };
    let report = watched("cluster", "runs", |progress| cluster::run(&settings, &mut ProcessClock::new(), progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    let failures = report.failures().join("\n  ");
    Err(Failure::Check(format!("promises are broken:\n  {failures}\nTo see it again: {}", report.command)))
}

fn seeds(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("`{text}` is no range of seeds, expected FROM..TO as in 0..200");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let (from, to) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    if from <= to && to - from <= 1_000_000 { Ok((from, to)) } else { Err(wrong()) }
}

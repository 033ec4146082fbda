//! `lab groups`: who gets a copy?

use std::path::PathBuf;

use clap::Args;
use lab::experiment::groups::{self, Settings};

use super::out::Out;
use super::present;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Delivers updates in four ways on the same worlds: relations as groups, the cover, a channel per object, and cells. Counts
/// groups, memberships, copies and changes, and how many meetings were joined in time by auras that were widened; and writes
/// plots, numbers and a page.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- groups --ticks 100 --json")]
pub struct Groups {
    /// Objects of the uniform worlds
    #[arg(long, default_value_t = Settings::default().objects, value_name = "N")]
    objects: usize,
    /// Ticks per world
    #[arg(long, default_value_t = Settings::default().ticks)]
    ticks: u32,
    /// The same seed gives the same worlds
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/groups", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Groups) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let settings = Settings { objects: arguments.objects, ticks: arguments.ticks, seed: arguments.seed };
    let report = watched("groups", "ticks", |progress| groups::run(&settings, progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)
}

//! `lab broad-phases`: which broad phase is fastest in a crowded room?

use std::path::PathBuf;

use clap::Args;
use lab::experiment::broad_phases::{self, Settings};

use super::out::Out;
use super::present;
use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Runs the paper's methods and ours in its room, prints a verdict on each of its claims, and writes plots, numbers and a
/// page. Fails only if the methods find different pairs: that a claim does not hold is a result.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: cargo run --release -p lab -- broad-phases --objects 100,500,1000 --frames 200"
)]
pub struct BroadPhases {
    /// How many objects, one room each [default: 100 to 4000]
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    objects: Vec<usize>,
    /// Frames per room
    #[arg(long, default_value_t = Settings::default().frames)]
    frames: u32,
    /// How far an object moves per frame; it is 1 wide
    #[arg(long, default_value_t = Settings::default().speed)]
    speed: f32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/broad-phases", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: BroadPhases) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let mut settings =
        Settings { frames: arguments.frames, speed: arguments.speed, seed: arguments.seed, ..Settings::default() };
    if !arguments.objects.is_empty() {
        settings.objects = arguments.objects;
    }
    let report =
        watched("broad-phases", "frames", |progress| broad_phases::run(&settings, &mut ProcessClock::new(), progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    if report.agrees() {
        return Ok(());
    }
    let wrong = report.rows.iter().find(|row| !row.agrees).expect("they do not agree");
    Err(Failure::Check(format!(
        "`{}` found other pairs than `{}` with {} objects, movement in {} (seed {}).\nTo see it again: {}",
        wrong.method,
        report.rows[0].method,
        wrong.objects,
        wrong.movement.axes(),
        report.seed,
        report.command
    )))
}

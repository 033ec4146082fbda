//! `lab room`: how many bodies of any shape can collide in time?

use std::path::PathBuf;

use clap::Args;
use lab::experiment::tree_room::{self, Settings};

use super::out::Out;
use super::present;
use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;

/// Runs broad phase and sphere-trees in paper 003's room, prints a verdict on each of its claims, and writes plots,
/// numbers and a page. That a claim does not hold is a result.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: cargo run --release -p lab -- room --objects 100,1000,4000 --frames 50"
)]
pub struct Room {
    /// How many bodies, one room each; beyond 4000 only ours runs [default: 100 to 20000]
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    objects: Vec<usize>,
    /// Frames per room
    #[arg(long, default_value_t = Settings::default().frames)]
    frames: u32,
    /// How far a body moves per frame; it is about 1 wide
    #[arg(long, default_value_t = Settings::default().speed)]
    speed: f32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/room", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Room) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let mut settings =
        Settings { frames: arguments.frames, speed: arguments.speed, seed: arguments.seed, ..Settings::default() };
    if !arguments.objects.is_empty() {
        settings.objects = arguments.objects;
    }
    let report = watched("room", "frames", |progress| tree_room::run(&settings, &mut ProcessClock::new(), progress))?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)
}

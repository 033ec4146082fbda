//! `lab bench tick`: what does a whole tick of a server cost?

use clap::Args;
use lab::bench::tick::{self, Settings};

use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::output::say;

/// Runs a server with a plaza full of seekers and says what a tick costs, from the bytes that arrive to the bytes that are
/// sent, and how many bytes those are.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: cargo run --release -p lab -- bench tick --objects 100000 --clients 1000 --json"
)]
pub struct Tick {
    /// How many avatars there are, clients included
    #[arg(long, default_value_t = Settings::default().objects, value_name = "N")]
    objects: usize,
    /// How many of them are clients
    #[arg(long, default_value_t = Settings::default().clients, value_name = "N")]
    clients: usize,
    /// How many objects a client hears, on average, if they were spread evenly
    #[arg(long, default_value_t = Settings::default().listened, value_name = "N")]
    listened: f64,
    /// From how far it hears them, in metres; the plaza is as wide as that takes, so that less is a denser crowd
    #[arg(long, default_value_t = Settings::default().aura, value_name = "METRES")]
    aura: f32,
    /// Ticks before measuring
    #[arg(long, default_value_t = Settings::default().warm, value_name = "TICKS")]
    warm: u32,
    /// Ticks measured
    #[arg(long, default_value_t = Settings::default().ticks)]
    ticks: u32,
    /// The same seed gives the same world
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Tick) -> Result<(), Failure> {
    let Tick { objects, clients, listened, aura, warm, ticks, seed, json } = arguments;
    let settings = Settings { objects, clients, listened, aura, warm, ticks, seed };
    let report =
        watched("bench tick", "ticks", |progress| tick::measure(&settings, &mut ProcessClock::new(), progress))?;
    say(&report, &report.to_text(), json)
}

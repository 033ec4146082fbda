//! `kinesphere lab simulate`: does the server keep its promises on a bad network?

use clap::Args;
use client::bot::Behaviour;
use lab::simulation::{self, Settings};

use crate::command::Failure;
use crate::command::work::watched;
use crate::output::say;

/// Runs a server and its clients over a simulated network, with losses, cut connections, partitions, restarts and hostile
/// clients, and checks every promise at every tick. Fails if one is broken; the same seed repeats the run to the bit.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: kinesphere lab simulate --seed 7 --clients 50 --ticks 9000 --loss 0.1 --latency 120"
)]
pub struct Simulate {
    /// The same seed gives the same run
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Clients that mean well
    #[arg(long, default_value_t = Settings::default().clients, value_name = "N")]
    clients: usize,
    /// Clients that do not
    #[arg(long, default_value_t = Settings::default().hostile, value_name = "N")]
    hostile: usize,
    /// Ticks of the server, 30 a second
    #[arg(long, default_value_t = Settings::default().ticks, value_name = "T")]
    ticks: u64,
    /// The share of datagrams that are lost, as a fraction
    #[arg(long, default_value_t = Settings::default().loss, value_name = "P")]
    loss: f64,
    /// One way, in milliseconds
    #[arg(long, default_value_t = Settings::default().latency_ms, value_name = "MS")]
    latency: f64,
    /// What comes on top at most, in milliseconds [default: a third of the latency]
    #[arg(long, value_name = "MS")]
    jitter: Option<f64>,
    /// How fast clients move, in metres per second
    #[arg(long, default_value_t = Settings::default().speed, value_name = "M/S")]
    speed: f64,
    /// Avatars of the world's own crowd
    #[arg(long, default_value_t = Settings::default().seekers, value_name = "N")]
    crowd: u32,
    /// How clients move: wander, seek, crowd or stand [default: a mixture]
    #[arg(long, value_name = "NAME", value_parser = behaviour)]
    behaviour: Option<Behaviour>,
    /// No cut connections, no partitions, no restarts
    #[arg(long)]
    calm: bool,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Simulate) -> Result<(), Failure> {
    let settings = Settings {
        seed: arguments.seed,
        clients: arguments.clients,
        hostile: arguments.hostile,
        ticks: arguments.ticks,
        loss: arguments.loss,
        latency_ms: arguments.latency,
        jitter_ms: arguments.jitter.unwrap_or(arguments.latency / 3.0),
        upsets: !arguments.calm,
        behaviour: arguments.behaviour,
        speed: arguments.speed,
        seekers: arguments.crowd,
        ..Settings::default()
    };
    let report = watched("lab simulate", "ticks", |progress| simulation::run(&settings, progress))?;
    say(&report, &report.to_text(), arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    let failures = report.failures().join("\n  ");
    Err(Failure::Check(format!("promises are broken:\n  {failures}\nTo see it again: {}", report.command)))
}

fn behaviour(name: &str) -> Result<Behaviour, String> {
    let known = Behaviour::ALL.iter().find(|(known, _)| *known == name);
    known.map(|(_, behaviour)| *behaviour).ok_or_else(|| "expected wander, seek, crowd or stand".to_owned())
}

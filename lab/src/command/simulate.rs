//! `lab simulate`: does the server keep its promises on a bad network?

use clap::Args;
use client::bot::Behaviour;
use kinesphere::table::Table;
use lab::report::number::grouped;
use sim::plaza::{self, Report, Settings};
use sim::promises::Score;

use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::output::say;

/// Runs a server and its clients over a simulated network, with losses, cut connections, partitions, restarts and
/// hostile clients, and checks every promise at every tick. Fails if one is broken; the same seed repeats the run
/// to the bit.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: cargo run --release -p lab -- simulate --seed 7 --clients 50 --ticks 9000 --loss 0.1 \
        --latency 120"
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
    let report = watched("simulate", "ticks", |progress| plaza::run(&settings, progress))?;
    say(&report, &text(&report), arguments.json)?;
    if report.promises.holds() {
        return Ok(());
    }
    let failures = report.promises.failures().join("\n  ");
    Err(Failure::Check(format!("promises are broken:\n  {failures}\nTo see it again: {}", report.command)))
}

fn behaviour(name: &str) -> Result<Behaviour, String> {
    let known = Behaviour::ALL.iter().find(|(known, _)| *known == name);
    known.map(|(_, behaviour)| *behaviour).ok_or_else(|| "expected wander, seek, crowd or stand".to_owned())
}

/// The report for a terminal.
fn text(report: &Report) -> String {
    let mut table = Table::new(["promise", "checks", "broken"]);
    for Score { promise, checks, violations, .. } in report.promises.iter() {
        table.row([(*promise).to_owned(), grouped(*checks), grouped(*violations)]);
    }
    format!(
        "{table}\n{:.0} simulated seconds, {} clients and {} hostile ones, loss {}, {} ms and up to {} ms more one \
         way.\n\
         {} joined, {} resumed, {} in at the end; {} cuts, {} partitions, {} restarts; {} messages rejected.\n\
         Avatars are shown {:.3} m from where they are, on average. {:.2} state bytes per object and update.\n\
         World at the end: {}\n",
        report.seconds,
        report.clients,
        report.hostile,
        report.loss,
        report.latency_ms,
        report.jitter_ms,
        report.joined,
        report.resumed,
        report.in_at_end,
        report.cuts,
        report.partitions,
        report.restarts,
        grouped(report.rejected),
        report.shown_error_m,
        report.state_bytes_per_object,
        report.hash
    )
}

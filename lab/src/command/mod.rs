//! The commands of the simulators.

mod cluster;
mod out;
mod peers;
mod simulate;
mod work;

use clap::Subcommand;
use lab::experiment::Document;

use kinesphere::failure::Failure;
use kinesphere::output::{print, say};
use out::Out;

#[derive(Subcommand)]
pub enum SimulatorCommand {
    /// Ohlenburg's paper among many hosts: what does a world without a server cost, and do all agree?
    Peers(peers::Peers),
    /// Many servers as one world: what does it cost, and does it hold whatever dies?
    Cluster(cluster::Cluster),
    /// Does the server keep its promises on a bad network, whatever its clients do?
    Simulate(simulate::Simulate),
}

/// Runs the command.
pub fn run(command: SimulatorCommand) -> Result<(), Failure> {
    match command {
        SimulatorCommand::Peers(arguments) => peers::run(arguments),
        SimulatorCommand::Cluster(arguments) => cluster::run(arguments),
        SimulatorCommand::Simulate(arguments) => simulate::run(arguments),
    }
}

/// Prints a report, for people or as JSON, and writes its files. What was printed is there even if the disk is full by now.
fn present(
    report: &impl serde::Serialize,
    documents: Vec<Document>,
    text: &str,
    out: &Out,
    json: bool,
) -> Result<(), Failure> {
    say(report, text, json)?;
    out.write(documents)?;
    if json { Ok(()) } else { print(&format!("\nThe whole report: {}\n", out.index().display())) }
}

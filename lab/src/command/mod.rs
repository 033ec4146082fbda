//! One file per study.

pub mod bench;
mod broad_phases;
mod cluster;
mod decisions;
mod four_users;
mod groups;
mod missed_collisions;
mod out;
mod peers;
mod prediction;
mod relations;
mod room;
mod simulate;
pub mod sphere_trees;
mod work;
mod world;

use clap::Subcommand;
use lab::experiment::Document;

use kinesphere::failure::Failure;
use kinesphere::output::{print, say};
use out::Out;

/// What to try.
#[derive(Subcommand)]
pub enum Command {
    /// Paper 003, figures 4 to 6: which broad phase is fastest in a crowded room?
    BroadPhases(broad_phases::BroadPhases),
    /// Ohlenburg's paper: does predicting collisions make replicas better?
    Prediction(prediction::Prediction),
    /// Ohlenburg's paper: whose word counts when two hosts see a collision?
    Decisions(decisions::Decisions),
    /// Papers 000 and 004: how many comparisons and how much time do relations take?
    Relations(relations::Relations),
    /// Paper 004 and beyond: who gets a copy, and how many?
    Groups(groups::Groups),
    /// A world with a crowd, from above: does it keep its promise?
    World(world::World),
    /// Paper 002, figure 2.10: who walks through whom when messages are lost?
    MissedCollisions(missed_collisions::MissedCollisions),
    /// Ohlenburg's paper among many hosts: what does a world without a server cost, and do all agree?
    Peers(peers::Peers),
    /// Many servers as one world: what does it cost, and does it hold whatever dies?
    Cluster(cluster::Cluster),
    /// Paper 002, section 3.5: do four users at once notice a delay?
    FourUsers(four_users::FourUsers),
    /// Does the server keep its promises on a bad network, whatever its clients do?
    Simulate(simulate::Simulate),
    /// Paper 003, figures 7 to 9: how many bodies of any shape can collide in time?
    Room(room::Room),
    /// Paper 003, section 4: how closely can spheres wrap a shape?
    SphereTrees(sphere_trees::SphereTrees),
    /// Measure how fast something is, against its rivals.
    #[command(subcommand, after_help = "Example: cargo run --release -p lab -- bench broad-phase --objects 100000")]
    Bench(bench::Bench),
}

/// Runs the command.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::BroadPhases(arguments) => broad_phases::run(arguments),
        Command::Prediction(arguments) => prediction::run(arguments),
        Command::Decisions(arguments) => decisions::run(arguments),
        Command::Relations(arguments) => relations::run(arguments),
        Command::Groups(arguments) => groups::run(arguments),
        Command::World(arguments) => world::run(arguments),
        Command::MissedCollisions(arguments) => missed_collisions::run(arguments),
        Command::Peers(arguments) => peers::run(arguments),
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::FourUsers(arguments) => four_users::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Room(arguments) => room::run(arguments),
        Command::SphereTrees(arguments) => sphere_trees::run(arguments),
        Command::Bench(bench) => bench::run(bench),
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

//! `kinesphere lab`: do the papers hold?

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
mod world;

use clap::Subcommand;
use lab::experiment::Document;

use super::Failure;
use crate::output::{print, say};
use out::Out;

/// What to try.
#[derive(Subcommand)]
pub enum Lab {
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
}

/// Runs the command.
pub fn run(lab: Lab) -> Result<(), Failure> {
    match lab {
        Lab::BroadPhases(arguments) => broad_phases::run(arguments),
        Lab::Prediction(arguments) => prediction::run(arguments),
        Lab::Decisions(arguments) => decisions::run(arguments),
        Lab::Relations(arguments) => relations::run(arguments),
        Lab::Groups(arguments) => groups::run(arguments),
        Lab::World(arguments) => world::run(arguments),
        Lab::MissedCollisions(arguments) => missed_collisions::run(arguments),
        Lab::Peers(arguments) => peers::run(arguments),
        Lab::Cluster(arguments) => cluster::run(arguments),
        Lab::FourUsers(arguments) => four_users::run(arguments),
        Lab::Simulate(arguments) => simulate::run(arguments),
        Lab::Room(arguments) => room::run(arguments),
        Lab::SphereTrees(arguments) => sphere_trees::run(arguments),
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

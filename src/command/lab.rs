//! `kinesphere lab`: do the papers hold?

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use lab::experiment::Document;
use lab::experiment::broad_phases::{self, Settings};

use super::Failure;
use super::decisions::{self, Decisions};
use super::groups::{self, Groups};
use super::lab_world;
use super::missed_collisions::{self, MissedCollisions};
use super::prediction::{self, Prediction};
use super::relations::{self, Relations};
use super::simulate::{self, Simulate};
use super::sphere_trees::{self, SphereTrees};
use crate::clock::ProcessClock;
use crate::output::{print, print_json};
use crate::progress::Bar;

/// What to try.
#[derive(Subcommand)]
pub enum Lab {
    /// Paper 003, figures 4 to 6: which broad phase is fastest in a crowded room?
    BroadPhases(BroadPhases),
    /// Ohlenburg's paper: does predicting collisions make replicas better?
    Prediction(Prediction),
    /// Ohlenburg's paper: whose word counts when two hosts see a collision?
    Decisions(Decisions),
    /// Papers 000 and 004: how many comparisons and how much time do relations take?
    Relations(Relations),
    /// Paper 004 and beyond: who gets a copy, and how many?
    Groups(Groups),
    /// A world with a crowd, from above: does it keep its promise?
    World(lab_world::World),
    /// Paper 002, figure 2.10: who walks through whom when messages are lost?
    MissedCollisions(MissedCollisions),
    /// Does the server keep its promises on a bad network, whatever its clients do?
    Simulate(Simulate),
    /// Paper 003, section 4: how closely can spheres wrap a shape?
    SphereTrees(SphereTrees),
}

/// Runs the paper's methods and ours in its room, prints a verdict on each of its claims, and writes plots, numbers and a
/// page. Fails only if the methods find different pairs: that a claim does not hold is a result.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Example: kinesphere lab broad-phases --objects 100,500,1000 --frames 200"
)]
pub struct BroadPhases {
    /// How many objects, one room each [default: 100 to 4000]
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    objects: Vec<usize>,
    /// Frames per room
    #[arg(long, default_value_t = 500)]
    frames: u32,
    /// How far an object moves per frame; it is 1 wide
    #[arg(long, default_value_t = 0.1)]
    speed: f32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/broad-phases", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(lab: Lab) -> Result<(), Failure> {
    let arguments = match lab {
        Lab::BroadPhases(arguments) => arguments,
        Lab::Prediction(arguments) => return prediction::run(arguments),
        Lab::Decisions(arguments) => return decisions::run(arguments),
        Lab::Relations(arguments) => return relations::run(arguments),
        Lab::Groups(arguments) => return groups::run(arguments),
        Lab::World(arguments) => return lab_world::run(arguments),
        Lab::MissedCollisions(arguments) => return missed_collisions::run(arguments),
        Lab::Simulate(arguments) => return simulate::run(arguments),
        Lab::SphereTrees(arguments) => return sphere_trees::run(arguments),
    };
    let mut settings =
        Settings { frames: arguments.frames, speed: arguments.speed, seed: arguments.seed, ..Settings::default() };
    if !arguments.objects.is_empty() {
        settings.objects = arguments.objects;
    }
    let bar = Bar::new("frames");
    let report = broad_phases::run(&settings, &mut ProcessClock::new(), &mut |done, total| bar.set(done, total));
    drop(bar);
    let report = report.map_err(|error| {
        Failure::Input(format!("{error}\nNothing was run; `kinesphere lab broad-phases --help` lists the settings."))
    })?;
    present(&report, report.documents(), &report.to_text(), &arguments.out, arguments.json)?;
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

/// Writes a report's files into a folder, and prints it: for people, who are told where the files are, or as JSON.
pub(super) fn present(
    report: &impl serde::Serialize,
    documents: Vec<Document>,
    text: &str,
    folder: &Path,
    json: bool,
) -> Result<(), Failure> {
    write(folder, documents)?;
    if json {
        print_json(report)
    } else {
        print(&format!("{text}\nThe whole report: {}\n", folder.join("index.html").display()))
    }
}

/// Writes all files of a report into a folder.
fn write(folder: &Path, documents: Vec<Document>) -> Result<(), Failure> {
    let refused = |path: &Path, error: std::io::Error| {
        Failure::Machine(format!("cannot write {}: {error}\nName another folder with --out.", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
    for document in documents {
        let path = folder.join(&document.name);
        fs::write(&path, document.contents).map_err(|error| refused(&path, error))?;
    }
    Ok(())
}

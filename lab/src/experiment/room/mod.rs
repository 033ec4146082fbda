//! Paper 003, figures 7 to 9: broad phase and sphere-trees together, in a room full of flying bodies.
//!
//! The paper lets boxes and bunnies fly, finds their pairs by Sweep & Prune and where they touch by sphere-trees, and
//! asks which trees are fastest, where the time goes, and how many bodies are too many. Here the room, the octree and
//! Combined are built again; ours is the default broad phase and our best trees. Rendering is left out.

mod claims;
mod figures;
mod page;
mod run;

use std::collections::BTreeSet;

use clap::Args;
use kinesphere::failure::Failure;
use serde::Serialize;

use crate::report::claim::ClaimResult;
use crate::report::page::Page;
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// Beyond this number of bodies the paper did not go, and only ours runs.
const PAPER_OBJECTS_MAX: usize = 4_000;

/// Paper 003, figures 7 to 9: how many bodies of any shape can collide in time?
///
/// Runs broad phase and sphere-trees in paper 003's room, judges each of its claims, and writes plots,
/// numbers and a page. That a claim does not hold is a result.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many bodies, one room each; beyond 4000 only ours runs
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,N,...",
        default_value = "100,200,300,500,700,1000,1500,2000,3000,4000,20000",
        value_parser = range(1..=100_000usize).of("bodies in a room")
    )]
    pub objects: Vec<usize>,
    /// Frames per room
    #[arg(long, default_value_t = 200, value_parser = range(1..=100_000u32).of("frames"))]
    pub frames: u32,
    /// How far a body moves per frame; it is about 1 wide
    #[arg(long, default_value_t = 0.1, value_parser = range(0.0f32..=10.0).of("widths per frame"))]
    pub speed: f32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The trees that were compared.
#[derive(Clone, Debug, Serialize)]
pub struct RoomTrees {
    pub trees: Vec<TreeInfo>,
}

/// A tree around one kind of body.
#[derive(Clone, Debug, Serialize)]
pub struct TreeInfo {
    pub bodies: &'static str,
    pub method: &'static str,
    /// Levels below the root.
    pub depth: usize,
    /// Balls on its lowest level.
    pub leaves: usize,
    /// How far its leaves stick out, as a share of the body's bounding radius.
    pub error: f64,
}

/// What a frame of collision work costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `box` or `rabbit`.
    pub bodies: &'static str,
    pub method: &'static str,
    /// Levels below the root.
    pub depth: usize,
    pub objects: usize,
    /// The broad phase: the paper's for the paper's trees, ours for ours.
    pub broad: &'static str,
    /// Frames of collision work per second of one core.
    pub fps: f64,
    /// Milliseconds per frame for updating the broad phase's structure.
    pub update_ms: f64,
    /// Milliseconds per frame for finding pairs of bounding spheres.
    pub broad_ms: f64,
    /// Milliseconds per frame for the walks down the trees.
    pub narrow_ms: f64,
    /// Pairs of bounding spheres, per frame.
    pub pairs: f64,
    /// Of them, those whose trees touch.
    pub touching: f64,
    /// Blocks of eight balls that were looked at, per pair.
    pub operations: f64,
}

impl Study for Settings {
    const NAME: &'static str = "room";
    const EXAMPLE: &'static str = "--objects 100,1000,4000 --frames 50";
    const UNIT: &'static str = "frames";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = RoomTrees;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        run::run_bodies(self, &run::BODIES, &run::TREES, stopwatch, progress).map_err(refused)
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(report)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }
}

impl Report<Settings> {
    /// The row of a tree in a room.
    fn row(&self, bodies: &str, method: &str, depth: usize, objects: usize) -> Option<&Row> {
        let is = |row: &&Row| (row.bodies, row.method, row.depth, row.objects) == (bodies, method, depth, objects);
        self.rows.iter().find(is)
    }

    /// The numbers of bodies, ascending.
    fn objects(&self) -> BTreeSet<usize> {
        self.rows.iter().map(|row| row.objects).collect()
    }
}

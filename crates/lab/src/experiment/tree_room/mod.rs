//! Paper 003, figures 7 to 9: broad phase and sphere-trees together, in a room full of flying bodies.
//!
//! The paper lets boxes and bunnies fly, finds their pairs by Sweep & Prune and where they touch by sphere-trees, and asks
//! which trees are fastest, where the time goes, and how many bodies are too many. Here the room, the octree and Combined
//! are built again; ours is the default broad phase and our best trees. Rendering is left out.

mod claims;
mod figures;
mod page;
mod run;

use serde::Serialize;
use shapes::traversal::WrapError;

use super::Document;
use crate::report::table::Table;
use crate::report::verdict::Verdict;
use crate::setting::OutOfRange;

pub use run::run;

/// How fast the paper's objects may at least be shown: frames per second that it calls interactive.
const INTERACTIVE: f64 = 10.0;
/// Beyond so many bodies the paper did not go, and only ours runs.
pub const PAPER_OBJECTS_MAX: usize = 4_000;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many bodies, one room each.
    pub objects: Vec<usize>,
    /// Frames per room.
    pub frames: u32,
    /// How far a body moves per frame.
    pub speed: f32,
    /// The same seed gives the same frames.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            objects: vec![100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 4_000, 20_000],
            frames: 200,
            speed: 0.1,
            seed: 1,
        }
    }
}

/// Why nothing came out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RoomError {
    /// A setting that makes no sense.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A body without a tree.
    #[error(transparent)]
    Wrap(#[from] WrapError),
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct TreeRoom {
    /// The command that repeats the run.
    pub command: String,
    /// Frames per room.
    pub frames: u32,
    /// How far a body moves per frame.
    pub speed: f32,
    /// The same seed gives the same frames.
    pub seed: u64,
    /// The trees that were compared.
    pub trees: Vec<TreeInfo>,
    /// One per kind of bodies, tree and number of bodies.
    pub rows: Vec<Row>,
    /// The paper's claims, and ours.
    pub verdicts: Vec<Verdict>,
}

/// A tree around one kind of body.
#[derive(Clone, Debug, Serialize)]
pub struct TreeInfo {
    /// Boxes or rabbits.
    pub bodies: &'static str,
    /// How it was built.
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
    /// How the trees were built.
    pub method: &'static str,
    /// Levels below the root.
    pub depth: usize,
    /// How many bodies there are.
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

impl TreeRoom {
    /// The row of a tree in a room.
    pub fn row(&self, bodies: &str, method: &str, depth: usize, objects: usize) -> Option<&Row> {
        let is = |row: &&Row| (row.bodies, row.method, row.depth, row.objects) == (bodies, method, depth, objects);
        self.rows.iter().find(is)
    }

    /// The numbers of bodies, ascending.
    pub fn objects(&self) -> Vec<usize> {
        let mut objects: Vec<usize> = self.rows.iter().map(|row| row.objects).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// Everything worth keeping.
    pub fn documents(&self) -> Vec<Document> {
        Document::all("room", &page::page(self), &self.rows, self, figures::all(self))
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n", table(&self.rows), Verdict::list(&self.verdicts))
    }
}

fn table(rows: &[Row]) -> Table {
    let headings =
        ["bodies", "method", "depth", "objects", "fps", "update ms", "broad ms", "narrow ms", "pairs", "touching"];
    let mut table = Table::new(headings);
    for row in rows {
        table.row([
            row.bodies.to_owned(),
            row.method.to_owned(),
            row.depth.to_string(),
            row.objects.to_string(),
            format!("{:.0}", row.fps),
            format!("{:.4}", row.update_ms),
            format!("{:.4}", row.broad_ms),
            format!("{:.4}", row.narrow_ms),
            format!("{:.1}", row.pairs),
            format!("{:.1}", row.touching),
        ]);
    }
    table
}

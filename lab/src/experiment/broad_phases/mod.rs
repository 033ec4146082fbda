//! Paper 003's figures 4, 5 and 6: its four broad phases and its hybrid in a room full of moving objects, and ours
//! beside them.
//!
//! Every method sees the same frames: the room is moved on once, by the pairs that all must agree on. Updating the
//! structure and finding the pairs are timed apart. With 100 objects a method takes no longer than reading the clock
//! does, so nothing at all is timed as well, in every frame, and subtracted.

mod claims;
mod figures;
mod page;
mod run;
mod voxels;

pub use voxels::VoxelRow;

use serde::Serialize;

use super::Document;
use super::room::Movement;
use crate::method::Method;
use crate::report::verdict::Verdict;
use crate::setting::OutOfRange;
use crate::stopwatch::Stopwatch;

/// The most objects in a room: beyond, brute force takes seconds per frame.
pub const OBJECTS_MAX: usize = 20_000;
/// The longest run in one room.
pub const FRAMES_MAX: u32 = 100_000;
/// The most rooms.
pub const ROOMS_MAX: usize = 100;

/// The paper's methods, and those that they are measured against today. The first one moves the room on.
const METHODS: [&str; 8] = [
    "brute-force",
    "octree",
    "uniform-grid",
    "sweep-and-prune",
    "grid-sweep-and-prune",
    "sweep-one-axis",
    "plain-grid",
    "kinesphere",
];

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many objects, one room each.
    pub objects: Vec<usize>,
    /// How many frames per room.
    pub frames: u32,
    /// How far an object moves per frame; it is 1 wide.
    pub speed: f32,
    /// The same seed gives the same frames.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        let objects = vec![100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000, 1_500, 2_000, 3_000, 4_000];
        Settings { objects, frames: 500, speed: 0.1, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct BroadPhases {
    /// The command that repeats the run.
    pub command: String,
    /// The room's edges.
    pub room: [f32; 3],
    /// Half the width of an object.
    pub radius: f32,
    /// How far an object moved per frame, in all rooms but those that compare speeds.
    pub speed: f32,
    /// Frames per room.
    pub frames: u32,
    /// What the frames were made from.
    pub seed: u64,
    /// One per movement, number of objects, speed and method.
    pub rows: Vec<Row>,
    /// The grid once more, with voxels of several sizes.
    pub voxels: Vec<VoxelRow>,
    /// The paper's claims, put to the test.
    pub verdicts: Vec<Verdict>,
}

/// How one method did in one room.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// In the plane, or in space.
    pub movement: Movement,
    /// How many objects there were.
    pub objects: usize,
    /// How far each moved per frame.
    pub speed: f32,
    /// Who found the pairs.
    pub method: &'static str,
    /// Frames per second of processor time, broad phase alone.
    pub frames_per_second: f64,
    /// Microseconds per frame to take in the new positions.
    pub update_us: f64,
    /// Microseconds per frame to find the pairs.
    pub find_us: f64,
    /// Updating, as a fraction of both.
    pub update_share: f64,
    /// Tests of two spheres per frame.
    pub sphere_tests: f64,
    /// Overlapping pairs per frame.
    pub pairs: f64,
    /// Whether it found the right pairs in every frame.
    pub agrees: bool,
}

/// Runs every room. `progress` is told how many frames are done, of how many.
pub fn run(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<BroadPhases, OutOfRange> {
    let methods: Vec<&'static Method> =
        METHODS.iter().map(|name| Method::named(name).expect("the experiment's methods exist")).collect();
    run::run_methods(settings, &methods, stopwatch, progress)
}

impl BroadPhases {
    /// Whether every method found the right pairs in every frame.
    pub fn agrees(&self) -> bool {
        self.rows.iter().all(|row| row.agrees) && self.voxels.iter().all(|row| row.agrees)
    }

    /// Everything worth keeping: a page, the numbers, and the plots.
    pub fn documents(&self) -> Vec<Document> {
        Document::all("broad-phases", &page::page(self), &self.rows, self, figures::all(self))
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let rates = page::rates(self, Movement::Space);
        format!("Frames per second, movement in space\n\n{rates}\n{}\n", Verdict::list(&self.verdicts))
    }

    fn row(&self, movement: Movement, objects: usize, method: &str) -> Option<&Row> {
        let sought = (movement, objects, self.speed, method);
        self.rows.iter().find(|row| (row.movement, row.objects, row.speed, row.method) == sought)
    }

    /// The rooms that differ by nothing but speed, slowest first.
    fn speed_rows(&self) -> Vec<&Row> {
        let objects = self.rows.iter().find(|row| row.speed != self.speed).map(|row| row.objects);
        let is_there = |row: &&Row| Some(row.objects) == objects && row.movement == Movement::Space;
        let mut rows: Vec<&Row> = self.rows.iter().filter(is_there).collect();
        rows.sort_by(|one, other| one.speed.total_cmp(&other.speed));
        rows
    }

    /// How many objects there were, ascending, within a range.
    fn objects(&self, from: usize, to: usize) -> Vec<usize> {
        let all: std::collections::BTreeSet<usize> = self.rows.iter().map(|row| row.objects).collect();
        all.range(from..=to).copied().collect()
    }

    fn methods(&self) -> Vec<&'static str> {
        METHODS.into_iter().filter(|method| self.rows.iter().any(|row| row.method == *method)).collect()
    }
}

impl Row {
    /// Microseconds per frame, all in all.
    fn frame_us(&self) -> f64 {
        self.update_us + self.find_us
    }
}

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

use clap::Args;
use kinesphere::failure::Failure;
use serde::Serialize;

use self::voxels::VoxelRow;
use super::flight_room::{Movement, RADIUS, SIZE};
use crate::method::{BroadPhaseMethod, named};
use crate::report::chart::{Look, look};
use crate::report::claim::ClaimResult;
use crate::report::page::Page;
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study};

/// The paper's methods, and those of today. The pairs of the first one move the room on. Told apart by the
/// colour-blind; `style.css` knows the colours too.
const LOOKS: [Look; 8] = [
    look("brute-force", "brute force", "#6B7280"),
    look("octree", "octree", "#CC79A7"),
    look("uniform-grid", "grid", "#009E73"),
    look("sweep-and-prune", "sweep and prune", "#0072B2"),
    look("grid-sweep-and-prune", "hybrid", "#7B61C4"),
    look("sweep-one-axis", "one-axis sweep", "#8A5A2B"),
    look("plain-grid", "plain grid", "#E69F00"),
    look("kinesphere", "kinesphere", "#D55E00"),
];

/// Paper 003, figures 4 to 6: which broad phase is fastest in a crowded room?
///
/// Runs the paper's methods and ours in its room, judges each of its claims, and writes plots, numbers and a
/// page. Fails only if the methods find different pairs: that a claim does not hold is a result.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many objects, one room each
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,N,...",
        default_value = "100,200,300,400,500,600,700,800,900,1000,1500,2000,3000,4000",
        value_parser = range(1..=20_000usize).of("objects in a room")
    )]
    pub objects: Vec<usize>,
    /// Frames per room
    #[arg(long, default_value_t = 500, value_parser = range(1..=100_000u32).of("frames"))]
    pub frames: u32,
    /// How far an object moves per frame; it is 1 wide
    #[arg(long, default_value_t = 0.1, value_parser = range(0.0f32..=10.0).of("widths per frame"))]
    pub speed: f32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The room, and what was measured in it beside the rows.
#[derive(Clone, Debug, Serialize)]
pub struct RoomFacts {
    /// The room's edges.
    pub room: [f32; 3],
    /// Half the width of an object.
    pub radius: f32,
    /// The grid once more, with voxels of several sizes.
    pub voxels: Vec<VoxelRow>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub movement: Movement,
    pub objects: usize,
    /// How far each moved per frame.
    pub speed: f32,
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

impl Study for Settings {
    const NAME: &'static str = "broad-phases";
    const EXAMPLE: &'static str = "--objects 100,500,1000 --frames 200";
    const UNIT: &'static str = "frames";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = RoomFacts;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let methods = LOOKS.map(|look| named(look.key).expect("the experiment's methods exist"));
        Ok(self.run_methods(&methods, stopwatch, progress))
    }

    fn text(report: &Report<Settings>) -> String {
        format!("Frames per second, movement in space\n\n{}", page::rates(report, Movement::Space))
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(report)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let sentence = |row: &Row| {
            let (objects, axes, seed) = (row.objects, row.movement.axes(), report.settings.seed);
            let (method, first) = (row.method, report.rows[0].method);
            format!(
                "`{method}` found other pairs than `{first}` with {objects} objects, movement in {axes} (seed {seed})."
            )
        };
        let wrong = report.rows.iter().find(|row| !row.agrees).map(sentence);
        let voxels = report.facts.voxels.iter().find(|row| !row.agrees);
        let voxels = voxels.map(|row| format!("The grid found wrong pairs with voxels {} wide.", row.edge));
        wrong.into_iter().chain(voxels).collect()
    }
}

impl Settings {
    /// Runs these methods in every room.
    fn run_methods(
        &self,
        methods: &[&'static BroadPhaseMethod],
        stopwatch: &mut dyn Stopwatch,
        progress: Progress<'_>,
    ) -> Results<Settings> {
        let (rows, voxels) = run::run_methods(self, methods, stopwatch, progress);
        (rows, RoomFacts { room: SIZE.to_array(), radius: RADIUS, voxels })
    }
}

impl Report<Settings> {
    fn row(&self, movement: Movement, objects: usize, method: &str) -> Option<&Row> {
        let sought = (movement, objects, self.settings.speed, method);
        self.rows.iter().find(|row| (row.movement, row.objects, row.speed, row.method) == sought)
    }

    /// The rooms that differ by nothing but speed, slowest first.
    fn speed_rows(&self) -> Vec<&Row> {
        let objects = self.rows.iter().find(|row| row.speed != self.settings.speed).map(|row| row.objects);
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
        LOOKS.iter().map(|look| look.key).filter(|method| self.rows.iter().any(|row| row.method == *method)).collect()
    }
}

impl Row {
    /// Microseconds per frame, all in all.
    fn frame_us(&self) -> f64 {
        self.update_us + self.find_us
    }
}

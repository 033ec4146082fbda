//! How large is a voxel to be? The paper's grid in one room, from a few large voxels to very many small ones.
//!
//! The survey that the papers build on (paper 002) says: large ones mean many tests, small ones many updates. Both are
//! counted, so that no machine decides.

use serde::Serialize;
use space::Vec3;
use space::broad::{BruteForce, UniformGrid};

use super::run::{RoomSetup, TimedMethod, run_room};
use crate::experiment::flight_room::{FlightRoom, SIZE};
use crate::report::claim::{ClaimResult, judged};
use crate::report::number::grouped;
use crate::stopwatch::Stopwatch;

/// Voxels along the room's height; four times as many along the other axes, which makes them cubes.
const LAYERS: [u32; 6] = [1, 2, 4, 8, 16, 25];

/// How the grid did with voxels of one size.
#[derive(Clone, Debug, Serialize)]
pub struct VoxelRow {
    pub objects: usize,
    /// Voxels along each axis.
    pub voxels: [u32; 3],
    /// A voxel's edge; an object is 1 wide.
    pub edge: f32,
    /// How often an object entered or left a voxel, per frame.
    pub updates: f64,
    /// Tests of two spheres per frame.
    pub sphere_tests: f64,
    /// Microseconds per frame to take in the new positions.
    pub update_us: f64,
    /// Microseconds per frame to find the pairs.
    pub find_us: f64,
    /// Whether it found the right pairs in every frame.
    pub agrees: bool,
}

/// Runs grids with voxels of each size in a room, the largest first.
pub fn run(
    scene: &RoomSetup,
    (frames, seed): (u32, u64),
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32),
) -> Vec<VoxelRow> {
    let sizes = LAYERS.map(|layers| [4 * layers, layers, 4 * layers]);
    let grids = sizes.map(|voxels| {
        let grid = UniformGrid::new(Vec3::ZERO, SIZE, voxels).expect("the room can be cut into so many voxels");
        TimedMethod::new("uniform-grid", Box::new(grid))
    });
    // Brute force says what is right, and moves the room on.
    let methods = std::iter::once(TimedMethod::new("brute-force", Box::new(BruteForce))).chain(grids).collect();
    let room = FlightRoom::new(scene.objects, scene.movement, scene.speed, seed);
    let methods = run_room(room, frames, methods, stopwatch, progress);
    let row = |(voxels, method): ([u32; 3], &TimedMethod)| {
        let row = method.row(scene, frames);
        VoxelRow {
            objects: scene.objects,
            voxels,
            edge: SIZE.y / voxels[1] as f32,
            updates: method.updates as f64 / f64::from(frames),
            sphere_tests: row.sphere_tests,
            update_us: row.update_us,
            find_us: row.find_us,
            agrees: row.agrees,
        }
    };
    sizes.into_iter().zip(&methods[1..]).map(row).collect()
}

pub fn claim(rows: &[VoxelRow]) -> ClaimResult {
    let steps = || rows.windows(2).map(|pair| (&pair[0], &pair[1]));
    let fewer_tests = steps().map(|(larger, smaller)| smaller.sphere_tests < larger.sphere_tests);
    let more_updates = steps().map(|(larger, smaller)| smaller.updates > larger.updates);
    let fastest = rows.iter().min_by(|one, other| one.frame_us().total_cmp(&other.frame_us()));
    let evidence = match (rows.first(), rows.last(), fastest) {
        (Some(largest), Some(smallest), Some(fastest)) => format!(
            "With {} objects, 1 wide: voxels of {} mean {} tests and {:.1} updates per frame, voxels of {} {} and \
             {:.1}. Fastest are those of {}.",
            grouped(largest.objects as u64),
            largest.edge,
            grouped(largest.sphere_tests.round() as u64),
            largest.updates,
            smallest.edge,
            grouped(smallest.sphere_tests.round() as u64),
            smallest.updates,
            fastest.edge,
        ),
        _ => "Not measured.".to_owned(),
    };
    let claim = "Large voxels mean many tests, and small ones many updates.";
    judged(claim, "Paper 002, section 1.3.2", fewer_tests.chain(more_updates), evidence)
}

impl VoxelRow {
    /// Microseconds per frame, all in all.
    pub fn frame_us(&self) -> f64 {
        self.update_us + self.find_us
    }
}

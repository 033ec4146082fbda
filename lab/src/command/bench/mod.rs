//! `lab bench`: how fast is it?

mod broad_phase;
mod interest;
mod motion;
mod narrow;
mod queries;
mod tick;
mod world;

use clap::Subcommand;

use kinesphere::failure::Failure;

/// What to measure.
#[derive(Subcommand)]
pub enum Bench {
    /// Broad phases: from new positions to the complete list of overlapping pairs.
    BroadPhase(broad_phase::BroadPhase),
    /// Relations, audiences and groups: what knowing who should hear whom costs beyond the pairs.
    Interest(interest::Interest),
    /// Replicas: what predicting their collisions costs, over extrapolating them.
    Motion(motion::Motion),
    /// The narrow phase: sphere-tree against sphere-tree, and parry3d's mesh against mesh.
    Narrow(narrow::Narrow),
    /// A server: what a whole tick costs, from bytes to bytes.
    Tick(tick::Tick),
    /// A world: what a tick costs, stage by stage.
    World(world::World),
    /// Questions about places: who is there, who is first on the way, who is nearest.
    Queries(queries::Queries),
}

/// Runs the command.
pub fn run(bench: Bench) -> Result<(), Failure> {
    match bench {
        Bench::BroadPhase(arguments) => broad_phase::run(arguments),
        Bench::Interest(arguments) => interest::run(arguments),
        Bench::Motion(arguments) => motion::run(arguments),
        Bench::Narrow(arguments) => narrow::run(arguments),
        Bench::Queries(arguments) => queries::run(arguments),
        Bench::Tick(arguments) => tick::run(arguments),
        Bench::World(arguments) => world::run(arguments),
    }
}

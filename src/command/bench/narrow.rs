//! `kinesphere bench narrow`: how quickly is it known whether two bodies touch?

use clap::Args;
use lab::bench::narrow::{self, Settings};
use shapes::sphere_tree::{MAX_DEPTH, Method};

use crate::clock::ProcessClock;
use crate::command::Failure;
use crate::command::work::watched;
use crate::mesh_file::load;
use crate::output::say;

/// Two bodies that touch, nearly touch or are deep in each other: by a walk down their sphere-trees, and by parry3d's mesh
/// against mesh. Answers that contradict each other fail the command.
#[derive(Args)]
#[command(after_help = "Example: kinesphere bench narrow --mesh torus-knot --json")]
pub struct Narrow {
    /// Both bodies: a file (.obj, .gltf, .glb, .tri), or a shape by name
    #[arg(long, default_value = "rabbit", value_name = "FILE")]
    mesh: String,
    /// How the tree is built: octree, octree-tight, combined or best
    #[arg(long, default_value = "best", value_name = "NAME")]
    method: String,
    /// How many levels the tree has below the root
    #[arg(long, default_value_t = 3, value_name = "L")]
    depth: usize,
    /// Pairs of each kind
    #[arg(long, default_value_t = 100, value_name = "N")]
    pairs: u32,
    /// How often each is asked
    #[arg(long, default_value_t = 10, value_name = "N")]
    rounds: u32,
    /// The same seed gives the same pairs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Narrow) -> Result<(), Failure> {
    let method = Method::of_name(&arguments.method).ok_or_else(|| {
        let names = Method::ALL.map(Method::name).join(", ");
        Failure::Input(format!("--method is `{}`, expected one of {names}", arguments.method))
    })?;
    if !(1..=MAX_DEPTH).contains(&arguments.depth) {
        return Err(Failure::Input(format!("--depth is {}, expected 1 to {MAX_DEPTH}", arguments.depth)));
    }
    let settings = Settings {
        mesh: load(&arguments.mesh)?,
        name: arguments.mesh,
        method,
        depth: arguments.depth,
        pairs: arguments.pairs,
        rounds: arguments.rounds,
        seed: arguments.seed,
    };
    let report =
        watched("bench narrow", "parts", |progress| narrow::measure(&settings, &mut ProcessClock::new(), progress))?;
    say(&report, &report.to_text(), arguments.json)?;
    if report.disagreements == 0 {
        return Ok(());
    }
    Err(Failure::Check(format!(
        "sphere-trees and parry3d contradict each other about {} pairs.\nTo see it again: {}",
        report.disagreements, report.command
    )))
}

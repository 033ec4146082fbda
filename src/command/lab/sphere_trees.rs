//! `kinesphere lab sphere-trees`: how closely can spheres wrap a shape?

use std::path::{Path, PathBuf};

use clap::Args;
use lab::experiment::sphere_trees::{self, Settings};
use shapes::mesh::catalog;
use shapes::sphere_tree::{MAX_DEPTH, default_caps};

use super::out::Out;
use super::present;
use crate::clock::ProcessClock;
use crate::command::Failure;
use crate::command::work::watched;
use crate::mesh_file::load;

/// Builds sphere-trees by every method and measures every level. Fails if a level misses a part of the surface.
#[derive(Args)]
#[command(after_help = "Example: kinesphere lab sphere-trees --mesh rabbit --depth 2 --json")]
pub struct SphereTrees {
    /// Meshes: files (.obj, .gltf, .glb, .tri), or shapes by name [default: all shapes that are shipped]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    mesh: Vec<String>,
    /// How many levels there are below the root [default: 3, or as many as --spheres names]
    #[arg(long, value_name = "L")]
    depth: Option<usize>,
    /// At most so many balls on each level [default: 8,64,512 and so on]
    #[arg(long, value_delimiter = ',', value_name = "N1,N2,...")]
    spheres: Vec<usize>,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/sphere-trees", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// The caps that `--depth` and `--spheres` ask for.
pub fn caps(depth: Option<usize>, spheres: &[usize]) -> Result<Vec<usize>, Failure> {
    if let Some(depth) = depth.filter(|depth| !(1..=MAX_DEPTH).contains(depth)) {
        return Err(Failure::Input(format!("--depth is {depth}, expected 1 to {MAX_DEPTH}")));
    }
    match (depth, spheres.len()) {
        (depth, 0) => Ok(default_caps(depth.unwrap_or(3))),
        (Some(depth), count) if depth != count => {
            Err(Failure::Input(format!("--depth is {depth}, but --spheres names {count} levels: they must agree")))
        }
        _ => Ok(spheres.to_vec()),
    }
}

/// Runs the command.
pub fn run(arguments: SphereTrees) -> Result<(), Failure> {
    let out = Out::prepare(&arguments.out)?;
    let spheres = caps(arguments.depth, &arguments.spheres)?;
    let (names, named) = if arguments.mesh.is_empty() {
        (catalog::NAMES.map(str::to_owned).to_vec(), String::new())
    } else {
        (arguments.mesh.clone(), format!(" --mesh {}", arguments.mesh.join(" ")))
    };
    let mut meshes = Vec::new();
    for name in &names {
        // A file is known by its name without folder and ending, as in the report.
        let short = Path::new(name).file_stem().map_or(name.clone(), |stem| stem.to_string_lossy().into_owned());
        meshes.push((short, load(name)?));
    }
    let settings = Settings { meshes, spheres, arguments: named };
    let report = watched("lab sphere-trees", "trees", |progress| {
        sphere_trees::run(&settings, &mut ProcessClock::new(), progress)
    })?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    if report.holds() {
        return Ok(());
    }
    let missed = report.rows.iter().find(|row| row.miss_percent > 0.0 || row.gap > 0.0).expect("it does not hold");
    Err(Failure::Check(format!(
        "{}, {}: level {} misses {} % of the surface.\nTo see it again: {}",
        missed.mesh, missed.method, missed.level, missed.miss_percent, report.command
    )))
}

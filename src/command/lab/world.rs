//! `kinesphere lab world`: a world with a crowd, from above.

use std::fs;
use std::path::{Component, Path, PathBuf};

use ::world::{Plaza, Spec};
use clap::Args;
use lab::experiment::world::{self, Settings};
use space::mesh::{self, Format, Limits, TriangleMesh};

use super::present;
use crate::command::Failure;
use crate::progress::Bar;

/// Runs a world with a crowd, checks after every tick that nothing overlaps, and draws it from above. Fails if something
/// does.
#[derive(Args)]
#[command(after_help = "Example: kinesphere lab world worlds/courtyard.toml --ticks 900")]
pub struct World {
    /// The world file [default: the built-in plaza]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// How many ticks to run
    #[arg(long, default_value_t = 600)]
    ticks: u32,
    /// Where the report goes
    #[arg(long, default_value = "lab-results/world", value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: World) -> Result<(), Failure> {
    let (spec, text) = match &arguments.file {
        None => (Plaza::default().spec(), String::new()),
        Some(file) => load(file)?,
    };
    let file = arguments.file.as_ref().map(|file| file.display().to_string());
    let settings = Settings { spec, file: file.clone(), ticks: arguments.ticks };
    let bar = Bar::new("ticks");
    let report = world::run(&settings, &mut |done, total| bar.set(done, total));
    drop(bar);
    let report = report.map_err(|error| match &file {
        Some(file) => Failure::Input(Spec::blame(&text, file, error).to_string()),
        None => Failure::Input(error.to_string()),
    })?;
    present(&report, report.documents(), &report.to_text(), &arguments.out, arguments.json)?;
    match &report.overlap {
        None => Ok(()),
        Some(overlap) => {
            Err(Failure::Check(format!("solids overlap, {overlap}.\nTo see it again: {}", report.command)))
        }
    }
}

/// Reads a world file and the meshes that it names, from beside it.
pub fn load(file: &Path) -> Result<(Spec, String), Failure> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let spec = Spec::from_toml(&text, &name, &mut |mesh| load_mesh(folder, mesh));
    spec.map(|spec| (spec, text.clone())).map_err(|error| Failure::Input(error.to_string()))
}

fn load_mesh(folder: &Path, name: &str) -> Result<TriangleMesh, String> {
    let format = Format::of_name(name).ok_or("expected a file that ends in .obj, .gltf, .glb or .tri")?;
    let bytes = beside(folder, name)?;
    let mut buffers = |name: &str| beside(folder, name).ok();
    mesh::read_with(&bytes, format, &Limits::default(), &mut buffers).map_err(|error| error.to_string())
}

/// The bytes of a file in the world file's folder or below it: a world file is no way to read anything else.
fn beside(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = Path::new(name);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err("expected a file beside the world file".to_owned());
    }
    fs::read(folder.join(path)).map_err(|error| error.to_string())
}

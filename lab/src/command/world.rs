//! `lab world`: a world with a crowd, from above.

use std::path::PathBuf;

use ::world::{Plaza, Spec};
use clap::Args;
use lab::experiment::world::{self, Settings};

use super::out::Out;
use super::present;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::world_file::load;

/// Runs a world with a crowd, checks after every tick that nothing overlaps, and draws it from above. Fails if something
/// does.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- world worlds/courtyard.toml --ticks 900")]
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
    let out = Out::prepare(&arguments.out)?;
    let (spec, text) = match &arguments.file {
        None => (Plaza::default().spec(), String::new()),
        Some(file) => load(file)?,
    };
    let file = arguments.file.as_ref().map(|file| file.display().to_string());
    let settings = Settings { spec, file: file.clone(), ticks: arguments.ticks };
    let report = watched("world", "ticks", |progress| {
        world::run(&settings, progress).map_err(|error| match &file {
            Some(file) => Spec::blame(&text, file, error).to_string(),
            None => error.to_string(),
        })
    })?;
    present(&report, report.documents(), &report.to_text(), &out, arguments.json)?;
    match &report.overlap {
        None => Ok(()),
        Some(overlap) => {
            Err(Failure::Check(format!("solids overlap, {overlap}.\nTo see it again: {}", report.command)))
        }
    }
}

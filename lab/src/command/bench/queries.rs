//! `lab bench queries`: how quickly is a place looked up?

use clap::Args;
use lab::bench::queries::{self, Settings};
use space::workload::Motion;

use crate::clock::ProcessClock;
use crate::command::work::watched;
use kinesphere::failure::Failure;
use kinesphere::output::say;

/// Who is within a sphere or a box, first on a ray or a way, nearest: by the finder, and by a loop over all objects. The
/// answers are compared; a difference fails the command.
#[derive(Args)]
#[command(after_help = "Example: cargo run --release -p lab -- bench queries --objects 100000 --json")]
pub struct Queries {
    /// How many objects there are
    #[arg(long, default_value_t = Settings::default().objects, value_name = "N")]
    objects: usize,
    #[arg(
        long,
        default_value = Settings::default().motion.name(),
        value_name = "NAME",
        help = format!("How the objects move: {}", Motion::known())
    )]
    workload: Motion,
    /// Questions of each kind
    #[arg(long, default_value_t = Settings::default().questions, value_name = "N")]
    questions: u32,
    /// How many of them the loop is asked, too
    #[arg(long, default_value_t = Settings::default().looped, value_name = "N")]
    looped: u32,
    /// Ticks over which taking in what moved is measured
    #[arg(long, default_value_t = Settings::default().ticks)]
    ticks: u32,
    /// The same seed gives the same world and the same questions
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: Queries) -> Result<(), Failure> {
    let settings = Settings {
        objects: arguments.objects,
        motion: arguments.workload,
        questions: arguments.questions,
        looped: arguments.looped,
        ticks: arguments.ticks,
        seed: arguments.seed,
    };
    let report =
        watched("bench queries", "parts", |progress| queries::measure(&settings, &mut ProcessClock::new(), progress))?;
    say(&report, &report.to_text(), arguments.json)?;
    if report.disagreements == 0 {
        return Ok(());
    }
    Err(Failure::Check(format!(
        "the finder and the loop disagree about {} questions.\nTo see it again: {}",
        report.disagreements, report.command
    )))
}

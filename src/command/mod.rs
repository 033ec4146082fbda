//! One file per command.

pub mod bench;
pub mod bench_motion;
mod bench_queries;
pub mod decisions;
pub mod lab;
pub mod prediction;
pub mod sphere_trees;
pub mod tree;

use std::fmt;
use std::process::ExitCode;

use clap::Subcommand;

/// What can be asked for.
#[derive(Subcommand)]
pub enum Command {
    /// Measure how fast something is, against its rivals.
    #[command(subcommand, after_help = "Example: kinesphere bench broad-phase --objects 100000")]
    Bench(bench::Bench),
    /// Run a paper's experiment again, and judge its claims.
    #[command(subcommand, after_help = "Example: kinesphere lab broad-phases")]
    Lab(lab::Lab),
    /// Build, show and check sphere-trees.
    #[command(subcommand, after_help = "Example: kinesphere tree build rabbit -o rabbit.tree")]
    Tree(tree::Tree),
}

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// It was asked for something that cannot be: exit code 2.
    Input(String),
    /// What it checks does not hold: exit code 1.
    Check(String),
    /// The machine refused: exit code 1.
    Machine(String),
}

impl Failure {
    /// Tells a script what kind of failure it was.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Input(_) => ExitCode::from(2),
            Failure::Check(_) | Failure::Machine(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Input(message) | Failure::Check(message) | Failure::Machine(message)) = self;
        formatter.write_str(message)
    }
}

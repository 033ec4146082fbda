//! The command line: what must be waited for. `main` prints errors, `run` matches a command, each command is a file.

#![forbid(unsafe_code)]

mod clock;
mod command;
mod mesh_file;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use command::{Command, Failure};

/// What touches what, and who must hear of it: every tick, for every object of a networked virtual world.
#[derive(Parser)]
#[command(
    name = "kinesphere",
    version,
    arg_required_else_help = true,
    after_help = "Example: kinesphere bench broad-phase --objects 100000"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("kinesphere: {failure}");
            failure.exit_code()
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Bench(bench) => command::bench::run(bench),
        Command::Lab(lab) => command::lab::run(lab),
        Command::Tree(tree) => command::tree::run(tree),
    }
}

//! The lab's command line: `cargo run --release -p lab -- relations`, or `-- bench broad-phase`.

#![forbid(unsafe_code)]

mod clock;
mod command;

use std::process::ExitCode;

use clap::Parser;
use command::Command;
use kinesphere::failure::refuse;

/// Runs the papers' experiments again, judges their claims, and measures our methods against their rivals.
#[derive(Parser)]
#[command(
    name = "lab",
    bin_name = "cargo run --release -p lab --",
    arg_required_else_help = true,
    after_help = "Example: cargo run --release -p lab -- broad-phases"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    // Two providers of cryptography in one program would panic at the first handshake: one is chosen here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments = Arguments::try_parse().unwrap_or_else(|error| refuse(&error));
    match command::run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("lab: {failure}");
            failure.exit_code()
        }
    }
}

//! The lab's command line: `cargo run --release -p lab -- relations`, or `-- bench broad-phase`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use kinesphere::failure::refuse;
use lab::STUDIES;
use lab::study::runner::{run_named, with_subcommands};

fn main() -> ExitCode {
    // Two providers of cryptography in one program would panic at the first handshake: one is chosen here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let lab = clap::Command::new("lab")
        .bin_name("cargo run --release -p lab --")
        .about("Runs the papers' experiments again, judges their claims, and measures our methods against their rivals")
        .after_help("Example: cargo run --release -p lab -- broad-phases")
        .subcommand_required(true)
        .arg_required_else_help(true);
    let matches = with_subcommands(lab, STUDIES).try_get_matches().unwrap_or_else(|error| refuse(&error));
    match run_named(&matches, STUDIES) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("lab: {failure}");
            failure.exit_code()
        }
    }
}

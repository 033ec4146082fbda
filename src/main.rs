//! The command line. `main` prints errors, `run` matches a command, each command is a file.

#![forbid(unsafe_code)]

mod command;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use kinesphere::failure::refuse;
use kinesphere::settings;

use command::{Command, Failure};

/// What touches what, and who must hear of it: every tick, for every object of a networked virtual world.
#[derive(Parser)]
#[command(
    name = "kinesphere",
    version,
    arg_required_else_help = true,
    after_help = "Example: kinesphere serve worlds/courtyard.toml"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    // Two providers in one program would panic at the first handshake: there is one, and it is chosen here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match arguments().and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("kinesphere: {failure}");
            failure.exit_code()
        }
    }
}

/// The arguments from flags, the environment and a file of settings. clap prints its own errors and ends the process.
fn arguments() -> Result<Arguments, Failure> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let matches = match settings::matches(&Arguments::command(), &given) {
        Ok(matches) => matches.map_err(|error| Failure::Input(error.to_string()))?,
        Err(error) => refuse(&error),
    };
    Ok(Arguments::from_arg_matches(&matches).unwrap_or_else(|error| refuse(&error)))
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Serve(serve) => command::serve::run(*serve),
        #[cfg(feature = "zenoh")]
        Command::Join(join) => command::join::run(join),
        #[cfg(feature = "zenoh")]
        Command::Witness(witness) => command::witness::run(witness),
        #[cfg(feature = "zenoh")]
        Command::Cluster(cluster) => command::cluster::run(cluster),
        Command::Bots(bots) => command::bots::run(bots),
        Command::Relay(relay) => command::relay::run(relay),
        Command::Replay(replay) => command::replay::run(replay),
        Command::Why(why) => command::why::run(why),
        Command::Token(token) => command::token::run(token),
        Command::Store(store) => command::store::run(store),
        Command::Tree(tree) => command::tree::run(tree),
    }
}

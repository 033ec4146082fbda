//! The command line: what must be waited for. `main` prints errors, `run` matches a command, each command is a file.

#![forbid(unsafe_code)]

mod clock;
mod command;
mod mesh_file;
mod output;
mod progress;
mod world_file;

use std::error::Error;
use std::ffi::OsString;
use std::num::{ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use kinesphere::settings;

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

/// What was asked for: by flags, by the environment and by a file of settings. clap prints its own errors, and ends.
fn arguments() -> Result<Arguments, Failure> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let matches = match settings::matches(&Arguments::command(), &given) {
        Ok(matches) => matches.map_err(|error| Failure::Input(error.to_string()))?,
        Err(error) => refuse(&error),
    };
    Ok(Arguments::from_arg_matches(&matches).unwrap_or_else(|error| refuse(&error)))
}

/// Prints clap's error and ends. Of a text that is no number it would say which digit is wrong, and not what was expected.
fn refuse(error: &clap::Error) -> ! {
    let expected = match error.source() {
        Some(source) if source.is::<ParseIntError>() => "expected a whole number from 0 on",
        Some(source) if source.is::<ParseFloatError>() => "expected a number",
        _ => error.exit(),
    };
    let reason = error.source().map(ToString::to_string).unwrap_or_default();
    eprint!("{}", error.render().to_string().replace(&reason, expected));
    std::process::exit(error.exit_code());
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
        Command::Bench(bench) => command::bench::run(bench),
        Command::Lab(lab) => command::lab::run(lab),
        Command::Relay(relay) => command::relay::run(relay),
        Command::Replay(replay) => command::replay::run(replay),
        Command::Why(why) => command::why::run(why),
        Command::Token(token) => command::token::run(token),
        Command::Store(store) => command::store::run(store),
        Command::Tree(tree) => command::tree::run(tree),
    }
}

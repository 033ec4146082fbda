//! Errors of a command line: what is printed, and the exit code.

use std::error::Error;
use std::fmt;
use std::num::{ParseFloatError, ParseIntError};
use std::process::ExitCode;

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

/// Prints clap's error and ends the process. For a text that is not a number, clap would name the wrong digit instead
/// of what was expected.
pub fn refuse(error: &clap::Error) -> ! {
    let expected = match error.source() {
        Some(source) if source.is::<ParseIntError>() => "expected a whole number from 0 on",
        Some(source) if source.is::<ParseFloatError>() => "expected a number",
        _ => error.exit(),
    };
    let reason = error.source().map(ToString::to_string).unwrap_or_default();
    eprint!("{}", error.render().to_string().replace(&reason, expected));
    std::process::exit(error.exit_code());
}

//! Results, on stdout and nowhere else.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Prints a text. A reader that stops early, as `head` does, is not a failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Machine(format!("cannot write the result: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a document as JSON.
pub fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(document).expect("a document has only string keys");
    print(&(json + "\n"))
}

/// Prints a report: its text for people, or all of it as JSON.
pub fn say(report: &impl Serialize, text: &str, json: bool) -> Result<(), Failure> {
    if json { print_json(report) } else { print(text) }
}

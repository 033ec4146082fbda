//! Long work of a command: a bar while it goes on, and advice when it does not begin.

use std::fmt::Display;

use kinesphere::failure::Failure;
use kinesphere::progress::Bar;

/// Does the work of `command`, as in `bench tick`, with a bar that counts in `unit`s. What makes no sense to it is the
/// caller's to set right.
pub fn watched<Report, Refused: Display>(
    command: &str,
    unit: &str,
    work: impl FnOnce(&mut dyn FnMut(u32, u32)) -> Result<Report, Refused>,
) -> Result<Report, Failure> {
    let bar = Bar::new(unit);
    let report = work(&mut |done, total| bar.set(done, total));
    drop(bar);
    report.map_err(|refused| {
        Failure::Input(format!(
            "{refused}\nNothing was run; `cargo run --release -p lab -- {command} --help` lists the settings."
        ))
    })
}

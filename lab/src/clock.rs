//! The clocks that the lab is handed.

use std::time::Instant;

use cpu_time::ProcessTime;
use lab::stopwatch::{Reading, Stopwatch};

/// Processor time of this process and time on the wall, since it was made.
pub struct ProcessClock {
    cpu: ProcessTime,
    wall: Instant,
}

impl ProcessClock {
    /// Starts at zero.
    pub fn new() -> ProcessClock {
        ProcessClock { cpu: ProcessTime::now(), wall: Instant::now() }
    }
}

impl Stopwatch for ProcessClock {
    fn read(&mut self) -> Reading {
        Reading { cpu: self.cpu.elapsed(), wall: self.wall.elapsed() }
    }
}

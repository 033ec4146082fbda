//! Time as an argument: the lab measures, but it is handed the clock.

use std::time::Duration;

/// What a clock shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Processor time that this process has used, all its threads together.
    pub cpu: Duration,
    /// Time on the wall, since any fixed moment.
    pub wall: Duration,
}

/// A clock that can be read at any time and never runs backwards.
pub trait Stopwatch: Send {
    /// What it shows now.
    fn read(&mut self) -> Reading;
}

/// A span between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Elapsed {
    /// Milliseconds of processor time.
    pub cpu_ms: f64,
    /// Milliseconds on the wall.
    pub wall_ms: f64,
}

/// Does something, and says how long it took.
pub fn timed<T>(stopwatch: &mut dyn Stopwatch, work: impl FnOnce() -> T) -> (T, Elapsed) {
    let start = stopwatch.read();
    let result = work();
    let end = stopwatch.read();
    let milliseconds = |span: Duration| span.as_secs_f64() * 1e3;
    let elapsed = Elapsed {
        cpu_ms: milliseconds(end.cpu.saturating_sub(start.cpu)),
        wall_ms: milliseconds(end.wall.saturating_sub(start.wall)),
    };
    (result, elapsed)
}

/// A clock for tests: each reading is a fixed step after the one before.
#[cfg(test)]
pub(crate) struct SteadyStopwatch {
    pub now: Reading,
    pub step: Reading,
}

#[cfg(test)]
impl SteadyStopwatch {
    pub fn new(step_ms: u64) -> SteadyStopwatch {
        let step = Duration::from_millis(step_ms);
        SteadyStopwatch { now: Reading::default(), step: Reading { cpu: step, wall: 2 * step } }
    }
}

#[cfg(test)]
impl Stopwatch for SteadyStopwatch {
    fn read(&mut self) -> Reading {
        self.now.cpu += self.step.cpu;
        self.now.wall += self.step.wall;
        self.now
    }
}

//! Time as an argument: a study is handed the clock that it measures with, so that a test can be the clock.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::Serialize;

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

/// Processor time of this process and time on the wall, since it was made.
pub struct ProcessClock {
    cpu: ProcessTime,
    wall: Instant,
}

impl ProcessClock {
    pub fn new() -> ProcessClock {
        ProcessClock { cpu: ProcessTime::now(), wall: Instant::now() }
    }
}

impl Default for ProcessClock {
    fn default() -> ProcessClock {
        ProcessClock::new()
    }
}

impl Stopwatch for ProcessClock {
    fn read(&mut self) -> Reading {
        Reading { cpu: self.cpu.elapsed(), wall: self.wall.elapsed() }
    }
}

/// A span between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Elapsed {
    /// Milliseconds of processor time.
    pub cpu_ms: f64,
    /// Milliseconds on the wall.
    pub wall_ms: f64,
}

/// The times of ticks, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TickTimes {
    pub cpu_ms_mean: f64,
    /// The fastest tick.
    pub cpu_ms_min: f64,
    /// The slowest tick.
    pub cpu_ms_max: f64,
    pub wall_ms_mean: f64,
}

impl TickTimes {
    /// The times of these ticks; zero if there are none.
    pub fn of(ticks: &[Elapsed]) -> TickTimes {
        let cpu = || ticks.iter().map(|tick| tick.cpu_ms);
        let mean = |sum: f64| sum / ticks.len().max(1) as f64;
        TickTimes {
            cpu_ms_mean: mean(cpu().sum()),
            cpu_ms_min: cpu().reduce(f64::min).unwrap_or(0.0),
            cpu_ms_max: cpu().fold(0.0, f64::max),
            wall_ms_mean: mean(ticks.iter().map(|tick| tick.wall_ms).sum()),
        }
    }
}

/// The time between two readings.
pub fn between(start: Reading, end: Reading) -> Elapsed {
    let milliseconds = |span: Duration| span.as_secs_f64() * 1e3;
    Elapsed {
        cpu_ms: milliseconds(end.cpu.saturating_sub(start.cpu)),
        wall_ms: milliseconds(end.wall.saturating_sub(start.wall)),
    }
}

/// Does something, and says how long it took.
pub fn timed<T>(stopwatch: &mut dyn Stopwatch, work: impl FnOnce() -> T) -> (T, Elapsed) {
    let start = stopwatch.read();
    let result = work();
    (result, between(start, stopwatch.read()))
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

//! Do the papers hold, and is ours faster?
//!
//! Experiments and comparisons as plain functions: settings, a [`Stopwatch`](stopwatch::Stopwatch) and a progress
//! callback go in, a document comes out. Nothing here owns a clock or writes a file, so a test can be the clock.
//!
//! - [`allocator`]: the only `unsafe` code of the lab; it counts memory.
//! - [`method`]: the broad phases that are compared, one line each.
//! - [`bench`](mod@bench): how fast is it, on which workload.
//! - [`crowds`]: worlds of crowds with a given mean number of neighbours.
//! - [`experiment`]: the papers' figures, made again, with a verdict on each claim.
//! - [`report`]: tables, plots and pages for people.

pub mod allocator;
pub mod bench;
pub mod crowds;
pub mod experiment;
pub mod fingerprint;
pub mod method;
pub mod parry_rival;
pub mod report;
pub mod setting;
pub mod stopwatch;

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
//! - [`network`]: links that delay, lose, double and reorder, by their seed.
//! - [`simulation`]: server, clients and network in a time of their own; [`checker`]: what must hold in it, always.
//! - [`peers`]: a world without a server, on a network from a seed.
//! - [`cluster`]: many servers that are one world, on a network from a seed; and every way in which an object changes hands.
//! - [`report`]: tables, plots and pages for people.

pub mod allocator;
pub mod bench;
pub mod checker;
pub mod cluster;
pub mod crowds;
pub mod experiment;
pub mod fingerprint;
pub mod method;
pub mod network;
pub mod parry_rival;
pub mod peers;
mod planned;
pub mod promise;
pub mod report;
pub mod setting;
pub mod simulation;
pub mod stopwatch;

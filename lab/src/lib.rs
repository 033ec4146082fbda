//! Experiments and benches: do the papers hold, and is ours faster?
//!
//! - [`study`]: what every experiment and bench is, and the one runner for all of them.
//! - [`experiment`]: the papers' figures, made again, with a judgement of each claim.
//! - [`bench`](mod@bench): how fast is one thing, against its rivals.
//! - [`report`]: tables, plots and pages.
//! - [`method`]: the broad phases that are compared; [`parry_rival`] is parry3d's tree as one of them.
//! - [`crowds`]: worlds of crowds with a given mean number of neighbours.
//! - [`allocator`]: the only `unsafe` code of the lab; it counts memory.

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
pub mod study;

use study::runner::Entry;

/// All studies, in the order of the help text.
pub const STUDIES: &[Entry] = &[
    Entry::of::<experiment::broad_phases::Settings>(),
    Entry::of::<experiment::prediction::Settings>(),
    Entry::of::<experiment::decisions::Settings>(),
    Entry::of::<experiment::relations::Settings>(),
    Entry::of::<experiment::groups::Settings>(),
    Entry::of::<experiment::world::Settings>(),
    Entry::of::<experiment::missed_collisions::Settings>(),
    Entry::of::<experiment::four_users::Settings>(),
    Entry::of::<experiment::room::Settings>(),
    Entry::of::<experiment::sphere_trees::Settings>(),
    Entry::of::<bench::broad_phase::Settings>(),
    Entry::of::<bench::interest::Settings>(),
    Entry::of::<bench::motion::Settings>(),
    Entry::of::<bench::narrow::Settings>(),
    Entry::of::<bench::queries::Settings>(),
    Entry::of::<bench::tick::Settings>(),
    Entry::of::<bench::world::Settings>(),
];

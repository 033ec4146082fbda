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
pub mod crowds;
pub mod experiment;
pub mod fingerprint;
pub mod method;
pub mod parry_rival;
pub mod report;
pub mod stopwatch;
pub mod study;

use study::runner::StudyEntry;

/// All studies, in the order of the help text.
pub const STUDIES: &[StudyEntry] = &[
    StudyEntry::of::<experiment::broad_phases::Settings>(),
    StudyEntry::of::<experiment::prediction::Settings>(),
    StudyEntry::of::<experiment::decisions::Settings>(),
    StudyEntry::of::<experiment::relations::Settings>(),
    StudyEntry::of::<experiment::groups::Settings>(),
    StudyEntry::of::<experiment::world::Settings>(),
    StudyEntry::of::<experiment::missed_collisions::Settings>(),
    StudyEntry::of::<experiment::four_users::Settings>(),
    StudyEntry::of::<experiment::peers::Settings>(),
    StudyEntry::of::<experiment::cluster::Settings>(),
    StudyEntry::of::<experiment::simulate::Settings>(),
    StudyEntry::of::<experiment::room::Settings>(),
    StudyEntry::of::<experiment::sphere_trees::Settings>(),
    StudyEntry::of::<bench::broad_phase::Settings>(),
    StudyEntry::of::<bench::interest::Settings>(),
    StudyEntry::of::<bench::motion::Settings>(),
    StudyEntry::of::<bench::narrow::Settings>(),
    StudyEntry::of::<bench::queries::Settings>(),
    StudyEntry::of::<bench::tick::Settings>(),
    StudyEntry::of::<bench::world::Settings>(),
];

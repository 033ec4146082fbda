//! Measurements of one thing against its rivals.

pub mod broad_phase;
pub mod interest;
pub mod motion;
pub mod narrow;
pub mod queries;
pub mod tick;
pub mod world;

use serde::Serializer;
use space::workload::Motion;

/// Writes a workload into a report under the name that the command line takes.
fn workload_name<S: Serializer>(workload: &Motion, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(workload.name())
}

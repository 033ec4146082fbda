//! Settings that make no sense: one sentence for all benches and experiments.

use space::workload::WorkloadError;

pub use sim::settings::{OutOfRange, check};

/// Why nothing was run in a world that is made from settings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// A world that cannot be.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A number beyond its bounds.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

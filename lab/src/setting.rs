//! Settings that make no sense: one sentence for all benches and experiments.

use std::ops::RangeInclusive;

use space::workload::WorkloadError;

/// A number beyond its bounds. Nothing was run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{field}` is {value}, expected {expected}")]
pub struct OutOfRange {
    /// Which setting.
    pub field: &'static str,
    /// What was given.
    pub value: f64,
    /// What makes sense.
    pub expected: &'static str,
}

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

/// A setting, what was given, what is allowed, and that in words.
pub type Rule = (&'static str, f64, RangeInclusive<f64>, &'static str);

/// The first setting that is beyond its bounds, if there is one. NaN is in no range.
pub fn check(rules: impl IntoIterator<Item = Rule>) -> Result<(), OutOfRange> {
    match rules.into_iter().find(|(_, value, range, _)| !range.contains(value)) {
        Some((field, value, _, expected)) => Err(OutOfRange { field, value, expected }),
        None => Ok(()),
    }
}

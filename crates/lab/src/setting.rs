//! A setting that makes no sense: one sentence for all benches and experiments.

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

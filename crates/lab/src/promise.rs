//! Something that must hold while a simulation runs, and how it was kept.

use serde::Serialize;

/// One promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Promise {
    /// What was promised.
    pub promise: &'static str,
    /// How often it was looked at.
    pub checks: u64,
    /// How often it was broken.
    pub violations: u64,
    /// The first time, in words.
    pub first: Option<String>,
}

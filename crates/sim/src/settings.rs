//! Settings that make no sense: one sentence for all simulations, benches and experiments.

use std::ops::RangeInclusive;

/// A number beyond its bounds. Nothing was run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{field}` is {value}, expected {expected}")]
pub struct OutOfRange {
    pub field: &'static str,
    pub value: f64,
    pub expected: &'static str,
}

/// A setting, what was given, what is allowed, and that in words.
type Rule = (&'static str, f64, RangeInclusive<f64>, &'static str);

/// Refuses the first setting that is beyond its bounds. NaN is in no range.
pub fn check(rules: impl IntoIterator<Item = Rule>) -> Result<(), OutOfRange> {
    match rules.into_iter().find(|(_, value, range, _)| !range.contains(value)) {
        Some((field, value, _, expected)) => Err(OutOfRange { field, value, expected }),
        None => Ok(()),
    }
}

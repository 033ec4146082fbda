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

impl Promise {
    /// Those that did not hold, each with the first time.
    pub fn failures(promises: &[Promise]) -> Vec<String> {
        let broken = promises.iter().filter(|promise| promise.violations > 0);
        let text = |promise: &Promise| {
            let first = promise.first.as_deref().unwrap_or_default();
            format!("{}: {} of {}; first: {first}", promise.promise, promise.violations, promise.checks)
        };
        broken.map(text).collect()
    }

    /// Counts what came of the same promises in another run, which `run` is a name of.
    pub fn add(sums: &mut Vec<Promise>, more: &[Promise], run: &str) {
        if sums.is_empty() {
            sums.extend(more.iter().map(|more| Promise { promise: more.promise, ..Promise::default() }));
        }
        for (sum, more) in sums.iter_mut().zip(more) {
            sum.checks += more.checks;
            sum.violations += more.violations;
            sum.first = sum.first.take().or_else(|| more.first.as_ref().map(|first| format!("{run}: {first}")));
        }
    }
}

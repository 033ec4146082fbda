//! What must hold while a simulation runs, and how it was kept.

use serde::{Serialize, Serializer};

use crate::report::number::grouped;

/// Examples of a broken promise, at most.
const EXAMPLES_MAX: usize = 5;

/// One promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Promise {
    /// What was promised.
    pub promise: &'static str,
    /// How often it was looked at.
    pub checks: u64,
    /// How often it was broken.
    pub violations: u64,
    /// The first few times, in words; a report tells the first.
    #[serde(rename = "first", serialize_with = "serialize_first")]
    pub examples: Vec<String>,
}

impl Promise {
    /// A promise that nobody has looked at yet.
    pub fn new(promise: &'static str) -> Promise {
        Promise { promise, ..Promise::default() }
    }

    /// Looks at something: if it does not hold, `what` says so.
    pub fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds {
            self.violations += 1;
            if self.examples.len() < EXAMPLES_MAX {
                self.examples.push(what());
            }
        }
    }

    /// Whether it was never broken.
    pub fn holds(&self) -> bool {
        self.violations == 0
    }
}

fn serialize_first<S: Serializer>(examples: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    examples.first().serialize(serializer)
}

/// All promises of a simulation, or of several of the same kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Promises(Vec<Promise>);

impl Promises {
    /// Promises that nobody has looked at yet.
    pub fn new(promises: impl IntoIterator<Item = &'static str>) -> Promises {
        promises.into_iter().map(Promise::new).collect()
    }

    /// Looks at something that was promised: if it does not hold, `what` says so.
    ///
    /// # Panics
    /// If nobody promised that: only a bug can cause it.
    pub fn check(&mut self, promise: &'static str, holds: bool, what: impl FnOnce() -> String) {
        let known = self.0.iter_mut().find(|known| known.promise == promise).expect("all promises are listed");
        known.check(holds, what);
    }

    /// The promise in these words.
    pub fn get(&self, promise: &str) -> Option<&Promise> {
        self.0.iter().find(|known| known.promise == promise)
    }

    /// In the order in which they were listed.
    pub fn iter(&self) -> std::slice::Iter<'_, Promise> {
        self.0.iter()
    }

    /// Whether none was broken.
    pub fn holds(&self) -> bool {
        self.0.iter().all(Promise::holds)
    }

    /// Those that did not hold, each followed by its examples.
    pub fn failures(&self) -> Vec<String> {
        let broken = self.0.iter().filter(|promise| !promise.holds());
        let lines = broken.flat_map(|promise| {
            let Promise { promise, checks, violations, examples } = promise;
            let head = format!("{promise}: broken {} times of {}", grouped(*violations), grouped(*checks));
            std::iter::once(head).chain(examples.iter().map(|example| format!("  {example}")))
        });
        lines.collect()
    }

    /// Counts what came of the same promises in another run, which `run` is a name of.
    pub fn add(&mut self, more: &Promises, run: &str) {
        if self.0.is_empty() {
            *self = Promises::new(more.0.iter().map(|more| more.promise));
        }
        for (sum, more) in self.0.iter_mut().zip(&more.0) {
            sum.checks += more.checks;
            sum.violations += more.violations;
            let room = EXAMPLES_MAX - sum.examples.len();
            sum.examples.extend(more.examples.iter().take(room).map(|example| format!("{run}: {example}")));
        }
    }
}

impl FromIterator<Promise> for Promises {
    fn from_iter<I: IntoIterator<Item = Promise>>(promises: I) -> Promises {
        Promises(promises.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up_and_few_examples_are_kept() {
        let mut sum = Promises::default();
        for run in ["one", "two"] {
            let mut promises = Promises::new(["kept", "broken"]);
            promises.check("kept", true, String::new);
            (0..4).for_each(|time| promises.check("broken", false, || format!("time {time}")));
            sum.add(&promises, run);
        }
        assert!(!sum.holds());
        let broken = sum.get("broken").unwrap();
        assert_eq!((broken.checks, broken.violations, broken.examples.len()), (8, 8, EXAMPLES_MAX));
        assert_eq!(sum.failures()[..2], ["broken: broken 8 times of 8", "  one: time 0"]);
        let json = serde_json::to_string(&sum).unwrap();
        assert_eq!(
            json,
            r#"[{"promise":"kept","checks":2,"violations":0,"first":null},{"promise":"broken","checks":8,"violations":8,"first":"one: time 0"}]"#
        );
    }
}

//! How promises were kept.

use serde::{Serialize, Serializer};

/// Examples of a broken promise, at most.
const EXAMPLES_MAX: usize = 5;

/// How one promise was kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    pub promise: &'static str,
    pub checks: u64,
    pub violations: u64,
    /// The first violations; a report tells the first of them.
    #[serde(rename = "first", serialize_with = "serialize_first")]
    pub examples: Vec<String>,
    /// What the promise measures beside, if anything: a sum, and of how many.
    #[serde(skip)]
    pub measured: (f64, u64),
}

fn serialize_first<S: Serializer>(examples: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    examples.first().serialize(serializer)
}

impl Score {
    pub fn new(promise: &'static str) -> Score {
        Score { promise, ..Score::default() }
    }

    /// Notes one check; if it does not hold, `what` says how.
    pub fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds {
            self.violations += 1;
            if self.examples.len() < EXAMPLES_MAX {
                self.examples.push(what());
            }
        }
    }

    pub fn measure(&mut self, value: f64) {
        self.measured = (self.measured.0 + value, self.measured.1 + 1);
    }

    pub fn holds(&self) -> bool {
        self.violations == 0
    }
}

/// How all promises were kept, in one run or in several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Promises(Vec<Score>);

impl Promises {
    pub fn get(&self, promise: &str) -> Option<&Score> {
        self.0.iter().find(|known| known.promise == promise)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Score> {
        self.0.iter()
    }

    pub fn holds(&self) -> bool {
        self.0.iter().all(Score::holds)
    }

    /// The broken promises, each followed by its examples.
    pub fn failures(&self) -> Vec<String> {
        let broken = self.0.iter().filter(|score| !score.holds());
        broken
            .flat_map(|Score { promise, checks, violations, examples, .. }| {
                let head = format!("{promise}: broken {violations} times of {checks}");
                std::iter::once(head).chain(examples.iter().map(|example| format!("  {example}")))
            })
            .collect()
    }

    /// Adds those of another run; its examples begin with its name.
    pub fn add(&mut self, more: &Promises, run: &str) {
        for more in &more.0 {
            let at = self.0.iter().position(|sum| sum.promise == more.promise).unwrap_or_else(|| {
                self.0.push(Score::new(more.promise));
                self.0.len() - 1
            });
            let sum = &mut self.0[at];
            sum.checks += more.checks;
            sum.violations += more.violations;
            sum.measured = (sum.measured.0 + more.measured.0, sum.measured.1 + more.measured.1);
            let room = EXAMPLES_MAX - sum.examples.len();
            sum.examples.extend(more.examples.iter().take(room).map(|example| format!("{run}: {example}")));
        }
    }
}

impl FromIterator<Score> for Promises {
    fn from_iter<I: IntoIterator<Item = Score>>(scores: I) -> Promises {
        Promises(scores.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up_and_few_examples_are_kept() {
        let mut sum = Promises::default();
        for run in ["one", "two"] {
            let (mut kept, mut broken) = (Score::new("kept"), Score::new("broken"));
            kept.check(true, String::new);
            (0..4).for_each(|time| broken.check(false, || format!("time {time}")));
            sum.add(&[kept, broken].into_iter().collect(), run);
        }
        assert!(!sum.holds());
        let broken = sum.get("broken").unwrap();
        assert_eq!((broken.checks, broken.violations, broken.examples.len()), (8, 8, EXAMPLES_MAX));
        assert_eq!(sum.failures()[..2], ["broken: broken 8 times of 8", "  one: time 0"]);
    }
}

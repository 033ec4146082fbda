//! A claim of a paper, and whether it held.

use std::fmt;

use serde::Serialize;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It holds for a part of what was measured.
    Partly,
    /// What it takes was not measured.
    Untested,
}

/// A claim, put to the test.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What is claimed.
    pub claim: String,
    /// Who claims it, and where.
    pub source: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The numbers that decided.
    pub evidence: String,
}

impl Outcome {
    /// True if it holds always, partly if sometimes, false if never, untested if there was nothing to look at.
    pub fn of_cases(cases: impl IntoIterator<Item = bool>) -> Outcome {
        let (mut held, mut all) = (0, 0);
        for case in cases {
            all += 1;
            held += usize::from(case);
        }
        match held {
            _ if all == 0 => Outcome::Untested,
            0 => Outcome::False,
            held if held == all => Outcome::True,
            _ => Outcome::Partly,
        }
    }

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::True => "true",
            Outcome::False => "false",
            Outcome::Partly => "partly",
            Outcome::Untested => "untested",
        }
    }
}

impl Verdict {
    /// All verdicts of a report, for a terminal.
    pub fn list(verdicts: &[Verdict]) -> String {
        verdicts.iter().map(Verdict::to_string).collect::<Vec<_>>().join("\n\n")
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{:<9} {} ({})", self.outcome.name().to_uppercase(), self.claim, self.source)?;
        write!(formatter, "{:9} {}", "", self.evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_sometimes_never_and_nothing_to_look_at() {
        assert_eq!(Outcome::of_cases([true, true]), Outcome::True);
        assert_eq!(Outcome::of_cases([true, false]), Outcome::Partly);
        assert_eq!(Outcome::of_cases([false]), Outcome::False);
        assert_eq!(Outcome::of_cases([]), Outcome::Untested);
    }
}

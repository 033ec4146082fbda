//! A claim of a paper, and whether it held.

use std::fmt;

use serde::Serialize;

/// How many columns a line of a terminal has.
const WIDTH: usize = 100;
/// Where the text beside an outcome begins.
const INDENT: usize = 10;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimOutcome {
    True,
    False,
    /// It holds in some of the cases that were measured.
    Partly,
    /// What it takes was not measured.
    Untested,
}

/// A claim, put to the test.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimResult {
    pub claim: String,
    /// The paper and its section.
    pub source: String,
    pub outcome: ClaimOutcome,
    /// The numbers that decided.
    pub evidence: String,
}

impl ClaimOutcome {
    /// True if it holds in all cases, partly if in some, false if in none, untested if there are none.
    pub fn of_cases(cases: impl IntoIterator<Item = bool>) -> ClaimOutcome {
        let (mut held, mut all) = (0, 0);
        for case in cases {
            all += 1;
            held += usize::from(case);
        }
        match held {
            _ if all == 0 => ClaimOutcome::Untested,
            0 => ClaimOutcome::False,
            held if held == all => ClaimOutcome::True,
            _ => ClaimOutcome::Partly,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            ClaimOutcome::True => "true",
            ClaimOutcome::False => "false",
            ClaimOutcome::Partly => "partly",
            ClaimOutcome::Untested => "untested",
        }
    }
}

/// A claim that was looked at in these cases.
pub fn judged(
    claim: &str,
    source: &str,
    cases: impl IntoIterator<Item = bool>,
    evidence: impl Into<String>,
) -> ClaimResult {
    let outcome = ClaimOutcome::of_cases(cases);
    ClaimResult { claim: claim.to_owned(), source: source.to_owned(), outcome, evidence: evidence.into() }
}

impl ClaimResult {
    /// All results of a report, for a terminal.
    pub fn list(claims: &[ClaimResult]) -> String {
        claims.iter().map(ClaimResult::to_string).collect::<Vec<_>>().join("\n\n")
    }

    /// `Of 9 claims, ours included, 6 hold, 2 hold in part and 1 does not.`
    pub fn tally(claims: &[ClaimResult]) -> String {
        let count = |outcome| claims.iter().filter(|claim| claim.outcome == outcome).count();
        format!(
            "Of {} claims that were tested, ours included, {} hold, {} hold in part and {} do not.",
            claims.len() - count(ClaimOutcome::Untested),
            count(ClaimOutcome::True),
            count(ClaimOutcome::Partly),
            count(ClaimOutcome::False),
        )
    }
}

impl fmt::Display for ClaimResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = wrapped(&format!("{} ({})", self.claim, self.source));
        lines.extend(wrapped(&self.evidence));
        for (index, line) in lines.iter().enumerate() {
            let (end, head) = if index == 0 { ("", self.outcome.name().to_uppercase()) } else { ("\n", String::new()) };
            write!(formatter, "{end}{head:<INDENT$}{line}")?;
        }
        Ok(())
    }
}

/// A text in lines that are, indented, no longer than a terminal is wide. A longer word has a line of its own.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if INDENT + line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_sometimes_never_and_nothing_to_look_at() {
        assert_eq!(ClaimOutcome::of_cases([true, true]), ClaimOutcome::True);
        assert_eq!(ClaimOutcome::of_cases([true, false]), ClaimOutcome::Partly);
        assert_eq!(ClaimOutcome::of_cases([false]), ClaimOutcome::False);
        assert_eq!(ClaimOutcome::of_cases([]), ClaimOutcome::Untested);
    }

    #[test]
    fn a_terminal_need_not_break_lines() {
        let result = ClaimResult {
            claim: "Short.".to_owned(),
            source: "Section 6".to_owned(),
            outcome: ClaimOutcome::Partly,
            evidence: "the grid with 1,000 objects, ".repeat(20) + &"x".repeat(200),
        };
        let text = result.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "PARTLY    Short. (Section 6)");
        let (long, rest) = lines[1..].split_last().unwrap();
        assert!(rest.iter().all(|line| line.starts_with("          ")), "{text}");
        assert!(rest.iter().all(|line| line.len() <= WIDTH) && rest.len() > 5, "{text}");
        assert_eq!(*long, format!("{:INDENT$}{}", "", "x".repeat(200)));
        let words: Vec<&str> = text.split_whitespace().skip(4).collect();
        assert_eq!(words.join(" "), result.evidence);
    }
}

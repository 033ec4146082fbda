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
        assert_eq!(Outcome::of_cases([true, true]), Outcome::True);
        assert_eq!(Outcome::of_cases([true, false]), Outcome::Partly);
        assert_eq!(Outcome::of_cases([false]), Outcome::False);
        assert_eq!(Outcome::of_cases([]), Outcome::Untested);
    }

    #[test]
    fn a_terminal_need_not_break_lines() {
        let verdict = Verdict {
            claim: "Short.".to_owned(),
            source: "Section 6".to_owned(),
            outcome: Outcome::Partly,
            evidence: "the grid with 1,000 objects, ".repeat(20) + &"x".repeat(200),
        };
        let text = verdict.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "PARTLY    Short. (Section 6)");
        let (long, rest) = lines[1..].split_last().unwrap();
        assert!(rest.iter().all(|line| line.starts_with("          ")), "{text}");
        assert!(rest.iter().all(|line| line.len() <= WIDTH) && rest.len() > 5, "{text}");
        assert_eq!(*long, format!("{:INDENT$}{}", "", "x".repeat(200)));
        let words: Vec<&str> = text.split_whitespace().skip(4).collect();
        assert_eq!(words.join(" "), verdict.evidence);
    }
}

//! Which host's word counts? Ohlenburg's paper lets both hosts decide by themselves, on values of a moment long enough
//! ago. Here it is counted how often that leaves two deciders or none, and the episode rule is held to its promises.

mod claims;
mod encounter;
mod page;
mod run;
mod settle;

pub use self::run::run;

use motion::decision::{EpisodeSettings, Policy};
use serde::{Serialize, Serializer};
use space::NodeId;

use self::encounter::{CLOCK_ERROR_US, EPOCH_US};
use super::Document;
use crate::report::verdict::Verdict;

/// The most encounters per setting.
pub const ENCOUNTERS_MAX: u32 = 1_000_000;
/// The lower host and the higher.
const HOSTS: [NodeId; 2] = [NodeId::new(1), NodeId::new(2)];

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Encounters per setting.
    pub encounters: u32,
    /// The first encounter's seed.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { encounters: 10_000, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Decisions {
    /// The command that repeats the run.
    pub command: String,
    /// Encounters per setting.
    pub encounters: u32,
    /// The first encounter's seed.
    pub seed: u64,
    /// One per rule, policy, loss, latency, and for the episode rule its three numbers.
    pub rows: Vec<Row>,
    /// The paper's claims and our promises.
    pub verdicts: Vec<Verdict>,
}

/// By which rule two hosts find their decider. In the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The lower id decides, always.
    LowestHost,
    /// The policy on the newest values.
    Newest,
    /// The policy on values of a time longer ago than any latency: the paper's.
    Paper,
    /// The policy on digests of a term: ours.
    Episode,
}

impl Rule {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Rule::LowestHost => "lowest-host",
            Rule::Newest => "newest",
            Rule::Paper => "paper",
            Rule::Episode => "episode",
        }
    }
}

/// How one rule did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// By which rule.
    #[serde(serialize_with = "serialize_rule")]
    pub rule: Rule,
    /// The host that should decide.
    #[serde(serialize_with = "serialize_policy")]
    pub policy: Policy,
    /// The share of messages lost.
    pub loss: f64,
    /// The longest way of a message.
    pub latency_ms: u32,
    /// Digests per message; zero for rules without digests.
    pub k: u32,
    /// Epochs before a digest counts.
    pub d: u32,
    /// The closing time, in seconds.
    pub tau_c: f64,
    /// What became of the encounters.
    #[serde(flatten)]
    pub counts: Counts,
}

/// What became of encounters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Encounters that both hosts saw.
    pub encounters: u64,
    pub none: u64,
    pub one: u64,
    pub both: u64,
    /// Failures of the episode rule where a host lacked a digest.
    pub uninformed: u64,
    /// Failures where a host was in no term.
    pub outside: u64,
    /// Failures where the two were in different terms.
    pub different_terms: u64,
    /// Failures that nothing explains: there must be none.
    pub other: u64,
    /// Encounters where both decided in one term: there must be none.
    pub both_in_one_term: u64,
    /// Encounters after which hosts held different verdicts: there must be none.
    pub verdicts_differ: u64,
    /// Claims that were neither answered nor ran out: there must be none.
    pub unanswered: u64,
}

impl Decisions {
    /// Whether the episode rule keeps its promises.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.counts.broken() == 0)
    }

    /// The first rows whose promises are broken.
    pub fn failures(&self) -> Vec<String> {
        let broken = self.rows.iter().filter(|row| row.counts.broken() > 0).take(5);
        broken
            .map(|row| {
                format!(
                    "{} {} at loss {}, {} ms, k {}, d {}, tau_c {}: {} other, {} both in one term, {} verdicts \
                     differ, {} claims unanswered",
                    row.rule.name(),
                    row.policy.name(),
                    row.loss,
                    row.latency_ms,
                    row.k,
                    row.d,
                    row.tau_c,
                    row.counts.other,
                    row.counts.both_in_one_term,
                    row.counts.verdicts_differ,
                    row.counts.unanswered
                )
            })
            .collect()
    }

    /// Everything worth keeping.
    pub fn documents(&self) -> Vec<Document> {
        Document::all("decisions", &page::page(self), &self.rows, self, Vec::new())
    }

    /// The report for a terminal: the settings that are meant to work, and the verdicts.
    pub fn to_text(&self) -> String {
        let shown: Vec<Row> = self.rows.iter().filter(|row| row.k == 0 || row.is_sufficient()).cloned().collect();
        format!("{}\n{}\n", page::table(&shown), Verdict::list(&self.verdicts))
    }
}

fn serialize_rule<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.name())
}

fn serialize_policy<S: Serializer>(policy: &Policy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(policy.name())
}

impl Row {
    /// Whether the delay covers what it must, and the closing time has room for changes of speed.
    fn is_sufficient(&self) -> bool {
        self.k > 0 && self.d == needed_delay(self.latency_ms, self.k) && self.tau_c == 3.0
    }
}

impl Counts {
    /// How often a promise was broken.
    fn broken(&self) -> u64 {
        self.other + self.both_in_one_term + self.verdicts_differ + self.unanswered
    }

    /// How often it was not exactly one who decided.
    fn undecided(&self) -> u64 {
        self.none + self.both
    }

    fn add(&mut self, other: &Counts) {
        self.encounters += other.encounters;
        self.none += other.none;
        self.one += other.one;
        self.both += other.both;
        self.uninformed += other.uninformed;
        self.outside += other.outside;
        self.different_terms += other.different_terms;
        self.other += other.other;
        self.both_in_one_term += other.both_in_one_term;
        self.verdicts_differ += other.verdicts_differ;
        self.unanswered += other.unanswered;
    }

    fn count(&mut self, decides: [bool; 2]) {
        self.encounters += 1;
        match decides {
            [true, true] => self.both += 1,
            [false, false] => self.none += 1,
            _ => self.one += 1,
        }
    }
}

/// What the delay of the episode rule has to cover.
fn needed_delay(latency_ms: u32, repeats: u32) -> u32 {
    EpisodeSettings::delay_for(i64::from(latency_ms) * 1_000, 2 * CLOCK_ERROR_US, repeats, EPOCH_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_keep_their_promises() {
        let report = run(&Settings { encounters: 120, seed: 1 }, &mut |_, _| {}).unwrap();
        assert!(report.holds(), "seed 1: {:?}", report.failures());
        let count = |rule: Rule, of: fn(&Counts) -> u64| -> u64 {
            report.rows.iter().filter(|row| row.rule == rule).map(|row| of(&row.counts)).sum()
        };
        assert_eq!(count(Rule::LowestHost, Counts::undecided), 0);
        assert!(count(Rule::Newest, Counts::undecided) > 0, "the weakness of the simple rules must show");
        assert!(count(Rule::Paper, Counts::undecided) > 0, "the weakness of the paper's rule must show");
        assert!(count(Rule::Episode, |counts| counts.encounters) > 5_000);
        let is_whole = |counts: &Counts| counts.undecided() + counts.one == counts.encounters;
        assert!(report.rows.iter().all(|row| is_whole(&row.counts)));
    }

    #[test]
    fn a_run_repeats_and_nonsense_is_refused() {
        let small = || run(&Settings { encounters: 20, seed: 7 }, &mut |_, _| {}).unwrap().rows;
        assert_eq!(small(), small());
        let refused = run(&Settings { encounters: 0, seed: 1 }, &mut |_, _| {}).unwrap_err();
        assert_eq!(refused.to_string(), "`encounters` is 0, expected 1 to 1000000");
    }
}

//! Which host's word counts? Ohlenburg's paper lets both hosts decide by themselves, on values of a moment long enough
//! ago. Here it is counted how often that leaves two deciders or none, and the episode rule is held to its promises.

mod claims;
mod rules;
mod settle;
mod sighting;

use clap::Args;
use kinesphere::failure::Failure;
use motion::decision::{EpisodeSettings, Policy};
use serde::{Serialize, Serializer};
use space::NodeId;

use self::sighting::{CLOCK_ERROR_US, EPOCH_US};
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::number::grouped;
use crate::report::page::{Page, PageBlock, section};
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study};

/// The lower host and the higher.
const HOSTS: [NodeId; 2] = [NodeId::new(1), NodeId::new(2)];

/// Ohlenburg's paper: whose word counts when two hosts see a collision?
///
/// Lets two hosts see their objects collide, thousands of times per setting, and counts which of them decide under
/// which rule. Fails if two decide in one term, if a failure has no explanation, or if hosts end with different
/// verdicts.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// Encounters per setting
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = range(1..=1_000_000u32))]
    pub encounters: u32,
    /// The first encounter's seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
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
    fn name(self) -> &'static str {
        match self {
            Rule::LowestHost => "lowest-host",
            Rule::Newest => "newest",
            Rule::Paper => "paper",
            Rule::Episode => "episode",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    #[serde(serialize_with = "serialize_rule")]
    pub rule: Rule,
    /// By which the decider is chosen.
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

impl Study for Settings {
    const NAME: &'static str = "decisions";
    const EXAMPLE: &'static str = "--encounters 1000 --json";
    const UNIT: &'static str = "settings";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = ();

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        Ok((rules::run_all(self, progress), ()))
    }

    /// The settings that are meant to work.
    fn text(report: &Report<Settings>) -> String {
        let shown: Vec<&Row> = report.rows.iter().filter(|row| row.k == 0 || row.is_sufficient()).collect();
        to_table(&shown).to_string()
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(&report.rows)
    }

    fn page(report: &Report<Settings>) -> Page {
        let lead = format!(
            "Two hosts see their objects collide, and one of them must decide. {} encounters per setting, with clocks, \
             delays, losses, duplicates and changes of speed.",
            grouped(u64::from(report.settings.encounters))
        );
        let sections = vec![
            section("Claims", [PageBlock::Verdicts(report.claims.clone())]),
            section("All settings", [PageBlock::Table(to_table(&report.rows))]),
        ];
        Page::new("Whose word counts?", lead, sections)
    }

    /// The first rows whose promises are broken.
    fn failures(report: &Report<Settings>) -> Vec<String> {
        let sentence = |row: &Row| {
            let Row { rule, policy, loss, latency_ms, k, d, tau_c, counts } = row;
            let Counts { other, both_in_one_term, verdicts_differ, unanswered, .. } = counts;
            format!(
                "{} {} at loss {loss}, {latency_ms} ms, k {k}, d {d}, tau_c {tau_c}: {other} other, {both_in_one_term} \
                 both in one term, {verdicts_differ} verdicts differ, {unanswered} claims unanswered",
                rule.name(),
                policy.name(),
            )
        };
        report.rows.iter().filter(|row| row.counts.broken() > 0).take(5).map(sentence).collect()
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
    use crate::study::tried;

    #[test]
    fn episodes_keep_their_promises() {
        let report = tried::<Settings>("--encounters 120 --seed 1", 1);
        assert!(Settings::failures(&report).is_empty(), "seed 1: {:?}", Settings::failures(&report));
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
    fn a_run_repeats() {
        let small = || tried::<Settings>("--encounters 20 --seed 7", 1).rows;
        assert_eq!(small(), small());
    }
}

//! What became of contests: contacts that two hosts could see differently.

use std::collections::BTreeMap;

use motion::decision::Verdict;
use serde::Serialize;
use space::Time;

use crate::report::number::nearest_rank;

/// How often what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    /// All.
    pub contests: u64,
    /// Nobody decided: both passed through.
    pub by_none: u64,
    /// Of these, those whose owners could not hear each other, or not shortly before, or one of whom was gone.
    pub cut_off: u64,
    /// One decided.
    pub by_one: u64,
    /// Both did, in different terms, so that precedence chose.
    pub by_both: u64,
    /// Verdicts that there was no contact.
    pub denied: u64,
    /// From the first sight of a contact to when the last host keeps the verdict, in microseconds.
    #[serde(skip)]
    to_common_us: Vec<i64>,
}

/// A contact, as all hosts saw it.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    pub contact: Time,
    pub met_at: Time,
    pub is_cut_off: bool,
    pub decided: Vec<Verdict>,
    pub kept: BTreeMap<usize, (Time, Verdict)>,
}

impl Outcomes {
    pub(super) fn count(&mut self, contest: &Contest) {
        self.contests += 1;
        match contest.decided.len() {
            0 => {
                self.by_none += 1;
                self.cut_off += u64::from(contest.is_cut_off);
            }
            1 => self.by_one += 1,
            _ => self.by_both += 1,
        }
        let first = contest.decided.iter().min_by_key(|verdict| (verdict.term, verdict.decider));
        let Some(counting) = first else { return };
        self.denied += u64::from(counting.after.is_none());
        let kept = contest.kept.values().filter(|(_, verdict)| verdict == counting).map(|&(at, _)| at).max();
        self.to_common_us.extend(kept.map(|at| at - contest.met_at));
    }

    /// Those of all these runs.
    pub fn sum<'a>(runs: impl IntoIterator<Item = &'a Outcomes>) -> Outcomes {
        let mut sum = Outcomes::default();
        for run in runs {
            let Outcomes { contests, by_none, cut_off, by_one, by_both, denied, to_common_us } = run;
            sum.contests += contests;
            sum.by_none += by_none;
            sum.cut_off += cut_off;
            sum.by_one += by_one;
            sum.by_both += by_both;
            sum.denied += denied;
            sum.to_common_us.extend(to_common_us);
        }
        sum
    }

    /// How long it takes in these shares of cases, in percent, until all hosts keep the verdict: in milliseconds, zero if there
    /// was none.
    pub fn to_common_ms<const N: usize>(&self, shares: [usize; N]) -> [f64; N] {
        let mut sorted = self.to_common_us.clone();
        sorted.sort_unstable();
        shares.map(|share| nearest_rank(&sorted, share).map_or(0.0, |us| us as f64 * 1e-3))
    }
}

//! What became of contests: contacts that two hosts could see differently.

use std::collections::BTreeMap;

use motion::decision::Verdict;
use serde::Serialize;
use space::Time;

/// How many contests there were, and who decided them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    pub contests: u64,
    /// Neither owner decided: the objects passed through each other.
    pub by_none: u64,
    /// Of these, those whose owners were cut off from each other shortly before, or one of whom was gone.
    pub cut_off: u64,
    pub by_one: u64,
    /// Both owners decided, in different terms, so that precedence chose.
    pub by_both: u64,
    /// Verdicts that there was no contact.
    pub denied: u64,
    /// From the first sight of a contact to when the last host keeps the verdict, in microseconds.
    #[serde(skip)]
    pub to_common_us: Vec<i64>,
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

    /// The sum over several runs.
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
}

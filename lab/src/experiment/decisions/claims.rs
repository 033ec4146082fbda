//! What the paper claims, what we promise, and what came out.

use super::{Counts, Row, Rule};
use crate::report::claim::{ClaimResult, judged};
use crate::report::number::grouped;

pub fn all(rows: &[Row]) -> Vec<ClaimResult> {
    let of_rule = |rule: Rule| rows.iter().filter(move |row| row.rule == rule);
    let sum = |rule: Rule, of: fn(&Counts) -> u64| of_rule(rule).map(|row| of(&row.counts)).sum::<u64>();
    let share = |row: &Row| 100.0 * row.counts.undecided() as f64 / row.counts.encounters.max(1) as f64;
    let worst = |rule: Rule, is_lossy: bool| {
        let chosen = of_rule(rule).filter(move |row| (row.loss > 0.0) == is_lossy);
        chosen.map(share).fold(0.0, f64::max)
    };
    let sufficient = || rows.iter().filter(|row| row.is_sufficient());
    let sufficient_worst =
        |is_chosen: &dyn Fn(&Row) -> bool| sufficient().filter(|row| is_chosen(row)).map(share).fold(0.0, f64::max);
    let too_small = of_rule(Rule::Episode).filter(|row| row.tau_c < 1.0).map(share).fold(0.0, f64::max);
    vec![
        judged(
            "Values of a time longer ago than any latency let both hosts decide alike",
            "Ohlenburg",
            of_rule(Rule::Paper).map(|row| row.counts.undecided() == 0).collect::<Vec<_>>(),
            format!(
                "Two deciders or none in up to {:.2} % of encounters without loss and {:.2} % with it: each host \
                 counts back from its own detection. On the newest values it is {:.2} % and {:.2} %.",
                worst(Rule::Paper, false),
                worst(Rule::Paper, true),
                worst(Rule::Newest, false),
                worst(Rule::Newest, true)
            ),
        ),
        judged(
            "The lower host id always gives one decider",
            "Ohlenburg",
            of_rule(Rule::LowestHost).map(|row| row.counts.undecided() == 0).collect::<Vec<_>>(),
            format!(
                "{} encounters, {} without exactly one decider.",
                grouped(sum(Rule::LowestHost, |counts| counts.encounters)),
                sum(Rule::LowestHost, Counts::undecided)
            ),
        ),
        judged(
            "With episodes there are never two deciders in one term, every failure is explained, and all end with one \
             verdict",
            "our promise",
            of_rule(Rule::Episode).map(|row| row.counts.broken() == 0).collect::<Vec<_>>(),
            format!(
                "{} judgements: {} with both in one term, {} labelled other, {} with different verdicts.",
                grouped(sum(Rule::Episode, |counts| counts.encounters)),
                sum(Rule::Episode, |counts| counts.both_in_one_term),
                sum(Rule::Episode, |counts| counts.other),
                sum(Rule::Episode, |counts| counts.verdicts_differ)
            ),
        ),
        judged(
            "With episodes exactly one decides whenever both hosts are informed and in the same term",
            "our promise",
            of_rule(Rule::Episode).map(|row| row.counts.other == 0).collect::<Vec<_>>(),
            format!(
                "Where they are not, it may be none: with a closing time of 3 s in up to {:.2} % of encounters without \
                 loss, after halts and turns that leave a term just before the contact. With 20 % loss, where an \
                 uninformed host is silent: {:.1} % with 1 digest per message, {:.1} % with 3, {:.2} % with 5. With a \
                 closing time of 0.3 s: up to {too_small:.1} %.",
                sufficient_worst(&|row| row.loss == 0.0),
                sufficient_worst(&|row| row.loss == 0.2 && row.k == 1),
                sufficient_worst(&|row| row.loss == 0.2 && row.k == 3),
                sufficient_worst(&|row| row.loss == 0.2 && row.k == 5)
            ),
        ),
    ]
}

//! What the paper claims of many hosts, what we promise, and what came out.

use sim::peers::outcomes::Outcomes;
use sim::promises::Score;

use super::{Row, Settings};
use crate::report::claim::{ClaimResult, judged};
use crate::report::number::grouped;
use crate::study::Report;

/// The mean error that is good enough, in metres.
const ERROR_M: f64 = 0.3;
/// How many times fewer messages than every frame there must be, and should be.
const FEWER: [f64; 2] = [10.0, 30.0];

pub fn all(report: &Report<Settings>) -> Vec<ClaimResult> {
    let (rows, trade_off, rough) = (&report.rows, &report.facts.trade_off, &report.facts.rough);
    let promises = &report.facts.promises;
    let least = |of: fn(&Row) -> f64| rows.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Row) -> f64| rows.iter().map(of).fold(0.0, f64::max);
    let is_good = |row: &Row, fewer: f64| row.error_mean_m < ERROR_M && row.fewer_messages >= fewer;
    let share = |rows: &[Row], of: fn(&Outcomes) -> u64| {
        let all: u64 = rows.iter().map(|row| row.outcomes.contests).sum();
        100.0 * rows.iter().map(|row| of(&row.outcomes)).sum::<u64>() as f64 / all.max(1) as f64
    };
    let frames = trade_off.first();
    let contests: u64 = rows.iter().chain(trade_off).chain(rough).map(|row| row.outcomes.contests).sum();
    vec![
        judged(
            "Thresholds take a tenth of the messages of sending every frame, at a mean error below 0.3 m",
            "our promise",
            rows.iter().map(|row| is_good(row, FEWER[0])).collect::<Vec<_>>(),
            format!(
                "{:.1} to {:.1} times fewer messages and {:.1} to {:.1} times fewer bytes, digests, claims, \
                 verdicts, clocks and signs of life included, at a mean error of {:.3} to {:.3} m; every frame: \
                 {:.3} m.",
                least(|row| row.fewer_messages),
                most(|row| row.fewer_messages),
                least(|row| row.fewer_bytes),
                most(|row| row.fewer_bytes),
                least(|row| row.error_mean_m),
                most(|row| row.error_mean_m),
                frames.map_or(0.0, |row| row.error_mean_m)
            ),
        ),
        judged(
            "A thirtieth of the messages, at the same error",
            "our goal",
            rows.iter().chain(trade_off).map(|row| is_good(row, FEWER[1])).collect::<Vec<_>>(),
            "Counted over all numbers of hosts, policies and limits.".to_owned(),
        ),
        judged(
            "One host decides about a contact, the same for both",
            "Ohlenburg, section 6",
            rows.iter().map(|row| row.outcomes.by_none + row.outcomes.by_both == 0).collect::<Vec<_>>(),
            format!(
                "On a steady network no host decides about {:.1} % of contacts, and both about {:.2} %. On bad \
                 networks, with crashes and partitions: {:.1} % and {:.2} %; {:.1} % are contacts of two hosts that \
                 could not hear each other, or not shortly before.",
                share(rows, |outcomes| outcomes.by_none),
                share(rows, |outcomes| outcomes.by_both),
                share(rough, |outcomes| outcomes.by_none),
                share(rough, |outcomes| outcomes.by_both),
                share(rough, |outcomes| outcomes.cut_off)
            ),
        ),
        judged(
            "No host keeps two verdicts about one contact, and after delivery all hosts keep the same",
            "our promise",
            promises.iter().map(Score::holds).collect::<Vec<_>>(),
            format!(
                "{} contests; broken were: {}.",
                grouped(contests),
                promises
                    .iter()
                    .map(|row| format!("“{}” {} times of {}", row.promise, row.violations, grouped(row.checks)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        ),
        judged(
            "A world cannot be highly dynamic and consistent at the same time",
            "Ohlenburg, section 1, after Singhal and Zyda",
            trade_off.windows(2).map(|two| two[0].messages_per_s > two[1].messages_per_s).collect::<Vec<_>>(),
            trade_off
                .iter()
                .map(|row| format!("{:.3} m for {:.0} messages/s", row.error_mean_m, row.messages_per_s))
                .collect::<Vec<_>>()
                .join(", ")
                + ".",
        ),
    ]
}

//! How one setting did, and tables of that.

use serde::Serialize;
use sim::peers::outcomes::Outcomes;
use sim::peers::{self, Report as Measured};

use crate::report::number::{grouped, nearest_rank, significant};
use kinesphere::table::Table;

/// How one setting did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub policy: &'static str,
    /// How many hosts; on bad networks, the most.
    pub hosts: usize,
    /// How far what others believe may be off, in metres; below zero every frame is sent.
    pub limit_m: f64,
    /// The share of messages lost.
    pub loss: f64,
    /// Where others are seen and where they are, mean.
    pub error_mean_m: f64,
    /// The same at its largest.
    pub error_max_m: f64,
    /// Messages of all kinds, per host.
    pub messages_per_s: f64,
    pub bytes_per_s: f64,
    /// Updates of objects in them, per host: what the limit governs.
    pub motions_per_s: f64,
    /// How many times fewer messages than sending every frame to the same audience.
    pub fewer_messages: f64,
    /// How many times fewer bytes.
    pub fewer_bytes: f64,
    /// What became of contests.
    #[serde(flatten)]
    pub outcomes: Outcomes,
    /// From the first sight to the last host's verdict, median.
    pub common_ms_p50: f64,
    /// 99 of 100.
    pub common_ms_p99: f64,
}

impl Row {
    /// One setting, run several times: means, of errors the largest, of contests all.
    pub(super) fn new(policy: &'static str, settings: &peers::Settings, runs: &[Measured]) -> Row {
        let mean = |of: fn(&Measured) -> f64| runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64;
        let outcomes = Outcomes::sum(runs.iter().map(|run| &run.outcomes));
        let mut to_common_us = outcomes.to_common_us.clone();
        to_common_us.sort_unstable();
        let [common_ms_p50, common_ms_p99] =
            [50, 99].map(|percent| nearest_rank(&to_common_us, percent).map_or(0.0, |us| us as f64 * 1e-3));
        Row {
            policy,
            hosts: settings.hosts,
            limit_m: settings.rules.tracking.limit,
            loss: settings.link.loss,
            error_mean_m: mean(|run| run.error_mean),
            error_max_m: runs.iter().map(|run| run.error_max).fold(0.0, f64::max),
            messages_per_s: mean(|run| run.messages_per_s),
            bytes_per_s: mean(|run| run.bytes_per_s),
            motions_per_s: mean(|run| run.motions_per_s),
            fewer_messages: mean(|run| run.every_frame_per_s / run.messages_per_s.max(1e-9)),
            fewer_bytes: mean(|run| run.every_frame_bytes_per_s / run.bytes_per_s.max(1e-9)),
            outcomes,
            common_ms_p50,
            common_ms_p99,
        }
    }

    /// The limit, in words.
    pub(super) fn limit(&self) -> String {
        if self.limit_m < 0.0 { "every frame".to_owned() } else { format!("{} m", self.limit_m) }
    }
}

/// What it takes to see others where they are.
pub fn costs(rows: &[Row]) -> Table {
    let headings = "policy,hosts,limit,mean m,max m,messages/s,bytes/s,updates/s,fewer messages,fewer bytes";
    let mut table = Table::new(headings.split(','));
    for row in rows {
        let Row { error_mean_m, error_max_m, messages_per_s, bytes_per_s, motions_per_s, .. } = *row;
        let names = [row.policy.to_owned(), row.hosts.to_string(), row.limit()];
        let measured = [error_mean_m, error_max_m, messages_per_s, bytes_per_s, motions_per_s];
        let numbers = measured.into_iter().chain([row.fewer_messages, row.fewer_bytes]);
        table.row(names.into_iter().chain(numbers.map(significant)));
    }
    table
}

/// The deciding hosts, and how soon all hosts knew.
pub fn decisions(rows: &[Row]) -> Table {
    let headings = "policy,hosts,loss,contests,by none,cut off,by one,by both,denied,p50 ms,p99 ms";
    let mut table = Table::new(headings.split(','));
    for Row { policy, hosts, loss, outcomes, common_ms_p50, common_ms_p99, .. } in rows {
        let names = [(*policy).to_owned(), hosts.to_string(), format!("{:.0} %", 100.0 * loss)];
        let Outcomes { contests, by_none, cut_off, by_one, by_both, denied, .. } = *outcomes;
        let counts = [contests, by_none, cut_off, by_one, by_both, denied].map(grouped);
        let times = [common_ms_p50, common_ms_p99].map(|ms| format!("{ms:.0}"));
        table.row(names.into_iter().chain(counts).chain(times));
    }
    table
}

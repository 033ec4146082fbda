//! Ohlenburg's paper among many hosts: what does it cost to see others where they are, and do all agree on which
//! objects met?
//!
//! Hosts with the paper's object, at the paper's pace, in a hall where they bounce off walls and off each other.

mod claims;
mod figures;
mod page;
mod rough;
mod row;

use clap::Args;
use kinesphere::failure::Failure;
use motion::decision::Policy;
use rayon::prelude::*;
use serde::Serialize;
use sim::link::LinkSettings;
use sim::peers::{self, Report as Measured};
use sim::promises::Promises;

use self::row::Row;
use crate::report::claim::ClaimResult;
use crate::report::page::{Document, Page};
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study};

/// The limits of the trade-off, in metres; below zero every frame is sent.
const LIMITS: [f64; 9] = [-1.0, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0];
/// Runs per limit: who meets whom differs from run to run, and so does what that costs.
const TRADE_OFF_RUNS: usize = 4;
/// Hosts of the trade-off, if there may be as many.
const TRADE_OFF_HOSTS: usize = 8;
/// The contests on bad networks are this many parts of the progress.
const ROUGH_PARTS: u32 = 100;

/// Ohlenburg's paper among many hosts: what does a world without a server cost, and do all agree?
///
/// Lets hosts meet in a hall without a server, and measures what it costs to see each other, how far off that is, and
/// whether all agree on which objects met. Fails if a promise is broken.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// The most hosts: 2, 4, 8, 16 and 32 of them, as far as this goes
    #[arg(long, default_value_t = 32, value_name = "N", value_parser = range(2..=peers::HOSTS_MAX))]
    pub hosts: usize,
    /// Seconds per setting, of the hosts' time
    #[arg(long, default_value_t = 60, value_name = "S", value_parser = range(10..=3_600u32))]
    pub seconds: u32,
    /// One way between two hosts, in milliseconds
    #[arg(
        long = "latency",
        default_value_t = 100,
        value_name = "MS",
        value_parser = range(0..=250u32).of("milliseconds")
    )]
    pub latency_ms: u32,
    /// Contested contacts on bad networks, at least
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = range(0..=10_000_000u64))]
    pub contests: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What was measured beside the rows, which are of a steady network, one per number of hosts and policy.
#[derive(Clone, Debug, Serialize)]
pub struct HostFacts {
    /// One per limit: the consistency-throughput trade-off.
    pub trade_off: Vec<Row>,
    /// One per loss and policy, on bad networks with crashes and partitions.
    pub rough: Vec<Row>,
    /// The promises, over all runs.
    pub promises: Promises,
}

impl Study for Settings {
    const NAME: &'static str = "peers";
    const EXAMPLE: &'static str = "--hosts 8 --seconds 30 --json";
    const UNIT: &'static str = "runs";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = HostFacts;

    fn run(&self, _: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let steady = |hosts: usize, policy: Policy, limit: f64| {
            let mut rules = peers::rules(policy);
            rules.latency_us_max = rules.latency_us_max.max(i64::from(self.latency_ms) * 3 / 2 * 1_000);
            rules.tracking.limit = limit;
            rules.tracking.limit_close = rules.tracking.limit_close.min(limit);
            peers::Settings {
                hosts,
                seconds: self.seconds,
                rules,
                link: LinkSettings::steady(i64::from(self.latency_ms) * 1_000),
                seed: self.seed,
                ..peers::Settings::default()
            }
        };
        let usual = peers::rules(Policy::Velocity).tracking.limit;
        let mut plan: Vec<(Policy, peers::Settings)> = Vec::new();
        for hosts in [2, 4, 8, 16, 32].into_iter().filter(|&hosts| hosts <= self.hosts) {
            plan.extend(Policy::ALL.map(|(policy, _)| (policy, steady(hosts, policy, usual))));
        }
        let compared = plan.len();
        for limit in LIMITS {
            plan.extend((0..TRADE_OFF_RUNS as u64).map(|run| {
                let one = steady(TRADE_OFF_HOSTS.min(self.hosts), Policy::Velocity, limit);
                (Policy::Velocity, peers::Settings { seed: one.seed.wrapping_add(run), ..one })
            }));
        }
        let total = plan.len() as u32 + ROUGH_PARTS;
        let mut measured: Vec<Measured> = Vec::new();
        // A few at a time, so that progress shows; the order of results is that of the plan.
        for part in plan.chunks(4) {
            progress(measured.len() as u32, total);
            measured.par_extend(
                part.par_iter().map(|(_, one)| peers::run(one, &mut |_, _| {}).expect("the plan makes sense")),
            );
        }
        let mut promises = Promises::default();
        for ((policy, one), measured) in plan.iter().zip(&measured) {
            let name = format!(
                "{} hosts, {}, limit {}, seed {}",
                one.hosts,
                policy.name(),
                one.rules.tracking.limit,
                one.seed
            );
            promises.add(&measured.promises, &name);
        }
        let row = |runs: &[Measured], (policy, one): &(Policy, peers::Settings)| Row::new(policy.name(), one, runs);
        let (alone, swept) = measured.split_at(compared);
        let rows: Vec<Row> = alone.chunks(1).zip(&plan).map(|(runs, one)| row(runs, one)).collect();
        let sweeps = swept.chunks(TRADE_OFF_RUNS).zip(plan[compared..].chunks(TRADE_OFF_RUNS));
        let trade_off: Vec<Row> = sweeps.map(|(runs, ones)| row(runs, &ones[0])).collect();
        let rough = rough::run(self, &mut promises, &mut |contests| {
            let parts = u64::from(ROUGH_PARTS) * contests / self.contests.max(1);
            progress(total - ROUGH_PARTS + parts as u32, total);
        });
        Ok((rows, HostFacts { trade_off, rough, promises }))
    }

    fn text(report: &Report<Settings>) -> String {
        format!(
            "{}\nThe consistency-throughput trade-off:\n{}\nThe deciding hosts, on a steady network:\n{}\nOn bad \
             networks:\n{}",
            row::costs(&report.rows),
            row::costs(&report.facts.trade_off),
            row::decisions(&report.rows),
            row::decisions(&report.facts.rough),
        )
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(report)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }

    fn files(report: &Report<Settings>) -> Vec<Document> {
        vec![Document::csv("trade-off", &report.facts.trade_off), Document::csv("rough", &report.facts.rough)]
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        report.facts.promises.failures()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn a_small_run_keeps_the_promises() {
        let report = tried::<Settings>("--hosts 3 --seconds 10 --contests 1", 1);
        assert!(report.facts.promises.holds(), "{:?}", report.facts.promises.failures());
        assert_eq!(report.rows.len(), 4);
        let (frames, limit) = (&report.facts.trade_off[0], &report.facts.trade_off[6]);
        assert!(frames.error_mean_m < limit.error_mean_m && frames.messages_per_s > 3.0 * limit.messages_per_s);
    }
}

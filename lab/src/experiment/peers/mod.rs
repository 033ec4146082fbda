//! Ohlenburg's paper among many hosts: what does it cost to see others where they are, and do all agree on
//! who met whom?
//!
//! Hosts with the paper's object, at the paper's pace, in a hall where they bounce off walls and off each other.

mod claims;
mod figures;
mod page;
mod rough;
mod row;

pub use self::row::Row;

use motion::decision::Policy;
use rayon::prelude::*;
use serde::Serialize;
use sim::link::LinkSettings;
use sim::peers::{self, HOSTS_MAX, Report as Measured};
use sim::promises::Promises;

use super::Document;
use crate::report::verdict::Verdict;
use crate::setting::{self, OutOfRange};

/// The limits of the trade-off, in metres; below zero every frame is sent.
const LIMITS: [f64; 9] = [-1.0, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0];
/// Runs per limit: who meets whom differs from run to run, and so does what that costs.
const TRADE_OFF_RUNS: usize = 4;
/// Hosts of the trade-off, if there may be as many.
const TRADE_OFF_HOSTS: usize = 8;
/// The contests on bad networks are this many parts of the progress.
const ROUGH_PARTS: u32 = 100;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Up to this many hosts: 2, 4, 8, 16 and 32 of them, as far as this goes.
    pub hosts: usize,
    /// Seconds per setting.
    pub seconds: u32,
    /// One way, in milliseconds.
    pub latency_ms: u32,
    /// Contested contacts on bad networks, at least.
    pub contests: u64,
    /// The first seed.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { hosts: 32, seconds: 60, latency_ms: 100, contests: 1_000, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Peers {
    /// The command that repeats the run.
    pub command: String,
    /// Seconds per setting.
    pub seconds: u32,
    /// One way, in milliseconds.
    pub latency_ms: u32,
    /// One per number of hosts and policy, on a steady network.
    pub rows: Vec<Row>,
    /// One per limit: the consistency-throughput trade-off.
    pub trade_off: Vec<Row>,
    /// One per loss and policy, on bad networks with crashes and partitions.
    pub rough: Vec<Row>,
    /// The promises, over all runs.
    pub promises: Promises,
    /// The paper's claims and ours.
    pub verdicts: Vec<Verdict>,
}

/// Runs everything. `progress` is told how many runs are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Peers, OutOfRange> {
    check(settings)?;
    let steady = |hosts: usize, policy: Policy, limit: f64| {
        let mut rules = peers::rules(policy);
        rules.latency_us_max = rules.latency_us_max.max(i64::from(settings.latency_ms) * 3 / 2 * 1_000);
        rules.tracking.limit = limit;
        rules.tracking.limit_close = rules.tracking.limit_close.min(limit);
        peers::Settings {
            hosts,
            seconds: settings.seconds,
            rules,
            link: LinkSettings::steady(i64::from(settings.latency_ms) * 1_000),
            seed: settings.seed,
            ..peers::Settings::default()
        }
    };
    let usual = peers::rules(Policy::Velocity).tracking.limit;
    let mut plan: Vec<(Policy, peers::Settings)> = Vec::new();
    for hosts in [2, 4, 8, 16, 32].into_iter().filter(|&hosts| hosts <= settings.hosts) {
        plan.extend(Policy::ALL.map(|(policy, _)| (policy, steady(hosts, policy, usual))));
    }
    let compared = plan.len();
    for limit in LIMITS {
        plan.extend((0..TRADE_OFF_RUNS as u64).map(|run| {
            let one = steady(TRADE_OFF_HOSTS.min(settings.hosts), Policy::Velocity, limit);
            (Policy::Velocity, peers::Settings { seed: one.seed.wrapping_add(run), ..one })
        }));
    }
    let total = plan.len() as u32 + ROUGH_PARTS;
    let mut measured: Vec<Measured> = Vec::new();
    // A few at a time, so that progress shows; the order of results is that of the plan.
    for part in plan.chunks(4) {
        progress(measured.len() as u32, total);
        measured
            .par_extend(part.par_iter().map(|(_, one)| peers::run(one, &mut |_, _| {}).expect("the plan makes sense")));
    }
    let mut promises = Promises::default();
    for ((policy, one), measured) in plan.iter().zip(&measured) {
        let name =
            format!("{} hosts, {}, limit {}, seed {}", one.hosts, policy.name(), one.rules.tracking.limit, one.seed);
        promises.add(&measured.promises, &name);
    }
    let row =
        |runs: &[Measured], (policy, settings): &(Policy, peers::Settings)| Row::new(policy.name(), settings, runs);
    let (alone, swept) = measured.split_at(compared);
    let rows: Vec<Row> = alone.chunks(1).zip(&plan).map(|(runs, one)| row(runs, one)).collect();
    let sweeps = swept.chunks(TRADE_OFF_RUNS).zip(plan[compared..].chunks(TRADE_OFF_RUNS));
    let trade_off: Vec<Row> = sweeps.map(|(runs, ones)| row(runs, &ones[0])).collect();
    let rough = rough::run(settings, &mut promises, &mut |contests| {
        let parts = u64::from(ROUGH_PARTS) * contests / settings.contests.max(1);
        progress(total - ROUGH_PARTS + parts as u32, total);
    });
    let command = format!(
        "cargo run --release -p lab -- peers --hosts {} --seconds {} --latency {} --contests {} --seed {}",
        settings.hosts, settings.seconds, settings.latency_ms, settings.contests, settings.seed
    );
    let Settings { seconds, latency_ms, .. } = *settings;
    let verdicts = claims::judge(&rows, &trade_off, &rough, &promises);
    Ok(Peers { command, seconds, latency_ms, rows, trade_off, rough, promises, verdicts })
}

fn check(settings: &Settings) -> Result<(), OutOfRange> {
    setting::check([
        ("hosts", settings.hosts as f64, 2.0..=HOSTS_MAX as f64, "2 to 64"),
        ("seconds", f64::from(settings.seconds), 10.0..=3_600.0, "10 to 3600"),
        ("latency", f64::from(settings.latency_ms), 0.0..=250.0, "0 to 250 milliseconds"),
        ("contests", settings.contests as f64, 0.0..=1e7, "0 to 10000000"),
    ])
}

impl Peers {
    /// Whether all promises held, in all runs.
    pub fn holds(&self) -> bool {
        self.promises.holds()
    }

    /// The promises that did not.
    pub fn failures(&self) -> Vec<String> {
        self.promises.failures()
    }

    /// Everything worth keeping.
    pub fn documents(&self) -> Vec<Document> {
        let rows: Vec<&Row> = self.rows.iter().chain(&self.trade_off).chain(&self.rough).collect();
        Document::all("peers", &page::page(self), &rows, self, figures::all(self))
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        format!(
            "{}\nThe consistency-throughput trade-off:\n{}\nWho decided, on a steady network:\n{}\nOn bad \
             networks:\n{}\n{}\n",
            row::costs(&self.rows),
            row::costs(&self.trade_off),
            row::decisions(&self.rows),
            row::decisions(&self.rough),
            Verdict::list(&self.verdicts)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_run_keeps_the_promises_and_nonsense_is_refused() {
        let settings = Settings { hosts: 3, seconds: 10, contests: 1, ..Settings::default() };
        let report = run(&settings, &mut |_, _| {}).unwrap();
        assert!(report.holds(), "{:?}", report.failures());
        assert_eq!(report.rows.len(), 4);
        let (frames, limit) = (&report.trade_off[0], &report.trade_off[6]);
        assert!(frames.error_mean_m < limit.error_mean_m && frames.messages_per_s > 3.0 * limit.messages_per_s);
        let refused = run(&Settings { hosts: 1, ..settings }, &mut |_, _| {}).unwrap_err();
        assert_eq!(refused.to_string(), "`hosts` is 1, expected 2 to 64");
    }
}

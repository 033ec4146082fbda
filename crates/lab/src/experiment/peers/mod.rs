//! Ohlenburg's paper among many hosts: what does it cost to see others where they are, and do all agree on who met whom?
//!
//! Hosts with the paper's object, at the paper's pace, in a hall where they bounce off walls and off each other.

mod claims;
mod figures;
mod page;

use motion::decision::Policy;
use rayon::prelude::*;
use serde::Serialize;

use super::Document;
use crate::network::LinkSettings;
use crate::peers::watcher::Measured;
use crate::peers::{self, HOSTS_MAX};
use crate::promise::Promise;
use crate::report::table::Table;
use crate::report::verdict::Verdict;
use crate::setting::OutOfRange;

/// The policies, by name.
const POLICIES: [(Policy, &str); 4] = [
    (Policy::HostId, "host-id"),
    (Policy::Velocity, "velocity"),
    (Policy::VelocityHistory, "velocity-history"),
    (Policy::FieldOfView, "field-of-view"),
];
/// The limits of the trade-off, in metres; below zero every frame is sent.
const LIMITS: [f64; 6] = [-1.0, 0.1, 0.25, 0.5, 1.0, 2.0];
/// Runs per limit: who meets whom differs from run to run, and so does what that costs.
const TRADE_OFF_RUNS: usize = 4;
/// Hosts of the trade-off, if there may be as many.
const TRADE_OFF_HOSTS: usize = 8;
/// Hosts of the runs on bad networks, round by round, if there may be as many.
const ROUGH_HOSTS: [usize; 6] = [6, 2, 16, 4, 32, 8];
/// Seconds of one run on a bad network.
const ROUGH_SECONDS: u32 = 120;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Up to so many hosts: 2, 4, 8, 16 and 32 of them, as far as this goes.
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
    pub promises: Vec<Promise>,
    /// The paper's claims and ours.
    pub verdicts: Vec<Verdict>,
}

/// How one setting did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Who decides.
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
    /// Their bytes.
    pub bytes_per_s: f64,
    /// Updates of objects in them, per host: what the limit governs.
    pub motions_per_s: f64,
    /// How many times fewer messages than sending every frame to the same audience.
    pub fewer_messages: f64,
    /// How many times fewer bytes.
    pub fewer_bytes: f64,
    /// Contacts that two hosts could see differently.
    pub contests: u64,
    /// Of them, nobody decided.
    pub by_none: u64,
    /// One did.
    pub by_one: u64,
    /// Both did, and precedence chose.
    pub by_both: u64,
    /// Verdicts that there was no contact.
    pub denied: u64,
    /// From the first sight to the last host's verdict, median.
    pub common_ms_p50: f64,
    /// 99 of 100.
    pub common_ms_p99: f64,
}

/// Runs everything. `progress` is told how many runs are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Peers, OutOfRange> {
    check(settings)?;
    let steady = |hosts: usize, policy: usize, limit: f64| {
        let mut rules = peers::rules(POLICIES[policy].0);
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
    let mut plan: Vec<(usize, peers::Settings)> = Vec::new();
    for hosts in [2, 4, 8, 16, 32].into_iter().filter(|&hosts| hosts <= settings.hosts) {
        plan.extend((0..POLICIES.len()).map(|policy| (policy, steady(hosts, policy, usual))));
    }
    let compared = plan.len();
    for limit in LIMITS {
        plan.extend((0..TRADE_OFF_RUNS as u64).map(|run| {
            let one = steady(TRADE_OFF_HOSTS.min(settings.hosts), 1, limit);
            (1, peers::Settings { seed: one.seed.wrapping_add(run), ..one })
        }));
    }
    let total = (plan.len() + 4) as u32;
    let mut measured: Vec<(Row, Measured)> = Vec::new();
    // A few at a time, so that progress shows; the order of results is that of the plan.
    for part in plan.chunks(4) {
        progress(measured.len() as u32, total);
        let done: Vec<(Row, Measured)> = part
            .par_iter()
            .map(|(policy, settings)| {
                let measured = peers::run(settings, &mut |_, _| {}).expect("the plan makes sense");
                (row(POLICIES[*policy].1, settings, &measured), measured)
            })
            .collect();
        measured.extend(done);
    }
    let mut promises = Vec::new();
    for (_, measured) in &measured {
        add(&mut promises, &measured.promises);
    }
    let mut rows: Vec<Row> = measured.into_iter().map(|(row, _)| row).collect();
    let trade_off = rows.split_off(compared).chunks(TRADE_OFF_RUNS).map(mean).collect::<Vec<Row>>();
    let rough = run_rough(settings, &mut promises, &mut |done, all| {
        progress(total - 4 + (4 * done.min(all) / all.max(1)) as u32, total);
    });
    let command = format!(
        "kinesphere lab peers --hosts {} --seconds {} --latency {} --contests {} --seed {}",
        settings.hosts, settings.seconds, settings.latency_ms, settings.contests, settings.seed
    );
    let Settings { seconds, latency_ms, .. } = *settings;
    let verdicts = claims::judge(&rows, &trade_off, &rough, &promises);
    Ok(Peers { command, seconds, latency_ms, rows, trade_off, rough, promises, verdicts })
}

/// Runs on bad networks, with all policies and losses in turn, until there were as many contests as were asked for.
fn run_rough(settings: &Settings, promises: &mut Vec<Promise>, progress: &mut dyn FnMut(u64, u64)) -> Vec<Row> {
    const LOSSES: [f64; 3] = [0.0, 0.05, 0.2];
    let mut sums: Vec<(Row, Measured)> = Vec::new();
    let (mut contests, mut round) = (0, 0);
    while contests < settings.contests {
        progress(contests, settings.contests);
        let hosts = ROUGH_HOSTS[round as usize % ROUGH_HOSTS.len()].min(settings.hosts);
        let cases: Vec<(usize, f64)> = (0..POLICIES.len()).flat_map(|p| LOSSES.map(|loss| (p, loss))).collect();
        let done: Vec<(Row, Measured)> = cases
            .par_iter()
            .map(|&(policy, loss)| {
                let rough = peers::Settings {
                    hosts,
                    seconds: ROUGH_SECONDS.min(settings.seconds.max(20)),
                    rules: peers::rules(POLICIES[policy].0),
                    link: peers::Settings::rough(i64::from(settings.latency_ms), loss),
                    upsets: true,
                    seed: settings.seed.wrapping_add(1_000 + round),
                    fault: None,
                };
                let measured = peers::run(&rough, &mut |_, _| {}).expect("the plan makes sense");
                (Row { loss, ..row(POLICIES[policy].1, &rough, &measured) }, measured)
            })
            .collect();
        let met: u64 = done.iter().map(|(_, measured)| measured.contests).sum();
        for (_, measured) in &done {
            add(promises, &measured.promises);
        }
        if sums.is_empty() {
            sums = done;
        } else {
            for ((row, sum), (_, more)) in sums.iter_mut().zip(done) {
                sum.contests += more.contests;
                sum.by_none += more.by_none;
                sum.by_one += more.by_one;
                sum.by_both += more.by_both;
                sum.denied += more.denied;
                sum.to_common_us.extend(more.to_common_us);
                sum.to_common_us.sort_unstable();
                row.hosts = row.hosts.max(hosts);
                outcomes(row, sum);
            }
        }
        contests += met;
        round += 1;
        // Two may not meet at all; if nobody ever does, more of the same would not end.
        if contests == 0 && round >= ROUGH_HOSTS.len() as u64 {
            break;
        }
    }
    sums.into_iter().map(|(row, _)| row).collect()
}

fn check(settings: &Settings) -> Result<(), OutOfRange> {
    let refuse = |field, value, expected| Err(OutOfRange { field, value, expected });
    match settings {
        Settings { hosts, .. } if !(2..=HOSTS_MAX).contains(hosts) => refuse("hosts", *hosts as f64, "2 to 64"),
        Settings { seconds, .. } if !(10..=3_600).contains(seconds) => {
            refuse("seconds", f64::from(*seconds), "10 to 3600")
        }
        Settings { latency_ms, .. } if *latency_ms > 250 => {
            refuse("latency", f64::from(*latency_ms), "0 to 250 milliseconds")
        }
        Settings { contests, .. } if *contests > 10_000_000 => refuse("contests", *contests as f64, "0 to 10000000"),
        _ => Ok(()),
    }
}

fn row(policy: &'static str, settings: &peers::Settings, measured: &Measured) -> Row {
    let mut row = Row {
        policy,
        hosts: settings.hosts,
        limit_m: settings.rules.tracking.limit,
        loss: settings.link.loss,
        error_mean_m: measured.error_mean,
        error_max_m: measured.error_max,
        messages_per_s: measured.messages_per_s,
        bytes_per_s: measured.bytes_per_s,
        motions_per_s: measured.motions_per_s,
        fewer_messages: measured.every_frame_per_s / measured.messages_per_s.max(1e-9),
        fewer_bytes: measured.every_frame_bytes_per_s / measured.bytes_per_s.max(1e-9),
        ..Row::default()
    };
    outcomes(&mut row, measured);
    row
}

/// Several runs as one: means, of errors the largest, of contests the sum.
fn mean(rows: &[Row]) -> Row {
    let mean = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>() / rows.len().max(1) as f64;
    let sum = |of: fn(&Row) -> u64| rows.iter().map(of).sum();
    Row {
        error_mean_m: mean(|row| row.error_mean_m),
        error_max_m: rows.iter().map(|row| row.error_max_m).fold(0.0, f64::max),
        messages_per_s: mean(|row| row.messages_per_s),
        bytes_per_s: mean(|row| row.bytes_per_s),
        motions_per_s: mean(|row| row.motions_per_s),
        fewer_messages: mean(|row| row.fewer_messages),
        fewer_bytes: mean(|row| row.fewer_bytes),
        contests: sum(|row| row.contests),
        by_none: sum(|row| row.by_none),
        by_one: sum(|row| row.by_one),
        by_both: sum(|row| row.by_both),
        denied: sum(|row| row.denied),
        common_ms_p50: mean(|row| row.common_ms_p50),
        common_ms_p99: mean(|row| row.common_ms_p99),
        ..rows.first().cloned().unwrap_or_default()
    }
}

fn outcomes(row: &mut Row, measured: &Measured) {
    let rank = |share: usize| {
        let sorted = &measured.to_common_us;
        let at = (sorted.len() * share).div_ceil(100).saturating_sub(1);
        sorted.get(at).map_or(0.0, |&us| us as f64 * 1e-3)
    };
    row.contests = measured.contests;
    row.by_none = measured.by_none;
    row.by_one = measured.by_one;
    row.by_both = measured.by_both;
    row.denied = measured.denied;
    (row.common_ms_p50, row.common_ms_p99) = (rank(50), rank(99));
}

fn add(sums: &mut Vec<Promise>, more: &[Promise]) {
    if sums.is_empty() {
        sums.extend_from_slice(more);
        return;
    }
    for (sum, more) in sums.iter_mut().zip(more) {
        sum.checks += more.checks;
        sum.violations += more.violations;
        sum.first = sum.first.take().or_else(|| more.first.clone());
    }
}

impl Peers {
    /// Whether all promises held, in all runs.
    pub fn holds(&self) -> bool {
        self.promises.iter().all(|promise| promise.violations == 0)
    }

    /// The promises that did not.
    pub fn failures(&self) -> Vec<String> {
        let broken = self.promises.iter().filter(|promise| promise.violations > 0);
        let text = |promise: &Promise| {
            format!(
                "{}: {} of {}; first: {}",
                promise.promise,
                promise.violations,
                promise.checks,
                promise.first.as_deref().unwrap_or_default()
            )
        };
        broken.map(text).collect()
    }

    /// Everything worth keeping.
    pub fn documents(&self) -> Vec<Document> {
        let all: Vec<&Row> = self.rows.iter().chain(&self.trade_off).chain(&self.rough).collect();
        let mut documents =
            vec![Document::page(&page::page(self)), Document::csv("peers", &all), Document::json("peers", self)];
        documents.extend(Document::plots(figures::all(self)));
        documents
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let verdicts: Vec<String> = self.verdicts.iter().map(Verdict::to_string).collect();
        format!(
            "{}\nThe consistency-throughput trade-off:\n{}\nOn bad networks:\n{}\n{}\n",
            table(&self.rows),
            table(&self.trade_off),
            table(&self.rough),
            verdicts.join("\n\n")
        )
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "policy",
        "hosts",
        "limit",
        "loss",
        "mean m",
        "max m",
        "messages/s",
        "bytes/s",
        "updates/s",
        "fewer",
        "fewer bytes",
        "contests",
        "none",
        "one",
        "both",
        "denied",
        "p50 ms",
        "p99 ms",
    ]);
    for row in rows {
        let limit = if row.limit_m < 0.0 { "frames".to_owned() } else { row.limit_m.to_string() };
        table.row([
            row.policy.to_owned(),
            row.hosts.to_string(),
            limit,
            row.loss.to_string(),
            format!("{:.3}", row.error_mean_m),
            format!("{:.2}", row.error_max_m),
            format!("{:.1}", row.messages_per_s),
            format!("{:.0}", row.bytes_per_s),
            format!("{:.1}", row.motions_per_s),
            format!("{:.1}", row.fewer_messages),
            format!("{:.1}", row.fewer_bytes),
            row.contests.to_string(),
            row.by_none.to_string(),
            row.by_one.to_string(),
            row.by_both.to_string(),
            row.denied.to_string(),
            format!("{:.0}", row.common_ms_p50),
            format!("{:.0}", row.common_ms_p99),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_run_keeps_the_promises_and_nonsense_is_refused() {
        let settings = Settings { hosts: 3, seconds: 10, contests: 1, ..Settings::default() };
        let report = run(&settings, &mut |_, _| {}).unwrap();
        assert!(report.holds(), "seed 1: {:?}", report.failures());
        assert_eq!(report.rows.len(), 4);
        let (frames, limit) = (&report.trade_off[0], &report.trade_off[3]);
        assert!(frames.error_mean_m < limit.error_mean_m && frames.messages_per_s > 3.0 * limit.messages_per_s);
        let refused = run(&Settings { hosts: 1, ..settings }, &mut |_, _| {}).unwrap_err();
        assert_eq!(refused.to_string(), "`hosts` is 1, expected 2 to 64");
    }
}

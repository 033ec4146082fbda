//! Contests on bad networks: jitter, loss, duplicates, reordering, partitions, crashes, late joiners and leavers.

use motion::decision::Policy;
use rayon::prelude::*;
use sim::peers::{self, Report as Measured, hall};
use sim::promises::Promises;

use super::Settings;
use super::row::Row;

/// Shares of messages that are lost.
const LOSSES: [f64; 3] = [0.0, 0.05, 0.2];
/// Hosts, round by round, if there may be as many.
const HOSTS: [usize; 6] = [6, 2, 16, 4, 32, 8];
/// Seconds of one run.
const SECONDS: [u32; 2] = [20, 120];

/// Runs all policies and losses in turn, until there were as many contests as were asked for. Counts promises in
/// `promises`; `progress` is told how many contests there were.
pub(super) fn run(settings: &Settings, promises: &mut Promises, progress: &mut dyn FnMut(u64)) -> Vec<Row> {
    let cases: Vec<(Policy, f64)> =
        Policy::ALL.into_iter().flat_map(|(policy, _)| LOSSES.map(|loss| (policy, loss))).collect();
    let case = |policy: Policy, loss: f64, round: u64| peers::Settings {
        hosts: HOSTS[round as usize % HOSTS.len()].min(settings.hosts),
        cell: hall::CROWDED,
        seconds: settings.seconds.clamp(SECONDS[0], SECONDS[1]),
        rules: peers::rules(policy),
        link: peers::Settings::rough(i64::from(settings.latency_ms), loss),
        upsets: true,
        seed: settings.seed.wrapping_add(1_000 + round),
    };
    let mut runs: Vec<Vec<Measured>> = vec![Vec::new(); cases.len()];
    let (mut contests, mut round) = (0, 0);
    while contests < settings.contests {
        progress(contests);
        let done: Vec<Measured> = cases
            .par_iter()
            .map(|&(policy, loss)| {
                peers::run(&case(policy, loss, round), &mut |_, _| {}).expect("the plan makes sense")
            })
            .collect();
        for ((&(policy, loss), runs), measured) in cases.iter().zip(&mut runs).zip(done) {
            let peers::Settings { hosts, seed, .. } = case(policy, loss, round);
            let name = format!("{hosts} hosts, {}, loss {loss}, seed {seed}", policy.name());
            promises.add(&measured.promises, &name);
            contests += measured.outcomes.contests;
            runs.push(measured);
        }
        round += 1;
        // Two hosts may not meet at all; if none ever do, more of the same would not end.
        if contests == 0 && round >= HOSTS.len() as u64 {
            break;
        }
    }
    let most = (0..round).map(|round| case(Policy::HostId, 0.0, round).hosts).max().unwrap_or_default();
    let rows = cases.iter().zip(&runs).filter(|(_, runs)| !runs.is_empty());
    rows.map(|(&(policy, loss), runs)| {
        let settings = peers::Settings { hosts: most, ..case(policy, loss, 0) };
        Row::new(policy.name(), &settings, runs)
    })
    .collect()
}

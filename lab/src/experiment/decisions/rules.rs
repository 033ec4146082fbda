//! All rules on the same encounters, setting by setting.

use motion::decision::{Digest, Episode, EpisodeSettings, Policy, SimpleRule, Standing};
use rayon::prelude::*;
use space::Time;

use super::settle::settle;
use super::sighting::{CLOCK_ERROR_US, Conditions, EPOCH_US, HostView, RADIUS, Sighting, sighting};
use super::{Counts, HOSTS, Row, Rule, Settings, needed_delay};

/// The longest latencies, in milliseconds.
const LATENCIES_MS: [u32; 2] = [100, 250];
/// The shares of messages lost.
const LOSSES: [f64; 3] = [0.0, 0.05, 0.2];
/// How many digests a message carries.
const REPEATS: [u32; 3] = [1, 3, 5];
/// By how many epochs the delay falls short of what is needed: not at all, or by one, to see what happens.
const SHORT: [u32; 2] = [0, 1];
/// Closing times, in milliseconds; the first is deliberately too small.
const CLOSING_MS: [u32; 3] = [300, 1_500, 3_000];

/// One row per rule, policy, loss, latency, and for the episode rule its three numbers.
pub fn run_all(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Vec<Row> {
    let mut rows = Vec::new();
    let total = (LOSSES.len() * LATENCIES_MS.len() * REPEATS.len()) as u32;
    let mut done = 0;
    for loss in LOSSES {
        for latency_ms in LATENCIES_MS {
            for repeats in REPEATS {
                rows.extend(run_setting(settings, loss, latency_ms, repeats));
                done += 1;
                progress(done, total);
            }
        }
    }
    // Stable: within a rule the order of the sweep stays.
    rows.sort_by_key(|row| row.rule);
    rows
}

/// All rules on the same encounters.
fn run_setting(settings: &Settings, loss: f64, latency_ms: u32, repeats: u32) -> Vec<Row> {
    let conditions = Conditions { latency_us_max: i64::from(latency_ms) * 1_000, loss, repeats };
    let empty = blank_rows(loss, latency_ms, repeats);
    let seeds: Vec<u64> =
        (0..u64::from(settings.encounters)).map(|number| settings.seed.wrapping_add(number)).collect();
    // Chunks are of fixed size and sums are of integers: how many threads there are does not show.
    let parts: Vec<Vec<Row>> = seeds
        .par_chunks(256)
        .map(|seeds| {
            let mut rows = empty.clone();
            for &seed in seeds {
                judge_sighting(&sighting(conditions, seed), seed, &mut rows);
            }
            rows
        })
        .collect();
    let mut rows = empty;
    for part in parts {
        for (row, part) in rows.iter_mut().zip(&part) {
            row.counts.add(&part.counts);
        }
    }
    rows
}

/// One row per rule, with nothing counted. Rules without digests are counted once, with the first number of repeats.
fn blank_rows(loss: f64, latency_ms: u32, repeats: u32) -> Vec<Row> {
    let row = |rule, policy| Row { rule, policy, loss, latency_ms, k: 0, d: 0, tau_c: 0.0, counts: Counts::default() };
    let mut rows = Vec::new();
    if repeats == REPEATS[0] {
        rows.push(row(Rule::LowestHost, Policy::HostId));
        for (policy, _) in Policy::ALL {
            rows.push(row(Rule::Newest, policy));
            rows.push(row(Rule::Paper, policy));
        }
    }
    for (policy, _) in Policy::ALL {
        for short in SHORT {
            for closing in CLOSING_MS {
                let d = needed_delay(latency_ms, repeats) - short;
                rows.push(Row { k: repeats, d, tau_c: f64::from(closing) * 1e-3, ..row(Rule::Episode, policy) });
            }
        }
    }
    rows
}

fn judge_sighting(sighting: &Sighting, seed: u64, rows: &mut [Row]) {
    for row in rows {
        let rule = match row.rule {
            Rule::LowestHost => SimpleRule::LowestHost,
            Rule::Newest => SimpleRule::Newest(row.policy),
            Rule::Paper => SimpleRule::Past(row.policy),
            Rule::Episode => {
                judge_episode(sighting, seed, row);
                continue;
            }
        };
        row.counts.count(decide_simply(sighting, rule, row.latency_ms));
    }
}

fn decide_simply(sighting: &Sighting, rule: SimpleRule, latency_ms: u32) -> [bool; 2] {
    [0, 1].map(|index| {
        let host = &sighting.hosts[index];
        let until = match rule {
            // Longer ago than any message takes, clocks and the sender's pace included.
            SimpleRule::Past(_) => host.detected + -(i64::from(latency_ms) * 1_000 + 2 * CLOCK_ERROR_US + 50_000),
            _ => host.detected,
        };
        let before = |updates: &[(Time, Digest)]| -> Vec<Digest> {
            updates.iter().filter(|(stamp, _)| *stamp <= until).map(|&(_, digest)| digest).collect()
        };
        let (own, other) = (before(&host.own_updates), before(&host.heard_updates));
        rule.decides((HOSTS[index], &own), (HOSTS[1 - index], &other))
    })
}

fn judge_episode(sighting: &Sighting, seed: u64, row: &mut Row) {
    let settings = EpisodeSettings {
        policy: row.policy,
        radius: (RADIUS * 1024.0) as i64,
        closing_us: (row.tau_c * 1e6) as i64,
        epoch_us: EPOCH_US,
        delay: row.d,
    };
    let standings = [0, 1].map(|index| standing(&sighting.hosts[index], index, settings));
    let decides =
        [0, 1].map(|index| matches!(standings[index], Standing::InTerm { decider, .. } if decider == HOSTS[index]));
    let counts = &mut row.counts;
    counts.count(decides);
    let term = |standing: &Standing| match standing {
        Standing::InTerm { term, .. } => Some(*term),
        _ => None,
    };
    let is_same_term = term(&standings[0]) == term(&standings[1]);
    if decides[0] == decides[1] {
        if standings.iter().any(|standing| matches!(standing, Standing::Uninformed { .. })) {
            counts.uninformed += 1;
        } else if standings.contains(&Standing::Outside) {
            counts.outside += 1;
        } else if !is_same_term {
            counts.different_terms += 1;
        } else {
            counts.other += 1;
        }
    }
    counts.both_in_one_term += u64::from(decides == [true, true] && is_same_term);
    let (differ, unanswered) = settle(sighting, seed, &standings);
    counts.verdicts_differ += u64::from(differ);
    counts.unanswered += unanswered;
}

fn standing(host: &HostView, index: usize, settings: EpisodeSettings) -> Standing {
    let mut episode = Episode::new(settings, HOSTS[0], HOSTS[1], 0);
    for &digest in &host.own {
        episode.handle(HOSTS[index], digest);
    }
    for &digest in &host.heard {
        episode.handle(HOSTS[1 - index], digest);
    }
    episode.standing((host.detected.micros().max(0) / EPOCH_US) as u32)
}

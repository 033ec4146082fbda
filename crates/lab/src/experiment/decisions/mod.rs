//! Which host's word counts? Ohlenburg's paper lets both hosts decide by themselves, on values of a moment long enough
//! ago. Here it is counted how often that leaves two deciders or none, and the episode rule is held to its promises.

mod encounter;

use motion::decision::{
    Claim, Digest, Docket, Episode, EpisodeSettings, ObjectPair, Policy, SimpleRule, Standing, Tentative,
    Verdict as Ruling, Verdicts,
};
use motion::state::KinematicState;
use rayon::prelude::*;
use serde::Serialize;
use space::workload::Random;
use space::{DVec3, NodeId, ObjectId, Time};

use self::encounter::{CLOCK_ERROR_US, Circumstances, EPOCH_US, Encounter, Host, RADIUS, encounter};
use super::Document;
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use crate::report::table::Table;
use crate::report::verdict::{Outcome, Verdict};
use crate::setting::{self, OutOfRange};

/// The most encounters per setting.
pub const ENCOUNTERS_MAX: u32 = 1_000_000;
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
/// The lower host and the higher.
const HOSTS: [NodeId; 2] = [NodeId::new(1), NodeId::new(2)];
/// Verdicts about contacts no farther apart than this are about the same one, in microseconds.
const OVERLAP_US: i64 = 2_000_000;
/// The latency bound that the session publishes, in microseconds.
const LATENCY_US_BOUND: i64 = 250_000;

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Encounters per setting.
    pub encounters: u32,
    /// The first encounter's seed.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { encounters: 10_000, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Decisions {
    /// The command that repeats the run.
    pub command: String,
    /// Encounters per setting.
    pub encounters: u32,
    /// The first encounter's seed.
    pub seed: u64,
    /// One per rule, policy, loss, latency, and for the episode rule its three numbers.
    pub rows: Vec<Row>,
    /// The paper's claims and our promises.
    pub verdicts: Vec<Verdict>,
}

/// How one rule did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// `newest`, `paper`, `lowest-host` or `episode`.
    pub rule: &'static str,
    /// Who should decide.
    pub policy: &'static str,
    /// The share of messages lost.
    pub loss: f64,
    /// The longest way of a message.
    pub latency_ms: u32,
    /// Digests per message; zero for rules without digests.
    pub k: u32,
    /// Epochs before a digest counts.
    pub d: u32,
    /// The closing time, in seconds.
    pub tau_c: f64,
    /// Encounters that both hosts saw.
    pub encounters: u64,
    /// Nobody decided.
    pub none: u64,
    /// One did.
    pub one: u64,
    /// Both did.
    pub both: u64,
    /// Failures of the episode rule where a host lacked a digest.
    pub uninformed: u64,
    /// Failures where a host was in no term.
    pub outside: u64,
    /// Failures where the two were in different terms.
    pub different_terms: u64,
    /// Failures that nothing explains: there must be none.
    pub other: u64,
    /// Encounters where both decided in one term: there must be none.
    pub both_in_one_term: u64,
    /// Encounters after which hosts held different verdicts: there must be none.
    pub verdicts_differ: u64,
    /// Claims that were neither answered nor ran out: there must be none.
    pub unanswered: u64,
}

/// Runs everything. `progress` is told how many settings are done, of how many.
pub fn run(settings: &Settings, progress: &mut dyn FnMut(u32, u32)) -> Result<Decisions, OutOfRange> {
    setting::check([("encounters", f64::from(settings.encounters), 1.0..=f64::from(ENCOUNTERS_MAX), "1 to 1000000")])?;
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
    let rank = |rule: &str| ["lowest-host", "newest", "paper", "episode"].iter().position(|known| *known == rule);
    // Stable: within a rule the order of the sweep stays.
    rows.sort_by_key(|row| rank(row.rule));
    let verdicts = judge(&rows);
    let command = format!("kinesphere lab decisions --encounters {} --seed {}", settings.encounters, settings.seed);
    Ok(Decisions { command, encounters: settings.encounters, seed: settings.seed, rows, verdicts })
}

impl Decisions {
    /// Whether the episode rule keeps its promises.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.broken() == 0)
    }

    /// The first rows whose promises are broken.
    pub fn failures(&self) -> Vec<String> {
        let broken = self.rows.iter().filter(|row| row.broken() > 0).take(5);
        broken
            .map(|row| {
                format!(
                    "{} {} at loss {}, {} ms, k {}, d {}, tau_c {}: {} other, {} both in one term, {} verdicts differ, {} \
                     claims unanswered",
                    row.rule,
                    row.policy,
                    row.loss,
                    row.latency_ms,
                    row.k,
                    row.d,
                    row.tau_c,
                    row.other,
                    row.both_in_one_term,
                    row.verdicts_differ,
                    row.unanswered
                )
            })
            .collect()
    }

    /// Everything worth keeping.
    pub fn documents(&self) -> Vec<Document> {
        let page = Page {
            title: "Whose word counts?".to_owned(),
            lead: format!(
                "Two hosts see their objects collide, and one of them must decide. {} encounters per setting, with clocks, \
                 delays, losses, duplicates and changes of speed.",
                grouped(u64::from(self.encounters))
            ),
            sections: vec![
                Section { heading: "Verdicts".to_owned(), blocks: vec![Block::Verdicts(self.verdicts.clone())] },
                Section { heading: "All settings".to_owned(), blocks: vec![Block::Table(table(&self.rows))] },
            ],
            command: self.command.clone(),
        };
        vec![Document::page(&page), Document::csv("decisions", &self.rows), Document::json("decisions", self)]
    }

    /// The report for a terminal: the settings that are meant to work, and the verdicts.
    pub fn to_text(&self) -> String {
        let shown: Vec<Row> = self.rows.iter().filter(|row| row.k == 0 || row.is_sufficient()).cloned().collect();
        format!("{}\n{}\n", table(&shown), Verdict::list(&self.verdicts))
    }
}

impl Row {
    fn broken(&self) -> u64 {
        self.other + self.both_in_one_term + self.verdicts_differ + self.unanswered
    }

    /// Whether the delay covers what it must, and the closing time has room for changes of speed.
    fn is_sufficient(&self) -> bool {
        self.k > 0 && self.d == needed_delay(self.latency_ms, self.k) && self.tau_c == 3.0
    }

    fn add(&mut self, other: &Row) {
        self.encounters += other.encounters;
        self.none += other.none;
        self.one += other.one;
        self.both += other.both;
        self.uninformed += other.uninformed;
        self.outside += other.outside;
        self.different_terms += other.different_terms;
        self.other += other.other;
        self.both_in_one_term += other.both_in_one_term;
        self.verdicts_differ += other.verdicts_differ;
        self.unanswered += other.unanswered;
    }

    fn count(&mut self, decides: [bool; 2]) {
        self.encounters += 1;
        match decides {
            [true, true] => self.both += 1,
            [false, false] => self.none += 1,
            _ => self.one += 1,
        }
    }
}

fn needed_delay(latency_ms: u32, repeats: u32) -> u32 {
    EpisodeSettings::delay_for(i64::from(latency_ms) * 1_000, 2 * CLOCK_ERROR_US, repeats, EPOCH_US)
}

/// All rules on the same encounters.
fn run_setting(settings: &Settings, loss: f64, latency_ms: u32, repeats: u32) -> Vec<Row> {
    let circumstances = Circumstances { latency_us_max: i64::from(latency_ms) * 1_000, loss, repeats };
    let empty = blank_rows(loss, latency_ms, repeats);
    let seeds: Vec<u64> =
        (0..u64::from(settings.encounters)).map(|number| settings.seed.wrapping_add(number)).collect();
    // Chunks are of fixed size and sums are of integers: how many threads there are does not show.
    let parts: Vec<Vec<Row>> = seeds
        .par_chunks(256)
        .map(|seeds| {
            let mut rows = empty.clone();
            for &seed in seeds {
                judge_encounter(&encounter(circumstances, seed), seed, &mut rows);
            }
            rows
        })
        .collect();
    let mut rows = empty;
    for part in parts {
        for (row, part) in rows.iter_mut().zip(&part) {
            row.add(part);
        }
    }
    rows
}

/// One row per rule, with nothing counted. Rules without digests are counted once, with the first number of repeats.
fn blank_rows(loss: f64, latency_ms: u32, repeats: u32) -> Vec<Row> {
    let row = |rule, policy| Row { rule, policy, loss, latency_ms, ..Row::default() };
    let mut rows = Vec::new();
    if repeats == REPEATS[0] {
        rows.push(row("lowest-host", "host-id"));
        for (_, policy) in Policy::ALL {
            rows.push(row("newest", policy));
            rows.push(row("paper", policy));
        }
    }
    for (_, policy) in Policy::ALL {
        for short in SHORT {
            for closing in CLOSING_MS {
                let d = needed_delay(latency_ms, repeats) - short;
                rows.push(Row { k: repeats, d, tau_c: f64::from(closing) * 1e-3, ..row("episode", policy) });
            }
        }
    }
    rows
}

fn judge_encounter(encounter: &Encounter, seed: u64, rows: &mut [Row]) {
    for row in rows {
        let policy = Policy::ALL.iter().find(|(_, name)| *name == row.policy).expect("rows name policies").0;
        match row.rule {
            "lowest-host" => row.count(decide_simply(encounter, SimpleRule::LowestHost, row.latency_ms)),
            "newest" => row.count(decide_simply(encounter, SimpleRule::Newest(policy), row.latency_ms)),
            "paper" => row.count(decide_simply(encounter, SimpleRule::Past(policy), row.latency_ms)),
            _ => judge_episode(encounter, seed, policy, row),
        }
    }
}

fn decide_simply(encounter: &Encounter, rule: SimpleRule, latency_ms: u32) -> [bool; 2] {
    [0, 1].map(|index| {
        let host = &encounter.hosts[index];
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

fn judge_episode(encounter: &Encounter, seed: u64, policy: Policy, row: &mut Row) {
    let settings = EpisodeSettings {
        policy,
        radius: (RADIUS * 1024.0) as i64,
        closing_us: (row.tau_c * 1e6) as i64,
        epoch_us: EPOCH_US,
        delay: row.d,
    };
    let standings = [0, 1].map(|index| standing(&encounter.hosts[index], index, settings));
    let decides =
        [0, 1].map(|index| matches!(standings[index], Standing::InTerm { decider, .. } if decider == HOSTS[index]));
    row.count(decides);
    let term = |standing: &Standing| match standing {
        Standing::InTerm { term, .. } => Some(*term),
        _ => None,
    };
    let is_same_term = term(&standings[0]) == term(&standings[1]);
    if decides[0] == decides[1] {
        if standings.iter().any(|standing| matches!(standing, Standing::Uninformed { .. })) {
            row.uninformed += 1;
        } else if standings.contains(&Standing::Outside) {
            row.outside += 1;
        } else if !is_same_term {
            row.different_terms += 1;
        } else {
            row.other += 1;
        }
    }
    row.both_in_one_term += u64::from(decides == [true, true] && is_same_term);
    let (differ, unanswered) = settle(encounter, seed, &standings);
    row.verdicts_differ += u64::from(differ);
    row.unanswered += unanswered;
}

fn standing(host: &Host, index: usize, settings: EpisodeSettings) -> Standing {
    let mut episode = Episode::new(settings, HOSTS[0], HOSTS[1], 0);
    for &digest in &host.own {
        episode.handle(HOSTS[index], digest);
    }
    for &digest in &host.heard {
        episode.handle(HOSTS[1 - index], digest);
    }
    episode.standing((host.detected.micros().max(0) / EPOCH_US) as u32)
}

/// Lets deciders send verdicts, the others claims and deciders answers, until all is delivered, in any order and some
/// twice. Says whether the two hosts and a bystander hold different verdicts then, and how many claims were left open.
fn settle(encounter: &Encounter, seed: u64, standings: &[Standing; 2]) -> (bool, u64) {
    let object = |number| ObjectId::new(number).expect("one and two are names");
    let pair = ObjectPair::new(object(1), object(2));
    let mut dockets = HOSTS.map(|host| Docket::new(host, OVERLAP_US));
    let mut sent: Vec<Ruling> = Vec::new();
    let mut waiting: Vec<(usize, Tentative)> = Vec::new();
    for index in [0, 1] {
        let contact = encounter.hosts[index].detected;
        let term = match standings[index] {
            Standing::InTerm { term, .. } => Some(term),
            _ => None,
        };
        let claim = Claim { pair, term, contact };
        match dockets[index].decide(claim, standings[index], Some(after(&encounter.hosts[index], index))) {
            Some(ruling) => sent.push(ruling),
            None => waiting.push((index, Tentative { claim, since: contact })),
        }
    }
    let mut open = 0;
    for (index, tentative) in waiting {
        // Each claim comes twice: an answer must not depend on how often it is asked for.
        let decider = &mut dockets[1 - index];
        let answers = [0, 1].map(|_| decider.answer(tentative.claim, standings[1 - index]));
        match answers {
            [Some(one), Some(other)] if one == other => sent.push(one),
            [None, None] => {
                // Nobody's to decide: the claim runs out, and each goes on with its own motion.
                let last = tentative.since + 2 * (LATENCY_US_BOUND + EPOCH_US) + 1;
                open += u64::from(!tentative.is_dropped(last, LATENCY_US_BOUND, EPOCH_US));
            }
            _ => open += 1,
        }
    }
    let mut random = Random::new(seed ^ 0x5eed);
    let mut held = [0, 1, 2].map(|_| Verdicts::new(OVERLAP_US));
    for verdicts in &mut held {
        let mut order = sent.clone();
        for place in (1..order.len()).rev() {
            order.swap(place, random.whole(0, place as u32 + 1) as usize);
        }
        if let Some(&again) = order.first().filter(|_| random.unit() < 0.3) {
            order.push(again);
        }
        for ruling in order {
            verdicts.handle(ruling);
        }
    }
    let [one, other, bystander] = held.map(|verdicts| verdicts.counting());
    // Two verdicts that count about one contact would be two truths. Hosts that see theirs farther apart than that saw
    // two: a replica that turned away in time, and later the real one.
    let apart_us = encounter.hosts[0].detected - encounter.hosts[1].detected;
    let is_split = one.len() > 1 && apart_us.abs() <= OVERLAP_US;
    (one != other || one != bystander || is_split, open)
}

/// The states after a collision as this host sees it: the two exchange their velocities.
fn after(host: &Host, index: usize) -> [KinematicState; 2] {
    let metres = |steps: [i64; 3]| DVec3::from_array(steps.map(|step| step as f64 / 1024.0));
    let newest =
        |updates: &[(Time, Digest)]| updates.last().map_or(([0; 3], [0; 3]), |(_, digest)| (digest.pos, digest.vel));
    let ((own_pos, own_vel), (other_pos, other_vel)) = (newest(&host.own_updates), newest(&host.heard_updates));
    let moving = |pos, vel| KinematicState { vel: metres(vel), ..KinematicState::at_rest(host.detected, metres(pos)) };
    let states = [moving(own_pos, other_vel), moving(other_pos, own_vel)];
    if index == 0 { states } else { [states[1], states[0]] }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "rule",
        "policy",
        "loss",
        "ms",
        "k",
        "d",
        "tau_c",
        "none",
        "one",
        "both",
        "uninformed",
        "outside",
        "different terms",
        "other",
    ]);
    for row in rows {
        let percent = |count: u64| format!("{:.2} %", 100.0 * count as f64 / row.encounters.max(1) as f64);
        let mut cells = vec![
            row.rule.to_owned(),
            row.policy.to_owned(),
            row.loss.to_string(),
            row.latency_ms.to_string(),
            row.k.to_string(),
            row.d.to_string(),
            row.tau_c.to_string(),
        ];
        cells.extend([row.none, row.one, row.both].map(percent));
        cells.extend([row.uninformed, row.outside, row.different_terms, row.other].map(grouped));
        table.row(cells);
    }
    table
}

fn judge(rows: &[Row]) -> Vec<Verdict> {
    let sum =
        |rule: &'static str, of: fn(&Row) -> u64| rows.iter().filter(move |row| row.rule == rule).map(of).sum::<u64>();
    let share = |row: &Row| 100.0 * (row.none + row.both) as f64 / row.encounters.max(1) as f64;
    let worst = |rule: &'static str, is_lossy: bool| {
        let chosen = rows.iter().filter(move |row| row.rule == rule && (row.loss > 0.0) == is_lossy);
        chosen.map(share).fold(0.0, f64::max)
    };
    let verdict = |claim: &str, source: &str, cases: Vec<bool>, evidence: String| Verdict {
        claim: claim.to_owned(),
        source: source.to_owned(),
        outcome: Outcome::of_cases(cases),
        evidence,
    };
    let sufficient = || rows.iter().filter(|row| row.is_sufficient());
    let sufficient_worst =
        |is_chosen: &dyn Fn(&Row) -> bool| sufficient().filter(|row| is_chosen(row)).map(share).fold(0.0, f64::max);
    let too_small = rows.iter().filter(|row| row.rule == "episode" && row.tau_c < 1.0).map(share).fold(0.0, f64::max);
    vec![
        verdict(
            "Values of a time longer ago than any latency let both hosts decide alike",
            "Ohlenburg",
            rows.iter().filter(|row| row.rule == "paper").map(|row| row.none + row.both == 0).collect(),
            format!(
                "Two deciders or none in up to {:.2} % of encounters without loss and {:.2} % with it: each host counts back \
                 from its own detection. On the newest values it is {:.2} % and {:.2} %.",
                worst("paper", false),
                worst("paper", true),
                worst("newest", false),
                worst("newest", true)
            ),
        ),
        verdict(
            "The lower host id always gives one decider",
            "Ohlenburg",
            rows.iter()
                .filter(|row| row.policy == "host-id" && row.rule == "lowest-host")
                .map(|row| row.none + row.both == 0)
                .collect(),
            format!(
                "{} encounters, {} without exactly one decider.",
                grouped(sum("lowest-host", |row| row.encounters)),
                sum("lowest-host", |row| row.none + row.both)
            ),
        ),
        verdict(
            "With episodes there are never two deciders in one term, every failure is explained, and all end with one verdict",
            "our promise",
            rows.iter().filter(|row| row.rule == "episode").map(|row| row.broken() == 0).collect(),
            format!(
                "{} judgements: {} with both in one term, {} labelled other, {} with different verdicts.",
                grouped(sum("episode", |row| row.encounters)),
                sum("episode", |row| row.both_in_one_term),
                sum("episode", |row| row.other),
                sum("episode", |row| row.verdicts_differ)
            ),
        ),
        verdict(
            "With episodes exactly one decides whenever both hosts are informed and in the same term",
            "our promise",
            rows.iter().filter(|row| row.rule == "episode").map(|row| row.other == 0).collect(),
            format!(
                "Where they are not, it may be none: with a closing time of 3 s in up to {:.2} % of encounters without loss, after \
                 halts and turns that leave a term just before the contact. With 20 % loss, where an uninformed host is silent: {:.1} % with 1 digest per message, {:.1} % with 3, {:.2} % \
                 with 5. With a closing time of 0.3 s: up to {too_small:.1} %.",
                sufficient_worst(&|row| row.loss == 0.0),
                sufficient_worst(&|row| row.loss == 0.2 && row.k == 1),
                sufficient_worst(&|row| row.loss == 0.2 && row.k == 3),
                sufficient_worst(&|row| row.loss == 0.2 && row.k == 5)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_keep_their_promises() {
        let report = run(&Settings { encounters: 120, seed: 1 }, &mut |_, _| {}).unwrap();
        assert!(report.holds(), "seed 1: {:?}", report.failures());
        let count = |rule: &str, of: fn(&Row) -> u64| -> u64 {
            report.rows.iter().filter(|row| row.rule == rule).map(of).sum()
        };
        assert_eq!(count("lowest-host", |row| row.none + row.both), 0);
        assert!(count("newest", |row| row.none + row.both) > 0, "the weakness of the simple rules must show");
        assert!(count("paper", |row| row.none + row.both) > 0, "the weakness of the paper's rule must show");
        assert!(count("episode", |row| row.encounters) > 5_000);
        assert!(report.rows.iter().all(|row| row.none + row.one + row.both == row.encounters));
    }

    #[test]
    fn a_run_repeats_and_nonsense_is_refused() {
        let small = || run(&Settings { encounters: 20, seed: 7 }, &mut |_, _| {}).unwrap().rows;
        assert_eq!(small(), small());
        let refused = run(&Settings { encounters: 0, seed: 1 }, &mut |_, _| {}).unwrap_err();
        assert_eq!(refused.to_string(), "`encounters` is 0, expected 1 to 1000000");
    }
}

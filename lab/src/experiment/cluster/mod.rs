//! Many servers as one world: what it costs, how long it takes, and whether it holds.
//!
//! A calm run measures what goes between nodes; runs with a kill measure how soon another node goes on; runs on bad
//! networks look whether the promises hold; and a cluster that grows with its space shows what a node costs then.

mod claims;
mod figures;
mod page;
mod scale;
mod scaling;
mod spent;
mod tape;

use std::ops::Range;

use clap::Args;
use kinesphere::failure::Failure;
use kinesphere::table::Table;
use rayon::prelude::*;
use serde::{Serialize, Serializer};
use sim::nodes::{self, Report as Measured, explore};
use sim::promises::Promises;
use wire::cluster::NODES_MAX;

use self::scaling::{BorderRow, Row};
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::number::{grouped, nearest_rank};
use crate::report::page::{Document, Page};
use crate::stopwatch::Stopwatch;
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// Many servers as one world: what does it cost, and does it hold whatever dies?
///
/// Lets many servers be one world, in the lab's own time: measures what goes between them, kills some, and looks
/// whether an object is ever lost, doubled or in another's place. Fails if a promise is broken.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// Nodes of the measured cluster
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = range(2..=16usize))]
    pub nodes: usize,
    /// Users per node
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = range(1..=300usize))]
    pub users: usize,
    /// Seconds of the measured run, of the nodes' time
    #[arg(long, default_value_t = 60, value_name = "S", value_parser = range(10..=3_600u32))]
    pub seconds: u32,
    /// Runs on bad networks: from the first seed up to, and without, the last
    #[arg(long, default_value = "0..200", value_name = "FROM..TO", value_parser = seeds)]
    pub seeds: Seeds,
    /// The most nodes of clusters that grow with their space
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = range(1..=64usize))]
    pub scale_to: usize,
    /// The most steps of all interleavings of one object among three nodes
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = range(1..=20usize))]
    pub depth: usize,
}

/// A range of seeds, written `FROM..TO`.
#[derive(Clone, Debug)]
pub struct Seeds(Range<u64>);

impl Seeds {
    fn words(&self) -> String {
        format!("{}..{}", self.0.start, self.0.end)
    }
}

impl Serialize for Seeds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.words())
    }
}

fn seeds(text: &str) -> Result<Seeds, String> {
    let wrong = || format!("`{text}` is no range of seeds, expected FROM..TO as in 0..200");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let (from, to): (u64, u64) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    if from <= to && to - from <= 1_000_000 { Ok(Seeds(from..to)) } else { Err(wrong()) }
}

/// What was measured beside the rows, which say what a node costs as nodes are added.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterFacts {
    /// Batches between nodes, over those that were needed.
    pub messages_over_needed: f64,
    /// Their bytes, over those that were needed.
    pub bytes_over_needed: f64,
    /// From a move to the tick of another node that tells of it, in milliseconds.
    pub move_latency_ms: Percentiles,
    /// Ticks that an object stands at a border for want of a room, per hand-over.
    pub border_delay_ticks: f64,
    /// From a kill until each object of the killed node may be moved again, in seconds.
    pub resume_s: Percentiles,
    /// Objects that change hands per second, in the calm run.
    pub handovers_per_s: f64,
    /// Over all runs.
    pub handovers: u64,
    /// Objects that were adopted, over all runs.
    pub adopted: u64,
    /// Times that something was made to go wrong.
    pub upsets: u64,
    /// Objects that no node had in the end.
    pub objects_lost: u64,
    /// Objects that several had.
    pub objects_doubled: u64,
    /// Bytes of copies per object and second, in the calm run.
    pub copy_bytes_per_object_s: f64,
    /// Seeds on bad networks that broke a promise.
    pub broken_seeds: Vec<u64>,
    /// States of one object among three nodes that were looked at, and steps between them.
    pub explored_states: usize,
    pub explored_steps: u64,
    /// All interleavings up to this many steps.
    pub explored_depth: usize,
    /// Whether one of them went wrong.
    pub explored_failure: Option<String>,
    /// What a border costs, by its length.
    pub borders: Vec<BorderRow>,
    /// What a large world would take.
    pub estimate: Vec<Estimate>,
    /// The promises, over all runs.
    pub promises: Promises,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half are not longer.
    pub p50: f64,
    /// Ninety-nine of a hundred are not.
    pub p99: f64,
}

/// One line of the estimate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub quantity: &'static str,
    pub value: String,
    /// How it is worked out.
    pub how: String,
}

/// Space per node in the measured cluster: a square of this edge, in metres.
const SIDE: f32 = 44.0;

impl Study for Settings {
    const NAME: &'static str = "cluster";
    const EXAMPLE: &'static str = "--nodes 6 --seeds 0..2000 --json";
    const UNIT: &'static str = "runs";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = ClusterFacts;

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let seeds: Vec<u64> = self.seeds.0.clone().collect();
        let sizes: Vec<usize> = [1, 4, 16, 64].into_iter().filter(|&nodes| nodes <= self.scale_to).collect();
        let total = (3 + sizes.len() + seeds.len()) as u32;
        let mut done = 0;
        let mut step = || {
            done += 1;
            progress(done, total);
        };
        let side = SIDE * (self.nodes as f32).sqrt();
        let calm = nodes::Settings {
            nodes: self.nodes,
            users: self.users * self.nodes,
            side,
            reach: 20.0,
            seconds: self.seconds,
            loss: 0.0,
            latency_ms: 0.3,
            upsets: false,
            measures: true,
            ..nodes::Settings::default()
        };
        let calm_run = nodes::run(&calm, &mut |_, _| {}).map_err(refused)?;
        step();
        let mut promises = Promises::default();
        promises.add(&calm_run.promises, "the calm run");
        let kills = if self.nodes >= 3 { 0..8 } else { 0..0 };
        let killed: Vec<Measured> = kills
            .into_par_iter()
            .map(|seed| nodes::Settings { seed, kill: true, seconds: 24, measures: false, ..calm.clone() })
            .map(|settings| nodes::run(&settings, &mut |_, _| {}).expect("the same settings were taken before"))
            .collect();
        step();
        let (rows, borders) = scaling::measure(&sizes, stopwatch, &mut step);
        let explored = explore::explore(&explore::Settings { depth: self.depth, ..explore::Settings::default() });
        step();
        let mut rough: Vec<(u64, Measured)> = Vec::new();
        for part in seeds.chunks(16) {
            let measure = |&seed: &u64| {
                let settings = nodes::Settings::from_seed(seed);
                (seed, nodes::run(&settings, &mut |_, _| {}).expect("a seed makes sense"))
            };
            rough.extend(part.par_iter().map(measure).collect::<Vec<_>>());
            part.iter().for_each(|_| step());
        }
        for (seed, measured) in killed.iter().enumerate() {
            promises.add(&measured.promises, &format!("a kill, seed {seed}"));
        }
        for (seed, measured) in &rough {
            promises.add(&measured.promises, &format!("seed {seed}"));
        }
        let all = || std::iter::once(&calm_run).chain(&killed).chain(rough.iter().map(|(_, measured)| measured));
        let mut resume: Vec<f64> = killed.iter().flat_map(|measured| measured.resume_s.iter().copied()).collect();
        resume.sort_by(f64::total_cmp);
        let over = |(sent, needed): (u64, u64)| sent as f64 / needed.max(1) as f64;
        let objects = (self.users * self.nodes) as f64 + 16.0;
        let facts = ClusterFacts {
            messages_over_needed: over(calm_run.batches),
            bytes_over_needed: over(calm_run.bytes),
            move_latency_ms: percentiles(&calm_run.move_ms),
            border_delay_ticks: calm_run.waited_ticks as f64 / calm_run.handovers.max(1) as f64,
            resume_s: percentiles(&resume),
            handovers_per_s: calm_run.handovers as f64 / calm_run.seconds.max(1e-9),
            handovers: all().map(|measured| measured.handovers).sum(),
            adopted: all().map(|measured| measured.adopted).sum(),
            upsets: all().map(|measured| measured.upsets).sum(),
            objects_lost: all().map(|measured| measured.lost).sum(),
            objects_doubled: all().map(|measured| measured.doubled).sum(),
            copy_bytes_per_object_s: calm_run.copy_bytes as f64 / calm_run.seconds.max(1e-9) / objects,
            broken_seeds: rough
                .iter()
                .filter(|(_, measured)| !measured.promises.holds())
                .map(|(seed, _)| *seed)
                .collect(),
            explored_states: explored.states,
            explored_steps: explored.steps,
            explored_depth: explored.depth,
            explored_failure: explored.failure,
            borders,
            estimate: estimate(&rows),
            promises,
        };
        Ok((rows, facts))
    }

    fn text(report: &Report<Settings>) -> String {
        format!(
            "{}\n{}\n{}\n{}\n{}",
            measures(&report.facts),
            scaling::scaling(&report.rows),
            scaling::parts(&report.rows),
            scaling::borders(&report.facts.borders),
            to_table(&report.facts.estimate),
        )
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(report)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }

    fn files(report: &Report<Settings>) -> Vec<Document> {
        vec![Document::csv("borders", &report.facts.borders)]
    }

    /// What did not hold, each with how to see it again.
    fn failures(report: &Report<Settings>) -> Vec<String> {
        let facts = &report.facts;
        let seeds = facts.broken_seeds.iter().map(|seed| {
            format!("seed {seed}: cargo run --release -p lab -- cluster --seeds {seed}..{} --scale-to 1", seed + 1)
        });
        facts.promises.failures().into_iter().chain(seeds).chain(facts.explored_failure.clone()).collect()
    }
}

fn percentiles(sorted: &[f64]) -> Percentiles {
    let rank = |percent: usize| nearest_rank(sorted, percent).unwrap_or(0.0);
    Percentiles { p50: rank(50), p99: rank(99) }
}

/// What a world of a million users would take, by what was measured here.
fn estimate(rows: &[Row]) -> Vec<Estimate> {
    const USERS: f64 = 1e6;
    let Some(row) = rows.last() else { return Vec::new() };
    let (tick_ms, share) = (1_000.0 / 30.0, 0.4);
    let per_user_ms = row.cpu_ms / (row.users as f64).max(1.0);
    let by_cpu = (share * tick_ms / per_user_ms.max(1e-9)).min(1e7);
    let by_clients: f64 = 1_000.0;
    let users = by_cpu.min(by_clients);
    let nodes = (USERS / users).ceil();
    let bytes_per_user = row.bytes / (row.users as f64).max(1.0);
    let line = |quantity, value: String, how: &str| Estimate { quantity, value, how: how.to_owned() };
    vec![
        line(
            "users per node by processor time",
            grouped(by_cpu as u64),
            "40 % of one core's tick of 33 ms for all of a server but its sockets, as measured with the most nodes",
        ),
        line("users per node by connections", grouped(by_clients as u64), "the limit of `kinesphere serve`"),
        line("nodes", grouped(nodes as u64), "a million by the smaller of the two"),
        line(
            "members of a plan",
            format!("{} at most", grouped(NODES_MAX as u64)),
            if nodes > NODES_MAX as f64 {
                "a plan is one message, which every node has whole; no node is let in beyond that: this breaks first"
            } else {
                "a plan is one message, which every node has whole; no node is let in beyond that"
            },
        ),
        line(
            "between nodes, per node",
            format!("{:.1} Mbit/s", bytes_per_user * users * 30.0 * 8.0 * 1e-6),
            "bytes per user and tick as measured, copies included, 30 ticks a second",
        ),
        line(
            "beats, per node",
            format!("{} messages/s", grouped((4.0 / 0.3 * nodes) as u64)),
            "every node beats to every other, three times a second where there are many, and is vouched for: what \
             breaks next. Leases from a fixed few members instead of from all would make it constant",
        ),
        line(
            "a change of plan",
            format!("{} messages", grouped((nodes * nodes) as u64)),
            "every node declares to every other. Only neighbours of what changed would have to, if plans named them",
        ),
        line(
            "a crowd in one place",
            "no more than one node's".to_owned(),
            "leaves are not cut below 6 m, and a user that hears more than 4,096 others is told of the nearest",
        ),
    ]
}

fn measures(facts: &ClusterFacts) -> Table {
    let mut table = Table::new(["measure", "value"]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("messages over needed", format!("{:.2}", facts.messages_over_needed));
    row("bytes over needed", format!("{:.2}", facts.bytes_over_needed));
    row("move latency, p50 ms", format!("{:.1}", facts.move_latency_ms.p50));
    row("move latency, p99 ms", format!("{:.1}", facts.move_latency_ms.p99));
    row("border delay, ticks per hand-over", format!("{:.2}", facts.border_delay_ticks));
    row("from kill to resumed, p50 s", format!("{:.2}", facts.resume_s.p50));
    row("from kill to resumed, p99 s", format!("{:.2}", facts.resume_s.p99));
    row("hand-overs per second", format!("{:.1}", facts.handovers_per_s));
    row("hand-overs in all", grouped(facts.handovers));
    row("adopted in all", grouped(facts.adopted));
    row("upsets in all", grouped(facts.upsets));
    row("objects lost", grouped(facts.objects_lost));
    row("objects doubled", grouped(facts.objects_doubled));
    row("copies, bytes per object and second", format!("{:.0}", facts.copy_bytes_per_object_s));
    table
}

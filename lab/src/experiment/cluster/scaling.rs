//! What a node costs as nodes are added, by twins that are each alone in memory.

use serde::Serialize;

use super::scale::{self, ClusterSize, ScaleRun};
use super::spent::Spent;
use crate::stopwatch::Stopwatch;
use kinesphere::table::Table;

/// Space per node, and users on it. Twenty auras long, so that what is near a border is a part of it; each user hears
/// about eight others.
const SIDE: f32 = 400.0;
const USERS: usize = 1_000;
/// Ticks that count.
const TICKS: u32 = 60;
/// How often everything is done again to twins. Of each tick the quickest counts, as its work is the same each time.
const REPLAYS: u32 = 12;

/// One number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub nodes: usize,
    /// Objects per node.
    pub objects: usize,
    /// Of these, users who are connected.
    pub users: usize,
    /// How long a node's borders with others are in the mean, in metres.
    pub border_m: f64,
    /// Processor time per node and tick, in milliseconds: a whole server's, with its part in the cluster.
    pub cpu_ms: f64,
    /// Of that, what users sent: decoded and checked.
    pub arrivals_ms: f64,
    /// What they want, as inputs of the world.
    pub inputs_ms: f64,
    /// The world's step with its border; copies, batches and beats are made here.
    pub world_ms: f64,
    /// What moved, here and across borders, for those who tell of it.
    pub follow_ms: f64,
    /// Which objects each user hears of.
    pub audience_ms: f64,
    /// What each user is told.
    pub fan_out_ms: f64,
    /// What nodes say to each other: encoded, decoded and taken in.
    pub between_ms: f64,
    /// By what one node alone takes.
    pub over_one: f64,
    /// By what each of four takes, which have borders on two sides; for fewer, by itself.
    pub over_four: f64,
    /// The same time where all nodes run in turn in one process, and share its heap and caches.
    pub in_turn_ms: f64,
    /// By what one of as many does that are alone.
    pub in_turn_over_one: f64,
    /// Batches per node and tick.
    pub batches: f64,
    /// Bytes per node and tick, of batches.
    pub batch_bytes: f64,
    pub copy_bytes: f64,
    /// Of all that is said between nodes.
    pub bytes: f64,
}

/// Nodes of one cluster with borders of one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BorderRow {
    /// Nodes of the cluster, and how many of these have such borders.
    pub nodes: usize,
    pub alike: usize,
    /// How long their borders with others are, in metres.
    pub border_m: f64,
    /// Processor time per node and tick, in milliseconds.
    pub cpu_ms: f64,
    /// By what one node alone takes.
    pub over_one: f64,
}

/// Measures clusters of these sizes. `step` is called when one has run.
pub(super) fn measure(
    sizes: &[usize],
    stopwatch: &mut dyn Stopwatch,
    step: &mut dyn FnMut(),
) -> (Vec<Row>, Vec<BorderRow>) {
    let nodes_in_turn = sizes.last().copied().unwrap_or(1);
    let mut runs: Vec<(ScaleRun, Vec<Vec<Spent>>)> = Vec::new();
    for &nodes in sizes {
        let run = scale::run(&ClusterSize { nodes, users: USERS, side: SIDE, ticks: TICKS, nodes_in_turn }, stopwatch);
        let ticks = vec![Vec::new(); run.tapes.len()];
        runs.push((run, ticks));
        step();
    }
    // All sizes in turn, so that none has a quieter machine than another.
    for _ in 0..REPLAYS {
        for (run, ticks) in &mut runs {
            let twins = run.tapes.iter().zip(ticks);
            twins.for_each(|(tape, ticks)| Spent::keep_quickest(ticks, &tape.replay(stopwatch)));
        }
    }
    let sum = |(run, ticks): (ScaleRun, Vec<Vec<Spent>>)| (run, ticks.iter().map(|ticks| Spent::sum(ticks)).collect());
    let runs: Vec<(ScaleRun, Vec<Spent>)> = runs.into_iter().map(sum).collect();
    let mut rows: Vec<Row> = Vec::new();
    let mut borders: Vec<BorderRow> = Vec::new();
    for (run, quickest) in &runs {
        let row = row(run, quickest, &rows);
        rows.push(row);
        let mut lengths: Vec<f32> = run.tapes.iter().map(|tape| tape.border_m).collect();
        lengths.sort_by(f32::total_cmp);
        lengths.dedup();
        let per_border = lengths.into_iter().map(|length| {
            let (alike, cpu_ms) = mean(run, |at| quickest[at].total_ms(), |at| run.tapes[at].border_m == length);
            let (cpu_ms, alike) = (cpu_ms / f64::from(TICKS), alike.min(run.nodes as f64).round() as usize);
            BorderRow {
                nodes: run.nodes,
                alike,
                border_m: f64::from(length),
                cpu_ms,
                over_one: cpu_ms / rows[0].cpu_ms.max(1e-9),
            }
        });
        borders.extend(per_border);
    }
    (rows, borders)
}

/// How many nodes those tapes stand for that are asked for, and what is asked of them in the mean over these.
fn mean(run: &ScaleRun, of: impl Fn(usize) -> f64, is_asked: impl Fn(usize) -> bool) -> (f64, f64) {
    let asked = run.tapes.iter().enumerate().filter(|(at, _)| is_asked(*at));
    let (weight, sum) =
        asked.fold((0.0, 0.0), |(weight, sum), (at, tape)| (weight + tape.stands_for, sum + tape.stands_for * of(at)));
    (weight, sum / weight.max(1e-9))
}

fn row(run: &ScaleRun, quickest: &[Spent], before: &[Row]) -> Row {
    let over_all = |of: &dyn Fn(usize) -> f64| mean(run, of, |_| true).1;
    let part = |part: usize| over_all(&|at| quickest[at].parts_ms[part]) / f64::from(TICKS);
    let cpu_ms = over_all(&|at| quickest[at].total_ms()) / f64::from(TICKS);
    let per = 1.0 / run.node_ticks;
    let in_turn_ms = run.spent.total_ms() * per;
    let four = before.iter().find(|row| row.nodes == 4);
    let (one_ms, one_in_turn_ms) = before.first().map_or((cpu_ms, in_turn_ms), |row| (row.cpu_ms, row.in_turn_ms));
    Row {
        nodes: run.nodes,
        objects: run.objects,
        users: run.users,
        border_m: over_all(&|at| f64::from(run.tapes[at].border_m)),
        cpu_ms,
        arrivals_ms: part(0),
        inputs_ms: part(1),
        world_ms: part(2),
        follow_ms: part(3),
        audience_ms: part(4),
        fan_out_ms: part(5),
        between_ms: part(6),
        over_one: cpu_ms / one_ms.max(1e-9),
        over_four: cpu_ms / four.map_or(cpu_ms, |row| row.cpu_ms).max(1e-9),
        in_turn_ms,
        in_turn_over_one: in_turn_ms / one_in_turn_ms.max(1e-9),
        batches: run.spent.batches as f64 * per,
        batch_bytes: run.spent.batch_bytes as f64 * per,
        copy_bytes: run.spent.copy_bytes as f64 * per,
        bytes: run.spent.bytes as f64 * per,
    }
}

pub(super) fn scaling(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "nodes",
        "users/node",
        "border m",
        "cpu ms",
        "over one",
        "over four",
        "in turn ms",
        "over one",
        "batches",
        "bytes",
        "of copies",
    ]);
    for row in rows {
        table.row([
            row.nodes.to_string(),
            row.users.to_string(),
            format!("{:.0}", row.border_m),
            format!("{:.3}", row.cpu_ms),
            format!("{:.2}", row.over_one),
            format!("{:.2}", row.over_four),
            format!("{:.3}", row.in_turn_ms),
            format!("{:.2}", row.in_turn_over_one),
            format!("{:.2}", row.batches),
            format!("{:.0}", row.bytes),
            format!("{:.0}", row.copy_bytes),
        ]);
    }
    table
}

/// What a node's time goes to, in milliseconds.
pub(super) fn parts(rows: &[Row]) -> Table {
    let mut table =
        Table::new(["nodes", "arrivals", "inputs", "world, border", "follow", "audience", "fan-out", "between nodes"]);
    for row in rows {
        let parts = [
            row.arrivals_ms,
            row.inputs_ms,
            row.world_ms,
            row.follow_ms,
            row.audience_ms,
            row.fan_out_ms,
            row.between_ms,
        ];
        let [a, b, c, d, e, f, g] = parts.map(|ms| format!("{ms:.3}"));
        table.row([row.nodes.to_string(), a, b, c, d, e, f, g]);
    }
    table
}

/// What a border costs, by its length.
pub(super) fn borders(rows: &[BorderRow]) -> Table {
    let mut table = Table::new(["nodes", "with this border", "border m", "cpu ms", "over one"]);
    for row in rows {
        table.row([
            row.nodes.to_string(),
            row.alike.to_string(),
            format!("{:.0}", row.border_m),
            format!("{:.3}", row.cpu_ms),
            format!("{:.2}", row.over_one),
        ]);
    }
    table
}

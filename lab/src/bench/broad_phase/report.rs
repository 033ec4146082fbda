//! What was measured, for programs and for people.

use std::fmt;

use serde::Serialize;

use crate::report::number::{grouped, significant};
use kinesphere::table::Table;

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// How the objects moved.
    pub workload: &'static str,
    /// How many there were.
    pub objects: usize,
    /// The spheres' volumes, as a percentage of the world's.
    pub coverage_percent: f32,
    /// Radii of the smallest object per tick.
    pub speed: f32,
    /// Ticks before measuring.
    pub warm: u32,
    /// Ticks measured.
    pub ticks: u32,
    /// Runs on the same frames: each tick counts with the least that it took.
    pub runs: u32,
    /// Threads that a method could use.
    pub threads: usize,
    /// What the frames were made from.
    pub seed: u64,
    /// Overlapping pairs per object, mean over the measured ticks.
    pub pairs_per_object: f64,
    /// Processor time to read every position once and to write the pairs: nothing can be faster.
    pub floor_cpu_ms_mean: f64,
    /// Whose pairs those of a single method were compared with; it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<&'static str>,
    /// One per method.
    pub rows: Vec<Row>,
    /// Who found other pairs than the rest, and when; empty if all is well.
    pub disagreements: Vec<Disagreement>,
}

/// How one method did.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub method: &'static str,
    /// How it was set up, if there are several ways: the fastest in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'static str>,
    /// Processor time per tick, mean.
    pub cpu_ms_mean: f64,
    /// Processor time of the fastest tick.
    pub cpu_ms_min: f64,
    /// Processor time of the slowest tick.
    pub cpu_ms_max: f64,
    /// Time on the wall per tick, mean.
    pub wall_ms_mean: f64,
    /// Tests of two spheres per tick, mean.
    pub sphere_tests: u64,
    /// Memory held at the end, without the caller's own.
    pub bytes_per_object: f64,
    /// Whether its pairs were the right ones on every tick: those of brute force if it took part; else, of a method alone,
    /// those of the reference; else those that more than half of the methods found. Where there is no such majority,
    /// nobody agrees.
    pub agrees: bool,
}

/// A method that found other pairs than the rest, or than the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// Its name.
    pub method: &'static str,
    /// The first tick on which it did, counted from the first frame.
    pub tick: u64,
    /// How many pairs it found.
    pub found: usize,
    /// How many there are; unknown if no answer was that of more than half of the methods.
    pub expected: Option<usize>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Disagreement { method, tick, found, .. } = self;
        match self.expected {
            Some(expected) => write!(formatter, "{method} found {found} pairs instead of {expected} at tick {tick}"),
            None => write!(formatter, "{method} found {found} pairs at tick {tick}, where no answer has a majority"),
        }
    }
}

impl Report {
    /// Whether every method found the right pairs on every tick.
    pub fn agrees(&self) -> bool {
        self.disagreements.is_empty()
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let ours = self.rows.iter().find(|row| row.method == "kinesphere").or(self.rows.first());
        let grid = self.rows.iter().find(|row| row.method == "plain-grid");
        let mut rivals: Vec<&Row> = ours.into_iter().chain(grid).collect();
        rivals.dedup_by_key(|rival| rival.method);
        let mut headings = vec!["method".to_owned()];
        headings.extend(rivals.iter().map(|rival| format!("/ {}", rival.method)));
        headings
            .extend(["cpu ms", "min", "max", "wall ms", "sphere tests", "bytes/object", "agrees"].map(str::to_owned));
        let mut table = Table::new(headings);
        for row in &self.rows {
            let mut cells = vec![row.method.to_owned()];
            cells.extend(rivals.iter().map(|rival| format!("{:.2}", row.cpu_ms_mean / rival.cpu_ms_mean)));
            cells.extend([row.cpu_ms_mean, row.cpu_ms_min, row.cpu_ms_max, row.wall_ms_mean].map(significant));
            cells.push(grouped(row.sphere_tests));
            cells.push(format!("{:.0}", row.bytes_per_object));
            cells.push(if row.agrees { "yes" } else { "NO" }.to_owned());
            cells.extend(row.variant.map(|variant| format!("({variant})")));
            table.row(cells);
        }
        let reference =
            self.reference.map_or(String::new(), |method| format!("; pairs compared with those of {method}"));
        format!(
            "{} objects, {}, {} % coverage, {} radii per tick, {} ticks after {}{}, {}, seed {}\n\
             {} pairs per object; to read the positions and write the pairs takes {} ms{reference}\n\n{table}",
            grouped(self.objects as u64),
            self.workload,
            self.coverage_percent,
            self.speed,
            self.ticks,
            self.warm,
            if self.runs == 1 { String::new() } else { format!(", each the least of {} runs", self.runs) },
            if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) },
            self.seed,
            significant(self.pairs_per_object),
            significant(self.floor_cpu_ms_mean),
        )
    }
}

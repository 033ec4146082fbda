//! Papers 000 (graphs 1 to 8) and 004 (figure 3): how many comparisons and how much time do relations take?
//!
//! The papers' target seekers, after clustering has set in; all algorithms on the same frames, one after the other within
//! each frame, the order rotating. All must find the same relations.

mod claims;
mod figures;
mod page;

use std::hint::black_box;

use interest::published::{
    Budget, CliqueFinder, Comparisons, ExpandingSphere, OrderedAxis, OrderedRelations, RelationFinder, Relations,
};
use serde::Serialize;
use space::workload::{self, Motion, Workload};
use space::{Pair, Slot, Spheres};

use super::Document;
use crate::report::number::{grouped, significant};
use crate::report::verdict::Verdict;
use crate::setting::{self, SettingsError};
use crate::stopwatch::{Stopwatch, timed};
use kinesphere::table::Table;

/// The most objects: beyond, the papers' algorithms take seconds per frame.
pub const OBJECTS_MAX: usize = 20_000;

/// Who is compared.
const ALGORITHMS: [&str; 6] =
    ["brute-force", "expanding-sphere", "ordered-relations", "ordered-axis", "ordered-axis-relations", "kinesphere"];

/// What to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many objects, a world each.
    pub objects: Vec<usize>,
    /// The spheres' volumes, as percentages of the world's, a world each.
    pub coverage: Vec<f32>,
    /// Ticks before measuring, in which objects cluster.
    pub warm: u32,
    /// Frames measured per world.
    pub frames: u32,
    /// The same seed gives the same frames.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        let objects = vec![1_000, 2_000, 3_000, 4_000];
        Settings { objects, coverage: vec![1.0, 5.0, 10.0, 20.0], warm: 600, frames: 30, seed: 1 }
    }
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct RelationsReport {
    /// The command that repeats the run.
    pub command: String,
    /// Ticks before measuring.
    pub warm: u32,
    /// Frames measured per world.
    pub frames: u32,
    /// What the frames were made from.
    pub seed: u64,
    /// One per number of objects, coverage and algorithm.
    pub rows: Vec<Row>,
    /// The papers' claims, put to the test.
    pub verdicts: Vec<Verdict>,
}

/// How one algorithm did in one world, per frame.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// How many objects there were.
    pub objects: usize,
    /// The spheres' volumes, as a percentage of the world's.
    pub coverage: f32,
    /// Who found the relations; brute force finds the pairs alone.
    pub algorithm: &'static str,
    /// Tests of two spheres, every one.
    pub comparisons_raw: f64,
    /// The same, an object's repeated tests of another counted once.
    pub comparisons_distinct: f64,
    /// Raw comparisons as a fraction of brute force's.
    pub share_of_brute_force: f64,
    /// Processor time.
    pub ms_per_frame: f64,
    /// How many relations there were.
    pub relations: f64,
    /// How many overlapping pairs there were.
    pub pairs: f64,
    /// Whether the relations were the same as everybody's, in every frame.
    pub agrees: bool,
}

/// Runs every world. `progress` is told how many frames are done, of how many.
pub fn run(
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<RelationsReport, SettingsError> {
    check(settings)?;
    let worlds: Vec<(usize, f32)> =
        settings.coverage.iter().flat_map(|&coverage| settings.objects.iter().map(move |&n| (n, coverage))).collect();
    let total = settings.frames * worlds.len() as u32;
    let mut rows = Vec::new();
    for (index, &(objects, coverage)) in worlds.iter().enumerate() {
        let done = settings.frames * index as u32;
        rows.extend(run_world(objects, coverage, settings, stopwatch, &mut |frame| progress(done + frame, total))?);
    }
    progress(total, total);
    let mut report = RelationsReport {
        command: command(settings),
        warm: settings.warm,
        frames: settings.frames,
        seed: settings.seed,
        rows,
        verdicts: Vec::new(),
    };
    report.verdicts = claims::verdicts(&report);
    Ok(report)
}

fn run_world(
    objects: usize,
    coverage: f32,
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32),
) -> Result<Vec<Row>, SettingsError> {
    let mut workload = Workload::new(workload::Settings {
        motion: Motion::Seekers,
        objects,
        coverage_percent: coverage,
        seed: settings.seed,
        ..workload::Settings::default()
    })?;
    (0..settings.warm).for_each(|_| workload.step());
    let mut finders: Vec<Box<dyn RelationFinder>> = vec![
        Box::new(BruteForce::default()),
        Box::new(ExpandingSphere::new()),
        Box::new(OrderedRelations::new()),
        Box::new(OrderedAxis::new()),
        Box::new(OrderedAxis::with_ordered_relations()),
        // Compared with others that list all, it lists all.
        Box::new(CliqueFinder::with(Budget { work: u64::MAX, memberships: u64::MAX })),
    ];
    let count = finders.len();
    let mut sums = vec![(Comparisons::default(), 0.0, true); count];
    let (mut relations_found, mut pairs_found) = (0, 0);
    let mut relations = Relations::new();
    // One frame to begin with: who has a memory needs one.
    for frame in 0..=settings.frames {
        progress(frame.saturating_sub(1));
        let mut expected = None;
        for turn in 0..count {
            let who = (turn + frame as usize) % count;
            let finder = &mut finders[who];
            let (comparisons, elapsed) =
                timed(stopwatch, || black_box(finder.relations(workload.spheres(), &mut relations)));
            if frame == 0 {
                continue;
            }
            sums[who].0 += comparisons;
            sums[who].1 += elapsed.cpu_ms;
            if who == 0 {
                pairs_found += relations.len();
                continue;
            }
            let found = fingerprint(&relations);
            sums[who].2 &= *expected.get_or_insert(found) == found;
            relations_found += if who == 1 { relations.len() } else { 0 };
        }
        workload.step();
    }
    let frames = f64::from(settings.frames);
    let brute = sums[0].0.raw as f64 / frames;
    let row = |(who, (comparisons, cpu_ms, agrees)): (usize, &(Comparisons, f64, bool))| Row {
        objects,
        coverage,
        algorithm: ALGORITHMS[who],
        comparisons_raw: comparisons.raw as f64 / frames,
        comparisons_distinct: comparisons.distinct as f64 / frames,
        share_of_brute_force: comparisons.raw as f64 / frames / brute.max(1.0),
        ms_per_frame: cpu_ms / frames,
        relations: relations_found as f64 / frames,
        pairs: pairs_found as f64 / frames,
        agrees: *agrees,
    };
    Ok(sums.iter().enumerate().map(row).collect())
}

/// Everybody against everybody, one pair at a time, as the papers did it: pairs and nothing else.
#[derive(Default)]
struct BruteForce {
    pairs: Vec<Pair>,
}

impl RelationFinder for BruteForce {
    /// Lists the pairs in the place of relations.
    fn relations(&mut self, auras: &Spheres, relations: &mut Relations) -> Comparisons {
        let columns = auras.columns();
        let slots: Vec<Slot> = auras.slots().collect();
        self.pairs.clear();
        for (index, &one) in slots.iter().enumerate() {
            let sphere = columns.sphere(one.row());
            for &other in &slots[index + 1..] {
                if sphere.overlaps(columns.sphere(other.row())) {
                    self.pairs.push(Pair::new(one, other));
                }
            }
        }
        *relations = Relations::from_iter(self.pairs.iter().map(|pair| [pair.a(), pair.b()]));
        let made = (slots.len() * slots.len().saturating_sub(1) / 2) as u64;
        Comparisons { raw: made, distinct: made }
    }
}

/// A number that is the same for the same relations in any order.
fn fingerprint(relations: &Relations) -> (usize, u64) {
    let mix = |hash: u64, number: u64| (hash ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = |members: &[Slot]| members.iter().fold(members.len() as u64, |hash, slot| mix(hash, slot.row() as u64));
    (relations.len(), relations.iter().map(hash).fold(0, u64::wrapping_add))
}

impl RelationsReport {
    /// Whether all found the same relations in every frame.
    pub fn agrees(&self) -> bool {
        self.rows.iter().all(|row| row.agrees)
    }

    /// Everything worth keeping: a page, the numbers, and the plots.
    pub fn documents(&self) -> Vec<Document> {
        Document::all("relations", &page::page(self), &self.rows, self, figures::all(self))
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n", self.table(), Verdict::list(&self.verdicts))
    }

    /// All rows.
    fn table(&self) -> Table {
        let mut table =
            Table::new(["algorithm", "objects", "coverage", "comparisons", "distinct", "share", "ms", "relations"]);
        for row in &self.rows {
            table.row([
                row.algorithm.to_owned(),
                grouped(row.objects as u64),
                format!("{} %", row.coverage),
                grouped(row.comparisons_raw.round() as u64),
                grouped(row.comparisons_distinct.round() as u64),
                format!("{:.1} %", 100.0 * row.share_of_brute_force),
                significant(row.ms_per_frame),
                grouped(row.relations.round() as u64),
            ]);
        }
        table
    }

    fn row(&self, objects: usize, coverage: f32, algorithm: &str) -> Option<&Row> {
        self.rows.iter().find(|row| (row.objects, row.coverage, row.algorithm) == (objects, coverage, algorithm))
    }

    fn objects(&self) -> Vec<usize> {
        let all: std::collections::BTreeSet<usize> = self.rows.iter().map(|row| row.objects).collect();
        all.into_iter().collect()
    }

    fn coverages(&self) -> Vec<f32> {
        let mut all: Vec<f32> = self.rows.iter().map(|row| row.coverage).collect();
        all.sort_by(f32::total_cmp);
        all.dedup();
        all
    }
}

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let objects =
        settings.objects.iter().map(|&count| ("objects", count as f64, 2.0..=OBJECTS_MAX as f64, "2 to 20,000"));
    let frames = ("frames", f64::from(settings.frames), 1.0..=100_000.0, "1 to 100,000");
    let warm = ("warm", f64::from(settings.warm), 0.0..=1_000_000.0, "0 to 1,000,000");
    Ok(setting::check(objects.chain([frames, warm]))?)
}

fn command(settings: &Settings) -> String {
    let list = |numbers: Vec<String>| numbers.join(",");
    format!(
        "cargo run --release -p lab -- relations --objects {} --coverage {} --warm {} --frames {} --seed {}",
        list(settings.objects.iter().map(ToString::to_string).collect()),
        list(settings.coverage.iter().map(ToString::to_string).collect()),
        settings.warm,
        settings.frames,
        settings.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopwatch::SteadyStopwatch;

    #[test]
    fn all_algorithms_agree_and_every_claim_has_a_verdict() {
        let settings = Settings { objects: vec![100, 200], coverage: vec![5.0, 20.0], warm: 100, frames: 3, seed: 1 };
        let report = run(&settings, &mut SteadyStopwatch::new(1), &mut |_, _| {}).unwrap();
        assert_eq!(report.rows.len(), 2 * 2 * 6);
        assert!(report.agrees());
        let brute = report.row(200, 5.0, "brute-force").unwrap();
        assert_eq!((brute.comparisons_raw, brute.share_of_brute_force), (200.0 * 199.0 / 2.0, 1.0));
        assert!(brute.pairs > 0.0 && brute.relations > 0.0);
        assert_eq!(report.verdicts.len(), 10);
        let names: Vec<String> = report.documents().into_iter().map(|document| document.name).collect();
        assert!(names.contains(&"index.html".to_owned()) && names.contains(&"comparisons-5.svg".to_owned()));
        let refused = run(&Settings { frames: 0, ..settings }, &mut SteadyStopwatch::new(1), &mut |_, _| {});
        assert_eq!(refused.unwrap_err().to_string(), "`frames` is 0, expected 1 to 100,000");
    }
}

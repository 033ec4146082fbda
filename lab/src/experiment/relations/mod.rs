//! Papers 000 (graphs 1 to 8) and 004 (figure 3): how many comparisons and how much time do relations take?
//!
//! The papers' target seekers, after clustering has set in; all algorithms on the same frames, one after the other
//! within each frame, the order rotating. All must find the same relations.

mod claims;
mod page;

use std::collections::BTreeSet;
use std::hint::black_box;

use clap::Args;
use interest::published::{
    Budget, CliqueFinder, Comparisons, ExpandingSphere, OrderedAxis, OrderedRelations, RelationFinder, Relations,
};
use kinesphere::failure::Failure;
use serde::Serialize;
use space::workload::{self, Motion, Workload, WorkloadError};
use space::{Pair, Slot, Spheres};

use crate::report::chart::{Look, look};
use crate::report::claim::ClaimResult;
use crate::report::page::Page;
use crate::stopwatch::{Stopwatch, timed};
use crate::study::range::range;
use crate::study::{Progress, Report, Results, Study, refused};

/// The algorithms, in the order in which [`run_world`] makes them.
const LOOKS: [Look; 6] = [
    look("brute-force", "brute force", "#6B7280"),
    look("expanding-sphere", "expanding", "#0072B2"),
    look("ordered-relations", "ordered", "#7B61C4"),
    look("ordered-axis", "axis", "#009E73"),
    look("ordered-axis-relations", "axis, ordered", "#8A5A2B"),
    look("kinesphere", "kinesphere", "#D55E00"),
];

/// Papers 000 and 004: how many comparisons and how much time do relations take?
///
/// Runs the papers' algorithms and ours among target seekers, judges each of the papers' claims, and writes
/// plots, numbers and a page. Fails only if they find different relations: that a claim does not hold is a result.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Settings {
    /// How many objects, a world each
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,N,...",
        default_value = "1000,2000,3000,4000",
        value_parser = range(2..=20_000usize)
    )]
    pub objects: Vec<usize>,
    /// Volumes of all spheres, as percentages of the world's
    #[arg(long, value_delimiter = ',', value_name = "PERCENT,...", default_value = "1,5,10,20")]
    pub coverage: Vec<f32>,
    /// Ticks before measuring, in which objects cluster
    #[arg(long, default_value_t = 600, value_name = "TICKS", value_parser = range(0..=1_000_000u32))]
    pub warm: u32,
    /// Frames measured per world
    #[arg(long, default_value_t = 30, value_parser = range(1..=100_000u32))]
    pub frames: u32,
    /// The same seed gives the same frames
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How one algorithm did in one world, per frame.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub objects: usize,
    /// The spheres' volumes, as a percentage of the world's.
    pub coverage: f32,
    /// What found the relations; brute force finds the pairs alone.
    pub algorithm: &'static str,
    /// Tests of two spheres, every one.
    pub comparisons_raw: f64,
    /// The same, an object's repeated tests of another counted once.
    pub comparisons_distinct: f64,
    /// Raw comparisons as a fraction of brute force's.
    pub share_of_brute_force: f64,
    pub ms_per_frame: f64,
    pub relations: f64,
    pub pairs: f64,
    /// Whether the relations were the same as those of all others, in every frame.
    pub agrees: bool,
}

impl Study for Settings {
    const NAME: &'static str = "relations";
    const EXAMPLE: &'static str = "--objects 1000,4000 --coverage 5,20 --json";
    const UNIT: &'static str = "frames";
    const HAS_PAGE: bool = true;
    type Row = Row;
    type Facts = ();

    fn run(&self, stopwatch: &mut dyn Stopwatch, progress: Progress<'_>) -> Result<Results<Settings>, Failure> {
        let of_coverage = |&coverage: &f32| self.objects.iter().map(move |&objects| (objects, coverage));
        let worlds: Vec<(usize, f32)> = self.coverage.iter().flat_map(of_coverage).collect();
        let total = self.frames * worlds.len() as u32;
        let mut rows = Vec::new();
        for (index, (objects, coverage)) in worlds.into_iter().enumerate() {
            let done = self.frames * index as u32;
            let world = run_world(objects, coverage, self, stopwatch, &mut |frame| progress(done + frame, total));
            rows.extend(world.map_err(refused)?);
        }
        progress(total, total);
        Ok((rows, ()))
    }

    fn claims(report: &Report<Settings>) -> Vec<ClaimResult> {
        claims::all(&report.rows)
    }

    fn page(report: &Report<Settings>) -> Page {
        page::page(report)
    }

    fn failures(report: &Report<Settings>) -> Vec<String> {
        let wrong = report.rows.iter().find(|row| !row.agrees);
        let sentence = |row: &Row| {
            let Row { algorithm, objects, coverage, .. } = row;
            format!("`{algorithm}` found other relations than the others with {objects} objects at {coverage} %.")
        };
        wrong.map(sentence).into_iter().collect()
    }
}

fn run_world(
    objects: usize,
    coverage: f32,
    settings: &Settings,
    stopwatch: &mut dyn Stopwatch,
    progress: &mut dyn FnMut(u32),
) -> Result<Vec<Row>, WorkloadError> {
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
        // The others list all relations, so this one has no limit either.
        Box::new(CliqueFinder::with(Budget { work: u64::MAX, memberships: u64::MAX })),
    ];
    let count = finders.len();
    let mut sums = vec![(Comparisons::default(), 0.0, true); count];
    let (mut relations_found, mut pairs_found) = (0, 0);
    let mut relations = Relations::new();
    // One frame to begin with: algorithms that remember need one.
    for frame in 0..=settings.frames {
        progress(frame.saturating_sub(1));
        let mut expected = None;
        for turn in 0..count {
            let index = (turn + frame as usize) % count;
            let finder = &mut finders[index];
            let (comparisons, elapsed) =
                timed(stopwatch, || black_box(finder.relations(workload.spheres(), &mut relations)));
            if frame == 0 {
                continue;
            }
            sums[index].0 += comparisons;
            sums[index].1 += elapsed.cpu_ms;
            if index == 0 {
                pairs_found += relations.len();
                continue;
            }
            let found = fingerprint(&relations);
            sums[index].2 &= *expected.get_or_insert(found) == found;
            relations_found += if index == 1 { relations.len() } else { 0 };
        }
        workload.step();
    }
    let frames = f64::from(settings.frames);
    let brute = sums[0].0.raw as f64 / frames;
    let row = |(index, (comparisons, cpu_ms, agrees)): (usize, &(Comparisons, f64, bool))| Row {
        objects,
        coverage,
        algorithm: LOOKS[index].key,
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

/// Every object against every other, one pair at a time, as the papers did it: pairs and nothing else.
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

fn row_of<'r>(rows: &'r [Row], objects: usize, coverage: f32, algorithm: &str) -> Option<&'r Row> {
    rows.iter().find(|row| (row.objects, row.coverage, row.algorithm) == (objects, coverage, algorithm))
}

fn all_objects(rows: &[Row]) -> Vec<usize> {
    rows.iter().map(|row| row.objects).collect::<BTreeSet<usize>>().into_iter().collect()
}

fn all_coverages(rows: &[Row]) -> Vec<f32> {
    let mut all: Vec<f32> = rows.iter().map(|row| row.coverage).collect();
    all.sort_by(f32::total_cmp);
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tried;

    #[test]
    fn all_algorithms_agree_and_every_claim_is_judged() {
        let report = tried::<Settings>("--objects 100,200 --coverage 5,20 --warm 100 --frames 3", 1);
        assert_eq!(report.rows.len(), 2 * 2 * 6);
        assert!(report.rows.iter().all(|row| row.agrees));
        let brute = row_of(&report.rows, 200, 5.0, "brute-force").unwrap();
        assert_eq!((brute.comparisons_raw, brute.share_of_brute_force), (200.0 * 199.0 / 2.0, 1.0));
        assert!(brute.pairs > 0.0 && brute.relations > 0.0);
        assert_eq!(report.claims.len(), 10);
        let names: Vec<String> = report.documents().into_iter().map(|document| document.name).collect();
        assert!(names.contains(&"index.html".to_owned()) && names.contains(&"comparisons-5.svg".to_owned()));
    }
}

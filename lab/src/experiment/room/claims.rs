//! What paper 003 says about its hybrid, and whether it is so.

use super::{PAPER_OBJECTS_MAX, Row, Settings};
use crate::report::claim::{ClaimOutcome, ClaimResult, judged};
use crate::report::number::grouped;
use crate::study::Report;

const NOT_MEASURED: &str = "Not measured.";
/// How far a measured percentage may be from the paper's "about".
const ABOUT: f64 = 10.0;
/// Frames per second that the paper calls interactive.
const INTERACTIVE: f64 = 10.0;
/// The frame rate of a screen.
const SMOOTH: f64 = 60.0;

/// Every claim, in the paper's order; then ours.
pub fn all(report: &Report<Settings>) -> Vec<ClaimResult> {
    vec![
        faster(
            report,
            "Combined with 3 levels (depth 2) is about 45 % faster than the spherical octree with 4.",
            45.0,
            [("combined", 2), ("octree", 3)],
        ),
        faster(
            report,
            "The spherical octree with 4 levels (depth 3) is about 56 % faster than with 5.",
            56.0,
            [("octree", 3), ("octree", 4)],
        ),
        two_levels_beat_three(report),
        updating_dominates(report),
        broad_exceeds_narrow(report),
        a_thousand(report),
        four_thousand(report),
        ours(
            report,
            PAPER_OBJECTS_MAX,
            "4,000 rabbit-like bodies with trees of depth 3 at 60 frames per second on one core.",
        ),
        ours(report, 20_000, "The goal: 20,000 of them at 60."),
    ]
}

/// Rabbits, in all rooms up to a number of bodies: those of two trees.
fn both<'r>(report: &'r Report<Settings>, trees: [(&str, usize); 2], most: usize) -> Vec<(&'r Row, &'r Row)> {
    let row = |tree: (&str, usize), objects| report.row("rabbit", tree.0, tree.1, objects);
    let rooms = report.objects().into_iter().filter(|&objects| objects <= most);
    rooms.filter_map(|objects| Some((row(trees[0], objects)?, row(trees[1], objects)?))).collect()
}

/// How much less time a part of the frame takes, in percent, over all rooms.
fn less(pairs: &[(&Row, &Row)], part: impl Fn(&Row) -> f64) -> f64 {
    let sum = |time: &dyn Fn(&(&Row, &Row)) -> f64| pairs.iter().map(time).sum::<f64>();
    100.0 * (1.0 - sum(&|pair| part(pair.0)) / sum(&|pair| part(pair.1)))
}

fn faster(report: &Report<Settings>, claim: &str, percent: f64, trees: [(&str, usize); 2]) -> ClaimResult {
    let pairs = both(report, trees, PAPER_OBJECTS_MAX);
    let (narrow, whole) = (less(&pairs, |row| row.narrow_ms), less(&pairs, |row| 1e3 / row.fps));
    let outcome = if pairs.is_empty() {
        ClaimOutcome::Untested
    } else if (narrow - percent).abs() <= ABOUT || (whole - percent).abs() <= ABOUT {
        ClaimOutcome::True
    } else if narrow > 0.0 {
        ClaimOutcome::Partly
    } else {
        ClaimOutcome::False
    };
    let [first, second] = trees.map(|(method, depth)| format!("{method}, depth {depth}"));
    let evidence = if pairs.is_empty() {
        NOT_MEASURED.to_owned()
    } else {
        format!(
            "{first} takes {narrow:.0} % less time in the narrow phase than {second}, and {whole:.0} % less for the \
             whole frame."
        )
    };
    ClaimResult { outcome, ..judged(claim, "paper 003, section 8, figure 7", [], evidence) }
}

fn two_levels_beat_three(report: &Report<Settings>) -> ClaimResult {
    let pairs = both(report, [("combined", 1), ("combined", 2)], PAPER_OBJECTS_MAX);
    let narrow = less(&pairs, |row| row.narrow_ms);
    judged(
        "Combined with 2 levels gives a better frame rate than with 3.",
        "paper 003, section 6, figure 9",
        pairs.iter().map(|(two, three)| two.narrow_ms < three.narrow_ms),
        match pairs.is_empty() {
            true => NOT_MEASURED.to_owned(),
            false => format!("Its narrow phase takes {narrow:.0} % less time, over all rooms. Rendering is left out."),
        },
    )
}

/// The rows of figure 8: rabbits, Combined with two levels.
fn figure_8(report: &Report<Settings>) -> Vec<&Row> {
    report.objects().into_iter().filter_map(|objects| report.row("rabbit", "combined", 1, objects)).collect()
}

fn shares(rows: &[&Row], part: impl Fn(&Row) -> f64) -> String {
    let share = |row: &&Row| 100.0 * part(row) * row.fps / 1e3;
    let (least, most) = rows.iter().map(share).fold((f64::INFINITY, 0.0_f64), |(a, b), s| (a.min(s), b.max(s)));
    if rows.is_empty() { "an unmeasured share".to_owned() } else { format!("{least:.0} to {most:.0} % of a frame") }
}

fn updating_dominates(report: &Report<Settings>) -> ClaimResult {
    let rows = figure_8(report);
    judged(
        "Updating the lists of Sweep & Prune dominates the time of collision detection.",
        "paper 003, section 6, figure 8",
        rows.iter().map(|row| row.update_ms > row.broad_ms + row.narrow_ms),
        format!("Updating takes {}.", shares(&rows, |row| row.update_ms)),
    )
}

fn broad_exceeds_narrow(report: &Report<Settings>) -> ClaimResult {
    let rows = figure_8(report);
    judged(
        "The broad phase takes more time than the narrow phase.",
        "paper 003, section 6, figure 8",
        rows.iter().map(|row| row.broad_ms > row.narrow_ms),
        format!(
            "Finding takes {}, walks down trees {}.",
            shares(&rows, |row| row.broad_ms),
            shares(&rows, |row| row.narrow_ms)
        ),
    )
}

fn a_thousand(report: &Report<Settings>) -> ClaimResult {
    let of_the_paper = report.rows.iter().filter(|row| row.objects == 1_000 && row.broad == "sweep-and-prune");
    let rates: Vec<f64> = of_the_paper.map(|row| row.fps).collect();
    judged(
        "1,000 colliding bodies are interactive, whatever their shape.",
        "paper 003, abstract and section 7",
        rates.iter().map(|&rate| rate >= INTERACTIVE),
        slowest(&rates, "the paper's trees"),
    )
}

fn four_thousand(report: &Report<Settings>) -> ClaimResult {
    let is_combined =
        |row: &&Row| row.objects == PAPER_OBJECTS_MAX && row.bodies == "rabbit" && row.method == "combined";
    let rates: Vec<f64> = report.rows.iter().filter(is_combined).map(|row| row.fps).collect();
    judged(
        "With 4,000 bodies the frame rate is unacceptable, about 2 per second.",
        "paper 003, section 6",
        rates.iter().map(|&rate| rate < INTERACTIVE),
        slowest(&rates, "Combined's trees"),
    )
}

/// The lowest of these frame rates, in a sentence.
fn slowest(rates: &[f64], trees: &str) -> String {
    match rates.iter().copied().reduce(f64::min) {
        None => NOT_MEASURED.to_owned(),
        Some(rate) => {
            let rate = grouped(rate as u64);
            format!("The slowest of {trees} reaches {rate} frames per second today, on one core.")
        }
    }
}

fn ours(report: &Report<Settings>, objects: usize, claim: &str) -> ClaimResult {
    let row = report.row("rabbit", "best", 3, objects);
    judged(
        claim,
        "ours",
        row.iter().map(|row| row.fps >= SMOOTH),
        row.map_or(NOT_MEASURED.to_owned(), |row| {
            format!(
                "{} frames per second: {:.2} ms for updating, {:.2} for the broad phase, {:.2} for {:.0} walks down \
                 trees.",
                grouped(row.fps as u64),
                row.update_ms,
                row.broad_ms,
                row.narrow_ms,
                row.pairs
            )
        }),
    )
}

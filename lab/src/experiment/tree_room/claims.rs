//! What paper 003 says about its hybrid, and whether it is so.

use super::{INTERACTIVE, PAPER_OBJECTS_MAX, Row, TreeRoom};
use crate::report::number::grouped;
use crate::report::verdict::{Outcome, Verdict};

/// How far a measured percentage may be from the paper's "about".
const ABOUT: f64 = 10.0;
/// What a screen shows, in frames per second.
const SMOOTH: f64 = 60.0;

/// Every claim, in the paper's order; then ours.
pub fn verdicts(report: &TreeRoom) -> Vec<Verdict> {
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
fn both<'r>(report: &'r TreeRoom, trees: [(&str, usize); 2], most: usize) -> Vec<(&'r Row, &'r Row)> {
    let row = |tree: (&str, usize), objects| report.row("rabbit", tree.0, tree.1, objects);
    let rooms = report.objects().into_iter().filter(|&objects| objects <= most);
    rooms.filter_map(|objects| Some((row(trees[0], objects)?, row(trees[1], objects)?))).collect()
}

/// How much less time a part of the frame takes, in percent, over all rooms.
fn less(pairs: &[(&Row, &Row)], part: impl Fn(&Row) -> f64) -> f64 {
    let sum = |time: &dyn Fn(&(&Row, &Row)) -> f64| pairs.iter().map(time).sum::<f64>();
    100.0 * (1.0 - sum(&|pair| part(pair.0)) / sum(&|pair| part(pair.1)))
}

fn faster(report: &TreeRoom, claim: &str, percent: f64, trees: [(&str, usize); 2]) -> Verdict {
    let pairs = both(report, trees, PAPER_OBJECTS_MAX);
    let (narrow, whole) = (less(&pairs, |row| row.narrow_ms), less(&pairs, |row| 1e3 / row.fps));
    let outcome = if pairs.is_empty() {
        Outcome::Untested
    } else if (narrow - percent).abs() <= ABOUT || (whole - percent).abs() <= ABOUT {
        Outcome::True
    } else if narrow > 0.0 {
        Outcome::Partly
    } else {
        Outcome::False
    };
    let [first, second] = trees.map(|(method, depth)| format!("{method}, depth {depth}"));
    let evidence = if pairs.is_empty() {
        "Not measured.".to_owned()
    } else {
        format!(
            "{first} takes {narrow:.0} % less time in the narrow phase than {second}, and {whole:.0} % less for the whole \
             frame."
        )
    };
    Verdict { claim: claim.to_owned(), source: "paper 003, section 8, figure 7".to_owned(), outcome, evidence }
}

fn two_levels_beat_three(report: &TreeRoom) -> Verdict {
    let pairs = both(report, [("combined", 1), ("combined", 2)], PAPER_OBJECTS_MAX);
    let narrow = less(&pairs, |row| row.narrow_ms);
    Verdict {
        claim: "Combined with 2 levels gives a better frame rate than with 3.".to_owned(),
        source: "paper 003, section 6, figure 9".to_owned(),
        outcome: Outcome::of_cases(pairs.iter().map(|(two, three)| two.narrow_ms < three.narrow_ms)),
        evidence: format!("Its narrow phase takes {narrow:.0} % less time, over all rooms. Rendering is left out."),
    }
}

/// The rows of figure 8: rabbits, Combined with two levels.
fn figure_8(report: &TreeRoom) -> Vec<&Row> {
    report.objects().into_iter().filter_map(|objects| report.row("rabbit", "combined", 1, objects)).collect()
}

fn shares(rows: &[&Row], part: impl Fn(&Row) -> f64) -> String {
    let share = |row: &&Row| 100.0 * part(row) * row.fps / 1e3;
    let (least, most) = rows.iter().map(share).fold((f64::INFINITY, 0.0_f64), |(a, b), s| (a.min(s), b.max(s)));
    if rows.is_empty() { "Not measured.".to_owned() } else { format!("{least:.0} to {most:.0} % of a frame") }
}

fn updating_dominates(report: &TreeRoom) -> Verdict {
    let rows = figure_8(report);
    Verdict {
        claim: "Updating the lists of Sweep & Prune dominates the time of collision detection.".to_owned(),
        source: "paper 003, section 6, figure 8".to_owned(),
        outcome: Outcome::of_cases(rows.iter().map(|row| row.update_ms > row.broad_ms + row.narrow_ms)),
        evidence: format!("Updating takes {}.", shares(&rows, |row| row.update_ms)),
    }
}

fn broad_exceeds_narrow(report: &TreeRoom) -> Verdict {
    let rows = figure_8(report);
    Verdict {
        claim: "The broad phase takes more time than the narrow phase.".to_owned(),
        source: "paper 003, section 6, figure 8".to_owned(),
        outcome: Outcome::of_cases(rows.iter().map(|row| row.broad_ms > row.narrow_ms)),
        evidence: format!(
            "Finding takes {}, walks down trees {}.",
            shares(&rows, |row| row.broad_ms),
            shares(&rows, |row| row.narrow_ms)
        ),
    }
}

fn a_thousand(report: &TreeRoom) -> Verdict {
    let rows: Vec<&Row> =
        report.rows.iter().filter(|row| row.objects == 1_000 && row.broad == "sweep-and-prune").collect();
    let slowest = rows.iter().map(|row| row.fps).fold(f64::INFINITY, f64::min);
    Verdict {
        claim: "1,000 colliding bodies are interactive, whatever their shape.".to_owned(),
        source: "paper 003, abstract and section 7".to_owned(),
        outcome: Outcome::of_cases(rows.iter().map(|row| row.fps >= INTERACTIVE)),
        evidence: format!("The slowest of the paper's trees manages {} frames per second.", grouped(slowest as u64)),
    }
}

fn four_thousand(report: &TreeRoom) -> Verdict {
    let rows: Vec<&Row> = report
        .rows
        .iter()
        .filter(|row| row.objects == PAPER_OBJECTS_MAX && row.bodies == "rabbit" && row.method == "combined")
        .collect();
    let slowest = rows.iter().map(|row| row.fps).fold(f64::INFINITY, f64::min);
    Verdict {
        claim: "With 4,000 bodies the frame rate is unacceptable, about 2 per second.".to_owned(),
        source: "paper 003, section 6".to_owned(),
        outcome: Outcome::of_cases(rows.iter().map(|row| row.fps < INTERACTIVE)),
        evidence: format!(
            "The slowest of Combined's trees manages {} frames per second today, on one core.",
            grouped(slowest as u64)
        ),
    }
}

fn ours(report: &TreeRoom, objects: usize, claim: &str) -> Verdict {
    let row = report.row("rabbit", "best", 3, objects);
    Verdict {
        claim: claim.to_owned(),
        source: "ours".to_owned(),
        outcome: Outcome::of_cases(row.iter().map(|row| row.fps >= SMOOTH)),
        evidence: row.map_or("Not measured.".to_owned(), |row| {
            format!(
                "{} frames per second: {:.2} ms for updating, {:.2} for the broad phase, {:.2} for {:.0} walks down trees.",
                grouped(row.fps as u64), row.update_ms, row.broad_ms, row.narrow_ms, row.pairs
            )
        }),
    }
}

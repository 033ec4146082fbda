//! What papers 000 and 004 say about their algorithms, and whether it is so.

use super::{Row, all_coverages, all_objects, row_of};
use crate::report::claim::{ClaimResult, judged};
use crate::report::number::{grouped, significant};

const EXPANDING: &str = "expanding-sphere";
const ORDERED: &str = "ordered-relations";
const AXIS: &str = "ordered-axis";
const BOTH: &str = "ordered-axis-relations";
const BRUTE: &str = "brute-force";
const OURS: &str = "kinesphere";

/// Every claim, in the papers' order; then ours.
pub fn all(rows: &[Row]) -> Vec<ClaimResult> {
    let shares = |algorithm| numbers(rows, algorithm, BRUTE, Measure::Comparisons);
    let times = |algorithm| numbers(rows, algorithm, BRUTE, Measure::Time);
    let variations = || [EXPANDING, ORDERED, AXIS, BOTH].into_iter().flat_map(shares);
    vec![
        judged(
            "All variations need fewer comparisons than brute force.",
            "000 section 4, graphs 1 to 4; 004 section 3",
            variations().map(|(.., share)| share < 1.0),
            format!(
                "Comparisons over brute force's: {}, {}, {}.",
                spread("expanding sphere", shares(EXPANDING)),
                spread("ordered relations", shares(ORDERED)),
                spread("ordered axis", shares(AXIS))
            ),
        ),
        grows(rows),
        judged(
            "Ordered axis needs about 12 % of brute force's comparisons.",
            "000 section 4",
            shares(AXIS).into_iter().map(|(.., share)| (0.08..=0.16).contains(&share)),
            format!("{}; about means 8 to 16 %. {}", spread("Ordered axis", shares(AXIS)), each(shares(AXIS))),
        ),
        linear(rows),
        judged(
            "At 4,000 objects expanding sphere needs about a sixth of brute force's comparisons.",
            "004 section 3, figure 3",
            shares(EXPANDING)
                .into_iter()
                .filter(|&(objects, coverage, _)| objects == 4_000 && coverage >= 5.0)
                .map(|(.., share)| (0.12..=0.22).contains(&share)),
            format!("At 5 % coverage and more, about meaning 12 to 22 %: {}", at_objects(shares(EXPANDING), 4_000)),
        ),
        judged(
            "At 1 % coverage expanding sphere hardly differs from brute force.",
            "000 graph 1, 004 section 3",
            shares(EXPANDING).into_iter().filter(|&(_, coverage, _)| coverage <= 1.0).map(|(.., share)| share > 0.9),
            format!("Hardly means less than a tenth. {}", each(shares(EXPANDING))),
        ),
        judged(
            "It saves comparisons to begin with the largest relations of the last frame.",
            "000 section 3.2",
            numbers(rows, ORDERED, EXPANDING, Measure::Comparisons).into_iter().map(|(.., ratio)| ratio < 1.0),
            format!(
                "{}. Within the axis: {}.",
                spread(
                    "Ordered relations over expanding sphere",
                    numbers(rows, ORDERED, EXPANDING, Measure::Comparisons)
                ),
                spread("with the order over without", numbers(rows, BOTH, AXIS, Measure::Comparisons))
            ),
        ),
        judged(
            "Expanding sphere and ordered relations are no faster than brute force in time.",
            "000 section 4, graphs 5 to 8",
            [EXPANDING, ORDERED].into_iter().flat_map(times).map(|(.., ratio)| ratio >= 1.0),
            format!(
                "Time over brute force's, which finds pairs alone and one at a time: {}, {}.",
                spread("expanding sphere", times(EXPANDING)),
                spread("ordered relations", times(ORDERED))
            ),
        ),
        judged(
            "Ordered axis is faster than the others in time.",
            "000 section 4, graphs 5 to 8",
            [BRUTE, EXPANDING, ORDERED]
                .into_iter()
                .flat_map(|other| numbers(rows, AXIS, other, Measure::Time))
                .map(|(.., ratio)| ratio < 1.0),
            format!("Time over brute force's: {}.", spread("ordered axis", times(AXIS))),
        ),
        judged(
            "Kinesphere is the fastest of all.",
            "This project",
            [BRUTE, EXPANDING, ORDERED, AXIS, BOTH]
                .into_iter()
                .flat_map(|other| numbers(rows, OURS, other, Measure::Time))
                .map(|(.., ratio)| ratio < 1.0),
            format!(
                "{}; {}.",
                spread("Ordered axis takes, in times of ours,", numbers(rows, AXIS, OURS, Measure::Time)),
                spread("brute force", numbers(rows, BRUTE, OURS, Measure::Time))
            ),
        ),
    ]
}

fn grows(rows: &[Row]) -> ClaimResult {
    let (objects, coverages) = (all_objects(rows), all_coverages(rows));
    let share = |objects, coverage| row_of(rows, objects, coverage, EXPANDING).map(|row| row.share_of_brute_force);
    let mut cases = Vec::new();
    for &coverage in &coverages {
        cases.extend(objects.windows(2).filter_map(|pair| Some(share(pair[1], coverage)? < share(pair[0], coverage)?)));
    }
    for &objects in &objects {
        cases.extend(coverages.windows(2).filter_map(|pair| Some(share(objects, pair[1])? < share(objects, pair[0])?)));
    }
    judged(
        "The gain grows with the number of objects and with coverage.",
        "000 section 4",
        cases,
        format!("Expanding sphere's share: {}", each(numbers(rows, EXPANDING, BRUTE, Measure::Comparisons))),
    )
}

fn linear(rows: &[Row]) -> ClaimResult {
    let objects = all_objects(rows);
    let mut found = Vec::new();
    if let [few, .., many] = objects[..] {
        for coverage in all_coverages(rows) {
            let made = |objects| row_of(rows, objects, coverage, AXIS).map(|row| row.comparisons_raw);
            if let (Some(first), Some(last)) = (made(few), made(many)) {
                found.push((coverage, (last / first).ln() / (many as f64 / few as f64).ln()));
            }
        }
    }
    let texts: Vec<String> = found.iter().map(|(coverage, power)| format!("{power:.2} at {coverage} %")).collect();
    judged(
        "Ordered axis scales nearly linearly.",
        "000 section 4",
        found.iter().map(|(_, power)| *power <= 1.25),
        format!(
            "Comparisons grow with this power of the number of objects, 1 being linear, 2 brute force, and nearly \
             meaning 1.25: {}. On one axis, the objects whose intervals overlap grow with the two-thirds power, so \
             1.67 is what to expect without clusters.",
            texts.join(", ")
        ),
    )
}

#[derive(Clone, Copy)]
enum Measure {
    Comparisons,
    Time,
}

/// One algorithm over another, for each number of objects and coverage.
fn numbers(rows: &[Row], one: &str, other: &str, measure: Measure) -> Vec<(usize, f32, f64)> {
    let value = |objects, coverage, algorithm: &str| {
        row_of(rows, objects, coverage, algorithm).map(|row| match measure {
            Measure::Comparisons => row.comparisons_raw,
            Measure::Time => row.ms_per_frame,
        })
    };
    let mut found = Vec::new();
    for coverage in all_coverages(rows) {
        for objects in all_objects(rows) {
            if let (Some(one), Some(other)) = (value(objects, coverage, one), value(objects, coverage, other)) {
                found.push((objects, coverage, one / other.max(1e-9)));
            }
        }
    }
    found
}

fn spread(name: &str, numbers: Vec<(usize, f32, f64)>) -> String {
    let (low, high) = numbers.iter().fold((f64::INFINITY, 0f64), |(low, high), n| (low.min(n.2), high.max(n.2)));
    if numbers.is_empty() {
        format!("{name} not measured")
    } else {
        format!("{name} {} to {}", significant(low), significant(high))
    }
}

/// By coverage: with the fewest objects and with the most.
fn each(numbers: Vec<(usize, f32, f64)>) -> String {
    let texts: Vec<String> = numbers
        .chunk_by(|one, other| one.1 == other.1)
        .map(|same| {
            let ((few, coverage, first), (many, _, last)) = (same[0], same[same.len() - 1]);
            format!(
                "at {coverage} %: {:.1} % with {} objects, {:.1} % with {}",
                100.0 * first,
                grouped(few as u64),
                100.0 * last,
                grouped(many as u64)
            )
        })
        .collect();
    texts.join("; ") + "."
}

fn at_objects(numbers: Vec<(usize, f32, f64)>, objects: usize) -> String {
    let own = numbers.iter().filter(|number| number.0 == objects);
    let texts: Vec<String> =
        own.map(|(_, coverage, share)| format!("{:.1} % at {coverage} %", 100.0 * share)).collect();
    if texts.is_empty() { "not measured.".to_owned() } else { texts.join(", ") + "." }
}

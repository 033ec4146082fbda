//! What paper 003 says about its broad phases, and whether it is so.

use super::{Row, Settings, voxels};
use crate::experiment::flight_room::Movement;
use crate::report::claim::{ClaimOutcome, ClaimResult, judged};
use crate::report::number::grouped;
use crate::study::Report;

/// The four that the paper compares.
const FOUR: [&str; 4] = ["brute-force", "octree", "uniform-grid", "sweep-and-prune"];
/// Figure 4 ends here.
const FIGURE_4_MAX: usize = 500;
/// Figure 5 ends here.
pub const FIGURE_5_MAX: usize = 1_000;
/// How far a measured percentage may be from "about 75 %".
const ABOUT: f64 = 10.0;
/// How far a share may be out of the paper's range, in percent: it was read from a figure.
const SHARE_MARGIN: f64 = 5.0;
/// The evidence where no room was what a claim is about.
const NOT_MEASURED: &str = "Not measured.";

/// Every claim, in the paper's order; then one of the survey that it builds on, and ours.
pub fn all(report: &Report<Settings>) -> Vec<ClaimResult> {
    vec![
        spatial_structures_help(report),
        grid_beats_octree(report),
        sweep_is_fastest(report),
        three_quarters_faster(report),
        update_shares(report),
        hybrid_is_slower(report),
        plane_is_like_space(report),
        voxels::claim(&report.facts.voxels),
        ours_is_fastest(report),
    ]
}

fn spatial_structures_help(report: &Report<Settings>) -> ClaimResult {
    let octree = Ratios::of(report, "octree", "brute-force", FIGURE_4_MAX);
    let grid = Ratios::of(report, "uniform-grid", "brute-force", FIGURE_4_MAX);
    judged(
        "Octree and grid are faster than brute force.",
        "Section 6, figure 4",
        octree.cases().chain(grid.cases()),
        format!("{octree}. {grid}.{}", tests_made(report)),
    )
}

/// The number of tests does not depend on the processor: ours tests eight pairs at once, the paper's tested one.
fn tests_made(report: &Report<Settings>) -> String {
    let Some(objects) = report.objects(0, FIGURE_4_MAX).pop() else { return String::new() };
    let tests = |method| report.row(Movement::Space, objects, method).map(|row| row.sphere_tests.round() as u64);
    let made: Vec<String> = ["brute-force", "octree", "uniform-grid"]
        .into_iter()
        .filter_map(|method| Some(format!("{} {}", spoken(method), grouped(tests(method)?))))
        .collect();
    if made.is_empty() {
        return String::new();
    }
    format!(
        " Brute force is helped by today's processors: it tests eight pairs at once. Tests per frame with {} objects: \
         {}.",
        grouped(objects as u64),
        made.join(", ")
    )
}

fn grid_beats_octree(report: &Report<Settings>) -> ClaimResult {
    let ratios = Ratios::of(report, "uniform-grid", "octree", FIGURE_4_MAX);
    judged(
        "The grid is faster than the octree.",
        "Section 6, figure 4",
        ratios.cases(),
        format!(
            "{ratios}. (The paper's text gives 12 frames per second to the grid and 34 to the octree, and still calls \
             the grid faster: it must have swapped the two.)"
        ),
    )
}

fn sweep_is_fastest(report: &Report<Settings>) -> ClaimResult {
    let winners = Winners::of(report, &FOUR, FIGURE_5_MAX);
    let rows = report.speed_rows();
    let rooms = rows.chunk_by(|one, other| one.speed == other.speed);
    let at_speeds: Vec<(f32, bool)> =
        rooms.map(|room| (room[0].speed, winner(room) == Some("sweep-and-prune"))).collect();
    let won: Vec<String> = at_speeds.iter().filter(|(_, wins)| *wins).map(|(speed, _)| speed.to_string()).collect();
    let speeds = rows.first().map_or(String::new(), |row| {
        let objects = grouped(row.objects as u64);
        let is_so = match won.len() {
            0 => "at no speed that was tried".to_owned(),
            all if all == at_speeds.len() => "at every speed that was tried".to_owned(),
            _ => format!("at {} per frame, and at no other speed that was tried", won.join(", ")),
        };
        format!(" The paper does not give the speed: with {objects} objects sweep and prune is the fastest {is_so}.")
    });
    let cases = winners.0.iter().map(|(_, method)| *method == "sweep-and-prune");
    judged(
        "Sweep and prune is the fastest of the four.",
        "Sections 6 and 8, figure 5",
        cases.chain(at_speeds.iter().map(|(_, wins)| *wins)),
        match winners.0.is_empty() {
            true => NOT_MEASURED.to_owned(),
            false => format!("Fastest, at {} per frame: {winners}.{speeds}", report.settings.speed),
        },
    )
}

fn three_quarters_faster(report: &Report<Settings>) -> ClaimResult {
    let (claim, source) = ("Sweep and prune is about 75 % faster than the grid.", "Section 8");
    let ratios = Ratios::of(report, "sweep-and-prune", "uniform-grid", FIGURE_5_MAX);
    let Some(&(objects, ratio)) = ratios.ratios.last() else {
        return judged(claim, source, [], NOT_MEASURED);
    };
    let rows = report.speed_rows();
    let at_speeds = rows.chunk_by(|one, other| one.speed == other.speed).filter_map(|room| {
        let time = |name| room.iter().find(|row| row.method == name).map(|row| row.frame_us());
        Some((room[0].speed, time("uniform-grid")? / time("sweep-and-prune")?))
    });
    let best = at_speeds.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((report.settings.speed, ratio));
    let is_about = |percent: f64| (percent - 75.0).abs() <= ABOUT;
    let is_so = |ratio: f64| is_about(time_lower(ratio)) || is_about(rate_higher(ratio));
    let evidence = format!(
        "With {} objects: {} At best, with {} per frame: {} The paper's own 14 and 54 frames per second with 1,000 \
         objects are 74 % less time and a rate 286 % higher, so that it must mean the time.",
        grouped(objects as u64),
        both_readings(ratio),
        best.0,
        both_readings(best.1),
    );
    let outcome = match is_about(time_lower(ratio)) {
        true => ClaimOutcome::True,
        false if is_so(ratio) || is_so(best.1) => ClaimOutcome::Partly,
        false => ClaimOutcome::False,
    };
    ClaimResult { outcome, ..judged(claim, source, [], evidence) }
}

/// By how many percent the time is lower, if it is.
fn time_lower(ratio: f64) -> f64 {
    100.0 * (1.0 - 1.0 / ratio)
}

/// By how many percent the rate is higher, if it is.
fn rate_higher(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

fn both_readings(ratio: f64) -> String {
    format!("its time is {} and its rate is {}.", changed(-time_lower(ratio)), changed(rate_higher(ratio)))
}

/// The fastest of the four in a room.
fn winner(room: &[&Row]) -> Option<&'static str> {
    let four = room.iter().filter(|row| FOUR.contains(&row.method));
    four.min_by(|one, other| one.frame_us().total_cmp(&other.frame_us())).map(|row| row.method)
}

fn update_shares(report: &Report<Settings>) -> ClaimResult {
    let claim = "Updating takes 78 to 98 % of sweep and prune's time, and 53 to 62 % of the grid's.";
    let source = "Section 6, figure 6";
    let sweep = shares(report, "sweep-and-prune");
    let grid = shares(report, "uniform-grid");
    if sweep.is_empty() || grid.is_empty() {
        return judged(claim, source, [], NOT_MEASURED);
    }
    let is_within = |percents: &[f64], low: f64, high: f64| {
        percents.iter().all(|percent| (low - SHARE_MARGIN..=high + SHARE_MARGIN).contains(percent))
    };
    let is_greater = sweep.iter().zip(&grid).all(|(sweep, grid)| sweep > grid);
    let evidence = format!(
        "Sweep and prune: {}. Grid: {}. A share counts as the paper's if it is within {SHARE_MARGIN} points of its \
         range, which was read from a figure. Sweep and prune's share is {} the greater one.",
        range(&sweep),
        range(&grid),
        if is_greater { "always" } else { "not always" }
    );
    let cases = [is_within(&sweep, 78.0, 98.0), is_within(&grid, 53.0, 62.0), is_greater];
    judged(claim, source, cases, evidence)
}

fn hybrid_is_slower(report: &Report<Settings>) -> ClaimResult {
    let ratios = Ratios::of(report, "sweep-and-prune", "grid-sweep-and-prune", FIGURE_5_MAX);
    judged(
        "The hybrid, sweep and prune within each voxel, is slower than sweep and prune.",
        "Section 6",
        ratios.cases(),
        format!("{ratios}."),
    )
}

fn plane_is_like_space(report: &Report<Settings>) -> ClaimResult {
    let ratio = |method: &str| {
        let times = |movement| -> f64 {
            let objects = report.objects(0, FIGURE_5_MAX).into_iter();
            objects.filter_map(|objects| report.row(movement, objects, method)).map(|row| row.frame_us()).sum()
        };
        let (plane, space) = (times(Movement::Plane), times(Movement::Space));
        (space > 0.0).then(|| plane / space)
    };
    let ratios: Vec<(&str, f64)> = FOUR.into_iter().filter_map(|method| Some((method, ratio(method)?))).collect();
    let described: Vec<String> =
        ratios.iter().map(|(method, ratio)| format!("{} {}", spoken(method), format_args!("{ratio:.2}"))).collect();
    judged(
        "Movement in the plane gives similar results to movement in space.",
        "Section 6",
        ratios.iter().map(|(_, ratio)| (0.8..=1.25).contains(ratio)),
        match described.is_empty() {
            true => NOT_MEASURED.to_owned(),
            false => {
                format!("Time in the plane over time in space, similar if within a quarter: {}.", described.join(", "))
            }
        },
    )
}

/// In worlds of this size ours uses the plain grid inside it, so chance decides which of the two is ahead.
fn ours_is_fastest(report: &Report<Settings>) -> ClaimResult {
    let mut others = report.methods();
    others.retain(|method| *method != "plain-grid");
    let winners = Winners::of(report, &others, usize::MAX);
    let is_there = report.methods().contains(&"kinesphere");
    let cases = winners.0.iter().filter(|_| is_there).map(|(_, method)| *method == "kinesphere");
    let [sweep, grid] =
        ["sweep-and-prune", "plain-grid"].map(|other| Ratios::of(report, "kinesphere", other, usize::MAX));
    judged(
        "Kinesphere is the fastest of all but the plain grid, which it has inside.",
        "This project",
        cases,
        format!("Fastest: {winners}. {sweep}. {grid}."),
    )
}

/// How many times as fast one method is as another, for each number of objects where both were measured.
struct Ratios {
    one: &'static str,
    other: &'static str,
    ratios: Vec<(usize, f64)>,
}

impl Ratios {
    fn of(report: &Report<Settings>, one: &'static str, other: &'static str, objects_max: usize) -> Ratios {
        let ratio = |objects: usize| {
            let time = |method| report.row(Movement::Space, objects, method).map(|row| row.frame_us());
            Some((objects, time(other)? / time(one)?))
        };
        Ratios { one, other, ratios: report.objects(0, objects_max).into_iter().filter_map(ratio).collect() }
    }

    /// Whether it is faster, each time.
    fn cases(&self) -> impl Iterator<Item = bool> + '_ {
        self.ratios.iter().map(|(_, ratio)| *ratio > 1.0)
    }
}

/// `The grid needs 0.42 times the time of the octree with 100 objects, 0.31 times with 500`.
impl std::fmt::Display for Ratios {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (one, other) = (capital(spoken(self.one)), spoken(self.other));
        match self.ratios[..] {
            [] => write!(formatter, "{one} against {other} was not measured"),
            [(objects, ratio)] => {
                let objects = grouped(objects as u64);
                write!(formatter, "{one} needs {:.2} times the time of {other} with {objects} objects", 1.0 / ratio)
            }
            [(few, first), .., (many, last)] => write!(
                formatter,
                "{one} needs {:.2} times the time of {other} with {} objects, {:.2} times with {}",
                1.0 / first,
                grouped(few as u64),
                1.0 / last,
                grouped(many as u64)
            ),
        }
    }
}

/// The fastest method, for each number of objects.
struct Winners(Vec<(usize, &'static str)>);

impl Winners {
    fn of(report: &Report<Settings>, methods: &[&'static str], objects_max: usize) -> Winners {
        let winner = |objects: usize| {
            let rows = methods.iter().filter_map(|method| report.row(Movement::Space, objects, method));
            rows.min_by(|one, other| one.frame_us().total_cmp(&other.frame_us())).map(|row| (objects, row.method))
        };
        Winners(report.objects(0, objects_max).into_iter().filter_map(winner).collect())
    }
}

/// `the grid with 100 to 400, sweep and prune with 500 to 1,000 objects`, or `not measured`
impl std::fmt::Display for Winners {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return write!(formatter, "not measured");
        }
        let runs: Vec<String> = self
            .0
            .chunk_by(|one, next| one.1 == next.1)
            .map(|run| {
                let (from, to) = (run[0], run[run.len() - 1]);
                let objects = match from.0 == to.0 {
                    true => grouped(from.0 as u64),
                    false => format!("{} to {}", grouped(from.0 as u64), grouped(to.0 as u64)),
                };
                format!("{} with {objects}", spoken(from.1))
            })
            .collect();
        write!(formatter, "{} objects", runs.join(", "))
    }
}

/// A method's name within a sentence.
pub fn spoken(method: &str) -> &str {
    match method {
        "brute-force" => "brute force",
        "uniform-grid" => "the grid",
        "octree" => "the octree",
        "sweep-and-prune" => "sweep and prune",
        "grid-sweep-and-prune" => "the hybrid",
        "sweep-one-axis" => "sweep on one axis",
        "plain-grid" => "the plain grid",
        "kinesphere" => "Kinesphere",
        other => other,
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn changed(percent: f64) -> String {
    format!("{:.0} % {}", percent.abs(), if percent < 0.0 { "lower" } else { "higher" })
}

/// Updating as a percentage of a method's time, by number of objects.
fn shares(report: &Report<Settings>, method: &str) -> Vec<f64> {
    let objects = report.objects(0, FIGURE_5_MAX).into_iter();
    objects
        .filter_map(|objects| report.row(Movement::Space, objects, method))
        .map(|row| 100.0 * row.update_share)
        .collect()
}

fn range(percents: &[f64]) -> String {
    let (low, high) = percents.iter().fold((f64::INFINITY, 0f64), |(low, high), &at| (low.min(at), high.max(at)));
    match (format!("{low:.0}"), format!("{high:.0}")) {
        (low, high) if low == high => format!("{low} %"),
        (low, high) => format!("{low} to {high} %"),
    }
}

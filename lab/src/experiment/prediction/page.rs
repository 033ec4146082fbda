//! The experiment as tables, and as a page that one reads from top to bottom.

use super::{LATENCY_MS, Prediction, Row, figures, metres};
use crate::report::page::{Block, Page, Section};
use crate::report::verdict::Outcome;
use kinesphere::table::Table;

/// The page.
pub fn page(report: &Prediction) -> Page {
    let section = |heading: &str, blocks| Section { heading: heading.to_owned(), blocks };
    Page {
        title: "Does predicting collisions make replicas better?".to_owned(),
        lead: lead(report),
        sections: vec![
            section("Does the paper hold?", vec![Block::Verdicts(report.verdicts.clone())]),
            section("What was to be reached", vec![Block::Table(goals(report))]),
            section("What it looks like", vec![Block::Figures(figures::all(report))]),
            section("At equal traffic", vec![Block::Text(EQUAL.to_owned()), Block::Table(equal_traffic(report))]),
            section("The paper's path", vec![Block::Text(METHODS.to_owned()), Block::Table(rows(&report.rows))]),
            section("Corridors", vec![Block::Text(CORRIDORS.to_owned()), Block::Table(rows(&report.corridors))]),
            section("Lost messages", vec![Block::Table(rows(&report.loss))]),
            section("Smoothing", vec![Block::Text(SMOOTHING.to_owned()), Block::Table(smoothing(report))]),
            section("Other frame rates", vec![Block::Table(rows(&report.frame_rates))]),
            section("Random motion", vec![Block::Table(rows(&report.random))]),
        ],
        command: report.command.clone(),
    }
}

const METHODS: &str = "a: dead reckoning of order 1 and 2. b: with collisions predicted at the observer's frames. c: with a \
    lower limit near remote objects. d0, d: position history, plain and with both. e: collisions at contact times, by \
    owner and observer alike, and events. f2: e2 with a limit that falls steadily. g2: e2, sent a latency ahead. h2: g2 \
    with the lower limit. floor: an update every frame. best: ours.";
const EQUAL: &str = "Whoever sends more looks better. So the limit of the simpler method is lowered or raised until it \
    sends as much as the other.";
const CORRIDORS: &str = "Steered at random between two walls, with seeds that no parameter has seen: means over all, and \
    `max` is the mean of maxima.";

const SMOOTHING: &str = "Errors of what is predicted and of what is shown, and the largest step that a viewer sees from one \
    frame to the next beyond what motion explains. All other tables speak of what is predicted.";

fn smoothing(report: &Prediction) -> Table {
    let mut table = Table::new(["method", "convergence", "predicted, mean m", "shown, mean m", "largest jump m"]);
    for row in &report.convergence {
        let numbers = [row.mean_m, row.shown_mean_m, row.jump_max_m].map(metres);
        table.row([row.method, row.convergence].map(str::to_owned).into_iter().chain(numbers));
    }
    table
}

fn lead(report: &Prediction) -> String {
    let count = |outcome| report.verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
    let met = report.goals.iter().filter(|goal| goal.is_met).count();
    format!(
        "Ohlenburg lets observers predict the collisions of remote objects, and owners tell more when a meeting is near. \
         We built both again, and went on. Of {} claims {} hold, {} hold in part and {} do not; of {} goals {met} are met.",
        report.verdicts.len() - count(Outcome::Untested),
        count(Outcome::True),
        count(Outcome::Partly),
        count(Outcome::False),
        report.goals.len(),
    )
}

/// All rows, one line each.
pub fn rows(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "method",
        "ms",
        "Hz",
        "loss",
        "mean m",
        "rms m",
        "max m",
        "messages",
        "bytes/s",
        "in a wall m",
        "after collisions m",
        "in windows m",
        "messages there",
    ]);
    let list = |values: &[f64]| values.iter().map(|&value| format!("{value:.2}")).collect::<Vec<_>>().join(" ");
    for row in rows {
        table.row([
            row.method.to_owned(),
            row.latency_ms.to_string(),
            row.observer_hz.to_string(),
            row.loss.to_string(),
            metres(row.summary.mean_m),
            metres(row.summary.rms_m),
            metres(row.summary.max_m),
            format!("{:.1}", row.summary.messages),
            format!("{:.0}", row.summary.bytes_per_s),
            if row.summary.penetration_m < 1e-6 { "0".to_owned() } else { metres(row.summary.penetration_m) },
            list(&row.summary.at_collision_m),
            list(&row.summary.window_mean_m),
            row.summary.window_messages.iter().map(|value| format!("{value:.0}")).collect::<Vec<_>>().join(" "),
        ]);
    }
    table
}

/// Each claim of one method over another.
pub fn equal_traffic(report: &Prediction) -> Table {
    let mut table = Table::new([
        "path",
        "method",
        "messages/s",
        "mean m",
        "in windows m",
        "simpler",
        "limit m",
        "messages/s",
        "mean m",
        "in windows m",
    ]);
    for row in &report.equal_traffic {
        table.row([
            row.path.to_owned(),
            row.method.to_owned(),
            format!("{:.2}", row.messages_per_s),
            metres(row.mean_m),
            metres(row.window_mean_m),
            row.simpler.to_owned(),
            metres(row.simpler_limit_m),
            format!("{:.2}", row.simpler_messages_per_s),
            metres(row.simpler_mean_m),
            metres(row.simpler_window_mean_m),
        ]);
    }
    table
}

/// Goals and what was reached, at [`LATENCY_MS`].
pub fn goals(report: &Prediction) -> Table {
    debug_assert_eq!(LATENCY_MS, 200, "the goals are set for 200 ms");
    let mut table = Table::new(["goal", "at most", "reached", "met"]);
    for goal in &report.goals {
        let met = if goal.is_met { "yes" } else { "NO" };
        table.row([goal.what.to_owned(), metres(goal.at_most), metres(goal.reached), met.to_owned()]);
    }
    table
}

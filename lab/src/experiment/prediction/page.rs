//! The experiment as tables and as a page.

use super::{LATENCY_MS, Row, Settings, TrackingFacts, figures, metres};
use crate::report::claim::ClaimResult;
use crate::report::page::{Page, PageBlock, section};
use crate::report::table;
use crate::study::Report;
use kinesphere::table::Table;

pub fn page(report: &Report<Settings>) -> Page {
    let facts = &report.facts;
    let met = facts.goals.iter().filter(|goal| goal.is_met).count();
    let lead = format!(
        "Ohlenburg lets observers predict the collisions of remote objects, and owners tell more when a meeting is \
         near. We built both again, and went on. {} Of {} goals {met} are met.",
        ClaimResult::tally(&report.claims),
        facts.goals.len(),
    );
    let sections = vec![
        section("Does the paper hold?", [PageBlock::Verdicts(report.claims.clone())]),
        section("Goals", [PageBlock::Table(goals(facts))]),
        section("What it looks like", [PageBlock::Figures(figures::all(report))]),
        section("At equal traffic", [PageBlock::text(EQUAL), PageBlock::Table(equal_traffic(facts))]),
        section("The paper's path", [PageBlock::text(METHODS), PageBlock::Table(rows(&report.rows))]),
        section("Corridors", [PageBlock::text(CORRIDORS), PageBlock::Table(rows(&facts.corridors))]),
        section("Lost messages", [PageBlock::Table(rows(&facts.loss))]),
        section("Smoothing", [PageBlock::text(SMOOTHING), PageBlock::Table(smoothing(facts))]),
        section("Other frame rates", [PageBlock::Table(rows(&facts.frame_rates))]),
        section("Random motion", [PageBlock::Table(rows(&facts.random))]),
    ];
    Page::new("Does predicting collisions make replicas better?", lead, sections)
}

const METHODS: &str = "a: dead reckoning of order 1 and 2. b: with collisions predicted at the observer's frames. c: \
    with a lower limit near remote objects. d0, d: position history, plain and with both. e: collisions at contact \
    times, by owner and observer alike, and events. f2: e2 with a limit that falls steadily. g2: e2, sent a latency \
    ahead. h2: g2 with the lower limit. floor: an update every frame. best: ours.";
const EQUAL: &str = "A method that sends more looks better. So the limit of the simpler method is lowered or raised \
    until it sends as much as the other.";
const CORRIDORS: &str = "Steered at random between two walls, with seeds that no parameter has seen: means over all, \
    and `max` is the mean of maxima.";

const SMOOTHING: &str = "Errors of what is predicted and of what is shown, and the largest step that a viewer sees \
    from one frame to the next beyond what motion explains. All other tables speak of what is predicted.";

fn smoothing(facts: &TrackingFacts) -> Table {
    table(
        &facts.convergence,
        &[
            ("method", |row| row.method.to_owned()),
            ("convergence", |row| row.convergence.to_owned()),
            ("predicted, mean m", |row| metres(row.mean_m)),
            ("shown, mean m", |row| metres(row.shown_mean_m)),
            ("largest jump m", |row| metres(row.jump_max_m)),
        ],
    )
}

/// All rows, one line each.
pub fn rows(rows: &[Row]) -> Table {
    fn list(values: &[f64], digits: usize) -> String {
        values.iter().map(|&value| format!("{value:.digits$}")).collect::<Vec<_>>().join(" ")
    }
    table(
        rows,
        &[
            ("method", |row| row.method.to_owned()),
            ("ms", |row| row.latency_ms.to_string()),
            ("Hz", |row| row.observer_hz.to_string()),
            ("loss", |row| row.loss.to_string()),
            ("mean m", |row| metres(row.summary.mean_m)),
            ("rms m", |row| metres(row.summary.rms_m)),
            ("max m", |row| metres(row.summary.max_m)),
            ("messages", |row| format!("{:.1}", row.summary.messages)),
            ("bytes/s", |row| format!("{:.0}", row.summary.bytes_per_s)),
            ("in a wall m", |row| match row.summary.penetration_m {
                depth if depth < 1e-6 => "0".to_owned(),
                depth => metres(depth),
            }),
            ("after collisions m", |row| list(&row.summary.at_collision_m, 2)),
            ("in windows m", |row| list(&row.summary.window_mean_m, 2)),
            ("messages there", |row| list(&row.summary.window_messages, 0)),
        ],
    )
}

/// Each claim of one method over another.
pub fn equal_traffic(facts: &TrackingFacts) -> Table {
    table(
        &facts.equal_traffic,
        &[
            ("path", |row| row.path.to_owned()),
            ("method", |row| row.method.to_owned()),
            ("messages/s", |row| format!("{:.2}", row.messages_per_s)),
            ("mean m", |row| metres(row.mean_m)),
            ("in windows m", |row| metres(row.window_mean_m)),
            ("simpler", |row| row.simpler.to_owned()),
            ("limit m", |row| metres(row.simpler_limit_m)),
            ("messages/s", |row| format!("{:.2}", row.simpler_messages_per_s)),
            ("mean m", |row| metres(row.simpler_mean_m)),
            ("in windows m", |row| metres(row.simpler_window_mean_m)),
        ],
    )
}

/// Goals and what was reached, at [`LATENCY_MS`].
pub fn goals(facts: &TrackingFacts) -> Table {
    debug_assert_eq!(LATENCY_MS, 200, "the goals are set for 200 ms");
    table(
        &facts.goals,
        &[
            ("goal", |goal| goal.what.to_owned()),
            ("at most", |goal| metres(goal.at_most)),
            ("reached", |goal| metres(goal.reached)),
            ("met", |goal| if goal.is_met { "yes" } else { "NO" }.to_owned()),
        ],
    )
}

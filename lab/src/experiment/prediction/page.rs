//! The experiment as tables and as a page.

use super::{Settings, figures};
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::page::{Page, PageBlock, section};
use crate::study::Report;

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
        section("Goals", [PageBlock::Table(to_table(&facts.goals))]),
        section("What it looks like", [PageBlock::Figures(figures::all(report))]),
        section("At equal traffic", [PageBlock::text(EQUAL), PageBlock::Table(to_table(&facts.equal_traffic))]),
        section("The paper's path", [PageBlock::text(METHODS), PageBlock::Table(to_table(&report.rows))]),
        section("Corridors", [PageBlock::text(CORRIDORS), PageBlock::Table(to_table(&facts.corridors))]),
        section("Lost messages", [PageBlock::Table(to_table(&facts.loss))]),
        section("Smoothing", [PageBlock::text(SMOOTHING), PageBlock::Table(to_table(&facts.convergence))]),
        section("Other frame rates", [PageBlock::Table(to_table(&facts.frame_rates))]),
        section("Random motion", [PageBlock::Table(to_table(&facts.random))]),
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

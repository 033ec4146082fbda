//! The experiment as a page that one reads from top to bottom.

use super::{Row, Settings, TreeInfo, figures};
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::number::grouped;
use crate::report::page::{Page, PageBlock, section};
use crate::study::Report;
use kinesphere::table::Table;

pub fn page(report: &Report<Settings>) -> Page {
    let lead = format!(
        "Rocha, Rodrigues and Taddeo let boxes and bunnies fly through a room and find their contacts with Sweep & \
         Prune and sphere-trees. {}",
        ClaimResult::tally(&report.claims)
    );
    let sections = vec![
        section("Does the paper hold?", [PageBlock::Verdicts(report.claims.clone())]),
        section(
            "The room",
            [
                PageBlock::Text(setting(report)),
                PageBlock::Text(measuring(report)),
                PageBlock::Table(to_table(&report.facts.trees)),
            ],
        ),
        section("Rabbit-like bodies", [PageBlock::Figures(figures::of(report, "rabbit"))]),
        section("Boxes", [PageBlock::Figures(figures::of(report, "box"))]),
        section("The numbers", numbers(report)),
    ];
    Page::new("How many bodies of any shape can collide in time?", lead, sections)
}

fn setting(report: &Report<Settings>) -> String {
    format!(
        "The room measures 100 x 25 x 100. Bodies are about 1 x 1 x 1, boxes of 12 triangles or rabbit-like ones of \
         about 1,500; they fly straight on at {} per frame without turning, and where trees touch, the velocity's \
         components along the deepest contact's normal are negated. The broad phase looks at their bounding spheres.",
        report.settings.speed
    )
}

fn measuring(report: &Report<Settings>) -> String {
    format!(
        "All trees see the same pairs of the same {} frames, one after the other within each frame, on one core; what \
         our tree of depth 3 finds moves the room on. A walk finds all pairs of leaves that overlap. Counted is \
         processor time without rendering; the paper's frame rates, of Java on a PC of 3.06 GHz, cannot be compared \
         with these, its ratios can. The paper counts levels with the root: its 3 are our depth 2. Its trees stand \
         behind Sweep & Prune, ours behind our own broad phase; the time of the walks alone compares the trees.",
        grouped(u64::from(report.settings.frames)),
    )
}

/// A column per tree, for both kinds of bodies.
fn numbers(report: &Report<Settings>) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    for (bodies, spoken) in [("rabbit", "rabbit-like bodies"), ("box", "boxes")] {
        let rates = pivot(report, bodies, |row| grouped(row.fps.round() as u64));
        let walks = pivot(report, bodies, |row| format!("{:.1}", 1e3 * row.narrow_ms));
        let Some((rates, walks)) = rates.zip(walks) else { continue };
        blocks.push(PageBlock::Text(format!("Frames per second, {spoken}:")));
        blocks.push(PageBlock::Table(rates));
        blocks.push(PageBlock::Text(format!("Microseconds of walks per frame, {spoken}:")));
        blocks.push(PageBlock::Table(walks));
    }
    blocks.push(PageBlock::Text(
        "Every number, with updating and the broad phase, is in room.csv and room.json.".to_owned(),
    ));
    blocks
}

/// By number of bodies, a column per tree; none if these bodies were not in a room.
fn pivot(report: &Report<Settings>, bodies: &str, cell: impl Fn(&Row) -> String) -> Option<Table> {
    let trees: Vec<_> = report.facts.trees.iter().filter(|tree| tree.bodies == bodies).collect();
    let mut headings = vec!["bodies".to_owned()];
    headings.extend(trees.iter().map(|tree| format!("{} {}", figures::label(tree.method), tree.depth)));
    let mut table = Table::new(headings);
    for objects in report.objects() {
        let of = |tree: &&TreeInfo| report.row(bodies, tree.method, tree.depth, objects).map_or(String::new(), &cell);
        table.row(std::iter::once(grouped(objects as u64)).chain(trees.iter().map(of)));
    }
    (!trees.is_empty()).then_some(table)
}

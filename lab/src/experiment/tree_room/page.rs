//! The experiment as a page that one reads from top to bottom.

use super::{Row, TreeRoom, figures};
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use crate::report::verdict::Outcome;
use kinesphere::table::Table;

/// The page.
pub fn page(report: &TreeRoom) -> Page {
    let section = |heading: &str, blocks| Section { heading: heading.to_owned(), blocks };
    Page {
        title: "How many bodies of any shape can collide in time?".to_owned(),
        lead: lead(report),
        sections: vec![
            section("Does the paper hold?", vec![Block::Verdicts(report.verdicts.clone())]),
            section(
                "The room",
                vec![Block::Text(setting(report)), Block::Text(measuring(report)), Block::Table(trees(report))],
            ),
            section("Rabbit-like bodies", vec![Block::Figures(figures::of(report, "rabbit"))]),
            section("Boxes", vec![Block::Figures(figures::of(report, "box"))]),
            section("The numbers", numbers(report)),
        ],
        command: report.command.clone(),
    }
}

fn lead(report: &TreeRoom) -> String {
    let count = |outcome| report.verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
    format!(
        "Rocha, Rodrigues and Taddeo let boxes and bunnies fly through a room and find their contacts with Sweep & Prune and \
         sphere-trees. Of {} claims, ours included, we find {} true, {} true in part and {} false.",
        report.verdicts.len() - count(Outcome::Untested),
        count(Outcome::True),
        count(Outcome::Partly),
        count(Outcome::False),
    )
}

fn setting(report: &TreeRoom) -> String {
    format!(
        "The room measures 100 x 25 x 100. Bodies are about 1 x 1 x 1, boxes of 12 triangles or rabbit-like ones of about \
         1,500; they fly straight on at {} per frame without turning, and where trees touch, the velocity's components along \
         the deepest contact's normal are negated. The broad phase looks at their bounding spheres.",
        report.speed
    )
}

fn measuring(report: &TreeRoom) -> String {
    format!(
        "All trees see the same pairs of the same {} frames, one after the other within each frame, on one core; what our \
         tree of depth 3 finds moves the room on. A walk finds all pairs of leaves that overlap. Counted is processor time \
         without rendering; the paper's frame rates, of Java on a PC of 3.06 GHz, cannot be compared with \
         these, its ratios can. The paper counts levels with the root: its 3 are our depth 2. Its trees stand behind Sweep & Prune, ours behind our own broad phase; the time of the \
         walks alone compares the trees.",
        grouped(u64::from(report.frames)),
    )
}

/// A column per tree, for both kinds of bodies: all there is is in `room.csv`.
fn numbers(report: &TreeRoom) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (bodies, spoken) in [("rabbit", "rabbit-like bodies"), ("box", "boxes")] {
        let rates = pivot(report, bodies, |row| grouped(row.fps.round() as u64));
        let walks = pivot(report, bodies, |row| format!("{:.1}", 1e3 * row.narrow_ms));
        let Some((rates, walks)) = rates.zip(walks) else { continue };
        blocks.push(Block::Text(format!("Frames per second, {spoken}:")));
        blocks.push(Block::Table(rates));
        blocks.push(Block::Text(format!("Microseconds of walks per frame, {spoken}:")));
        blocks.push(Block::Table(walks));
    }
    blocks
        .push(Block::Text("Every number, with updating and the broad phase, is in room.csv and room.json.".to_owned()));
    blocks
}

/// By number of bodies, a column per tree; none where nothing flew.
fn pivot(report: &TreeRoom, bodies: &str, cell: impl Fn(&Row) -> String) -> Option<Table> {
    let trees: Vec<_> = report.trees.iter().filter(|tree| tree.bodies == bodies).collect();
    let mut headings = vec!["bodies".to_owned()];
    headings.extend(trees.iter().map(|tree| format!("{} {}", figures::label(tree.method), tree.depth)));
    let mut table = Table::new(headings);
    for objects in report.objects() {
        let of =
            |tree: &&super::TreeInfo| report.row(bodies, tree.method, tree.depth, objects).map_or(String::new(), &cell);
        table.row(std::iter::once(grouped(objects as u64)).chain(trees.iter().map(of)));
    }
    (!trees.is_empty()).then_some(table)
}

fn trees(report: &TreeRoom) -> Table {
    let mut table = Table::new(["bodies", "method", "depth", "leaves", "E max"]);
    for tree in &report.trees {
        table.row([
            tree.bodies.to_owned(),
            figures::label(tree.method).to_owned(),
            tree.depth.to_string(),
            tree.leaves.to_string(),
            format!("{:.3}", tree.error),
        ]);
    }
    table
}

//! The experiment as a page that one reads from top to bottom.

use super::{TreeRoom, figures, table};
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use crate::report::table::Table;
use crate::report::verdict::Outcome;

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
            section("Figures", vec![Block::Figures(figures::all(report))]),
            section("The numbers", vec![Block::Table(table(&report.rows))]),
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
         without rendering. The paper's trees stand behind Sweep & Prune, ours behind our own broad phase; the time of the \
         walks alone compares the trees.",
        grouped(u64::from(report.frames)),
    )
}

fn trees(report: &TreeRoom) -> Table {
    let mut table = Table::new(["bodies", "method", "depth", "leaves", "E max"]);
    for tree in &report.trees {
        table.row([
            tree.bodies.to_owned(),
            tree.method.to_owned(),
            tree.depth.to_string(),
            tree.leaves.to_string(),
            format!("{:.3}", tree.error),
        ]);
    }
    table
}

//! The experiment as a page that one reads from top to bottom.

use super::{RelationsReport, figures};
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use crate::report::verdict::Outcome;

/// The page.
pub fn page(report: &RelationsReport) -> Page {
    let count = |outcome| report.verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
    let section = |heading: &str, blocks| Section { heading: heading.to_owned(), blocks };
    Page {
        title: "How many comparisons do relations take?".to_owned(),
        lead: format!(
            "Storey, Lu and Morgan find who should hear whom by comparing objects with growing spheres. We built their \
             algorithms again and counted. Of {} claims, ours included, we find {} true, {} true in part and {} false.",
            report.verdicts.len() - count(Outcome::Untested),
            count(Outcome::True),
            count(Outcome::Partly),
            count(Outcome::False),
        ),
        sections: vec![
            section("Do the papers hold?", vec![Block::Verdicts(report.verdicts.clone())]),
            section("The world", world(report)),
            section(
                "Comparisons: graphs 1 to 4 of paper 000, figure 3 of paper 004",
                vec![Block::Figures(figures::comparisons(report))],
            ),
            section("Time: graphs 5 to 8 of paper 000", vec![Block::Figures(figures::times(report))]),
            section("The numbers", vec![Block::Table(report.table())]),
        ],
        command: report.command.clone(),
    }
}

fn world(report: &RelationsReport) -> Vec<Block> {
    let setting = format!(
        "Equal spheres in a cube seek one target per fifty of them, 0.1 radius per tick, and pass through each other. \
         An object picks another target after 50 to 500 ticks, a target another place after 200 to 1,000. Measured are \
         {} frames, from tick {} on, when objects have clustered. The papers do not give their speeds and times; these \
         are ours, and how much objects cluster matters.",
        grouped(u64::from(report.frames)),
        grouped(u64::from(report.warm)),
    );
    let counting = format!(
        "A comparison is a test of two spheres: an object with a relation's, or with a member's. Every one counts, also \
         when an object meets the same member in several relations; `distinct` counts those once. What ours counts are the \
         tests of its broad phase; from the pairs on it works on sets. All algorithms found the same relations{}.",
        if report.agrees() { ", in every frame" } else { ": but NOT in this run" },
    );
    vec![Block::Text(setting), Block::Text(counting)]
}

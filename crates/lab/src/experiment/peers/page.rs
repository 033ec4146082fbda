//! The experiment as a page that one reads from top to bottom.

use super::{Peers, figures, table};
use crate::report::page::{Block, Page, Section};

/// The page.
pub fn page(report: &Peers) -> Page {
    let section = |heading: &str, blocks| Section { heading: heading.to_owned(), blocks };
    let text = |text: &str| Block::Text(text.to_owned());
    Page {
        title: "A world without a server".to_owned(),
        lead: format!(
            "Two to thirty-two hosts, each with the paper's object at the paper's pace, in a hall with walls and pillars. \
             Messages take {} ms; every host has a clock of its own.",
            report.latency_ms
        ),
        sections: vec![
            section("What came out", vec![Block::Verdicts(report.verdicts.clone())]),
            section(
                "How it is measured",
                vec![
                    text(
                        "Each object is 5.42 m wide, flies at 8.4 m/s, straight on or in curves, and bounces off walls, \
                         pillars and others. An error is the distance between where a host sees another's object and where \
                         it is at that moment, for all objects in its aura, ten times a second. Messages are all that a host \
                         sends: reports, digests, claims, verdicts, clocks and signs of life.",
                    ),
                    text(
                        "A contest is a contact between two hosts' objects. Nobody decides when either host lacks what the \
                         rule looks at: then both pass through each other. The time to a common verdict runs from the first \
                         host's sight of the contact to the last host's keeping the verdict.",
                    ),
                ],
            ),
            section(
                "The trade-off",
                vec![Block::Figures(figures::all(report)), Block::Table(table(&report.trade_off))],
            ),
            section("By policy and number of hosts", vec![Block::Table(table(&report.rows))]),
            section(
                "On bad networks",
                vec![
                    text("Jitter, loss, duplicates, reordering, partitions, crashes, late joiners and leavers."),
                    Block::Table(table(&report.rough)),
                ],
            ),
        ],
        command: report.command.clone(),
    }
}

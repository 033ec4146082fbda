//! The experiment as a page that one reads from top to bottom.

use super::{Settings, figures, row};
use crate::report::page::{Page, PageBlock, section};
use crate::study::Report;

pub fn page(report: &Report<Settings>) -> Page {
    let text = |text: &str| PageBlock::text(text);
    Page::new(
        "A world without a server",
        format!(
            "Two to thirty-two hosts, each with the paper's object at the paper's pace, in a hall with walls and \
             pillars. Messages take {} ms; every host has a clock of its own.",
            report.settings.latency_ms
        ),
        vec![
            section("What came out", vec![PageBlock::Verdicts(report.claims.clone())]),
            section(
                "How it is measured",
                vec![
                    text(
                        "Each object is 5.42 m wide, flies at 8.4 m/s, straight on or in curves, and bounces off \
                         walls, pillars and others. An error is the distance between where a host sees another's \
                         object and where it is at that moment, for all objects in its aura, ten times a second. \
                         Messages are all that a host sends: reports, digests, claims, verdicts, clocks and signs of \
                         life.",
                    ),
                    text(
                        "A contest is a contact between two hosts' objects. No host decides when both lack what the \
                         rule looks at: then they pass through each other. The time to a common verdict runs from \
                         the first host's sight of the contact to the last host's keeping the verdict.",
                    ),
                ],
            ),
            section(
                "The trade-off",
                vec![PageBlock::Figures(figures::all(report)), PageBlock::Table(row::costs(&report.facts.trade_off))],
            ),
            section(
                "By policy and number of hosts",
                vec![PageBlock::Table(row::costs(&report.rows)), PageBlock::Table(row::decisions(&report.rows))],
            ),
            section(
                "On bad networks",
                vec![
                    text(
                        "Jitter, loss, duplicates, reordering, partitions, crashes, late joiners and leavers, in a \
                         hall so crowded that objects meet all the time. Hosts that are cut off could not hear each \
                         other when they met, or half a second before, or one of them was gone: the other then meets \
                         what it predicts.",
                    ),
                    PageBlock::Table(row::decisions(&report.facts.rough)),
                ],
            ),
        ],
    )
}

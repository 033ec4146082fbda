//! The page: the four ways beside each other, over how crowded a world is.

use super::{Row, Settings};
use crate::report::axis::PlotAxis;
use crate::report::chart::{Chart, Look, look, series_by};
use crate::report::csv::to_table;
use crate::report::layer;
use crate::report::number::grouped;
use crate::report::page::{Figure, Page, PageBlock, section};
use crate::study::Report;

const LOOKS: [Look; 4] = [
    Look { key: "relations", name: "relations", color: layer::RELATION },
    look("cover", "cover", "#D55E00"),
    look("channel-per-object", "channels", "#6B7280"),
    Look { key: "cells", name: "cells", color: layer::CELL },
];

pub fn page(report: &Report<Settings>) -> Page {
    let worlds = format!(
        "Uniform worlds of {} objects at 1 to 200 % coverage; 40 crowds of 100 with a mean of 30 neighbours; one crowd \
         of 200 with a mean of 60, 90 and 120. Objects move 0.05 radius per tick, for {} ticks. Figures have the \
         worlds by their neighbours per object: the last three are the single crowds.",
        grouped(report.settings.objects as u64),
        grouped(u64::from(report.settings.ticks)),
    );
    let ways = "Relations: every maximal set of objects that overlap pairwise is a group, as the papers propose; one \
                that changes is another group. Cover: few groups such that every overlapping pair shares one, repaired \
                from tick to tick. Channel per object: all that overlap an object are in its channel. Cells: as wide \
                as an aura; an object is in the group of every cell that a neighbour's centre may be in, and sends to \
                its own.";
    let unicast = "Over unicast none of them is needed: each update is encoded once and its bytes copied to each \
                   listener. That is what an audience is for; it delivers what a channel per object does, with nothing \
                   to subscribe to.";
    let early = "An update is under way for up to a horizon of ticks. Widened by what their objects can move in that \
                 time, auras join two objects before their plain auras meet: the papers' target seekers at 5 % \
                 coverage, which turn without notice. What that costs is more hearings.";
    let lead = "Four ways to deliver updates to the objects that need them, on the same worlds: what they cost in \
                groups, memberships, copies and changes.";
    let sections = vec![
        section("What came out", [PageBlock::Verdicts(report.claims.clone())]),
        section("The worlds and the ways", [worlds.as_str(), ways, unicast].map(PageBlock::text)),
        section("Beside each other", [PageBlock::Figures(figures(&report.rows))]),
        section("The numbers", [PageBlock::Table(to_table(&report.rows))]),
        section(
            "Joined before they meet",
            [PageBlock::text(early), PageBlock::Table(to_table(&report.facts.meetings))],
        ),
    ];
    Page::new("Which objects get a copy?", lead, sections)
}

fn figures(rows: &[Row]) -> Vec<Figure> {
    let figure = |title: &str, label: &str, caption: &str, value: fn(&Row) -> f64| {
        let shown = rows.iter().filter(|row| row.neighbours > 0.0 && value(row) > 0.0);
        let chart = Chart {
            title: format!("{title}, by how crowded the world is"),
            x: PlotAxis::logarithmic("neighbours per object"),
            y: PlotAxis::logarithmic(label),
            series: series_by(&LOOKS, shown, |row| row.scheme, |row| (row.neighbours, value(row))),
        };
        Figure::new(title.to_lowercase(), caption, chart.to_svg())
    };
    vec![
        figure("Copies", "copies per copy needed", "One is exact: every needed copy once, and no other.", |row| {
            row.copies_per_needed
        }),
        figure(
            "Groups",
            "groups per object",
            "The number of relations explodes where objects have many neighbours.",
            |row| row.groups / row.objects.max(1) as f64,
        ),
        figure("Memberships", "memberships per object", "What a multicast service has to remember.", |row| {
            row.memberships / row.objects.max(1) as f64
        }),
        figure("Changes", "joins and leaves per pair that changes", "What keeping it up to date costs.", |row| {
            row.changes_per_tick / row.edge_changes_per_tick.max(1e-9)
        }),
    ]
}

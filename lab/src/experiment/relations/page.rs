//! The page, with graphs 1 to 8 of paper 000: comparisons and time by the number of objects, one of each per coverage.

use super::{LOOKS, Row, Settings, all_coverages};
use crate::report::axis::PlotAxis;
use crate::report::chart::{Chart, series_by};
use crate::report::claim::ClaimResult;
use crate::report::csv::to_table;
use crate::report::number::grouped;
use crate::report::page::{Figure, Page, PageBlock, section};
use crate::study::Report;

pub fn page(report: &Report<Settings>) -> Page {
    let comparisons = |coverage: f32| {
        let svg = chart(&report.rows, coverage, "Comparisons per frame", |row| row.comparisons_raw);
        let caption = "Tests of two spheres per frame, every one counted. Lower is better.";
        Figure::new(format!("comparisons-{coverage}"), caption, svg)
    };
    let time = |coverage: f32| {
        let svg = chart(&report.rows, coverage, "Milliseconds per frame", |row| row.ms_per_frame);
        let caption = "Processor time per frame. Brute force finds pairs alone, all others the relations too.";
        Figure::new(format!("time-{coverage}"), caption, svg)
    };
    let figures =
        |of: &dyn Fn(f32) -> Figure| [PageBlock::Figures(all_coverages(&report.rows).into_iter().map(of).collect())];
    let lead = format!(
        "Storey, Lu and Morgan find the objects that should hear each other by comparing objects with growing spheres. \
         We built their algorithms again and counted. {}",
        ClaimResult::tally(&report.claims)
    );
    let sections = vec![
        section("Do the papers hold?", [PageBlock::Verdicts(report.claims.clone())]),
        section("The world", world(report).map(PageBlock::Text)),
        section("Comparisons: graphs 1 to 4 of paper 000, figure 3 of paper 004", figures(&comparisons)),
        section("Time: graphs 5 to 8 of paper 000", figures(&time)),
        section("The numbers", [PageBlock::Table(to_table(&report.rows))]),
    ];
    Page::new("How many comparisons do relations take?", lead, sections)
}

fn chart(rows: &[Row], coverage: f32, label: &str, value: fn(&Row) -> f64) -> String {
    let own = rows.iter().filter(|row| row.coverage == coverage);
    let chart = Chart {
        title: format!("{label} at {coverage} % coverage"),
        x: PlotAxis::linear("objects"),
        y: PlotAxis::logarithmic(label.to_lowercase()),
        series: series_by(&LOOKS, own, |row| row.algorithm, |row| (row.objects as f64, value(row).max(1e-4))),
    };
    chart.to_svg()
}

fn world(report: &Report<Settings>) -> [String; 2] {
    let agree = report.rows.iter().all(|row| row.agrees);
    let setting = format!(
        "Equal spheres in a cube seek one target per fifty of them, 0.1 radius per tick, and pass through each other. \
         An object picks another target after 50 to 500 ticks, a target another place after 200 to 1,000. Measured are \
         {} frames, from tick {} on, when objects have clustered. The papers do not give their speeds and times; these \
         are ours, and how much objects cluster matters.",
        grouped(u64::from(report.settings.frames)),
        grouped(u64::from(report.settings.warm)),
    );
    let counting = format!(
        "A comparison is a test of two spheres: an object with a relation's, or with a member's. Every one counts, \
         also when an object meets the same member in several relations; `distinct` counts those once. What ours \
         counts are the tests of its broad phase; from the pairs on it works on sets. All algorithms found the same \
         relations{}.",
        if agree { ", in every frame" } else { ": but NOT in this run" },
    );
    [setting, counting]
}

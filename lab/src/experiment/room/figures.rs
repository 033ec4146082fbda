//! The paper's figures 7, 8 and 9, without rendering, and one of our own: the trees alone.

use super::{PAPER_OBJECTS_MAX, Row, Settings};
use crate::report::axis::PlotAxis;
use crate::report::bars::{BarChart, BarGroup, StackedBar, readable};
use crate::report::chart::{Chart, Series};
use crate::report::number::grouped;
use crate::report::page::Figure;
use crate::report::svg::Color;
use crate::study::Report;

/// The trees and their colours.
const STYLES: [(&str, usize, &str); 8] = [
    ("octree", 3, "#CC79A7"),
    ("octree", 4, "#8A3A6B"),
    ("combined", 1, "#56B4E9"),
    ("combined", 2, "#0072B2"),
    ("combined", 3, "#00436B"),
    ("best", 1, "#E69F00"),
    ("best", 2, "#C98500"),
    ("best", 3, "#D55E00"),
];

/// The figures for one kind of bodies.
pub fn of(report: &Report<Settings>, bodies: &str) -> Vec<Figure> {
    if report.rows.iter().all(|row| row.bodies != bodies) {
        return Vec::new();
    }
    let figure_7 = Chart {
        title: format!("Figure 7: frames per second, {}", spoken(bodies)),
        x: PlotAxis::linear("bodies"),
        y: PlotAxis::logarithmic("frames per second"),
        series: series(report, bodies, |_, _| true, |row| row.fps),
    };
    let walks = Chart {
        title: format!("The trees alone: time in walks, {}", spoken(bodies)),
        x: PlotAxis::logarithmic("bodies"),
        y: PlotAxis::logarithmic("microseconds per frame"),
        series: series(report, bodies, |_, _| true, |row| 1e3 * row.narrow_ms),
    };
    let is_in_figure_9 = |method: &str, depth: usize| matches!((method, depth), ("combined", 1 | 2) | ("best", 3));
    let figure_9 = Chart {
        title: format!("Figure 9, without rendering: frames per second, {}", spoken(bodies)),
        x: PlotAxis::logarithmic("bodies"),
        y: PlotAxis::logarithmic("frames per second"),
        series: series(report, bodies, is_in_figure_9, |row| row.fps),
    };
    let figure = |name: &str, caption: &str, svg: String| Figure::new(format!("{name}-{bodies}"), caption, svg);
    vec![
        figure(
            "figure-7",
            "The paper's figure 7: its trees after Sweep & Prune, ours after our broad phase. The numbers are levels \
             below the root. Higher is faster.",
            figure_7.to_svg(),
        ),
        figure(
            "walks",
            "Not in the paper: what its trees differ in, the narrow phase without the rest of the frame. All walk over \
             the same pairs. Lower is faster.",
            walks.to_svg(),
        ),
        figure(
            "figure-8",
            "The paper's figure 8: Sweep & Prune and Combined with two levels; beside it our broad phase and our tree \
             of depth 3. Above each bar stands the share of updating.",
            figure_8(report, bodies).to_svg(),
        ),
        figure(
            "figure-9",
            "The paper's figure 9 without rendering, and ours. With Sweep & Prune before them, both of Combined's \
             trees wait for the same lists: the curves lie on each other. Both axes are logarithmic.",
            figure_9.to_svg(),
        ),
    ]
}

fn figure_8(report: &Report<Settings>, bodies: &str) -> BarChart {
    let frames = f64::from(report.settings.frames);
    let bar = |name: &str, color: &'static str, row: &Row| StackedBar {
        name: name.to_owned(),
        color: Color(color),
        parts: [row.update_ms, row.broad_ms, row.narrow_ms].map(|ms| ms * frames).to_vec(),
    };
    let group = |&objects: &usize| {
        let theirs = report.row(bodies, "combined", 1, objects).map(|row| bar("the paper's", "#0072B2", row));
        let ours = report.row(bodies, "best", 3, objects).map(|row| bar("ours", "#D55E00", row));
        BarGroup { label: grouped(objects as u64), bars: theirs.into_iter().chain(ours).collect() }
    };
    let objects = readable(report.objects().into_iter().filter(|&objects| objects <= PAPER_OBJECTS_MAX).collect());
    BarChart {
        title: format!("Figure 8: where the time goes, {}", spoken(bodies)),
        x_label: "bodies".to_owned(),
        y_label: format!("milliseconds in {} frames", grouped(u64::from(report.settings.frames))),
        parts: ["updating", "broad phase", "narrow phase"].map(str::to_owned).to_vec(),
        groups: objects.iter().map(group).collect(),
    }
}

/// A series for each tree that is shown, over the number of bodies.
fn series(
    report: &Report<Settings>,
    bodies: &str,
    is_shown: impl Fn(&str, usize) -> bool,
    value: impl Fn(&Row) -> f64,
) -> Vec<Series> {
    let objects: Vec<usize> = report.objects().into_iter().filter(|&objects| objects <= PAPER_OBJECTS_MAX).collect();
    let series =
        STYLES.into_iter().filter(|&(method, depth, _)| is_shown(method, depth)).map(|(method, depth, color)| {
            let rows = objects.iter().filter_map(|&objects| report.row(bodies, method, depth, objects));
            let points = rows.map(|row| (row.objects as f64, value(row))).collect();
            Series { name: format!("{} {depth}", label(method)), color: Color(color), points }
        });
    series.filter(|series| !series.points.is_empty()).collect()
}

/// A method's name in a plot or a table.
pub fn label(method: &str) -> &str {
    if method == "best" { "ours" } else { method }
}

fn spoken(bodies: &str) -> &'static str {
    if bodies == "box" { "boxes" } else { "rabbit-like bodies" }
}

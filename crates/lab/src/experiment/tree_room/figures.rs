//! The paper's figures 7, 8 and 9; rendering is left out of the last.

use super::{PAPER_OBJECTS_MAX, Row, TreeRoom};
use crate::report::axis::{Axis, Scale};
use crate::report::bars::{Bar, BarChart, Group};
use crate::report::chart::{Chart, Curve};
use crate::report::number::grouped;
use crate::report::page::Figure;
use crate::report::svg::Color;

/// The trees, and how they look in a plot.
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

/// All figures.
pub fn all(report: &TreeRoom) -> Vec<Figure> {
    let mut figures = Vec::new();
    for bodies in ["rabbit", "box"] {
        if report.rows.iter().any(|row| row.bodies == bodies) {
            figures.extend([figure_7(report, bodies), figure_8(report, bodies), figure_9(report, bodies)]);
        }
    }
    figures
}

fn figure_7(report: &TreeRoom, bodies: &str) -> Figure {
    let chart = Chart {
        title: format!("Figure 7: frames per second, {}", spoken(bodies)),
        x: Axis::new("bodies", Scale::Linear),
        y: Axis::new("frames per second", Scale::Logarithmic),
        curves: curves(report, bodies, PAPER_OBJECTS_MAX, |_, _| true, |row| row.fps),
    };
    Figure {
        name: format!("figure-7-{bodies}"),
        caption:
            "The paper's figure 7, up to 4,000 bodies: its trees after Sweep & Prune, ours after our broad phase. The \
                  numbers are levels below the root. Higher is faster."
                .to_owned(),
        svg: chart.to_svg(),
    }
}

fn figure_8(report: &TreeRoom, bodies: &str) -> Figure {
    let mut objects: Vec<usize> =
        report.objects().into_iter().filter(|&objects| objects <= PAPER_OBJECTS_MAX).collect();
    // More than six groups are too thin to read.
    let every = objects.len().div_ceil(6).max(1);
    let last = objects.len().saturating_sub(1) % every;
    objects = objects.into_iter().skip(last).step_by(every).collect();
    let frames = f64::from(report.frames);
    let group = |&objects: &usize| {
        let row = report.row(bodies, "combined", 1, objects);
        let bar = |row: &Row| {
            [
                ("updating / the rest", "#0072B2", [row.update_ms, row.broad_ms + row.narrow_ms]),
                ("broad / narrow", "#E69F00", [row.broad_ms, row.narrow_ms]),
            ]
            .map(|(name, color, parts)| Bar {
                name: name.to_owned(),
                color: Color(color),
                parts: parts.map(|ms| ms * frames),
            })
        };
        Group { label: grouped(objects as u64), bars: row.map(bar).into_iter().flatten().collect() }
    };
    let chart = BarChart {
        title: format!("Figure 8: where the time goes, {}", spoken(bodies)),
        x_label: "bodies".to_owned(),
        y_label: format!("milliseconds in {} frames", grouped(u64::from(report.frames))),
        parts: ["first part".to_owned(), "second part".to_owned()],
        groups: objects.iter().map(group).collect(),
    };
    Figure {
        name: format!("figure-8-{bodies}"),
        caption: "The paper's figure 8: Sweep & Prune and Combined with two levels. The first bar of a group is the whole \
                  frame, updating below; the second is what is left, the broad phase below the narrow one. Above each stands \
                  the share of its lower part."
            .to_owned(),
        svg: chart.to_svg(),
    }
}

fn figure_9(report: &TreeRoom, bodies: &str) -> Figure {
    let shown = |method: &str, depth: usize| matches!((method, depth), ("combined", 1 | 2) | ("best", 3));
    let chart = Chart {
        title: format!("Figure 9, without rendering: frames per second, {}", spoken(bodies)),
        x: Axis::new("bodies", Scale::Logarithmic),
        y: Axis::new("frames per second", Scale::Logarithmic),
        curves: curves(report, bodies, usize::MAX, shown, |row| row.fps),
    };
    Figure {
        name: format!("figure-9-{bodies}"),
        caption: "The paper's figure 9 without rendering, over the whole range, and ours. Both axes are logarithmic."
            .to_owned(),
        svg: chart.to_svg(),
    }
}

fn curves(
    report: &TreeRoom,
    bodies: &str,
    most: usize,
    shown: impl Fn(&str, usize) -> bool,
    value: impl Fn(&Row) -> f64,
) -> Vec<Curve> {
    let objects = report.objects();
    let points = |method: &str, depth: usize| {
        let rows = objects.iter().filter(|&&objects| objects <= most);
        let rows = rows.filter_map(|&objects| report.row(bodies, method, depth, objects));
        rows.map(|row| (row.objects as f64, value(row))).collect::<Vec<_>>()
    };
    let own = STYLES.into_iter().filter(|&(method, depth, _)| shown(method, depth));
    own.map(|(method, depth, color)| Curve {
        name: format!("{} {depth}", if method == "best" { "ours" } else { method }),
        color: Color(color),
        is_main: (method, depth) == ("best", 3),
        points: points(method, depth),
    })
    .filter(|curve| !curve.points.is_empty())
    .collect()
}

fn spoken(bodies: &str) -> &'static str {
    if bodies == "box" { "boxes" } else { "rabbit-like bodies" }
}

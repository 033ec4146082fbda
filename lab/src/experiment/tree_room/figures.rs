//! The paper's figures 7, 8 and 9, rendering left out of the last, and one that it has not: the trees alone.

use super::{PAPER_OBJECTS_MAX, Row, TreeRoom};
use crate::report::axis::{Axis, Scale};
use crate::report::bars::{Bar, BarChart, Group, readable};
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

/// All figures, of whatever flew.
pub fn all(report: &TreeRoom) -> Vec<Figure> {
    ["rabbit", "box"].into_iter().flat_map(|bodies| of(report, bodies)).collect()
}

/// The figures for one kind of bodies.
pub fn of(report: &TreeRoom, bodies: &str) -> Vec<Figure> {
    if report.rows.iter().all(|row| row.bodies != bodies) {
        return Vec::new();
    }
    vec![figure_7(report, bodies), walks(report, bodies), figure_8(report, bodies), figure_9(report, bodies)]
}

fn figure_7(report: &TreeRoom, bodies: &str) -> Figure {
    let chart = Chart {
        title: format!("Figure 7: frames per second, {}", spoken(bodies)),
        x: Axis::new("bodies", Scale::Linear),
        y: Axis::new("frames per second", Scale::Logarithmic),
        curves: curves(report, bodies, |_, _| true, |row| row.fps),
    };
    Figure {
        name: format!("figure-7-{bodies}"),
        caption:
            "The paper's figure 7: its trees after Sweep & Prune, ours after our broad phase. The numbers are levels \
                  below the root. Higher is faster."
                .to_owned(),
        svg: chart.to_svg(),
    }
}

fn walks(report: &TreeRoom, bodies: &str) -> Figure {
    let chart = Chart {
        title: format!("The trees alone: time in walks, {}", spoken(bodies)),
        x: Axis::new("bodies", Scale::Logarithmic),
        y: Axis::new("microseconds per frame", Scale::Logarithmic),
        curves: curves(report, bodies, |_, _| true, |row| 1e3 * row.narrow_ms),
    };
    Figure {
        name: format!("walks-{bodies}"),
        caption:
            "Not in the paper: what its trees differ in, the narrow phase without the rest of the frame. All walk over \
                  the same pairs. Lower is faster."
                .to_owned(),
        svg: chart.to_svg(),
    }
}

fn figure_8(report: &TreeRoom, bodies: &str) -> Figure {
    let frames = f64::from(report.frames);
    let bar = |name: &str, color: &'static str, row: &Row| Bar {
        name: name.to_owned(),
        color: Color(color),
        parts: [row.update_ms, row.broad_ms, row.narrow_ms].map(|ms| ms * frames).to_vec(),
    };
    let group = |&objects: &usize| {
        let theirs = report.row(bodies, "combined", 1, objects).map(|row| bar("the paper's", "#0072B2", row));
        let ours = report.row(bodies, "best", 3, objects).map(|row| bar("ours", "#D55E00", row));
        Group { label: grouped(objects as u64), bars: theirs.into_iter().chain(ours).collect() }
    };
    let objects = readable(report.objects().into_iter().filter(|&objects| objects <= PAPER_OBJECTS_MAX).collect());
    let chart = BarChart {
        title: format!("Figure 8: where the time goes, {}", spoken(bodies)),
        x_label: "bodies".to_owned(),
        y_label: format!("milliseconds in {} frames", grouped(u64::from(report.frames))),
        parts: ["updating", "broad phase", "narrow phase"].map(str::to_owned).to_vec(),
        groups: objects.iter().map(group).collect(),
    };
    Figure {
        name: format!("figure-8-{bodies}"),
        caption:
            "The paper's figure 8: Sweep & Prune and Combined with two levels; beside it our broad phase and our tree \
                  of depth 3. Above each bar stands the share of updating."
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
        curves: curves(report, bodies, shown, |row| row.fps),
    };
    Figure {
        name: format!("figure-9-{bodies}"),
        caption:
            "The paper's figure 9 without rendering, and ours. With Sweep & Prune before them, both of Combined's \
                  trees wait for the same lists: the curves lie on each other. Both axes are logarithmic."
                .to_owned(),
        svg: chart.to_svg(),
    }
}

fn curves(
    report: &TreeRoom,
    bodies: &str,
    shown: impl Fn(&str, usize) -> bool,
    value: impl Fn(&Row) -> f64,
) -> Vec<Curve> {
    let objects = report.objects();
    let points = |method: &str, depth: usize| {
        let rows = objects.iter().filter(|&&objects| objects <= PAPER_OBJECTS_MAX);
        let rows = rows.filter_map(|&objects| report.row(bodies, method, depth, objects));
        rows.map(|row| (row.objects as f64, value(row))).collect::<Vec<_>>()
    };
    let own = STYLES.into_iter().filter(|&(method, depth, _)| shown(method, depth));
    own.map(|(method, depth, color)| Curve {
        name: format!("{} {depth}", label(method)),
        color: Color(color),
        is_main: (method, depth) == ("best", 3),
        points: points(method, depth),
    })
    .filter(|curve| !curve.points.is_empty())
    .collect()
}

/// A method's name in a plot or a table.
pub fn label(method: &str) -> &str {
    if method == "best" { "ours" } else { method }
}

fn spoken(bodies: &str) -> &'static str {
    if bodies == "box" { "boxes" } else { "rabbit-like bodies" }
}

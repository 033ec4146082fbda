//! The paper's figures 4, 5 and 6, and some that it has not: everybody, over the whole range; speeds; voxels.

use super::claims::FIGURE_5_MAX;
use super::{BroadPhases, Row, VoxelRow};
use crate::experiment::room::Movement;
use crate::report::axis::{Axis, Scale};
use crate::report::bars::{Bar, BarChart, Group, readable};
use crate::report::chart::{Chart, Curve};
use crate::report::number::grouped;
use crate::report::page::Figure;
use crate::report::svg::Color;

/// In worlds as small as these ours leaves the work to the plain grid inside it.
const UNDER_OURS: &str = "The plain grid's curve may lie under ours.";

/// All figures, for both kinds of movement.
pub fn all(report: &BroadPhases) -> Vec<Figure> {
    let figures = Movement::ALL.into_iter().rev().flat_map(|movement| of(report, movement));
    figures.chain(speeds(report)).chain(voxels(report)).collect()
}

/// The figures for one kind of movement.
pub fn of(report: &BroadPhases, movement: Movement) -> Vec<Figure> {
    let figures = [figure_4, figure_5, figure_6, everybody];
    figures.into_iter().filter_map(|figure| figure(report, movement)).collect()
}

fn figure_4(report: &BroadPhases, movement: Movement) -> Option<Figure> {
    let methods = ["brute-force", "octree", "uniform-grid", "kinesphere"];
    drawn(
        format!("figure-4-{}", movement.name()),
        "The paper's figure 4: structures against none, and ours. Higher is faster.",
        &rates(report, movement, "Figure 4", &methods, 100, 500),
    )
}

fn figure_5(report: &BroadPhases, movement: Movement) -> Option<Figure> {
    let methods = ["octree", "uniform-grid", "sweep-and-prune", "grid-sweep-and-prune", "kinesphere"];
    drawn(
        format!("figure-5-{}", movement.name()),
        "The paper's figure 5, with its hybrid, which it mentions but does not plot, and ours.",
        &rates(report, movement, "Figure 5", &methods, 100, FIGURE_5_MAX),
    )
}

/// A chart as a figure, if there is anything to see.
fn drawn(name: String, caption: &str, chart: &Chart) -> Option<Figure> {
    (!chart.is_empty()).then(|| Figure { name, caption: caption.to_owned(), svg: chart.to_svg() })
}

fn rates(report: &BroadPhases, movement: Movement, title: &str, methods: &[&str], from: usize, to: usize) -> Chart {
    Chart {
        title: format!("{title}: frames per second, movement in {}", movement.axes()),
        x: Axis::new("objects", Scale::Linear),
        y: Axis::new("frames per second", Scale::Logarithmic),
        curves: curves(report, movement, methods, from, to, |row| row.frames_per_second),
    }
}

fn figure_6(report: &BroadPhases, movement: Movement) -> Option<Figure> {
    let objects = readable(report.objects(100, FIGURE_5_MAX));
    let frames = f64::from(report.frames);
    let bar = |row: &Row| Bar {
        name: label(row.method).to_owned(),
        color: color(row.method),
        parts: [row.update_us, row.find_us].map(|microseconds| microseconds * frames / 1e3).to_vec(),
    };
    let group = |&objects: &usize| Group {
        label: grouped(objects as u64),
        bars: ["uniform-grid", "sweep-and-prune"]
            .iter()
            .filter_map(|method| report.row(movement, objects, method).map(bar))
            .collect(),
    };
    let chart = BarChart {
        title: format!("Figure 6: where the time goes, movement in {}", movement.axes()),
        x_label: "objects".to_owned(),
        y_label: format!("milliseconds in {} frames", grouped(u64::from(report.frames))),
        parts: vec!["updating".to_owned(), "processing".to_owned()],
        groups: objects.iter().map(group).filter(|group| !group.bars.is_empty()).collect(),
    };
    (!chart.groups.is_empty()).then(|| Figure {
        name: format!("figure-6-{}", movement.name()),
        caption: "The paper's figure 6. Above each bar stands the share of updating.".to_owned(),
        svg: chart.to_svg(),
    })
}

fn everybody(report: &BroadPhases, movement: Movement) -> Option<Figure> {
    let chart = Chart {
        title: format!("Everybody: microseconds per frame, movement in {}", movement.axes()),
        x: Axis::new("objects", Scale::Logarithmic),
        y: Axis::new("microseconds per frame", Scale::Logarithmic),
        curves: curves(report, movement, &report.methods(), 0, usize::MAX, Row::frame_us),
    };
    let caption = format!("All methods over the whole range, both axes logarithmic. Lower is faster. {UNDER_OURS}");
    drawn(format!("everybody-{}", movement.name()), &caption, &chart)
}

/// What the paper does not give, and what sorted lists depend on.
pub fn speeds(report: &BroadPhases) -> Option<Figure> {
    let rows = report.speed_rows();
    let objects = rows.first()?.objects;
    let points = |method: &str| {
        let own = rows.iter().filter(|row| row.method == method);
        own.map(|row| (f64::from(row.speed), row.frames_per_second)).collect()
    };
    let curve = |method: &'static str| Curve {
        name: label(method).to_owned(),
        color: color(method),
        is_main: method == "kinesphere",
        points: points(method),
    };
    let chart = Chart {
        title: format!("How speed matters: frames per second, {} objects", grouped(objects as u64)),
        x: Axis::new("widths per frame", Scale::Logarithmic),
        y: Axis::new("frames per second", Scale::Logarithmic),
        curves: report.methods().into_iter().map(curve).collect(),
    };
    let mut caption = format!(
        "Not in the paper: how far an object moves per frame. The further, the more there is to sort for those who keep \
         sorted lists. {UNDER_OURS}"
    );
    if report.speed == 0.0 {
        caption += " Objects at rest have no place on a logarithmic axis.";
    }
    drawn("speeds".to_owned(), &caption, &chart)
}

/// What the grid's one setting costs and saves.
pub fn voxels(report: &BroadPhases) -> Option<Figure> {
    let objects = report.voxels.first()?.objects;
    let curve = |name: &str, color, value: fn(&VoxelRow) -> f64| Curve {
        name: name.to_owned(),
        color,
        is_main: false,
        points: report.voxels.iter().rev().map(|row| (f64::from(row.edge), value(row))).collect(),
    };
    let chart = Chart {
        title: format!("How large is a voxel? Work per frame, {} objects", grouped(objects as u64)),
        x: Axis::new("a voxel's edge, in widths of an object", Scale::Logarithmic),
        y: Axis::new("per frame", Scale::Logarithmic),
        curves: vec![
            curve("tests", Color("#0072B2"), |row| row.sphere_tests),
            curve("updates", Color("#D55E00"), |row| row.updates),
        ],
    };
    let caption = "The paper's grid in the same room, with cubes for voxels. An update is somebody who enters or leaves one. A \
                   test takes far less time than an update: eight are made at once.";
    drawn("voxels".to_owned(), caption, &chart)
}

fn curves(
    report: &BroadPhases,
    movement: Movement,
    methods: &[&str],
    from: usize,
    to: usize,
    value: impl Fn(&Row) -> f64,
) -> Vec<Curve> {
    let points = |method: &str| {
        let rows = report.objects(from, to).into_iter().filter_map(|objects| report.row(movement, objects, method));
        rows.map(|row| (row.objects as f64, value(row))).collect()
    };
    let curve = |method: &&str| Curve {
        name: label(method).to_owned(),
        color: color(method),
        is_main: *method == "kinesphere",
        points: points(method),
    };
    methods.iter().map(curve).filter(|curve| !curve.points.is_empty()).collect()
}

/// Told apart by the colour-blind; `style.css` knows them too.
fn color(method: &str) -> Color {
    match method {
        "kinesphere" => Color("#D55E00"),
        "sweep-and-prune" => Color("#0072B2"),
        "grid-sweep-and-prune" => Color("#7B61C4"),
        "sweep-one-axis" => Color("#8A5A2B"),
        "uniform-grid" => Color("#009E73"),
        "octree" => Color("#CC79A7"),
        "plain-grid" => Color("#E69F00"),
        _ => Color("#6B7280"),
    }
}

/// A method's name in a plot or a table.
pub fn label(method: &str) -> &str {
    match method {
        "brute-force" => "brute force",
        "uniform-grid" => "grid",
        "sweep-and-prune" => "sweep and prune",
        "grid-sweep-and-prune" => "hybrid",
        "sweep-one-axis" => "one-axis sweep",
        "plain-grid" => "plain grid",
        other => other,
    }
}

//! The paper's figures 4, 5 and 6, and some of our own: all methods over the whole range; speeds; voxels.

use std::ops::RangeInclusive;

use super::claims::FIGURE_5_MAX;
use super::{LOOKS, Row, Settings, VoxelRow};
use crate::experiment::flight_room::Movement;
use crate::report::axis::PlotAxis;
use crate::report::bars::{BarChart, BarGroup, StackedBar, readable};
use crate::report::chart::{Chart, Look, Series, series_by};
use crate::report::number::grouped;
use crate::report::page::Figure;
use crate::report::svg::Color;
use crate::study::Report;

/// In worlds as small as these ours leaves the work to the plain grid inside it.
const UNDER_OURS: &str = "The plain grid's curve may lie under ours.";

/// The figures for one kind of movement.
pub fn of(report: &Report<Settings>, movement: Movement) -> Vec<Figure> {
    let figures = [figure_4, figure_5, figure_6, all_methods];
    figures.into_iter().filter_map(|figure| figure(report, movement)).collect()
}

fn figure_4(report: &Report<Settings>, movement: Movement) -> Option<Figure> {
    let methods = ["brute-force", "octree", "uniform-grid", "kinesphere"];
    drawn(
        format!("figure-4-{}", movement.name()),
        "The paper's figure 4: structures against none, and ours. Higher is faster.",
        &rates(report, movement, "Figure 4", &methods, 100, 500),
    )
}

fn figure_5(report: &Report<Settings>, movement: Movement) -> Option<Figure> {
    let methods = ["octree", "uniform-grid", "sweep-and-prune", "grid-sweep-and-prune", "kinesphere"];
    drawn(
        format!("figure-5-{}", movement.name()),
        "The paper's figure 5, with its hybrid, which it mentions but does not plot, and ours.",
        &rates(report, movement, "Figure 5", &methods, 100, FIGURE_5_MAX),
    )
}

/// A chart as a figure, if there is anything to see.
fn drawn(name: String, caption: &str, chart: &Chart) -> Option<Figure> {
    (!chart.is_empty()).then(|| Figure::new(name, caption, chart.to_svg()))
}

fn rates(
    report: &Report<Settings>,
    movement: Movement,
    title: &str,
    methods: &[&str],
    from: usize,
    to: usize,
) -> Chart {
    Chart {
        title: format!("{title}: frames per second, movement in {}", movement.axes()),
        x: PlotAxis::linear("objects"),
        y: PlotAxis::logarithmic("frames per second"),
        series: series(report, movement, methods, from..=to, |row| row.frames_per_second),
    }
}

fn figure_6(report: &Report<Settings>, movement: Movement) -> Option<Figure> {
    let objects = readable(report.objects(100, FIGURE_5_MAX));
    let frames = f64::from(report.settings.frames);
    let bar = |row: &Row| StackedBar {
        name: label(row.method).to_owned(),
        color: look_of(row.method).color,
        parts: [row.update_us, row.find_us].map(|microseconds| microseconds * frames / 1e3).to_vec(),
    };
    let group = |&objects: &usize| BarGroup {
        label: grouped(objects as u64),
        bars: ["uniform-grid", "sweep-and-prune"]
            .iter()
            .filter_map(|method| report.row(movement, objects, method).map(bar))
            .collect(),
    };
    let chart = BarChart {
        title: format!("Figure 6: where the time goes, movement in {}", movement.axes()),
        x_label: "objects".to_owned(),
        y_label: format!("milliseconds in {} frames", grouped(u64::from(report.settings.frames))),
        parts: vec!["updating".to_owned(), "processing".to_owned()],
        groups: objects.iter().map(group).filter(|group| !group.bars.is_empty()).collect(),
    };
    let caption = "The paper's figure 6. Above each bar stands the share of updating.";
    let name = format!("figure-6-{}", movement.name());
    (!chart.groups.is_empty()).then(|| Figure::new(name, caption, chart.to_svg()))
}

fn all_methods(report: &Report<Settings>, movement: Movement) -> Option<Figure> {
    let chart = Chart {
        title: format!("All methods: microseconds per frame, movement in {}", movement.axes()),
        x: PlotAxis::logarithmic("objects"),
        y: PlotAxis::logarithmic("microseconds per frame"),
        series: series(report, movement, &report.methods(), 0..=usize::MAX, Row::frame_us),
    };
    let caption = format!("All methods over the whole range, both axes logarithmic. Lower is faster. {UNDER_OURS}");
    drawn(format!("everybody-{}", movement.name()), &caption, &chart)
}

/// What the paper does not give, and what sorted lists depend on.
pub fn speeds(report: &Report<Settings>) -> Option<Figure> {
    let rows = report.speed_rows();
    let objects = rows.first()?.objects;
    let chart = Chart {
        title: format!("How speed matters: frames per second, {} objects", grouped(objects as u64)),
        x: PlotAxis::logarithmic("widths per frame"),
        y: PlotAxis::logarithmic("frames per second"),
        series: series_by(
            &LOOKS,
            rows.iter().copied(),
            |row| row.method,
            |row| (f64::from(row.speed), row.frames_per_second),
        ),
    };
    let mut caption = format!(
        "Not in the paper: how far an object moves per frame. The further, the more there is to sort for methods with \
         sorted lists. {UNDER_OURS}"
    );
    if report.settings.speed == 0.0 {
        caption += " Objects at rest have no place on a logarithmic axis.";
    }
    drawn("speeds".to_owned(), &caption, &chart)
}

/// What the grid's one setting costs and saves.
pub fn voxels(report: &Report<Settings>) -> Option<Figure> {
    let objects = report.facts.voxels.first()?.objects;
    let series = |name: &str, color, value: fn(&VoxelRow) -> f64| Series {
        name: name.to_owned(),
        color: Color(color),
        points: report.facts.voxels.iter().rev().map(|row| (f64::from(row.edge), value(row))).collect(),
    };
    let chart = Chart {
        title: format!("How large is a voxel? Work per frame, {} objects", grouped(objects as u64)),
        x: PlotAxis::logarithmic("a voxel's edge, in widths of an object"),
        y: PlotAxis::logarithmic("per frame"),
        series: vec![
            series("tests", "#0072B2", |row| row.sphere_tests),
            series("updates", "#D55E00", |row| row.updates),
        ],
    };
    let caption = "The paper's grid in the same room, with cubes for voxels. An update is an object that enters or \
                   leaves one. A test takes far less time than an update: eight are made at once.";
    drawn("voxels".to_owned(), caption, &chart)
}

/// A series for each of these methods, over the number of objects.
fn series(
    report: &Report<Settings>,
    movement: Movement,
    methods: &[&str],
    objects: RangeInclusive<usize>,
    value: impl Fn(&Row) -> f64,
) -> Vec<Series> {
    let looks: Vec<Look> = methods.iter().map(|method| look_of(method)).collect();
    let speed = report.settings.speed;
    let is_shown = |row: &&Row| row.movement == movement && row.speed == speed && objects.contains(&row.objects);
    let rows = report.rows.iter().filter(is_shown);
    series_by(&looks, rows, |row| row.method, |row| (row.objects as f64, value(row)))
}

fn look_of(method: &str) -> Look {
    *LOOKS.iter().find(|look| look.key == method).expect("every method has a look")
}

/// A method's name in a plot or a table.
pub fn label(method: &str) -> &'static str {
    look_of(method).name
}

//! Graphs 1 to 8 of paper 000: comparisons and time by the number of objects, one of each per coverage.

use super::{ALGORITHMS, RelationsReport, Row};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::page::Figure;
use crate::report::svg::Color;

/// All figures.
pub fn all(report: &RelationsReport) -> Vec<Figure> {
    comparisons(report).into_iter().chain(times(report)).collect()
}

/// Graphs 1 to 4; those for 5, 10 and 20 % are figure 3 of paper 004 too.
pub fn comparisons(report: &RelationsReport) -> Vec<Figure> {
    let figure = |coverage: f32| Figure {
        name: format!("comparisons-{coverage}"),
        caption: "Tests of two spheres per frame, every one counted. Lower is better.".to_owned(),
        svg: chart(report, coverage, "comparisons per frame", |row| row.comparisons_raw),
    };
    report.coverages().into_iter().map(figure).collect()
}

/// Graphs 5 to 8.
pub fn times(report: &RelationsReport) -> Vec<Figure> {
    let figure = |coverage: f32| Figure {
        name: format!("time-{coverage}"),
        caption: "Processor time per frame. Brute force finds pairs alone, all others the relations too.".to_owned(),
        svg: chart(report, coverage, "milliseconds per frame", |row| row.ms_per_frame),
    };
    report.coverages().into_iter().map(figure).collect()
}

fn chart(report: &RelationsReport, coverage: f32, label: &str, value: fn(&Row) -> f64) -> String {
    let curve = |algorithm: &&'static str| Curve {
        name: name(algorithm).to_owned(),
        color: color(algorithm),
        is_main: *algorithm == "kinesphere",
        points: report
            .objects()
            .into_iter()
            .filter_map(|objects| report.row(objects, coverage, algorithm))
            .map(|row| (row.objects as f64, value(row).max(1e-4)))
            .collect(),
    };
    let chart = Chart {
        title: format!("{} at {coverage} % coverage", capital(label)),
        x: Axis::new("objects", Scale::Linear),
        y: Axis::new(label, Scale::Logarithmic),
        curves: ALGORITHMS.iter().map(curve).collect(),
    };
    chart.to_svg()
}

/// An algorithm's name in a plot.
pub fn name(algorithm: &str) -> &str {
    match algorithm {
        "brute-force" => "brute force",
        "expanding-sphere" => "expanding",
        "ordered-relations" => "ordered",
        "ordered-axis" => "axis",
        "ordered-axis-relations" => "axis, ordered",
        other => other,
    }
}

/// Told apart by the colour-blind; `style.css` knows them too.
fn color(algorithm: &str) -> Color {
    match algorithm {
        "kinesphere" => Color("#D55E00"),
        "expanding-sphere" => Color("#0072B2"),
        "ordered-relations" => Color("#7B61C4"),
        "ordered-axis" => Color("#009E73"),
        "ordered-axis-relations" => Color("#8A5A2B"),
        _ => Color("#6B7280"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

//! The plots: errors over time, the path, and error against traffic.

use space::Time;

use super::path::{COLLISIONS_US, DURATION_US, MotionPath, WINDOWS_US};
use super::{LATENCY_MS, Settings};
use crate::report::axis::PlotAxis;
use crate::report::chart::{Chart, Look, series_by};
use crate::report::page::Figure;
use crate::report::svg::Color;
use crate::report::timeline::{Timeline, Trace};
use crate::study::Report;

/// The colour of a method: one per family, and the loudest for ours.
fn color(method: &str) -> Color {
    match method {
        "best" => Color("#D55E00"),
        "a1" | "a2" => Color("#6B7280"),
        "b1" | "b2" => Color("#0072B2"),
        "c1" | "c2" => Color("#009E73"),
        "e1" | "e2" => Color("#CC79A7"),
        "g2" => Color("#E69F00"),
        _ => Color("#8A5A2B"),
    }
}

/// All of them.
pub fn all(report: &Report<Settings>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let latency = shown_latency(report);
    for (order, methods) in [("first", ["a1", "b1", "c1"]), ("second", ["a2", "b2", "c2"])] {
        figures.push(errors(report, &format!("errors-{order}-order"), &methods, latency));
    }
    figures.push(errors(report, "errors-beyond", &["e2", "g2", "best"], latency));
    figures.push(path(report, latency));
    figures.push(trade(report, "paper", "on the paper's path"));
    figures.push(trade(report, "corridors", "on corridors"));
    figures
}

/// The paper's latency, or the one nearest to it that was run.
fn shown_latency(report: &Report<Settings>) -> u32 {
    let latencies = report.settings.latencies_ms.iter().copied();
    latencies.min_by_key(|latency| latency.abs_diff(LATENCY_MS)).unwrap_or(LATENCY_MS)
}

fn errors(report: &Report<Settings>, name: &str, methods: &[&str], latency: u32) -> Figure {
    let traces = methods.iter().filter_map(|method| {
        let curve = report.curve(method, latency)?;
        let points = curve.run.counted().map(|seen| (seen.at.micros() as f64 * 1e-6, seen.error)).collect();
        Some(Trace { name: (*method).to_owned(), color: color(method), width: 1.8, points })
    });
    let seconds = |us: i64| us as f64 * 1e-6;
    let timeline = Timeline {
        title: format!("Error over time, {latency} ms"),
        x: PlotAxis::linear("seconds"),
        y: PlotAxis::linear("metres"),
        traces: traces.collect(),
        moments: COLLISIONS_US.map(|at| (seconds(at), "collision".to_owned())).into(),
        spans: WINDOWS_US[..3].iter().map(|&at| (seconds(at - 400_000), seconds(at + 400_000))).collect(),
    };
    Figure {
        name: name.to_owned(),
        caption: format!(
            "Distance of the replica from the truth for {}. Lines mark collisions, shades the closest approaches to \
             remote objects.",
            methods.join(", ")
        ),
        svg: timeline.to_svg(),
    }
}

fn path(report: &Report<Settings>, latency: u32) -> Figure {
    let paper = MotionPath::paper();
    let truth = (0..=DURATION_US / 20_000).map(|step| {
        let pos = paper.state(Time::from_micros(step * 20_000)).pos;
        (-pos.z, pos.x)
    });
    let mut traces =
        vec![Trace { name: "truth".to_owned(), color: Color("#C9CED4"), width: 5.0, points: truth.collect() }];
    traces.extend(["a2", "b2", "best"].into_iter().filter_map(|method| {
        let curve = report.curve(method, latency)?;
        let points = curve.run.seen.iter().map(|seen| (-seen.pos.z, seen.pos.x)).collect();
        Some(Trace { name: method.to_owned(), color: color(method), width: 1.4, points })
    }));
    let timeline = Timeline {
        title: format!("The path, and where it is seen, {latency} ms"),
        x: PlotAxis::linear("metres along"),
        y: PlotAxis::linear("metres across"),
        traces,
        moments: Vec::new(),
        spans: Vec::new(),
    };
    Figure {
        name: "path".to_owned(),
        caption:
            "The paper's path and three replicas of it. Without collision prediction the replica flies on through \
                  the wall until it is told."
                .to_owned(),
        svg: timeline.to_svg(),
    }
}

fn trade(report: &Report<Settings>, path: &'static str, place: &str) -> Figure {
    let looks = ["a2", "b2", "c2", "e2", "g2", "best"].map(|name| Look { key: name, name, color: color(name) });
    let points = report.facts.trade.iter().filter(|point| point.path == path);
    let chart = Chart {
        title: format!("Error against traffic {place}, {LATENCY_MS} ms"),
        x: PlotAxis::logarithmic("messages per second"),
        y: PlotAxis::logarithmic("mean error, metres"),
        series: series_by(&looks, points, |point| point.method, |point| (point.messages_per_s, point.mean_m)),
    };
    Figure {
        name: format!("traffic-{path}"),
        caption: "Every method with its limit swept from 5 cm to 2 m: what lies lower is better at the same price."
            .to_owned(),
        svg: chart.to_svg(),
    }
}

//! The consistency-throughput trade-off, and how long it takes to agree.

use super::{Row, Settings};
use crate::report::axis::PlotAxis;
use crate::report::chart::{Chart, Series};
use crate::report::page::Figure;
use crate::report::svg::Color;
use crate::study::Report;

pub fn all(report: &Report<Settings>) -> Vec<Figure> {
    vec![
        Figure {
            name: "trade-off".to_owned(),
            caption: "How far off others are seen, and what that costs, as only what is off by more than a limit is \
                sent: it is written at each point. The first millimetres save most of the messages. Looser limits \
                save less and less, until signs of life, digests and clocks are what is left, and cost more and more \
                error."
                .to_owned(),
            svg: trade_off(report),
        },
        Figure {
            name: "messages".to_owned(),
            caption: "Sending by thresholds against sending every frame to the same audience.".to_owned(),
            svg: messages(report),
        },
    ]
}

fn trade_off(report: &Report<Settings>) -> String {
    // From the loosest limit to every frame: the line is the sweep, and ends where most is sent.
    let curve = |name: &str, color: Color, value: fn(&Row) -> f64| Series {
        name: name.to_owned(),
        color,
        points: report
            .facts
            .trade_off
            .iter()
            .rev()
            .map(|row| (value(row).max(1e-6), row.error_mean_m.max(1e-6)))
            .collect(),
    };
    let labels: Vec<((f64, f64), String)> = report
        .facts
        .trade_off
        .iter()
        .map(|row| ((row.messages_per_s.max(1e-6), row.error_mean_m.max(1e-6)), row.limit()))
        .collect();
    Chart {
        title: format!("Consistency against throughput, {} ms one way", report.settings.latency_ms),
        x: PlotAxis::logarithmic("messages, or updates in them, per host and second"),
        y: PlotAxis::logarithmic("mean error in metres"),
        series: vec![
            curve("all messages", Color("#D55E00"), |row| row.messages_per_s),
            curve("updates only", Color("#0072B2"), |row| row.motions_per_s),
        ],
    }
    .to_svg_with(&labels)
}

fn messages(report: &Report<Settings>) -> String {
    let curve = |name: &str, color: Color, value: fn(&Row) -> f64| Series {
        name: name.to_owned(),
        color,
        points: report
            .rows
            .iter()
            .filter(|row| row.policy == "velocity")
            .map(|row| (row.hosts as f64, value(row).max(1e-6)))
            .collect(),
    };
    Chart {
        title: "Messages by number of hosts".to_owned(),
        x: PlotAxis::logarithmic("hosts"),
        y: PlotAxis::logarithmic("messages per host and second"),
        series: vec![
            curve("thresholds", Color("#D55E00"), |row| row.messages_per_s),
            curve("every frame", Color("#6B7280"), |row| row.messages_per_s * row.fewer_messages),
        ],
    }
    .to_svg()
}

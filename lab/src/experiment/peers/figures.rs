//! The consistency-throughput trade-off, and how long it takes to agree.

use super::{Peers, Row};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::page::Figure;
use crate::report::svg::Color;

pub fn all(report: &Peers) -> Vec<Figure> {
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

fn trade_off(report: &Peers) -> String {
    // From the loosest limit to every frame: the line is the sweep, and ends where most is sent.
    let curve = |name: &str, color: Color, is_main: bool, value: fn(&Row) -> f64| Curve {
        name: name.to_owned(),
        color,
        is_main,
        points: report.trade_off.iter().rev().map(|row| (value(row).max(1e-6), row.error_mean_m.max(1e-6))).collect(),
    };
    let labels: Vec<((f64, f64), String)> = report
        .trade_off
        .iter()
        .map(|row| ((row.messages_per_s.max(1e-6), row.error_mean_m.max(1e-6)), row.limit()))
        .collect();
    Chart {
        title: format!("Consistency against throughput, {} ms one way", report.latency_ms),
        x: Axis::new("messages, or updates in them, per host and second", Scale::Logarithmic),
        y: Axis::new("mean error in metres", Scale::Logarithmic),
        curves: vec![
            curve("all messages", Color("#D55E00"), true, |row| row.messages_per_s),
            curve("updates only", Color("#0072B2"), false, |row| row.motions_per_s),
        ],
    }
    .to_svg_with(&labels)
}

fn messages(report: &Peers) -> String {
    let curve = |name: &str, color: Color, is_main: bool, value: fn(&Row) -> f64| Curve {
        name: name.to_owned(),
        color,
        is_main,
        points: report
            .rows
            .iter()
            .filter(|row| row.policy == "velocity")
            .map(|row| (row.hosts as f64, value(row).max(1e-6)))
            .collect(),
    };
    Chart {
        title: "Messages by number of hosts".to_owned(),
        x: Axis::new("hosts", Scale::Logarithmic),
        y: Axis::new("messages per host and second", Scale::Logarithmic),
        curves: vec![
            curve("thresholds", Color("#D55E00"), true, |row| row.messages_per_s),
            curve("every frame", Color("#6B7280"), false, |row| row.messages_per_s * row.fewer_messages),
        ],
    }
    .to_svg()
}

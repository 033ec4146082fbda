//! The consistency-throughput trade-off, and how long it takes to agree.

use super::{Peers, Row};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::page::Figure;
use crate::report::svg::Color;

/// All figures.
pub fn all(report: &Peers) -> Vec<Figure> {
    vec![
        Figure {
            name: "trade-off".to_owned(),
            caption: "The limit is swept from zero, to the right, to 2 m: what others see is off by more, and costs less. What is left is signs of life, digests and clocks."
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
    // In the order of the limits: the line is the sweep.
    let curve = |name: &str, color: Color, is_main: bool, value: fn(&Row) -> f64| Curve {
        name: name.to_owned(),
        color,
        is_main,
        points: report.trade_off.iter().map(|row| (value(row).max(1e-6), row.error_mean_m.max(1e-6))).collect(),
    };
    Chart {
        title: format!("Consistency against throughput, {} ms one way", report.latency_ms),
        x: Axis::new("per host and second", Scale::Logarithmic),
        y: Axis::new("mean error in metres", Scale::Logarithmic),
        curves: vec![
            curve("messages of all kinds", Color("#D55E00"), true, |row| row.messages_per_s),
            curve("updates of objects", Color("#0072B2"), false, |row| row.motions_per_s),
        ],
    }
    .to_svg()
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

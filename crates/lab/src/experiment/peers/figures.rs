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
            caption: "To the right: every frame is sent. To the left: what others see is off by more, and costs less."
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
    let mut points: Vec<(f64, f64)> =
        report.trade_off.iter().map(|row| (row.messages_per_s, row.error_mean_m.max(1e-6))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    Chart {
        title: format!("Consistency against throughput, {} ms one way", report.latency_ms),
        x: Axis::new("messages per host and second", Scale::Logarithmic),
        y: Axis::new("mean error in metres", Scale::Logarithmic),
        curves: vec![Curve { name: "limit swept".to_owned(), color: Color("#D55E00"), is_main: true, points }],
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

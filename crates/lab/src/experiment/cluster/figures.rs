//! What a node costs as nodes are added.

use super::{Report, Row};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::page::Figure;
use crate::report::svg::Color;

/// All figures.
pub fn all(report: &Report) -> Vec<Figure> {
    vec![
        Figure {
            name: "scaling".to_owned(),
            caption: "Space and users per node are the same; only the number of nodes grows.".to_owned(),
            svg: chart(report, "Processor time per node", "ms per node and tick", |row| row.cpu_ms),
        },
        Figure {
            name: "traffic".to_owned(),
            caption: "All that a node sends to others, copies and beats included.".to_owned(),
            svg: chart(report, "Bytes between nodes", "bytes per node and tick", |row| row.bytes),
        },
    ]
}

fn chart(report: &Report, title: &str, y: &str, value: fn(&Row) -> f64) -> String {
    let points = report.rows.iter().map(|row| (row.nodes as f64, value(row).max(1e-6))).collect();
    Chart {
        title: title.to_owned(),
        x: Axis::new("nodes", Scale::Logarithmic),
        y: Axis::new(y, Scale::Logarithmic),
        curves: vec![Curve { name: "measured".to_owned(), color: Color("#D55E00"), is_main: true, points }],
    }
    .to_svg()
}

//! What a node costs as nodes are added.

use super::{Report, Row};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::page::Figure;
use crate::report::svg::Color;

/// A curve's name, its color, and what it shows of a row.
type Of = (&'static str, Color, fn(&Row) -> f64);

/// All figures.
pub fn all(report: &Report) -> Vec<Figure> {
    let alone: Of = ("a twin by itself", Color("#D55E00"), |row| row.cpu_ms);
    let in_turn: Of = ("all in turn", Color("#0072B2"), |row| row.in_turn_ms);
    let sent: Of = ("measured", Color("#D55E00"), |row| row.bytes);
    vec![
        Figure {
            name: "scaling".to_owned(),
            caption: "Space and users per node are the same; only the number of nodes grows.".to_owned(),
            svg: chart(report, "Processor time per node", "ms per node and tick", &[alone, in_turn]),
        },
        Figure {
            name: "traffic".to_owned(),
            caption: "All that a node sends to others, copies and beats included.".to_owned(),
            svg: chart(report, "Bytes between nodes", "bytes per node and tick", &[sent]),
        },
    ]
}

fn chart(report: &Report, title: &str, y: &str, curves: &[Of]) -> String {
    let curve = |(number, &(name, color, value)): (usize, &Of)| {
        // One alone says nothing to anybody, which has no place among logarithms.
        let rows = report.rows.iter().filter(|row| value(row) > 0.0);
        let points = rows.map(|row| (row.nodes as f64, value(row))).collect();
        Curve { name: name.to_owned(), color, is_main: number == 0, points }
    };
    Chart {
        title: title.to_owned(),
        x: Axis::new("nodes", Scale::Logarithmic),
        y: Axis::new(y, Scale::Logarithmic),
        curves: curves.iter().enumerate().map(curve).collect(),
    }
    .to_svg()
}

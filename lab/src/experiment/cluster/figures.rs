//! What a node costs as nodes are added.

use super::{Row, Settings};
use crate::report::axis::PlotAxis;
use crate::report::chart::{Chart, Series};
use crate::report::page::Figure;
use crate::report::svg::Color;
use crate::study::Report;

/// A curve's name, its color, and what it shows of a row.
type Of = (&'static str, Color, fn(&Row) -> f64);

pub fn all(report: &Report<Settings>) -> Vec<Figure> {
    let alone: Of = ("by itself", Color("#D55E00"), |row| row.cpu_ms);
    let in_turn: Of = ("all in turn", Color("#0072B2"), |row| row.in_turn_ms);
    let sent: Of = ("measured", Color("#D55E00"), |row| row.bytes);
    vec![
        Figure {
            name: "scaling".to_owned(),
            caption: "Space and users per node are the same; only the number of nodes grows.".to_owned(),
            svg: chart(report, "Processor time per node", "ms per node and tick", &[alone, in_turn]),
        },
        Figure {
            name: "borders".to_owned(),
            caption: "Nodes of one cluster differ by how long their borders with others are.".to_owned(),
            svg: borders(report),
        },
        Figure {
            name: "traffic".to_owned(),
            caption: "All that a node sends to others, copies and beats included.".to_owned(),
            svg: chart(report, "Bytes between nodes", "bytes per node and tick", &[sent]),
        },
    ]
}

fn chart(report: &Report<Settings>, title: &str, y: &str, series: &[Of]) -> String {
    let curve = |&(name, color, value): &Of| {
        // A node alone sends nothing, and zero has no logarithm.
        let rows = report.rows.iter().filter(|row| value(row) > 0.0);
        let points = rows.map(|row| (row.nodes as f64, value(row))).collect();
        Series { name: name.to_owned(), color, points }
    };
    Chart {
        title: title.to_owned(),
        x: PlotAxis::logarithmic("nodes"),
        y: PlotAxis::logarithmic(y),
        series: series.iter().map(curve).collect(),
    }
    .to_svg()
}

/// What a node costs by the length of its borders, in each cluster; one that is alone has none.
fn borders(report: &Report<Settings>) -> String {
    let colors = [Color("#009E73"), Color("#0072B2"), Color("#D55E00")];
    let alone = report.facts.borders.iter().filter(|row| row.nodes == 1).map(|row| (row.border_m, row.cpu_ms));
    let sizes = report.rows.iter().map(|row| row.nodes).filter(|&nodes| nodes > 1);
    let curve = |(nodes, color): (usize, Color)| {
        let own = report.facts.borders.iter().filter(|row| row.nodes == nodes).map(|row| (row.border_m, row.cpu_ms));
        Series { name: format!("{nodes} nodes"), color, points: alone.clone().chain(own).collect() }
    };
    Chart {
        title: "Processor time by the length of borders".to_owned(),
        x: PlotAxis::linear("metres of border"),
        y: PlotAxis::linear("ms per node and tick"),
        series: sizes.zip(colors).map(curve).collect(),
    }
    .to_svg()
}

//! The four ways beside each other: over coverage, and over how crowded a crowd is.

use super::{GroupsReport, Row};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::layer;
use crate::report::page::Figure;
use crate::report::svg::Color;

/// The ways, in the order of the tables.
const SCHEMES: [&str; 4] = ["relations", "cover", "channel-per-object", "cells"];

/// All figures.
pub fn all(report: &GroupsReport) -> Vec<Figure> {
    let figure = |name: &str, title: &str, label: &str, caption: &str, value: fn(&Row) -> f64| Figure {
        name: name.to_owned(),
        caption: caption.to_owned(),
        svg: chart(report, title, label, value),
    };
    vec![
        figure(
            "copies",
            "Copies delivered",
            "copies per copy needed",
            "One is exact: every needed copy once, none extra.",
            |row| row.copies_per_needed,
        ),
        figure(
            "groups",
            "Groups",
            "groups per object",
            "Relations explode where everybody has many neighbours.",
            |row| row.groups / row.objects.max(1) as f64,
        ),
        figure(
            "memberships",
            "Memberships",
            "memberships per object",
            "What a multicast service has to remember.",
            |row| row.memberships / row.objects.max(1) as f64,
        ),
        figure(
            "changes",
            "Changes",
            "joins and leaves per pair that changes",
            "What keeping it up to date costs.",
            |row| row.changes_per_tick / row.edge_changes_per_tick.max(1e-9),
        ),
    ]
}

fn chart(report: &GroupsReport, title: &str, label: &str, value: fn(&Row) -> f64) -> String {
    let points = |scheme: &str| {
        let mut points: Vec<(f64, f64)> = report
            .rows
            .iter()
            .filter(|row| row.scheme == scheme && row.neighbours > 0.0 && value(row) > 0.0)
            .map(|row| (row.neighbours, value(row)))
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let curve = |scheme: &&str| Curve {
        name: name(scheme).to_owned(),
        color: color(scheme),
        is_main: *scheme == "cover",
        points: points(scheme),
    };
    let chart = Chart {
        title: format!("{title}, by how crowded the world is"),
        x: Axis::new("neighbours per object", Scale::Logarithmic),
        y: Axis::new(label, Scale::Logarithmic),
        curves: SCHEMES.iter().map(curve).collect(),
    };
    chart.to_svg()
}

fn name(scheme: &str) -> &str {
    if scheme == "channel-per-object" { "channels" } else { scheme }
}

/// Told apart by the colour-blind; `style.css` knows them too.
fn color(scheme: &str) -> Color {
    match scheme {
        "cover" => Color("#D55E00"),
        "relations" => layer::RELATION,
        "cells" => layer::CELL,
        _ => Color("#6B7280"),
    }
}

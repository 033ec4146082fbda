//! What is missed as more is lost, and what is sent as users grow.

use super::{LATENCIES_MS, MissedCollisions, Way};
use crate::report::axis::{Axis, Scale};
use crate::report::chart::{Chart, Curve};
use crate::report::page::Figure;
use crate::report::svg::Color;

/// Told apart by the colour-blind; `style.css` knows them too. Ours comes last, and is the one to see.
const COLORS: [Color; 3] = [Color("#6B7280"), Color("#0072B2"), Color("#009E73")];
const MAIN: Color = Color("#D55E00");

/// Paper 002's figure 2.10, one per latency.
pub fn missed(report: &MissedCollisions) -> Vec<Figure> {
    LATENCIES_MS
        .map(|latency_ms| {
            let curve = |(number, way): (usize, Way)| {
                let rows = report.rows.iter().filter(|row| row.method == way.name() && row.latency_ms == latency_ms);
                Curve {
                    name: way.name().replace('-', " "),
                    color: if way == Way::Server { MAIN } else { COLORS[number] },
                    is_main: way == Way::Server,
                    points: rows.map(|row| (100.0 * row.loss, row.missed_percent)).collect(),
                }
            };
            let chart = Chart {
                title: format!("Collisions missed, {latency_ms} ms one way"),
                x: Axis::new("messages lost, percent", Scale::Linear),
                y: Axis::new("missed, percent", Scale::Linear),
                curves: Way::ALL.into_iter().enumerate().map(curve).collect(),
            };
            Figure {
                name: format!("missed-{latency_ms}"),
                caption:
                    "Encounters in which the two were inside each other at some time. Lower is better; a server is \
                          at zero."
                        .to_owned(),
                svg: chart.to_svg(),
            }
        })
        .into()
}

/// Messages of the whole world, and at its busiest host, by topology.
pub fn topologies(report: &MissedCollisions) -> Vec<Figure> {
    let figure = |name: &str, title: &str, label: &str, caption: &str, value: fn(&super::TopologyRow) -> f64| {
        let mut names: Vec<&str> = Vec::new();
        for row in &report.topologies {
            if !names.contains(&row.topology) {
                names.push(row.topology);
            }
        }
        let curve = |(number, &topology): (usize, &&str)| {
            let rows = report.topologies.iter().filter(|row| row.topology == topology);
            Curve {
                name: topology.to_owned(),
                color: COLORS.get(number).copied().unwrap_or(MAIN),
                is_main: number >= COLORS.len(),
                points: rows.map(|row| (row.users as f64, value(row))).collect(),
            }
        };
        let chart = Chart {
            title: title.to_owned(),
            x: Axis::new("users", Scale::Logarithmic),
            y: Axis::new(label, Scale::Logarithmic),
            curves: names.iter().enumerate().map(curve).collect(),
        };
        Figure { name: name.to_owned(), caption: caption.to_owned(), svg: chart.to_svg() }
    };
    vec![
        figure(
            "messages",
            "Messages of all",
            "messages per tick",
            "What the network carries when everybody moves.",
            |row| row.messages,
        ),
        figure(
            "copies",
            "Positions delivered",
            "positions per tick",
            "What hosts have to look at: only an audience spares them.",
            |row| row.copies,
        ),
    ]
}

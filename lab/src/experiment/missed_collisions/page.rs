//! The page: what is missed as more is lost, and what is sent as users grow.

use super::topologies::TopologyRow;
use super::{LATENCIES_MS, Row, Settings};
use crate::report::axis::PlotAxis;
use crate::report::chart::{Chart, Look, look, series_by};
use crate::report::csv::to_table;
use crate::report::number::grouped;
use crate::report::page::{Figure, Page, PageBlock, section};
use crate::study::Report;

const WAYS: [Look; 3] = [
    look("naive", "naive", "#6B7280"),
    look("dead-reckoning", "dead reckoning", "#0072B2"),
    look("server", "server", "#D55E00"),
];
const TOPOLOGIES: [Look; 4] = [
    look("full mesh", "full mesh", "#6B7280"),
    look("broadcast", "broadcast", "#0072B2"),
    look("client-server", "client-server", "#009E73"),
    look("audience", "audience", "#D55E00"),
];

pub fn page(report: &Report<Settings>) -> Page {
    let (rows, topologies) = (&report.rows, &report.facts.topologies);
    let lead = format!(
        "Two avatars walk towards each other and turn abruptly now and then; hosts hear of each other over a \
         network that loses messages. {} encounters per setting.",
        grouped(u64::from(report.settings.encounters))
    );
    let traffic = vec![
        topology(topologies, "messages", "Messages of all", "The network's load when all users move.", |row| {
            row.messages
        }),
        topology(topologies, "copies", "Positions delivered", "Only an audience spares hosts most of them.", |row| {
            row.copies
        }),
    ];
    let missed = LATENCIES_MS.map(|latency_ms| missed(rows, latency_ms)).to_vec();
    let sections = vec![
        section("Claims", [PageBlock::Verdicts(report.claims.clone())]),
        section("Missed collisions: figure 2.10", [PageBlock::Figures(missed), PageBlock::Table(to_table(rows))]),
        section("Topologies: section 2.5", [PageBlock::Figures(traffic), PageBlock::Table(to_table(topologies))]),
    ];
    Page::new("How often do avatars walk through each other?", lead, sections)
}

fn missed(rows: &[Row], latency_ms: u32) -> Figure {
    let own = rows.iter().filter(|row| row.latency_ms == latency_ms);
    let chart = Chart {
        title: format!("Collisions missed, {latency_ms} ms one way"),
        x: PlotAxis::linear("messages lost, percent"),
        y: PlotAxis::linear("missed, percent"),
        series: series_by(&WAYS, own, |row| row.method, |row| (100.0 * row.loss, row.missed_percent)),
    };
    let caption =
        "Encounters in which the two were inside each other at some time. Lower is better; a server is at zero.";
    Figure::new(format!("missed-{latency_ms}"), caption, chart.to_svg())
}

fn topology(rows: &[TopologyRow], name: &str, title: &str, caption: &str, value: fn(&TopologyRow) -> f64) -> Figure {
    let chart = Chart {
        title: title.to_owned(),
        x: PlotAxis::logarithmic("users"),
        y: PlotAxis::logarithmic("per tick"),
        series: series_by(&TOPOLOGIES, rows.iter(), |row| row.topology, |row| (row.users as f64, value(row))),
    };
    Figure::new(name, caption, chart.to_svg())
}

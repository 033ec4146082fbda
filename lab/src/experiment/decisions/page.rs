//! The experiment as a page, and its table.

use super::{Decisions, Row};
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use kinesphere::table::Table;

pub(super) fn page(report: &Decisions) -> Page {
    Page {
        title: "Whose word counts?".to_owned(),
        lead: format!(
            "Two hosts see their objects collide, and one of them must decide. {} encounters per setting, with clocks, \
             delays, losses, duplicates and changes of speed.",
            grouped(u64::from(report.encounters))
        ),
        sections: vec![
            Section { heading: "Verdicts".to_owned(), blocks: vec![Block::Verdicts(report.verdicts.clone())] },
            Section { heading: "All settings".to_owned(), blocks: vec![Block::Table(table(&report.rows))] },
        ],
        command: report.command.clone(),
    }
}

/// One line per setting.
pub(super) fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "rule",
        "policy",
        "loss",
        "ms",
        "k",
        "d",
        "tau_c",
        "none",
        "one",
        "both",
        "uninformed",
        "outside",
        "different terms",
        "other",
    ]);
    for Row { rule, policy, loss, latency_ms, k, d, tau_c, counts } in rows {
        let percent = |count: u64| format!("{:.2} %", 100.0 * count as f64 / counts.encounters.max(1) as f64);
        let mut cells = vec![
            rule.name().to_owned(),
            policy.name().to_owned(),
            loss.to_string(),
            latency_ms.to_string(),
            k.to_string(),
            d.to_string(),
            tau_c.to_string(),
        ];
        cells.extend([counts.none, counts.one, counts.both].map(percent));
        cells.extend([counts.uninformed, counts.outside, counts.different_terms, counts.other].map(grouped));
        table.row(cells);
    }
    table
}

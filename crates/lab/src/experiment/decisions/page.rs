//! The experiment as a page, and its table.

use super::{Decisions, Row};
use crate::report::number::grouped;
use crate::report::page::{Block, Page, Section};
use crate::report::table::Table;

/// The page.
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
    for row in rows {
        let percent = |count: u64| format!("{:.2} %", 100.0 * count as f64 / row.encounters.max(1) as f64);
        let mut cells = vec![
            row.rule.to_owned(),
            row.policy.to_owned(),
            row.loss.to_string(),
            row.latency_ms.to_string(),
            row.k.to_string(),
            row.d.to_string(),
            row.tau_c.to_string(),
        ];
        cells.extend([row.none, row.one, row.both].map(percent));
        cells.extend([row.uninformed, row.outside, row.different_terms, row.other].map(grouped));
        table.row(cells);
    }
    table
}

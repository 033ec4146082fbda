//! What a report is made of: tables, plots, claims, pages.

pub mod axis;
pub mod bars;
pub mod chart;
pub mod claim;
pub mod csv;
pub mod html;
pub mod layer;
pub mod number;
pub mod page;
pub mod svg;
pub mod timeline;

/// The names that the simulators' experiments still use.
pub mod verdict {
    pub use super::claim::{ClaimOutcome as Outcome, ClaimResult as Verdict};
}

use kinesphere::table::Table;

/// A column: its heading, and its cell in the line of a row.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// A line per row, a cell per column.
pub fn table<'r, R: 'r>(rows: impl IntoIterator<Item = &'r R>, columns: &[Column<R>]) -> Table {
    let mut table = Table::new(columns.iter().map(|(heading, _)| *heading));
    for row in rows {
        table.row(columns.iter().map(|(_, cell)| cell(row)));
    }
    table
}

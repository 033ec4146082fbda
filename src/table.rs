//! Columns that line up.

use std::fmt;

/// Headings and rows. On a terminal the first column stands to the left, all others to the right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings and no rows yet.
    pub fn new(headings: impl IntoIterator<Item = impl Into<String>>) -> Table {
        let mut table = Table::default();
        table.row(headings);
        table
    }

    /// Adds a row. It may be shorter than the headings.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The headings, then the rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        (0..columns).map(|column| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0)).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                line += &if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
            }
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["method", "ms"]);
        table.row(["octree", "12.5"]);
        table.row(["grid"]);
        assert_eq!(table.to_string(), "method    ms\noctree  12.5\ngrid\n");
    }
}

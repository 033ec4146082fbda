//! Rows as a table for people and as lines for a spreadsheet: the columns are the fields of the rows.

use kinesphere::table::Table;
use serde::Serialize;
use serde_json::{Map, Value};

use super::number::{grouped, significant};

/// Plain structs as lines of comma-separated values, with their field names on top.
///
/// # Panics
/// If a row is not a struct of plain values: only a bug can cause that.
pub fn to_csv<T: Serialize>(rows: &[T]) -> String {
    let mut lines = String::new();
    for (index, row) in rows.iter().enumerate() {
        let fields = fields(row);
        if index == 0 {
            lines += &line(fields.keys().cloned());
        }
        lines += &line(fields.values().map(|field| match field {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            plain => plain.to_string(),
        }));
    }
    lines
}

/// The same as a table, with three significant digits.
pub fn to_table<T: Serialize>(rows: &[T]) -> Table {
    let headings = rows.first().map(fields).unwrap_or_default();
    let mut table = Table::new(headings.keys().map(|name| name.replace('_', " ")));
    rows.iter().for_each(|row| table.row(fields(row).values().map(cell)));
    table
}

fn fields(row: &impl Serialize) -> Map<String, Value> {
    // By way of text: an `f32` that became an `f64` would show digits that it does not have.
    let text = serde_json::to_string(row).expect("a row of plain values");
    serde_json::from_str(&text).expect("a row is a struct")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(is_true) => if *is_true { "yes" } else { "NO" }.to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_u64() {
            Some(whole) => grouped(whole),
            None => match number.as_f64().unwrap_or(f64::NAN) {
                large if large >= 1e3 => grouped(large.round() as u64),
                small => significant(small),
            },
        },
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name} {}", cell(value)));
            fields.collect::<Vec<_>>().join(", ")
        }
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| quoted(&cell)).collect::<Vec<_>>().join(",") + "\n"
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        cpu_ms: f32,
        count: Option<u32>,
        depths: [f64; 2],
    }

    #[test]
    fn fields_become_columns_and_quotes_are_doubled() {
        let row = |name, count| Row { name, cpu_ms: 0.1, count, depths: [0.5, 12.345] };
        let rows = [row("a \"b\", c", Some(1_000)), row("d", None)];
        let csv = to_csv(&rows);
        let first = "name,cpu_ms,count,depths\n\"a \"\"b\"\", c\",0.1,1000,\"[0.5,12.345]\"\n";
        assert!(csv.starts_with(first), "{csv}");
        let table = to_table(&rows);
        assert_eq!(table.rows()[0], ["name", "cpu ms", "count", "depths"]);
        assert_eq!(table.rows()[1], ["a \"b\", c", "0.100", "1,000", "0.500 12.3"]);
        assert_eq!(table.rows()[2], ["d", "0.100", "", "0.500 12.3"]);
    }
}

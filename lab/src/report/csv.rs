//! Rows for a spreadsheet.

use serde::Serialize;

/// Plain structs as lines of comma-separated values, with their field names on top.
///
/// # Panics
/// If a row is not a struct of plain values: only a bug can cause that.
pub fn to_csv<T: Serialize>(rows: &[T]) -> String {
    let mut lines = String::new();
    for (index, row) in rows.iter().enumerate() {
        // By way of text: an `f32` that became an `f64` would show digits that it does not have.
        let text = serde_json::to_string(row).expect("a row of plain values");
        let value: serde_json::Value = serde_json::from_str(&text).expect("what was just written");
        let fields = value.as_object().expect("a row is a struct");
        if index == 0 {
            lines += &line(fields.keys().cloned());
        }
        lines += &line(fields.values().map(|field| match field {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Null => String::new(),
            plain => plain.to_string(),
        }));
    }
    lines
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

    #[test]
    fn fields_become_columns_and_quotes_are_doubled() {
        #[derive(Serialize)]
        struct Row {
            name: &'static str,
            count: u32,
        }
        let csv = to_csv(&[Row { name: "a \"b\", c", count: 1 }, Row { name: "d", count: 2 }]);
        assert_eq!(csv, "name,count\n\"a \"\"b\"\", c\",1\nd,2\n");
    }
}

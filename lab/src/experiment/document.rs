//! The files of a report. Whoever asked for the report writes them.

use serde::Serialize;

use crate::report::csv::to_csv;
use crate::report::html::to_html;
use crate::report::page::{Figure, Page};

/// A file of a report.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its name.
    pub name: String,
    /// All of it.
    pub contents: String,
}

impl Document {
    /// Everything worth keeping of a report with one kind of rows: a page, the numbers, and the plots.
    pub fn all<T: Serialize>(
        name: &str,
        page: &Page,
        rows: &[T],
        report: &impl Serialize,
        figures: Vec<Figure>,
    ) -> Vec<Document> {
        let numbers = [Document::page(page), Document::csv(name, rows), Document::json(name, report)];
        numbers.into_iter().chain(Document::plots(figures)).collect()
    }

    /// The page that a person reads first.
    pub fn page(page: &Page) -> Document {
        Document { name: "index.html".to_owned(), contents: to_html(page) }
    }

    /// Rows, for a spreadsheet.
    pub fn csv<T: Serialize>(name: &str, rows: &[T]) -> Document {
        Document { name: format!("{name}.csv"), contents: to_csv(rows) }
    }

    /// All of a report, for programs.
    pub fn json(name: &str, report: &impl Serialize) -> Document {
        let json = serde_json::to_string_pretty(report).expect("a report has only string keys");
        Document { name: format!("{name}.json"), contents: json + "\n" }
    }

    /// Plots, one file each.
    pub fn plots(figures: Vec<Figure>) -> impl Iterator<Item = Document> {
        figures.into_iter().map(|figure| Document { name: format!("{}.svg", figure.name), contents: figure.svg })
    }
}

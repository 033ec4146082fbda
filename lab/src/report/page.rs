//! What a report says, before it is decided how it looks, and the files that it becomes.

use kinesphere::table::Table;
use serde::Serialize;

use super::claim::ClaimResult;
use super::csv::to_csv;
use super::html::to_html;

/// A report that a person reads from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub title: String,
    /// What came out, in two or three sentences.
    pub lead: String,
    pub sections: Vec<Section>,
    /// The command that repeats the run. The runner of studies fills it in.
    pub command: String,
}

/// A part of a page under a heading.
#[derive(Clone, Debug)]
pub struct Section {
    pub heading: String,
    pub blocks: Vec<PageBlock>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum PageBlock {
    Text(String),
    Verdicts(Vec<ClaimResult>),
    Figures(Vec<Figure>),
    Table(Table),
}

#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its file, without ending.
    pub name: String,
    /// What to see in it.
    pub caption: String,
    pub svg: String,
}

/// A file of a report.
#[derive(Clone, Debug)]
pub struct Document {
    pub name: String,
    pub contents: String,
}

impl Page {
    /// A page without its command.
    pub fn new(title: &str, lead: impl Into<String>, sections: Vec<Section>) -> Page {
        Page { title: title.to_owned(), lead: lead.into(), sections, command: String::new() }
    }

    /// All plots, in order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.blocks).flat_map(|block| match block {
            PageBlock::Figures(figures) => &figures[..],
            _ => &[],
        })
    }
}

/// A part of a page under a heading.
pub fn section(heading: &str, blocks: impl Into<Vec<PageBlock>>) -> Section {
    Section { heading: heading.to_owned(), blocks: blocks.into() }
}

impl PageBlock {
    pub fn text(text: impl Into<String>) -> PageBlock {
        PageBlock::Text(text.into())
    }
}

impl Figure {
    pub fn new(name: impl Into<String>, caption: impl Into<String>, svg: String) -> Figure {
        Figure { name: name.into(), caption: caption.into(), svg }
    }
}

impl Document {
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

    pub fn plot(figure: &Figure) -> Document {
        Document { name: format!("{}.svg", figure.name), contents: figure.svg.clone() }
    }
}

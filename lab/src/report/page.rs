//! What a report says, before anybody decides how it looks.

use super::verdict::Verdict;
use kinesphere::table::Table;

/// A report that a person reads from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// What it is about.
    pub title: String,
    /// What came out, in two or three sentences.
    pub lead: String,
    /// The rest, in order.
    pub sections: Vec<Section>,
    /// How to make it again.
    pub command: String,
}

/// A part of a page under a heading.
#[derive(Clone, Debug)]
pub struct Section {
    /// What it is about.
    pub heading: String,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// Claims and what became of them.
    Verdicts(Vec<Verdict>),
    /// Plots with what to see in them.
    Figures(Vec<Figure>),
    /// Numbers.
    Table(Table),
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its file, without ending.
    pub name: String,
    /// What to see in it.
    pub caption: String,
    /// The plot itself.
    pub svg: String,
}

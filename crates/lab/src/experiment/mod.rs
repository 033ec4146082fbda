//! The papers' experiments, run again: one file or folder per family of figures.

pub mod broad_phases;
pub mod decisions;
pub mod prediction;
pub mod room;
pub mod sphere_trees;

/// A file of a report. Whoever asked for the report writes it.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its name.
    pub name: String,
    /// All of it.
    pub contents: String,
}

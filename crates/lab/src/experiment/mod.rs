//! The papers' experiments, run again: one file or folder per family of figures.

pub mod broad_phases;
pub mod decisions;
pub mod groups;
pub mod missed_collisions;
pub mod peers;
pub mod prediction;
pub mod relations;
pub mod room;
pub mod sphere_trees;
pub mod world;

/// A file of a report. Whoever asked for the report writes it.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its name.
    pub name: String,
    /// All of it.
    pub contents: String,
}

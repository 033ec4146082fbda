//! The papers' experiments, run again: one file or folder per family of figures.

pub mod broad_phases;
pub mod cluster;
pub mod decisions;
mod flight_room;
pub mod four_users;
pub mod groups;
pub mod missed_collisions;
pub mod peers;
pub mod prediction;
pub mod relations;
pub mod room;
pub mod simulate;
pub mod sphere_trees;
pub mod world;

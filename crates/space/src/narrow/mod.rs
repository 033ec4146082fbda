//! Exact answers about two shapes.
pub mod sphere_tree;

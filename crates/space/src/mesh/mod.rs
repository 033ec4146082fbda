//! Triangles: bytes of a file to a mesh, and meshes made from a few numbers.
//!
//! - [`TriangleMesh`]: corners and triangles, checked once.
//! - [`generated`]: boxes, balls, rings and cups without a file.

pub mod generated;
mod triangles;

pub use triangles::{TriangleMesh, TriangleMeshError};

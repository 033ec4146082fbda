//! Triangles: what a mesh is made of, before it becomes a shape.

mod triangles;

pub use triangles::{TriangleMesh, TriangleMeshError};

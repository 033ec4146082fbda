//! Triangle meshes, from files and from a few numbers.
//!
//! - [`TriangleMesh`]: vertices and triangles, checked once.
//! - [`generated`]: boxes, spheres, tori and cups.
//! - [`catalog`]: the shipped shapes, by name.
//! - `read`: OBJ, glTF 2.0 and TRI; with the feature `mesh-files`.

pub mod catalog;
pub mod generated;
#[cfg(feature = "mesh-files")]
mod gltf;
#[cfg(feature = "mesh-files")]
mod obj;
#[cfg(feature = "mesh-files")]
mod read;
#[cfg(feature = "mesh-files")]
mod tri;
mod triangles;

#[cfg(feature = "mesh-files")]
pub use read::{Format, MeshError, MeshLimits, Resolver, read, read_with};
pub use triangles::{TriangleMesh, TriangleMeshError, corners_of};

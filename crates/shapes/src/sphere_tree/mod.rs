//! Sphere-trees: meshes wrapped in balls, level by level.
//!
//! Balls are the cheapest bounding volumes to test, if few of them wrap a mesh closely. A [`SphereTree`] has one ball
//! at its root and more on every level below, and each level covers the whole surface. So shapes whose balls are apart
//! on any level are apart. The distance by which a level's balls stick out bounds the error of the opposite answer.
//!
//! ```
//! use kinesphere_shapes::mesh::catalog::shape;
//! use kinesphere_shapes::sphere_tree::{Method, build, default_caps};
//!
//! let mesh = shape("box").expect("a shipped shape");
//! let vertices = mesh.wide_vertices();
//! let built = build(&vertices, mesh.triangles(), Method::OctreeTight, &default_caps(2))?;
//! assert_eq!(built.tree.level(2).len(), 56);
//! assert!(built.tree.level(2).iter().all(|node| node.error < 0.11 * built.tree.scale()));
//! # Ok::<(), kinesphere_shapes::sphere_tree::BuildError>(())
//! ```
//!
//! - [`Object`]: a mesh repaired for distance queries. [`error_of`]: how far a ball sticks out of it.
//! - [`build`](build()): a tree by one of four [`Method`]s; [`best`] and [`published`] have them.
//! - [`certify`]: the proof that a tree covers a mesh. [`refit`](refit()): a tree fitted to a deformed mesh.
//! - [`cover_solid`]: inner balls that cover the inside. [`outside_volume`]: the volume of a ball outside an object.
//! - [`metrics`]: measurements for reports. [`file`](mod@file): a tree as bytes.

mod ball;
pub mod best;
mod build;
mod certificate;
mod cover;
mod cut;
mod division;
mod enclosing;
mod error;
mod exchange;
mod field;
pub mod file;
mod frame;
mod gaps;
mod holes;
mod medial;
pub mod metrics;
mod minimise;
mod monotone;
mod nearest;
mod object;
mod polish;
pub mod published;
mod refit;
mod samples;
mod sides;
mod site;
mod solid;
mod topology;
mod tree;
mod volume;
mod winding;

pub use ball::Ball;
pub use build::{BuildError, Built, MAX_SEARCHED, Method, build, default_caps};
pub use certificate::{Regions, TrianglePart, Uncovered, certify};
pub use enclosing::smallest_enclosing_ball;
pub use error::{ErrorBounds, error_of};
pub(crate) use medial::inner_ball_at;
pub(crate) use nearest::nearest_of_triangle;
pub use nearest::{Nearest, TriangleFeature};
pub use object::{Inside, MAX_TRIANGLES, Object, ObjectError};
pub use refit::refit;
pub(crate) use samples::SurfaceSample;
pub use solid::{MAX_MARGIN, MIN_MARGIN, Solid, SolidError, certify_solid, cover_solid};
pub use tree::{MAX_DEPTH, MAX_NODES, Node, SphereTree, TreeError};
pub use volume::outside_volume;

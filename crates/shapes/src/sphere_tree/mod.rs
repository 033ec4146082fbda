//! Sphere-trees: how closely spheres can wrap a shape, level by level.
//!
//! The narrow phase asks where two shapes touch. Balls are the cheapest thing to ask it of, if few of them wrap a shape
//! closely. A [`SphereTree`] has one ball on top, more on every level below, and each level covers all of the surface:
//! what is clear on any level is clear for good. How far the balls of a level stick out says how wrong a yes can be.
//!
//! ```
//! use kinesphere_shapes::mesh::catalog::shape;
//! use kinesphere_shapes::sphere_tree::{Method, build, default_caps};
//!
//! let mesh = shape("box").expect("it is one of those shipped");
//! let vertices: Vec<_> = mesh.vertices().iter().map(|vertex| vertex.as_dvec3()).collect();
//! let built = build(&vertices, mesh.triangles(), Method::OctreeTight, &default_caps(2))?;
//! assert_eq!(built.tree.level(2).len(), 56);
//! assert!(built.tree.level(2).iter().all(|node| node.error < 0.11 * built.tree.scale()));
//! # Ok::<(), kinesphere_shapes::sphere_tree::BuildError>(())
//! ```
//!
//! - [`Object`]: a mesh, repaired as far as distances need it. [`error_of`]: how far a ball sticks out of it.
//! - [`build`](build()): a tree by one of four [`Method`]s; [`best`] and [`published`] have them.
//! - [`certify`]: the proof that a tree covers a mesh. [`refit`](refit()): the same tree around a mesh that deformed.
//! - [`cover_solid`]: balls inside, so that all of an object is covered. [`outside_volume`]: how much of a ball is not in it.
//! - [`metrics`]: the numbers of reports. [`file`](mod@file): a tree as bytes.

mod ball;
pub mod best;
mod build;
mod certificate;
mod cover;
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
pub(crate) use nearest::nearest_of_triangle;
pub use nearest::{Nearest, TriangleFeature};
pub use object::{Inside, MAX_TRIANGLES, Object, ObjectError, Repairs};
pub use refit::refit;
pub use solid::{MAX_MARGIN, MIN_MARGIN, Solid, SolidError, certify_solid, cover_solid};
pub use tree::{MAX_DEPTH, MAX_NODES, Node, SphereTree, TreeError};
pub use volume::outside_volume;

//! Sphere-tree against sphere-tree: where two shapes touch, and how certain that is.
//!
//! Most shapes whose bounding spheres overlap do not touch. A walk down both trees keeps the pairs of balls that
//! overlap and replaces the larger ball of a pair by its children, eight tests at a time, breadth first. It can be
//! stopped after any number of operations: the pairs that it holds then are a coarser answer. It reports shapes as
//! apart only when no pair is left, which is a proof.
//!
//! ```
//! use space::Vec3;
//! use kinesphere_shapes::mesh::catalog::shape;
//! use kinesphere_shapes::Pose;
//! use kinesphere_shapes::sphere_tree::Method;
//! use kinesphere_shapes::traversal::{Placed, Question, Search, Intersection, wrap};
//!
//! let tree = wrap(&shape("rabbit").expect("it is shipped"), Method::OctreeTight, 3)?;
//! let here = Placed::new(&tree, Pose::IDENTITY);
//! let beside = |x: f32| Question::new(here, Placed::new(&tree, Pose::at(Vec3::X * x)));
//!
//! let mut search = Search::default();
//! assert_eq!(search.run(&beside(2.0)).intersection, Intersection::Apart);
//!
//! // A few operations leave it open; a complete walk gives the contacts.
//! let near = beside(0.55);
//! search.begin(&near);
//! let early = search.refine(&near, 3);
//! assert!(early.intersection == Intersection::Possible && !early.is_complete);
//! let late = search.refine(&near, u64::MAX);
//! assert!(late.is_complete && search.tolerance(&near) < 0.1);
//! let mut contacts = Vec::new();
//! search.contacts(&near, &mut contacts);
//! assert!(contacts.iter().all(|contact| contact.depth.0 <= contact.depth.1));
//! # Ok::<(), kinesphere_shapes::traversal::WrapError>(())
//! ```
//!
//! - [`wrap`]: a tree around a mesh, with normals and inner balls.
//! - [`Question`]: two placed trees, in an order of its own, so that the answer does not depend on which comes first.
//! - [`Search`]: the walk. [`Memory`]: temporal coherence, which spares walks.
//! - [`Deformable`]: a mesh that deforms, with a tree that is refitted.
//! - [`manifold`]: many contacts reduced to a few. [`Report`]: these as bytes.

mod contact;
mod deform;
mod manifold;
mod memory;
mod question;
mod report;
mod search;
mod surface;

pub use crate::simd::NodePair;
pub use contact::BallContact;
pub use deform::{Deformable, Form};
pub use manifold::{MANIFOLD_MAX, manifold};
pub use memory::Memory;
pub use question::{Placed, Question};
pub use report::Report;
pub use search::{Containment, Intersection, Search, SearchState};
pub use surface::{WrapError, wrap, wrap_around};

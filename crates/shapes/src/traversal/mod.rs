//! Sphere-tree against sphere-tree: where do two shapes touch, and how much of the answer is already certain?
//!
//! Two shapes whose bounding spheres overlap mostly do not touch. A walk down both trees finds out: it keeps the pairs of
//! balls that overlap, and replaces the larger ball of each by its children, eight tests at a time, all pairs of one
//! round before the next. It may be stopped after any number of operations: what it holds then is an answer, only a
//! coarser one. It says that shapes are apart when no pair is left, which is a proof, and never otherwise.
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
//! // A few operations leave it open; all of them tell where.
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
//! - [`wrap`]: a tree around a mesh, with what is known of its surface and its inside.
//! - [`Question`]: two trees in their places. It is put in an order of its own, so that asking the other way round gives
//!   the same answer.
//! - [`Search`]: the walk. [`Memory`]: what spares it when little has changed since it was asked last.
//! - [`Deformable`]: a shape that changes its form, and balls that follow it.
//! - [`manifold`]: many contacts, reduced to a few. [`Report`]: these, in bytes for somebody else.

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
pub use search::{Containment, Intersection, Progress, Search};
pub use surface::{WrapError, wrap, wrap_around};

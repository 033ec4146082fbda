//! The narrow phase: whether two shapes touch, their distance, and their first contact in motion.
//!
//! A broad phase finds pairs of bounding spheres that overlap; here shapes have faces and corners. Spheres, boxes,
//! capsules and triangles have closed forms, hulls use parry3d. Everything is computed in `f64` relative to the first
//! shape, so the distance from the world's origin does not matter.
//!
//! ```
//! use space::Vec3;
//! use kinesphere_shapes::{RigidMotion, Pose, Shape, exact};
//!
//! let (avatar, wall) = (Shape::capsule(0.6, 0.3)?, Shape::cuboid(Vec3::new(0.1, 2.0, 5.0))?);
//! let walk = RigidMotion::new(Pose::IDENTITY, Pose::at(Vec3::X * 4.0));
//! let stands = RigidMotion::rest(Pose::at(Vec3::X * 2.4));
//! assert!((exact::distance(&avatar, &walk.from, &wall, &stands.from) - 2.0).abs() < 1e-6);
//!
//! let contact = exact::first_contact(&avatar, &walk, &wall, &stands, 0.0).unwrap();
//! assert!((contact.time - 0.5).abs() < 1e-4);
//! assert_eq!(contact.normal, Vec3::X);
//! # Ok::<(), kinesphere_shapes::ShapeError>(())
//! ```
//!
//! - [`Shape`], [`Pose`], [`RigidMotion`]: the subjects of every query.
//! - [`proximity`]: the queries, at a level of precision; [`exact`]: the same at the highest.
//! - [`mesh`]: triangle meshes; [`decompose`]: a mesh as a few convex parts.
//! - [`sphere_tree`]: trees of balls around meshes; [`traversal`]: the interruptible walk down two of them.

#![deny(unsafe_code)]

mod advance;
mod ball_tree;
mod balls;
mod closed;
mod convex;
mod decompose;
pub mod exact;
mod feature;
mod geometry;
pub mod mesh;
mod parry;
pub mod peer;
mod penetrate;
mod pose;
pub mod proximity;
mod shape;
mod simd;
mod solid;
pub mod sphere_tree;
pub mod traversal;

pub use ball_tree::{BallNode, BallTree, BallTreeError, Patch};
pub use decompose::{Decomposition, DecompositionError, decompose};
pub use pose::{Pose, RigidMotion};
pub use proximity::{Approximate, Closest, Contact, Feature, Penetration, Precision};
pub use shape::{Bounds, Shape, ShapeError};
pub use solid::{Balls, Hull, Mesh};

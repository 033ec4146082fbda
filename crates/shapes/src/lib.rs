#![doc = include_str!("../README.md")]
//!
//! ## Map
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
mod penetrate;
mod pose;
pub mod proximity;
mod shape;
mod simd;
mod solid;
pub mod sphere_tree;
pub mod traversal;

/// What the API takes and returns.
pub use space;

pub use ball_tree::{BallNode, BallTree, BallTreeError, Patch};
pub use decompose::{Decomposition, DecompositionError, decompose};
pub use pose::{Pose, RigidMotion};
pub use proximity::{Approximate, Closest, Contact, Feature, Penetration, Precision};
pub use shape::{Bounds, Shape, ShapeError};
pub use solid::{Balls, Hull, Mesh};

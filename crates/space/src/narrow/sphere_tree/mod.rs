//! Sphere-trees.
pub mod ball;
pub mod certificate;
pub mod enclosing;
pub mod error;
pub mod metrics;
pub mod nearest;
pub mod object;
pub mod octree;
pub mod topology;
pub mod tree;
pub mod winding;

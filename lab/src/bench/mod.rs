//! Measurements of one thing against its rivals.

pub mod broad_phase;
pub mod interest;
pub mod motion;
pub mod narrow;
pub mod queries;
pub mod tick;
pub mod world;

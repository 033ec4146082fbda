//! Measurements of one thing against its rivals.

pub mod broad_phase;
pub mod motion;
pub mod queries;

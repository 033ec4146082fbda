//! Many servers that are one world.

pub mod explore;

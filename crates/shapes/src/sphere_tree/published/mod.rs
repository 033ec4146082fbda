//! Builders of sphere-trees as published: the spherical octree, and Bradshaw and O'Sullivan's Combined algorithm.

pub mod combined;
pub mod octree;

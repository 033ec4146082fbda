#![doc = include_str!("../README.md")]
//!
//! ## Map
//!
//! - [`Spec`] describes a world before its first tick; it comes from a file or from [`Plaza`].
//! - [`World`] is the world; an [`Input`] goes in, an [`Outcome`] comes out.
//! - A [`journal`] holds inputs as bytes, and [`World::snapshot`] the state as bytes. Together they replay a world.
//! - [`Border`] is what a world knows of its surroundings, if it is a part of a larger one.
//! - [`RoundedBox`] is the upright solid whose overlaps are tested in whole numbers.

#![forbid(unsafe_code)]

mod border;
mod deform;
mod grab;
mod hash;
mod input;
pub mod journal;
mod make;
mod members;
mod neighbours;
mod objects;
mod outcome;
mod overlap;
mod passage;
mod places;
mod propose;
mod route;
mod scenery;
mod settle;
mod snapshot;
mod solid;
pub mod spec;
mod world;

/// What the API takes and returns.
pub use {shapes, space};

pub use border::{Border, Guest, PlacedSolid, Room};
pub use hash::StateHash;
pub use input::{Act, Input, Refusal, RefusalReason};
pub use neighbours::GroundCells;
pub use objects::Kind;
pub use outcome::{Held, Joined, Left, Met, Outcome, Said, TickWork};
pub use passage::{Placing, PutError};
pub use snapshot::{SnapshotError, forge_fingerprint};
pub use solid::{GridBox, RoundedBox, SKIN};
pub use space::bytes::Malformed;
pub use spec::{ContactPolicy, Plaza, Route, Spec, SpecError, WorldFileError};
pub use world::{Model, ObjectView, Stage, World};

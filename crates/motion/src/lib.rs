#![doc = include_str!("../README.md")]
//!
//! ## Map
//!
//! - [`owner`] decides when to send; [`replica`] predicts; [`crowd`] predicts a million replicas.
//! - [`state`]: updates and their check; [`track`]: the newest valid update; [`clock`]: the owner's time.
//! - [`dead_reckoning`], [`position_history`], [`trend`]: the path from an update on, a [`curve`].
//! - [`collision_prediction`]: the path with its bounces off a [`scene`]; [`company`]: bounces of replicas off each other.
//! - [`adaptive`]: how precise an object's updates are near others; `adaptive_trees`, with the feature `shapes`: the same
//!   for objects that are not round.
//! - [`convergence`]: smooth display; [`bounds`]: how large errors can be.
//! - [`decision`]: which host decides about a collision of two owners' objects.

#![forbid(unsafe_code)]

pub mod adaptive;
#[cfg(feature = "shapes")]
pub mod adaptive_trees;
pub mod bounds;
pub mod clock;
pub mod collision_prediction;
pub mod company;
pub mod convergence;
pub mod crowd;
pub mod curve;
pub mod dead_reckoning;
pub mod decision;
pub mod owner;
pub mod position_history;
pub mod replica;
pub mod rotation;
pub mod scene;
pub mod state;
pub mod track;
pub mod trend;

/// What the API takes and returns.
pub use space;

pub use dead_reckoning::Algorithm;
pub use owner::{Owner, SendRule};
pub use replica::{Predicted, Replica, ReplicaSettings};
pub use scene::CollisionScene;
pub use state::{KinematicState, Update};

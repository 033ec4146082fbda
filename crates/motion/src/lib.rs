#![doc = include_str!("../README.md")]
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

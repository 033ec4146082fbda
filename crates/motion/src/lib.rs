//! Where will it be.
#![forbid(unsafe_code)]

pub mod adaptive;
pub mod bounds;
pub mod clock;
pub mod collision_prediction;
pub mod convergence;
pub mod curve;
pub mod dead_reckoning;
pub mod owner;
pub mod position_history;
pub mod replica;
pub mod rotation;
pub mod scene;
pub mod state;
pub mod token_bucket;
pub mod track;
pub mod trend;

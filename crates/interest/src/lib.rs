//! Who should hear whom.
#![forbid(unsafe_code)]

mod audience;
mod aura;
mod graph;
mod lists;

pub use audience::{Audience, AudienceSettings, Hearing};
pub use aura::{Aura, AuraError, AuraField};
pub use graph::Graph;

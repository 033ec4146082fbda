#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod audience;
mod aura;
mod graph;
mod groups;
mod lists;
pub mod published;

/// What the API takes and returns.
pub use space;

pub use audience::{Audience, AudienceSearch, AudienceSettings, Subscription};
pub use aura::{Aura, AuraError, AuraField};
pub use graph::Graph;
pub use groups::{GroupChange, GroupCover, GroupId, greedy_cover};

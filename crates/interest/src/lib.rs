#![doc = include_str!("../README.md")]
//!
//! ## Map
//!
//! - **[`Audience`]** is what most worlds need: for each object the objects it hears, and what *entered* and *left* since
//!   the last tick. Hysteresis keeps pairs at the border from flickering; auras may be one-sided; and an aura
//!   [widened](Aura::widened) by how far its object can move connects objects before they meet.
//! - **[`GroupCover`]** is for networks that multicast: an edge clique cover, repaired from tick to tick, whose groups keep
//!   their names.
//! - **[`published`]** has the algorithms of the papers that the idea comes from. Their relations are the maximal cliques.
//!
//! Groups and relations follow the pairs that a broad phase of `space` says began and ended. There is no clock, no socket
//! and no random order: the same calls give the same answers.

#![forbid(unsafe_code)]

mod audience;
mod aura;
mod graph;
mod groups;
mod lists;
pub mod published;
mod radix;

/// What the API takes and returns.
pub use space;

pub use audience::{Audience, AudienceSearch, AudienceSettings, Subscription};
pub use aura::{Aura, AuraError, AuraField};
pub use graph::Graph;
pub use groups::{GroupChange, GroupCover, GroupId, greedy_cover};

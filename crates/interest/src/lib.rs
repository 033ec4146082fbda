//! Areas of interest: which objects need updates about which others.
//!
//! In a shared world every object has an *aura*: a *focus*, the distance to which it hears, and a *nimbus*, the distance
//! from which it is heard. Updates about an object go to the objects that hear it, and to no others. This crate finds
//! those, from tick to tick:
//!
//! ```text
//!        a───b           audience   a hears b and c; c hears a, b and d; e hears none
//!         ╲ ╱            groups     {a,b,c}  {c,d}          few sets that cover every pair
//!          c───d    e    relations  {a,b,c}  {c,d}  {e}     sets that overlap pairwise and cannot grow
//! ```
//!
//! - **[`Audience`]** is what most worlds need: for each object the objects it hears, and what *entered* and *left* since
//!   the last tick. Hysteresis keeps pairs at the border from flickering; auras may be one-sided; and an aura
//!   [widened](Aura::widened) by how far its object can move connects objects before they meet.
//! - **[`GroupCover`]** is for networks that multicast: an edge clique cover, repaired from tick to tick, whose groups keep
//!   their names.
//! - **[`published`]** has the algorithms of the papers that the idea comes from. Their relations are the maximal cliques.
//!
//! ```
//! use kinesphere_interest::{Audience, Aura, Subscription};
//! use space::Vec3;
//!
//! let mut audience = Audience::new();
//! let ann = audience.insert(Vec3::new(0.0, 0.0, 0.0), Aura::new(10.0))?;
//! let bob = audience.insert(Vec3::new(25.0, 0.0, 0.0), Aura::new(10.0))?;
//! let lamp = audience.insert(Vec3::new(5.0, 0.0, 0.0), Aura::only_heard(2.0))?;
//!
//! audience.update();
//! assert_eq!(audience.entered(), [Subscription { listener: ann, speaker: lamp }]);
//!
//! audience.move_to(bob, Vec3::new(15.0, 0.0, 0.0))?;
//! audience.update();
//! for Subscription { listener, speaker } in audience.entered() {
//!     println!("send all of {speaker} to {listener}"); // After that, each tick, what changes about it.
//! }
//! assert!(audience.heard_by(bob).eq([ann, lamp]));
//! assert!(audience.listeners_of(lamp).eq([ann, bob]));
//!
//! audience.move_to(bob, Vec3::new(21.0, 0.0, 0.0))?;
//! audience.update();
//! assert!(audience.hears(ann, bob), "connected until 22 metres, not 20: no flicker");
//! # Ok::<(), kinesphere_interest::AuraError>(())
//! ```
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

pub use audience::{Audience, AudienceSearch, AudienceSettings, Subscription};
pub use aura::{Aura, AuraError, AuraField};
pub use graph::Graph;
pub use groups::{GroupChange, GroupCover, GroupId, greedy_cover};

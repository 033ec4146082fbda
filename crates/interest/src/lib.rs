//! Who should hear whom.
//!
//! In a shared world everybody has an *aura*, and whoever's auras overlap should hear of each other, and nobody else. This
//! crate answers that in three ways, from the pairs that `space` finds:
//!
//! ```text
//!        a───b           relations  {a,b,c}  {c,d}  {e}     sets that overlap pairwise and cannot grow
//!         ╲ ╱            groups     {a,b,c}  {c,d}          as few sets as cover every pair
//!          c───d    e    audience   a hears b and c; c hears a, b and d; nobody hears e
//! ```
//!
//! - **[`Audience`]** is what most worlds want: for each object whom it hears and who hears it, what *entered* and what
//!   *left* since the last tick, with hysteresis, so that pairs at the border do not flicker; one-sided auras, where I
//!   hear you and you do not hear me; and auras widened by how far objects get, so that they are joined before they meet.
//! - **[`Earshot`]** is the same where few listen and very many are only heard, as on a server of users.
//! - **[`Groups`]** are for networks that really multicast: an edge clique cover with names that last, repaired from tick
//!   to tick, with the changes told.
//! - **Relations** are the papers' *collision relations*, the maximal cliques: [`CliqueFinder`] for a million objects,
//!   [`ExpandingSphere`], [`OrderedRelations`] and [`OrderedAxis`] as the papers have them, all behind [`RelationFinder`].
//!   A crowd can have exponentially many; past its [`Budget`] it is reported as a [`Crowd`], and groups serve it.
//!
//! ```
//! use interest::{Audience, Aura, Hearing};
//! use space::Vec3;
//!
//! let mut audience = Audience::new();
//! let ann = audience.insert(Vec3::new(0.0, 0.0, 0.0), Aura::new(10.0))?;
//! let bob = audience.insert(Vec3::new(25.0, 0.0, 0.0), Aura::new(10.0))?;
//! let lamp = audience.insert(Vec3::new(5.0, 0.0, 0.0), Aura::only_heard(2.0))?;
//!
//! audience.update();
//! assert_eq!(audience.entered(), [Hearing { listener: ann, speaker: lamp }]);
//!
//! audience.move_to(bob, Vec3::new(15.0, 0.0, 0.0))?;
//! audience.update();
//! for Hearing { listener, speaker } in audience.entered() {
//!     println!("{listener} must be told all about {speaker}"); // Then, each tick, what changes about it.
//! }
//! assert!(audience.heard_by(bob).eq([ann, lamp]));
//! assert!(audience.listeners_of(lamp).eq([ann, bob]));
//!
//! audience.move_to(bob, Vec3::new(21.0, 0.0, 0.0))?;
//! audience.update();
//! assert!(audience.hears(ann, bob), "parted at 22 metres, not at 20: no flicker");
//! # Ok::<(), interest::AuraError>(())
//! ```
//!
//! Groups follow what the broad phase says began and ended, and relations a [`Graph`] that one brings up to date with it.
//! No clock, no socket, no random order: the same calls give the same answers.

#![forbid(unsafe_code)]

mod audience;
mod aura;
mod cliques;
mod earshot;
mod expanding_sphere;
mod graph;
mod groups;
mod lists;
mod ordered_axis;
mod ordered_relations;
mod radix;
mod relation;

pub use audience::{Audience, AudienceSettings, Hearing};
pub use aura::{Aura, AuraError, AuraField};
pub use cliques::{Budget, CliqueFinder, Cliques};
pub use earshot::Earshot;
pub use expanding_sphere::ExpandingSphere;
pub use graph::Graph;
pub use groups::{GroupChange, GroupId, Groups, Members, greedy_cover};
pub use ordered_axis::{Axis, OrderedAxis};
pub use ordered_relations::OrderedRelations;
pub use relation::{Comparisons, Crowd, RelationFinder, Relations};

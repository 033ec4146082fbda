//! Who should hear whom.
#![forbid(unsafe_code)]

mod audience;
mod aura;
mod cliques;
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
pub use expanding_sphere::ExpandingSphere;
pub use graph::Graph;
pub use groups::{GroupChange, GroupId, Groups, greedy_cover};
pub use ordered_axis::{Axis, OrderedAxis};
pub use ordered_relations::OrderedRelations;
pub use relation::{Comparisons, Crowd, RelationFinder, Relations};

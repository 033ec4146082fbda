//! The colours of concepts: the same in plots as in the page's inspector and on its map.
//! `tests/layers_have_one_colour.rs` compares them.

use super::svg::Color;

/// How far a user hears.
pub const AURA: Color = Color("#2EC4B6");
/// Objects that hear each other.
pub const RELATION: Color = Color("#3FA968");
/// Members of a group, which get one copy.
pub const GROUP: Color = Color("#A8A32C");
pub const PREDICTED: Color = Color("#FFB000");
pub const CONTACT: Color = Color("#FF4D4D");
/// Cells of the ground, and parts of nodes.
pub const CELL: Color = Color("#9B6BFF");

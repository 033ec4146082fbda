//! The colours of what the engine does: the same in plots as in the page's inspector and on its map.
//! `tests/layers_have_one_colour.rs` compares them.

use super::svg::Color;

/// How far somebody hears.
pub const AURA: Color = Color("#2EC4B6");
/// Those who hear each other.
pub const RELATION: Color = Color("#3FA968");
/// Those who get one copy.
pub const GROUP: Color = Color("#A8A32C");
/// Where something is thought to be.
pub const PREDICTED: Color = Color("#FFB000");
/// Where two touch.
pub const CONTACT: Color = Color("#FF4D4D");
/// How the ground is divided, among cells and among nodes.
pub const CELL: Color = Color("#9B6BFF");

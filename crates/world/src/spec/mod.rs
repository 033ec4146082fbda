//! The description of a world before its first tick: bounds, limits, places and objects.
//!
//! A [`Spec`] comes from a world file ([`Spec::from_toml`]), from a [`Plaza`], or from code. [`Spec::check`] refuses
//! one that makes no world, and names the object and the key.

mod check;
pub mod file;
mod plaza;
mod tables;

pub(crate) use check::OBJECT_NAME_BYTES_MAX;
pub use check::SpecError;
pub use file::WorldFileError;
pub use plaza::Plaza;

use std::fmt;

use serde::Deserialize;
pub use shapes::Shape;
use space::{Quat, Vec3};

pub use crate::route::{Deformation, Route};

/// The description of a world before its first tick.
#[derive(Clone, Debug)]
pub struct Spec {
    pub name: String,
    /// The colour of the sky as red, green and blue, with which a client tints its picture.
    pub sky: [u8; 3],
    /// The lowest and the highest corner of the bounds. The bottom is the ground.
    pub low: Vec3,
    pub high: Vec3,
    /// In metres per second squared; in a world with zero avatars fly.
    pub gravity: f32,
    /// Ticks per second.
    pub tick_rate: u32,
    pub limits: WorldLimits,
    /// Points on the ground at which avatars appear; the middle of the bounds if there are none.
    pub spawns: Vec<Vec3>,
    /// The avatars to choose from.
    pub avatars: Vec<AvatarSpec>,
    /// Objects of the start. The first has the name 1.
    pub objects: Vec<ObjectSpec>,
    /// Avatars that the world itself moves.
    pub crowd: Option<CrowdSpec>,
}

/// The limits for participants. A refusal names the limit.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of limits")]
pub struct WorldLimits {
    /// The fastest wish to move, in metres per second.
    pub speed: f32,
    /// The speed of a jump upwards, in metres per second.
    pub jump_speed: f32,
    /// The fastest fall or flight, in metres per second.
    pub terminal_speed: f32,
    /// The highest step that a walker takes without jumping, in metres.
    pub step_height: f32,
    /// The largest distance between the surfaces of an avatar and an object that it grabs, in metres.
    pub grab_reach: f32,
    /// The most inputs of one sender in a tick.
    pub inputs_per_tick: u32,
    /// The number of ticks after which a wish to move ends.
    pub wish_ticks: u32,
    /// The most avatars at once, the crowd included.
    pub avatars: u32,
    /// The longest name, in bytes.
    pub name_bytes: usize,
    /// The longest text to say, in bytes.
    pub text_bytes: usize,
    /// The estimated cost of narrow-phase tests that a tick may spend; a pair of bounding spheres costs one. Beyond it,
    /// objects that are slow and far from users are tested coarsely. `None` is no bound.
    pub narrow_operations: Option<u32>,
}

impl Default for WorldLimits {
    fn default() -> WorldLimits {
        WorldLimits {
            speed: 6.0,
            jump_speed: 4.5,
            terminal_speed: 50.0,
            step_height: 0.35,
            grab_reach: 1.5,
            inputs_per_tick: 8,
            wish_ticks: 30,
            avatars: 100_000,
            name_bytes: 96,
            text_bytes: 1_000,
            narrow_operations: None,
        }
    }
}

/// An avatar to choose: an upright capsule, so that turning never collides.
#[derive(Clone, Debug, PartialEq)]
pub struct AvatarSpec {
    pub name: String,
    pub radius: f32,
    /// The height of the whole capsule, in metres.
    pub height: f32,
    pub policy: ContactPolicy,
}

impl AvatarSpec {
    /// An adult that slides along obstacles.
    pub fn walker() -> AvatarSpec {
        AvatarSpec { name: "walker".to_owned(), radius: 0.3, height: 1.8, policy: ContactPolicy::Slide }
    }
}

/// An object of the start.
#[derive(Clone, Debug)]
pub struct ObjectSpec {
    /// Its name for people and in errors.
    pub name: String,
    pub kind: ObjectKind,
    pub shape: Shape,
    /// The place of its centre at the start.
    pub at: Vec3,
    /// Its rotation at the start.
    pub rotation: Quat,
    pub policy: ContactPolicy,
}

/// Whether and how an object moves.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectKind {
    /// It never moves.
    Fixed,
    /// It moves by a route that every host knows, and waits where its way is blocked.
    Moving(Route),
    /// It is shared: it falls, and avatars can push and hold it.
    Movable,
}

/// The response of a mover to a contact.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContactPolicy {
    /// It stops, as in paper 002.
    Block,
    /// It slides along the surface: the default for avatars.
    Slide,
    /// It is reflected, as in papers 001 and 003.
    Bounce,
    /// It has no contacts: it passes through others, and they through it.
    #[serde(rename = "ghost")]
    PassThrough,
}

/// The names of world files. They are a part of a spec's fingerprint, by which stored snapshots recognise their world.
impl fmt::Debug for ContactPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ContactPolicy::Block => "Block",
            ContactPolicy::Slide => "Slide",
            ContactPolicy::Bounce => "Bounce",
            ContactPolicy::PassThrough => "Ghost",
        })
    }
}

/// Avatars that walk towards random places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `seekers`")]
pub struct CrowdSpec {
    /// The number of avatars.
    pub seekers: u32,
    /// The same seed gives the same wishes.
    #[serde(default = "one")]
    pub seed: u64,
}

fn one() -> u64 {
    1
}

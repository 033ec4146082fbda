//! What a world is made of, before anything moves: bounds, limits, places and objects.
//!
//! A [`Spec`] comes from a world file ([`Spec::from_toml`]), from a [`Plaza`], or from code. [`Spec::check`] refuses what
//! makes no world and names the object and the key.

mod check;
pub mod file;
mod plaza;

pub(crate) use check::OBJECT_NAME_BYTES_MAX;
pub use check::SpecError;
pub use file::WorldFileError;
pub use plaza::Plaza;

use std::fmt;

pub use shapes::Shape;
use space::{Quat, Vec3};

pub use crate::route::{Deformation, Route};

/// Everything a world starts from.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What it is called.
    pub name: String,
    /// The colour of its sky: red, green, blue.
    pub sky: [u8; 3],
    /// The corner of its bounds with the smallest coordinates. The bottom is the ground.
    pub low: Vec3,
    /// The corner with the greatest.
    pub high: Vec3,
    /// How strongly things are pulled down, in metres per second squared; zero is a world to fly in.
    pub gravity: f32,
    /// Ticks per second.
    pub tick_rate: u32,
    /// What participants may do.
    pub limits: WorldLimits,
    /// Where avatars appear: points on the ground. Without one, in the middle of the bounds.
    pub spawns: Vec<Vec3>,
    /// The avatars to choose from.
    pub avatars: Vec<AvatarSpec>,
    /// What is there from the start. The first is called object 1.
    pub objects: Vec<ObjectSpec>,
    /// Who walks about without being told.
    pub crowd: Option<CrowdSpec>,
}

/// How fast, how far, how many. Every refusal names the limit that it met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldLimits {
    /// The fastest wish to move, in metres per second.
    pub speed: f32,
    /// The speed of a jump upwards, in metres per second.
    pub jump_speed: f32,
    /// Nothing falls or flies faster, in metres per second.
    pub terminal_speed: f32,
    /// What a walker steps onto without jumping, in metres.
    pub step_height: f32,
    /// How far away, from surface to surface, an object may be to be held, in metres.
    pub grab_reach: f32,
    /// How many inputs of one sender a tick looks at.
    pub inputs_per_tick: u32,
    /// After how many ticks a wish to move is forgotten.
    pub wish_ticks: u32,
    /// How many avatars there may be at once, the crowd included.
    pub avatars: u32,
    /// The longest name, in bytes.
    pub name_bytes: usize,
    /// The longest thing to say, in bytes.
    pub text_bytes: usize,
    /// How much a tick may spend on shapes that need the narrow phase, by its own estimate: a pair of bounding spheres is
    /// one operation. Beyond it, whoever is far from users and slow is looked at coarsely. `None` is as much as it takes.
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
    /// What it is called.
    pub name: String,
    /// Half its width, in metres.
    pub radius: f32,
    /// From sole to crown, in metres.
    pub height: f32,
    /// What it does when it meets something.
    pub policy: ContactPolicy,
}

/// An object that is there from the start.
#[derive(Clone, Debug)]
pub struct ObjectSpec {
    /// What it is called; errors name it.
    pub name: String,
    /// Whether and how it moves.
    pub kind: ObjectKind,
    /// What it looks like to whoever bumps into it.
    pub shape: Shape,
    /// Where its centre is at the start.
    pub at: Vec3,
    /// How it is turned at the start.
    pub rotation: Quat,
    /// What it does when it meets something.
    pub policy: ContactPolicy,
}

/// Whether and how an object moves.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectKind {
    /// It never does.
    Fixed,
    /// By a route that every host knows. Where its way is blocked, it waits.
    Moving(Route),
    /// It is shared: it falls, and it can be pushed and held.
    Movable,
}

/// What a mover does when it meets something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ContactPolicy {
    /// It stops there, as in paper 002.
    Block,
    /// It keeps the motion along the surface: the default for avatars.
    Slide,
    /// It is reflected, as in papers 001 and 003.
    Bounce,
    /// It passes through everything and everything through it: only auras notice.
    PassThrough,
}

/// The names of world files. They are part of the fingerprint of a spec, by which stored snapshots know their world.
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

/// Avatars that walk towards places of their own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrowdSpec {
    /// How many.
    pub seekers: u32,
    /// The same seed gives the same wishes.
    pub seed: u64,
}

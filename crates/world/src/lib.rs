//! A shared world whose solid objects never overlap.
//!
//! Avatars walk, crates fall, balls bounce. A world takes the inputs of its participants, tick by tick, and settles
//! where each object ends up. If no two solids overlapped before a tick, none do after it, whatever the inputs were.
//! There is no clock and no network in here. The same start and the same inputs give the same world, to the bit.
//!
//! ```
//! use space::{NodeId, Tick, Vec3};
//! use kinesphere_world::{Act, Input, Plaza, World};
//!
//! let mut world = World::new(Plaza::default().spec())?;
//! let ann = NodeId::new(1);
//! let join = Act::Join { name: "Ann".into(), avatar: 0, at: None };
//! let avatar = world.step(&[Input { sender: ann, sequence: 1, made_for: Tick::new(1), act: join }]).joined[0].object;
//! let start = world.object(avatar).unwrap().position();
//!
//! for sequence in 2..32 {
//!     let walk = Act::Move { velocity: Vec3::new(0.0, 0.0, 3.0) };
//!     world.step(&[Input { sender: ann, sequence, made_for: world.tick().next(), act: walk }]);
//!     assert_eq!(world.first_overlap(), None);
//! }
//! assert!(world.object(avatar).unwrap().position().distance(start) > 1.0);
//! # Ok::<(), kinesphere_world::SpecError>(())
//! ```
//!
//! - [`Spec`] describes a world before its first tick; it comes from a file or from [`Plaza`].
//! - [`World`] is the world; an [`Input`] goes in, an [`Outcome`] comes out.
//! - A [`journal`] holds inputs as bytes, and [`World::snapshot`] the state as bytes. Together they replay a world.
//! - [`Border`] is what a world knows of its surroundings, if it is a part of a larger one.
//! - [`RoundedBox`] is the upright solid whose overlaps are tested in whole numbers.

#![forbid(unsafe_code)]

mod border;
mod deform;
mod grab;
mod hash;
mod input;
pub mod journal;
mod make;
mod members;
mod neighbours;
mod objects;
mod outcome;
mod overlap;
mod passage;
mod places;
mod propose;
mod route;
mod scenery;
mod settle;
mod snapshot;
mod solid;
pub mod spec;
mod world;

pub use border::{Border, Guest, PlacedSolid, Room};
pub use hash::StateHash;
pub use input::{Act, Input, Refusal, RefusalReason};
pub use neighbours::GroundCells;
pub use objects::Kind;
pub use outcome::{Held, Joined, Left, Met, Outcome, Said, TickWork};
pub use passage::{Placing, PutError};
pub use snapshot::{SnapshotError, forge_fingerprint};
pub use solid::{GridBox, RoundedBox, SKIN};
pub use space::bytes::Malformed;
pub use spec::{ContactPolicy, Plaza, Route, Spec, SpecError, WorldFileError};
pub use world::{Model, ObjectView, Stage, World};

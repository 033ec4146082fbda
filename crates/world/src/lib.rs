//! What is true: a shared world whose solids never overlap.
//!
//! Avatars walk, crates fall, balls bounce; everybody wants to be somewhere else. A world takes what its participants
//! ask for, tick by tick, and settles it: nothing overlapped before, nothing overlaps after, whatever was asked for.
//! There is no clock in here and no network. The same start and the same inputs give the same world, to the bit.
//!
//! ```
//! use space::{NodeId, Tick, Vec3};
//! use world::{Act, Input, Plaza, World};
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
//! # Ok::<(), world::SpecError>(())
//! ```
//!
//! - [`Spec`]: what a world is made of, from a file or from [`Plaza`].
//! - [`World`]: the world; [`Input`] goes in, [`Outcome`] comes out.
//! - [`journal`]: what was asked for, as bytes; [`World::snapshot`]: the world as bytes. Together they replay it.
//! - [`Border`]: what a world knows of the world around it, if it is a part of one.
//! - [`RoundedBox`]: who overlaps whom, in whole numbers.

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
pub use outcome::{Held, Joined, Left, Met, Outcome, Said, Work};
pub use passage::{Placing, PutError};
pub use snapshot::{SnapshotError, forge_fingerprint};
pub use solid::{Block, RoundedBox, SKIN};
pub use space::bytes::Malformed;
pub use spec::{FileError, Plaza, Policy, Route, Spec, SpecError};
pub use world::{Model, ObjectView, Stage, World};

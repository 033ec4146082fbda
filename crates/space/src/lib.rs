//! What touches what.
//!
//! A virtual world asks one question for every object, every tick: which others does it touch? This crate answers it
//! for spheres, exactly, for any motion and any mix of radii. It has no clock, no socket, no thread of its own and no
//! random number without a seed: positions go in, pairs come out, and the same input gives the same output.
//!
//! ```
//! use kinesphere_space::{BroadPhase, Kinesphere, Pair, Sphere, Spheres, Vec3};
//!
//! let mut spheres = Spheres::new();
//! let ann = spheres.insert(Sphere::new(Vec3::new(0.0, 0.0, 0.0), 1.0))?;
//! let bob = spheres.insert(Sphere::new(Vec3::new(1.5, 0.0, 0.0), 1.0))?;
//! let cat = spheres.insert(Sphere::new(Vec3::new(9.0, 0.0, 0.0), 1.0))?;
//!
//! let mut broad_phase = Kinesphere::default();
//! let mut pairs = Vec::new();
//! broad_phase.pairs(&spheres, &mut pairs);
//! assert_eq!(pairs, [Pair::new(ann, bob)]);
//!
//! spheres.end_tick();
//! spheres.move_to(bob, Vec3::new(7.5, 0.0, 0.0))?;
//! broad_phase.pairs(&spheres, &mut pairs);
//! assert_eq!(pairs, [Pair::new(bob, cat)]);
//! # Ok::<(), kinesphere_space::SpheresError>(())
//! ```
//!
//! - [`Spheres`] holds the objects, column by column, and remembers what moved.
//! - [`BroadPhase`] is the question; [`broad`] has one file per method, and [`Kinesphere`] is the one to use.
//! - [`Finder`](broad::Finder) answers questions about places: who is there, who is first on the way, who is nearest.
//! - [`impact`] says when moving things first touch.
//! - [`snap`] is the grid that settled poses lie on, so that what is true is exactly what is sent.
//! - [`bytes`] writes and reads values; [`token_bucket`] limits a rate.
//! - [`workload`] makes the seeded crowds that tests, benches and experiments share.

#![deny(unsafe_code)]

pub mod bits;
pub mod broad;
mod buckets;
pub mod bytes;
mod edition;
mod id;
pub mod impact;
mod pair;
mod simd;
pub mod snap;
mod sphere;
mod spheres;
mod time;
pub mod token_bucket;
mod vector;
pub mod workload;

pub use broad::{BroadPhase, Kinesphere, Work};
pub use buckets::Buckets;
pub use edition::Edition;
pub use id::{NodeId, ObjectId, Slot};
pub use pair::{Pair, PairChanges};
pub use simd::fetch_ahead;
pub use snap::{Grid, GridError, GridPoint, Turn};
pub use sphere::Sphere;
pub use spheres::{Columns, Field, Spheres, SpheresError};
pub use time::{Tick, Time};
pub use vector::{AxisMask, DQuat, DVec3, Quat, Vec3};

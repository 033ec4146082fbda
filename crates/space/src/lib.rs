#![doc = include_str!("../README.md")]
//!
//! ## Map
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
#[doc(hidden)] // A prefetch for our own crates, not a promise.
pub use simd::fetch_ahead;
pub use snap::{Grid, GridError, GridPoint, Turn};
pub use sphere::Sphere;
pub use spheres::{Columns, Field, Spheres, SpheresError};
pub use time::{Tick, Time};
pub use vector::{AxisMask, DQuat, DVec3, Quat, Vec3};

//! Dead reckoning: the prediction of objects that other hosts move.
//!
//! ```text
//! owner                                          observer
//! truth ─▶ Owner ── Update, when it is needed ──▶ Replica ─▶ predicted state ─▶ Display
//!            └ ghost: the same Replica
//! ```
//!
//! An object is moved by one host, its owner; other hosts receive updates about it late and show a prediction. The
//! prediction has the same bits on every host. So an owner knows what its observers predict, and sends an update only
//! when that is too far from the truth. The crate has no clock and no socket: times and updates go in, predictions and
//! updates to send come out.
//!
//! An owner and an observer, over a link with a latency of 100 ms that loses every fourth message:
//!
//! ```
//! use kinesphere_motion::{Algorithm, CollisionScene, KinematicState, Owner, Replica, ReplicaSettings, SendRule};
//! use space::{DVec3, NodeId, ObjectId, Time};
//!
//! let (scene, settings) = (CollisionScene::empty(), ReplicaSettings::default());
//! let (me, ball) = (NodeId::new(1), ObjectId::new(7).unwrap());
//! let mut owner = Owner::new(me, ball, Algorithm::Fvw, SendRule::default(), settings, |update| *update);
//! let mut observer = Replica::new(settings);
//!
//! let (mut link, mut sent) = (Vec::new(), 0);
//! for frame in 0..300 {
//!     let now = Time::from_micros(frame * 16_667);
//!     let t = now.seconds_since(Time::default());
//!     let mut truth = KinematicState::at_rest(now, DVec3::new(4.0 * t, 8.0 * t - t * t * t, 0.0));
//!     truth.vel = DVec3::new(4.0, 8.0 - 3.0 * t * t, 0.0);
//!     truth.acc = DVec3::new(0.0, -6.0 * t, 0.0);
//!     if let Some(update) = owner.frame(&truth, None, 0.25, &scene)?.update {
//!         sent += 1;
//!         if sent % 4 != 0 { link.push((now + 100_000, update)) }
//!     }
//!     for (_, update) in link.extract_if(.., |(arrival, _)| *arrival <= now) { observer.handle(&update, &scene)?; }
//!     if let Some(seen) = observer.predict(now, &scene) { assert!((seen.pos - truth.pos).length() < 4.0) }
//! }
//! assert!(sent < 15, "{sent} updates instead of 300");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`owner`] decides when to send; [`replica`] predicts; [`crowd`] predicts a million replicas.
//! - [`state`]: updates and their check; [`track`]: the newest valid update; [`clock`]: the owner's time.
//! - [`dead_reckoning`], [`position_history`], [`trend`]: the path from an update on, a [`curve`].
//! - [`collision_prediction`]: the path with its bounces off a [`scene`]; [`company`]: bounces of replicas off each other.
//! - [`adaptive`]: how precise an object's updates are near others; `adaptive_trees`, with the feature `shapes`: the same
//!   for objects that are not round.
//! - [`convergence`]: smooth display; [`bounds`]: how large errors can be.
//! - [`decision`]: which host decides about a collision of two owners' objects.

#![forbid(unsafe_code)]

pub mod adaptive;
#[cfg(feature = "shapes")]
pub mod adaptive_trees;
pub mod bounds;
pub mod clock;
pub mod collision_prediction;
pub mod company;
pub mod convergence;
pub mod crowd;
pub mod curve;
pub mod dead_reckoning;
pub mod decision;
pub mod owner;
pub mod position_history;
pub mod replica;
pub mod rotation;
pub mod scene;
pub mod state;
pub mod track;
pub mod trend;

pub use dead_reckoning::Algorithm;
pub use owner::{Owner, SendRule};
pub use replica::{Predicted, Replica, ReplicaSettings};
pub use scene::CollisionScene;
pub use state::{KinematicState, Update};

//! Where will it be.
//!
//! An object is moved by one host, its owner; all others see it late. What they show in between is a prediction, and
//! this crate makes it: the same on every host, to the bit, so that an owner knows what its observers see and sends
//! only when that is no longer good enough. It has no clock and no socket: times and updates go in, predictions and
//! updates to send come out.
//!
//! An owner and an observer, over a link that takes 100 ms and loses every fourth message:
//!
//! ```
//! use motion::{Algorithm, KinematicState, Owner, Replica, ReplicaSettings, Scene, SendRule};
//! use space::{DVec3, NodeId, ObjectId, Time};
//!
//! let (scene, settings) = (Scene::empty(), ReplicaSettings::default());
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
//! - [`state`]: what is sent, and what is believed; [`track`]: what a receiver makes of it; [`clock`]: when it is.
//! - [`dead_reckoning`], [`position_history`], [`trend`]: how motion goes on from there.
//! - [`collision_prediction`] in a [`scene`], and in [`company`]: what it meets on the way.
//! - [`replica`] and [`owner`]: both ends; [`crowd`]: a million of the one; [`adaptive`] says how exact, [`adaptive_trees`] the same
//!   for what is not round, [`token_bucket`] how often.
//! - [`convergence`]: what a viewer sees; [`bounds`]: how wrong it can be.
//! - [`reconciliation`]: a client that does not wait for its server.
//! - [`decision`]: whose word counts when two owners' objects collide.

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
pub mod reconciliation;
pub mod replica;
pub mod rotation;
pub mod scene;
pub mod state;
pub mod track;
pub mod trend;

pub use dead_reckoning::Algorithm;
pub use owner::{Owner, SendRule};
pub use replica::{Predicted, Replica, ReplicaSettings};
pub use scene::Scene;
pub use state::{KinematicState, Update};

//! Deterministic simulation of everything that takes part in a world, and the promises that must hold in it.
//!
//! - [`promises`]: the one list of what must hold.
//! - [`simulator`]: machines with clocks, disks and links on one event queue, repeated to the bit by a seed.
//! - [`plaza`]: a server and its clients on a bad network.
//! - [`peers`]: a world without a server.
//! - [`nodes`]: a cluster; [`fleet`]: whole servers of a cluster with their users.
//! - [`checker`]: the promises over what clients were told, in simulations and over a real network.
//!
//! Nothing here has a clock, a socket or a file: time is what the event queue says.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod checker;
pub mod disk;
pub mod event_queue;
pub mod fleet;
pub mod link;
pub mod nodes;
pub mod peers;
pub mod plaza;
pub mod promises;
pub mod settings;
pub mod simulator;

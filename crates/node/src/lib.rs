//! Who says what, when.
//!
//! Servers, clients and bots as pure state machines: events and time go in, effects come out, and a driver carries them
//! out. So the server that serves users is, to the line, the server that the lab runs as fast as the processor allows,
//! with lost packets and a seed. There is no clock, no socket and no random number that was not handed in.
//!
//! - [`Node`] is what a driver sees of either.
//! - [`server`]: sessions, the inputs of a tick, the world, who hears whom, and what each is sent.
//! - [`client`]: the own avatar, predicted and reconciled; the others, predicted and shown.
//! - [`peer`]: a participant of a world without a server, who moves its own objects and agrees with others.
//! - [`cluster`]: many servers that are one world.
//! - [`bot`] and [`hostile`]: clients with a will of their own.
//! - [`watch`] and [`inside`]: what an operator sees of the world, and of the engine.
//! - [`nickname`] and [`limits`]: what a server accepts.

#![forbid(unsafe_code)]

pub mod bot;
pub mod client;
pub mod cluster;
pub mod hostile;
pub mod inside;
pub mod limits;
pub mod nickname;
mod node;
pub mod peer;
pub mod server;
pub mod watch;

pub use bot::Bot;
pub use client::Client;
pub use cluster::Cluster;
pub use hostile::Hostile;
pub use node::{Channel, Effect, Event, LinkId, Node, Record, SessionRecord};
pub use peer::Peer;
pub use server::Server;

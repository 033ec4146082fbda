#![doc = include_str!("../README.md")]
//!
//! ## Map
//!
//! - Input is not trusted: any bytes decode to a message or to a [`DecodeError`]. Nothing panics, and memory is bounded
//!   by the number of bytes that came.
//! - A message has one encoding and `decode` refuses every other, so that equal messages are equal bytes.
//! - Poses are whole [steps](space::snap) of the world's grid: the receiver gets the settled pose to the bit.
//! - [`ToServer`] and [`ToClient`] are between a client and a server, [`operator`] has messages for operators.
//! - [`peer`] has messages between peers, in a world without a server; [`cluster`] those between servers that share
//!   one.
//! - A [`state`] datagram has at most [`DATAGRAM_MAX`] bytes and is complete in itself.

#![forbid(unsafe_code)]

pub mod bits;
pub mod cluster;
pub mod codec;
pub mod form;
pub mod frame;
pub mod input;
pub mod inside;
pub mod kind;
pub mod operator;
mod participant;
pub mod peer;
pub mod pose;
pub mod scene;
pub mod session;
pub mod shape;
pub mod state;
mod to_client;
mod to_server;

/// What the API takes and returns.
pub use space;

pub use cluster::ToNode;
pub use codec::DecodeError;
pub use input::{InputStep, Moves};
pub use participant::{Channel, Effect, Endpoint, Event, LinkId, Participant, Record, SessionRecord};
pub use peer::ToPeer;
pub use pose::Handle;
pub use scene::Scene;
pub use session::{CloseReason, Entered, Hello, Refused, Roster, Welcome};
pub use shape::CollisionShape;
pub use state::{Body, State};
pub use to_client::{SERVERS_MAX, ToClient};
pub use to_server::ToServer;

/// The version of this protocol. A server refuses clients of another version, and says so.
pub const VERSION: u16 = 2;
/// The most bytes of a datagram: it must pass unfragmented through any network that carries QUIC.
pub const DATAGRAM_MAX: usize = 1_100;
/// The most bytes of a server's address, as in `http://localhost:7777`.
pub const ADDRESS_MAX: usize = 128;
/// The most bytes of a message on a stream.
pub const MESSAGE_MAX: usize = 65_536;

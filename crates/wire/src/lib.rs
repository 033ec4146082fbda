//! What goes on the wire.
//!
//! Every message begins with one byte that names its kind; what follows is as compact as it can be while one can still
//! write its decoder in an afternoon. `docs/protocol.md` has the bytes of each. Nothing here knows a socket or a world:
//! values go in, bytes come out, and back.
//!
//! ```
//! use wire::{ToServer, VERSION, Hello};
//!
//! let hello = ToServer::Hello(Hello { version: VERSION, nickname: "Ann".into(), ..Hello::default() });
//! let bytes = hello.encode();
//! assert_eq!(bytes[0], wire::kind::HELLO);
//! assert_eq!(ToServer::decode(&bytes)?, hello);
//! assert!(ToServer::decode(&bytes[..3]).is_err());
//! # Ok::<(), wire::DecodeError>(())
//! ```
//!
//! - What arrives is not trusted: decoding any bytes ends in a message or in a [`DecodeError`], never in a panic, and
//!   takes no more memory than the bytes that came allow.
//! - A message has exactly one encoding: `decode` refuses every other, so that equal messages are equal bytes.
//! - Poses are whole [steps](space::snap) of the world's grid: what is decoded is what was settled, to the bit.
//! - Peers in a world without a server speak a language of their own, [`peer`].
//! - So do the nodes of a cluster, [`cluster`].
//! - A [`state`] datagram is at most [`DATAGRAM_MAX`] bytes and stands alone.

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

pub use cluster::ToNode;
pub use codec::DecodeError;
pub use input::{Moves, Step};
pub use participant::{Channel, Effect, Event, LinkId, Participant, Record, SessionRecord};
pub use peer::ToPeer;
pub use pose::Handle;
pub use scene::Scene;
pub use session::{Entered, Hello, Reason, Refused, Roster, Welcome};
pub use shape::Shape;
pub use state::{Body, State};
pub use to_client::{SERVERS_MAX, ToClient};
pub use to_server::ToServer;

/// The version of this protocol. A server and a client of different versions tell each other so, and part.
pub const VERSION: u16 = 2;
/// The most bytes of a datagram: it must pass unfragmented through any network that carries QUIC.
pub const DATAGRAM_MAX: usize = 1_100;
/// The most bytes of a server's address, as in `http://localhost:7777`.
pub const ADDRESS_MAX: usize = 128;
/// The most bytes of a message on a stream.
pub const MESSAGE_MAX: usize = 65_536;

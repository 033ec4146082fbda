//! What must be waited for: sockets, clocks, the disk. The rest of Kinesphere is computed, under `crates/`.
//!
//! - [`serve`]: a whole server, from settings to farewell; [`drive`] is its heart: clock and links to the state
//!   machine of `node`, and its wishes out again.
//! - [`link`]: how bytes reach a peer, over QUIC, WebTransport or WebSocket; [`fetch`]: the little HTTP that a native
//!   client needs; [`certificate`]: what an endpoint shows of itself, and [`trust`]: what is believed of another;
//!   [`origin`]: whose pages may connect.
//! - [`visit`]: a program's visit to a server; [`bots`]: many clients in one process, and what they say together.
//! - [`cluster`]: a server among others that serve the same world.
//! - [`admission`] and [`token`]: who may come in; [`order`]: what an operator may ask for.
//! - [`store`]: what outlives the process; [`kept`]: a world in it.
//! - [`watch`]: operators who watch the world, as it is and as it was.
//! - [`why`]: why one is told of another, or not.
//! - [`http`]: what a server answers over HTTP; [`listen`] and [`connection`]: the connections beneath; [`page`]: what a
//!   browser is shown; [`models`]: the triangles that it draws.
//! - [`settings`]: flags, environment and a file, in that order; [`meters`]: what a server counts; [`log`]: logs that
//!   nobody has to read.
//! - [`failure`], [`output`], [`progress`], [`table`], [`picture`], [`levels`], [`mesh_file`], [`world_file`]: what
//!   the command lines of the server and of the lab share.
//! - `join`: a peer of a world without a server, with a page for its own user.
//! - [`relay`]: a network that is worse than the real one.

#![forbid(unsafe_code)]

pub mod admission;
pub mod bots;
pub mod certificate;
pub mod cluster;
pub mod connection;
pub mod drive;
pub mod failure;
pub mod fetch;
pub mod http;
#[cfg(feature = "zenoh")]
pub mod join;
pub mod kept;
pub mod levels;
pub mod link;
pub mod listen;
pub mod log;
pub mod mesh_file;
pub mod meters;
pub mod models;
pub mod order;
pub mod origin;
pub mod output;
pub mod page;
pub mod picture;
pub mod progress;
pub mod relay;
pub mod serve;
pub mod settings;
pub mod store;
pub mod table;
pub mod token;
pub mod trust;
pub mod visit;
pub mod watch;
pub mod why;
pub mod world_file;

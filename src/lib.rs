//! The product's I/O: sockets, clocks, the disk. What is computed without them is under `crates/`.
//!
//! - [`serve`]: a whole server; [`drive`] passes the clock and what links receive to the state machine of
//!   `crates/server`, and carries out its effects.
//! - [`link`]: connections over QUIC, WebTransport or WebSocket; [`fetch`]: the little HTTP that a native client needs;
//!   [`certificate`]: the server's certificate, and [`trust`]: certificates that a client accepts; [`origin`]: which
//!   pages may connect.
//! - [`visit`]: a program's visit to a server; [`bots`]: many clients in one process, which check the server's
//!   promises.
//! - [`cluster`]: one server of several that share a world.
//! - [`admission`] and [`token`]: who may come in; [`order`]: what an operator may ask for.
//! - [`store`]: the world on disk; [`kept`]: a world in it.
//! - [`watch`]: the operator's map, live and replayed.
//! - [`why`]: why a user is told of an object, or not.
//! - [`http`]: the HTTP routes; [`listen`] and [`connection`]: the connections beneath; [`page`]: the page's files;
//!   [`models`]: the triangles that it draws.
//! - [`settings`]: flags, environment and a file, in that order; [`meters`]: metrics; [`log`]: logs that never block.
//! - [`failure`], [`output`], [`progress`], [`table`], [`picture`], [`levels`], [`mesh_file`], [`world_file`]: what
//!   the command lines of the server and of the lab share.
//! - `join`: a peer of a world without a server, with a page for its own user.
//! - [`relay`]: a relay that delays, loses and reorders packets.

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

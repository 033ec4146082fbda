//! What must be waited for: sockets, clocks, the disk. The rest of Kinesphere is computed, under `crates/`.
//!
//! - [`link`]: how bytes reach a peer, over QUIC, WebTransport or WebSocket.
//! - [`certificate`]: what an endpoint shows of itself, and when it is renewed.
//! - [`fetch`]: the little HTTP that a native client needs.
//! - [`http`]: what a server answers over HTTP; [`listen`]: the connections beneath; [`page`]: what a browser is shown.
//! - [`origin`]: whose pages may connect.
//! - [`store`]: what outlives the process.
//! - [`token`]: who may come in, and who may give orders.
//! - [`settings`]: flags, environment and a file, in that order.
//! - [`relay`]: a network that is worse than the real one.

#![forbid(unsafe_code)]

pub mod certificate;
pub mod fetch;
pub mod http;
pub mod link;
pub mod listen;
pub mod origin;
pub mod page;
pub mod relay;
pub mod settings;
pub mod store;
pub mod token;

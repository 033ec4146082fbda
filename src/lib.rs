//! What must be waited for: sockets, clocks, the disk. The rest of Kinesphere is computed, under `crates/`.
//!
//! - [`link`]: how bytes reach a peer, over QUIC, WebTransport or WebSocket.
//! - [`certificate`]: what an endpoint shows of itself, and when it is renewed.

#![forbid(unsafe_code)]

pub mod certificate;
pub mod link;

//! The I/O of a node of a cluster: how it reaches the others, and what an operator sees of it.
//!
//! The crate `cluster` says what nodes tell each other; this carries it. A node has a lasting name for its carrier, and
//! a number for the cluster that it has for one stay only: [`messenger`] binds one to the other.
//!
//! - [`messenger`]: messages to nodes and back.
//! - [`status`]: nodes, regions, load and lag, for `kinesphere cluster status`.
//! - `witness`: a node without objects, which takes part in votes.

pub mod messenger;
pub mod status;
#[cfg(feature = "zenoh")]
pub mod witness;

use space::NodeId;
use world::World;

pub use messenger::{Messenger, NodeEvent};

use crate::token;

/// The bits of a node's number. With those of what a node makes, an object's number is a whole number in a page, too.
const NUMBER_BITS: u32 = 26;
/// How many other nodes keep copies of a node's objects.
pub const COPIES: usize = 2;

/// How a server takes part in a cluster.
#[cfg(feature = "zenoh")]
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// The network of nodes. A server that connects to none founds the cluster.
    pub fabric: crate::link::zenoh::FabricSettings,
    /// The address for clients, if that is not where it listens.
    pub advertise: Option<String>,
}

/// A number that no node has had, but for a chance of one in 2^26 per earlier node.
pub fn fresh_number() -> NodeId {
    let bytes: [u8; 16] = token::random();
    let number = u64::from_le_bytes(bytes[..8].try_into().expect("eight of sixteen"));
    NodeId::new((number & ((1 << NUMBER_BITS) - 1)).max(1))
}

/// What all nodes must agree on before they exchange anything: the world's file, and how far users hear.
pub fn fingerprint(world: &World, reach: f32) -> u64 {
    world.fingerprint() ^ u64::from(reach.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

//! A server among others that serve the same world: how they reach each other, and what an operator sees of it.
//!
//! What they say is `cluster`'s; this carries it. A node is known to its carrier by a name that lasts, and to the
//! cluster by a number that it has for one stay only: [`messenger`] binds one to the other.
//!
//! - [`messenger`]: bytes to nodes and back.
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

/// Numbers of nodes have so many bits: with those of what a node makes, a name is a whole number in a page, too.
const NUMBER_BITS: u32 = 26;
/// How many others keep copies of a node's objects.
pub const COPIES: usize = 2;

/// How a server takes part.
#[cfg(feature = "zenoh")]
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Among whom, and as whom. Whoever names nobody to go to founds the cluster.
    pub fabric: crate::link::zenoh::FabricSettings,
    /// Where clients find this server, if that is not where it listens.
    pub advertise: Option<String>,
}

/// A number that no node has had: by a chance of one in 2^26 per node that was.
pub fn fresh_number() -> NodeId {
    let bytes: [u8; 16] = token::random();
    let number = u64::from_le_bytes(bytes[..8].try_into().expect("eight of sixteen"));
    NodeId::new((number & ((1 << NUMBER_BITS) - 1)).max(1))
}

/// What all nodes must agree on before they can exchange anything: the world's file, and how far one hears.
pub fn fingerprint(world: &World, reach: f32) -> u64 {
    world.fingerprint() ^ u64::from(reach.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

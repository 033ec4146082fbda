//! Mistakes to make: a promise that nothing can break is worth nothing.

use node::Cluster;
use node::cluster::{Planted, handover};
use wire::ToNode;

use super::watcher::promise;

/// Something that must not go unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A node goes on without a lease.
    IgnoresLease,
    /// A node grants rooms that are not free.
    GrantsEverything,
    /// Whoever has copies of a dead node's objects adopts without asking.
    AdoptsWithoutAsking,
    /// Offers are lost, and their senders told that they were taken.
    LostOffers,
    /// The first host hears of nobody.
    Deaf,
}

impl Fault {
    /// All of them, with the promise that each breaks.
    pub const ALL: [(Fault, &'static str); 5] = [
        (Fault::IgnoresLease, promise::ONE_OWNER),
        (Fault::GrantsEverything, promise::APART),
        (Fault::AdoptsWithoutAsking, promise::ONE_OWNER),
        (Fault::LostOffers, promise::NOBODY_LOST),
        (Fault::Deaf, promise::AUDIENCE),
    ];
}

/// Makes a node make its mistake.
pub fn plant(fault: Option<Fault>, index: usize, cluster: &mut Cluster) {
    match fault {
        Some(Fault::IgnoresLease) => cluster.plant(Planted::IgnoresLease),
        Some(Fault::GrantsEverything) => cluster.plant(Planted::GrantsEverything),
        Some(Fault::AdoptsWithoutAsking) => {
            cluster.plant(Planted::InCustody(handover::Planted::AdoptsWithoutAsking));
        }
        Some(Fault::LostOffers | Fault::Deaf) | None => {}
    }
    let _ = index;
}

/// What becomes of a message on its way; `back` is what its sender is made to believe.
pub fn in_flight(fault: Option<Fault>, to: usize, message: ToNode, back: &mut Option<ToNode>) -> Option<ToNode> {
    match (fault, message) {
        (Some(Fault::LostOffers), ToNode::Offer(offer)) if to == 0 => {
            *back = Some(ToNode::Taken { object: offer.object, seq: offer.seq });
            None
        }
        (Some(Fault::Deaf), ToNode::Introduce { .. }) if to == 0 => None,
        (_, message) => Some(message),
    }
}

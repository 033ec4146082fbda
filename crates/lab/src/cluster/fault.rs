//! Mistakes to make: a promise that nothing can break is worth nothing.

use cluster::{Cluster, Planted};
use wire::ToNode;
use wire::cluster::Offer;

use super::watcher::promise;

/// Something that must not go unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A node goes on without a lease.
    IgnoresLease,
    /// A node grants rooms that are not free.
    GrantsEverything,
    /// Offers are lost, and their senders told that they were taken.
    LostOffers,
    /// The first host hears of nobody.
    Deaf,
    /// Whoever carries something is offered without it.
    EmptyHands,
    /// Nobody's word for the first host arrives.
    Unvouched,
}

impl Fault {
    /// All of them, with the promise that each breaks.
    pub const ALL: [(Fault, &'static str); 6] = [
        (Fault::IgnoresLease, promise::ONE_OWNER),
        (Fault::GrantsEverything, promise::APART),
        (Fault::LostOffers, promise::NOBODY_LOST),
        (Fault::Deaf, promise::AUDIENCE),
        (Fault::EmptyHands, promise::CARRIED),
        (Fault::Unvouched, promise::TOGETHER),
    ];
}

/// Makes a node make its mistake.
pub fn plant(fault: Option<Fault>, index: usize, cluster: &mut Cluster) {
    match fault {
        Some(Fault::IgnoresLease) => cluster.plant(Planted::IgnoresLease),
        Some(Fault::GrantsEverything) => cluster.plant(Planted::GrantsEverything),
        Some(Fault::LostOffers | Fault::Deaf | Fault::EmptyHands | Fault::Unvouched) | None => {}
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
        (Some(Fault::Unvouched), ToNode::Vouch { .. }) if to == 0 => None,
        (Some(Fault::EmptyHands), ToNode::Offer(offer)) => Some(ToNode::Offer(Offer { load: None, ..offer })),
        (_, message) => Some(message),
    }
}

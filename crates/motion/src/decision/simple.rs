//! Rules without a protocol, for comparison: the lab counts how often two hosts decide, or none.

use space::NodeId;

use super::policy::{Digest, Policy};

/// A rule by which each host decides alone whether it is the decider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimpleRule {
    /// The host of the lower id decides.
    LowestHost,
    /// The policy, on the newest values that each host has.
    Newest(Policy),
    /// The policy, on the values of a fixed time before the collision, as in paper 001. The hosts see the collision at
    /// different times, so they use values of different moments, and one may lack a message.
    Past(Policy),
}

impl SimpleRule {
    /// Whether `host` decides, given the digests that it has of itself and of its peer at the moment of the rule.
    pub fn decides(self, host: (NodeId, &[Digest]), peer: (NodeId, &[Digest])) -> bool {
        let policy = match self {
            SimpleRule::LowestHost => Policy::HostId,
            SimpleRule::Newest(policy) | SimpleRule::Past(policy) => policy,
        };
        policy.decider(host, peer) == host.0
    }
}

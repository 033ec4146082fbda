//! Rules that need no protocol, and what they are worth: the lab counts how often two hosts decide, or none.

use space::NodeId;

use super::policy::{Digest, Policy};

/// A rule by which a host decides alone whether its result counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimpleRule {
    /// The lower id decides, always.
    LowestHost,
    /// The policy on the newest values that each host holds.
    Newest(Policy),
    /// The policy on the values of a fixed time before the collision, as in Ohlenburg's paper. The collision is seen at
    /// different times, so the two hosts look at different moments, and one may have missed the message that counts.
    Past(Policy),
}

impl SimpleRule {
    /// Whether `host` decides, given what it holds of itself and of its peer at the moment that the rule looks at.
    pub fn decides(self, host: (NodeId, &[Digest]), peer: (NodeId, &[Digest])) -> bool {
        let policy = match self {
            SimpleRule::LowestHost => Policy::HostId,
            SimpleRule::Newest(policy) | SimpleRule::Past(policy) => policy,
        };
        policy.decider(host, peer) == host.0
    }
}

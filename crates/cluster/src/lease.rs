//! How long a node may act: as long as a majority supports its lease, and no longer.
//!
//! A heartbeat carries its sender's clock, and a node that supports the sender's lease (a *vouch*) returns that number.
//! The lease runs from the *sending* of the heartbeat that completed a majority, by the sender's own clock. A node that
//! has vouched accepts no plan without the sender until the lease must have passed, by the slower of two clocks. Any
//! majority that vouches and any majority that leaves a node out have a member in common, so a node that is left out
//! has stopped before.
//!
//! A node whose lease must have passed is *suspected*, until it is vouched for again; when a majority suspects a node,
//! a plan without it is proposed. A node that learns of such a proposal *renounces* the one that it leaves out: it does
//! not vouch for it while the present plan holds, so every member can accept the plan a lease later. Otherwise some
//! members could accept a plan and the rest refuse it for ever; and as members that have accepted vouch for none, no
//! node would act again.
//!
//! A plan may change while a node knows only the one before. So a node that has accepted a next plan vouches for
//! nothing under the last one, and a node that accepts a plan without a member has known the last plan for as long as a
//! lease.

use std::collections::{BTreeMap, BTreeSet};

use space::{NodeId, Time};

/// How long a lease lasts.
pub const LEASE_US: i64 = 1_000_000;
/// The clocks of two nodes may differ by this share each.
pub const DRIFT: f64 = 0.02;
/// After this time a lease has passed on every clock.
pub const WAIT_US: i64 = 1_060_000;
/// How often a node sends a heartbeat.
pub const BEAT_US: i64 = 100_000;
/// The longest time between two heartbeats, however many members there are.
pub const BEAT_US_MAX: i64 = 300_000;

const _: () = assert!(WAIT_US as f64 * (1.0 - DRIFT) > LEASE_US as f64 * (1.0 + DRIFT), "a lease has passed");

/// A node's own lease, and what it has vouched for.
#[derive(Clone, Debug)]
pub struct Lease {
    me: NodeId,
    /// By member: when the newest heartbeat that it has answered was sent, by this node's clock.
    answered: BTreeMap<NodeId, Time>,
    until: Time,
    vouched: BTreeMap<NodeId, Time>,
    /// Nodes for which it does not vouch any more under the present plan.
    renounced: BTreeSet<NodeId>,
}

impl Lease {
    /// No lease yet.
    pub fn new(me: NodeId) -> Lease {
        Lease {
            me,
            answered: BTreeMap::new(),
            until: Time::from_micros(i64::MIN),
            vouched: BTreeMap::new(),
            renounced: BTreeSet::new(),
        }
    }

    /// Whether this node may act.
    pub fn is_held(&self, now: Time) -> bool {
        now < self.until
    }

    /// The end of the lease, by its own clock.
    pub fn until(&self) -> Time {
        self.until
    }

    /// Begins another plan: answers under the last one do not count any more. A lease that is held stays.
    pub fn activate(&mut self) {
        self.answered.clear();
        self.renounced.clear();
    }

    /// A member has answered the heartbeat that was sent at `sent`. It counts from the next [`Lease::renew`] on.
    pub fn answer(&mut self, from: NodeId, sent: Time, now: Time, members: &[u64]) {
        if sent > now || !members.contains(&from.number()) {
            return;
        }
        let newest = self.answered.entry(from).or_insert(sent);
        *newest = sent.max(*newest);
    }

    /// A node vouches for itself as for others: not while it has accepted a next plan.
    pub fn vouch_for_itself(&mut self, now: Time, members: &[u64]) {
        self.answer(self.me, now, now, members);
    }

    /// Extends the lease to what a majority has answered.
    pub fn renew(&mut self, members: &[u64]) {
        let majority = members.len() / 2 + 1;
        let mut times: Vec<Time> = self.answered.values().copied().collect();
        if times.len() >= majority {
            let (_, time, _) = times.select_nth_unstable_by(majority - 1, |one, other| other.cmp(one));
            self.until = self.until.max(*time + LEASE_US);
        }
    }

    /// Gives up the lease: the node has been left out.
    pub fn give_up(&mut self) {
        self.until = Time::from_micros(i64::MIN);
        self.answered.clear();
    }

    /// Vouches for another node now, unless it has renounced it; returns whether it does.
    pub fn vouch(&mut self, node: NodeId, now: Time) -> bool {
        let may_vouch = !self.renounced.contains(&node);
        if may_vouch {
            self.vouched.insert(node, now);
        }
        may_vouch
    }

    /// Stops vouching for a node while the present plan holds.
    pub fn renounce(&mut self, node: NodeId) {
        self.renounced.insert(node);
    }

    /// Whether another node's lease has certainly passed. The present plan has been known since `learned`.
    pub fn has_passed(&self, node: NodeId, learned: Time, now: Time) -> bool {
        let vouched = self.vouched.get(&node).copied().unwrap_or(learned).max(learned);
        node != self.me && now - vouched >= WAIT_US
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: i64) -> Time {
        Time::from_micros(us)
    }

    #[test]
    fn a_lease_runs_from_the_sending_of_what_a_majority_has_answered() {
        let (me, members) = (NodeId::new(1), [1, 2, 3]);
        let mut lease = Lease::new(me);
        lease.vouch_for_itself(at(500), &members);
        lease.renew(&members);
        assert!(!lease.is_held(at(600)), "one of three");
        lease.answer(NodeId::new(3), at(400), at(700), &members);
        lease.renew(&members);
        assert_eq!(lease.until(), at(400 + LEASE_US));
        lease.answer(NodeId::new(9), at(600), at(700), &members);
        lease.renew(&members);
        assert_eq!(lease.until(), at(400 + LEASE_US), "it is not a member");
        assert!(!lease.is_held(at(400 + LEASE_US)));
    }

    #[test]
    fn a_node_heard_again_is_not_suspected_unless_renounced() {
        let mut lease = Lease::new(NodeId::new(1));
        let other = NodeId::new(2);
        assert!(!lease.has_passed(other, at(0), at(WAIT_US - 1)));
        assert!(lease.has_passed(other, at(0), at(WAIT_US)));
        assert!(lease.vouch(other, at(WAIT_US)));
        assert!(!lease.has_passed(other, at(0), at(2 * WAIT_US - 1)));
        lease.renounce(other);
        assert!(!lease.vouch(other, at(2 * WAIT_US - 1)));
        assert!(lease.has_passed(other, at(0), at(2 * WAIT_US)), "whatever it says meanwhile");
        lease.activate();
        assert!(lease.vouch(other, at(2 * WAIT_US)));
    }
}

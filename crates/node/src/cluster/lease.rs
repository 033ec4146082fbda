//! How long a node may act: as long as a majority has vouched for it, and no longer.
//!
//! A beat carries its sender's clock; whoever vouches sends that number back. The lease runs from the *sending* of the
//! beat that the last one of a majority has answered, by the sender's own clock. Whoever has vouched accepts no plan
//! without that node until so long after that its lease must have passed, by the slower of two clocks. Any majority that
//! vouches and any that leaves out have a member in common: so who is left out has stopped before.
//!
//! Who finds that another's lease has passed says so, and vouches for it no more while the plan holds: when a majority says
//! so, the other is left out for certain. Without that, a plan could be accepted by some and refused by the rest for ever.
//!
//! A plan may be changed while a node knows only the one before: whoever has accepted a next plan vouches for nothing under
//! the last one, and whoever accepts that somebody is left out has known the last plan for as long as a lease.

use std::collections::{BTreeMap, BTreeSet};

use space::{NodeId, Time};

/// How long a lease lasts, in microseconds.
pub const LEASE_US: i64 = 1_000_000;
/// Clocks of two nodes may run differently by up to so much: two in a hundred each.
pub const DRIFT: f64 = 0.02;
/// After so long a lease has passed on every clock, in microseconds.
pub const WAIT_US: i64 = 1_060_000;
/// How often a node shows that it is alive, in microseconds.
pub const BEAT_US: i64 = 100_000;

const _: () = assert!(WAIT_US as f64 * (1.0 - DRIFT) > LEASE_US as f64 * (1.0 + DRIFT), "a lease has passed");

/// A node's own lease, and what it has vouched for.
#[derive(Clone, Debug)]
pub struct Lease {
    me: NodeId,
    /// By member: when the newest of this node's beats was sent that it has answered, by this node's clock.
    answered: BTreeMap<NodeId, Time>,
    until: Time,
    vouched: BTreeMap<NodeId, Time>,
    suspects: BTreeSet<NodeId>,
}

impl Lease {
    /// No lease yet.
    pub fn new(me: NodeId) -> Lease {
        Lease {
            me,
            answered: BTreeMap::new(),
            until: Time::from_micros(i64::MIN),
            vouched: BTreeMap::new(),
            suspects: BTreeSet::new(),
        }
    }

    /// Whether this node may act.
    pub fn is_held(&self, now: Time) -> bool {
        now < self.until
    }

    /// Until when, by its own clock.
    pub fn until(&self) -> Time {
        self.until
    }

    /// Another plan holds: answers under the last one do not count any more. What is held is held.
    pub fn activate(&mut self) {
        self.answered.clear();
        self.suspects.clear();
    }

    /// A member has answered the beat that was sent at `sent`.
    pub fn answer(&mut self, from: NodeId, sent: Time, now: Time, members: &[u64]) {
        if sent > now || !members.contains(&from.number()) {
            return;
        }
        let newest = self.answered.entry(from).or_insert(sent);
        *newest = sent.max(*newest);
        self.renew(members);
    }

    /// A node vouches for itself as for anybody else: not while it has accepted a next plan.
    pub fn vouch_for_itself(&mut self, now: Time, members: &[u64]) {
        self.answer(self.me, now, now, members);
    }

    fn renew(&mut self, members: &[u64]) {
        let long_ago = Time::from_micros(i64::MIN);
        let of = |node: &u64| self.answered.get(&NodeId::new(*node)).copied().unwrap_or(long_ago);
        let mut times: Vec<Time> = members.iter().map(of).collect();
        times.sort_unstable_by(|one, other| other.cmp(one));
        let majority = members.len() / 2 + 1;
        if let Some(&time) = times.get(majority - 1).filter(|&&time| time > long_ago) {
            self.until = self.until.max(time + LEASE_US);
        }
    }

    /// Gives up what it holds: it has been left out.
    pub fn give_up(&mut self) {
        self.until = Time::from_micros(i64::MIN);
        self.answered.clear();
    }

    /// Whether this node vouches for another, now: not if it has said that the other's lease has passed.
    pub fn vouch(&mut self, node: NodeId, now: Time) -> bool {
        let may_vouch = !self.suspects.contains(&node);
        if may_vouch {
            self.vouched.insert(node, now);
        }
        may_vouch
    }

    /// Looks whose lease has passed for certain. The present plan has been known since `learned`.
    pub fn suspect(&mut self, members: &[u64], learned: Time, now: Time) {
        for node in members.iter().map(|&node| NodeId::new(node)).filter(|&node| node != self.me) {
            let vouched = self.vouched.get(&node).copied().unwrap_or(learned).max(learned);
            if now - vouched >= WAIT_US {
                self.suspects.insert(node);
            }
        }
    }

    /// Whose lease has passed, as far as this node knows.
    pub fn suspects(&self) -> &BTreeSet<NodeId> {
        &self.suspects
    }
}

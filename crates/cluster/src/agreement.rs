//! Which plan holds. Plans are numbered, and the next one holds when a majority of the members of the last have
//! accepted it: one instance of Paxos per number. A proposer first asks what was accepted already, and proposes that
//! again. So there is one plan of each number, whichever nodes propose and whichever messages are lost.
//!
//! A member accepts a plan that leaves a node out only if it has not vouched for that node's lease for long enough
//! (`lease.rs`); until then it does not answer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use space::{NodeId, Time};
use wire::ToNode;
use wire::cluster::{Ballot, Plan};

/// A message that was not answered is sent again after this time.
const AGAIN_US: i64 = 150_000;
/// A plan that was accepted here and does not hold after this time is proposed again.
const STUCK_US: i64 = 700_000;

/// One node's part in agreeing on plans.
#[derive(Clone, Debug)]
pub struct Agreement {
    me: NodeId,
    plan: Plan,
    learned_at: Time,
    promised: Ballot,
    accepted: Option<(Ballot, Plan, Time)>,
    proposal: Option<Proposal>,
    round: u32,
    sends: VecDeque<(NodeId, ToNode)>,
}

#[derive(Clone, Debug)]
struct Proposal {
    ballot: Ballot,
    plan: Plan,
    promises: BTreeMap<NodeId, Option<(Ballot, Plan)>>,
    accepts: BTreeSet<NodeId>,
    is_prepared: bool,
    said_at: Time,
    since: Time,
}

impl Agreement {
    /// A node that knows of this plan. A node that belongs to no plan yet knows of an empty one, of number zero.
    pub fn new(me: NodeId, plan: Plan, now: Time) -> Agreement {
        Agreement {
            me,
            plan,
            learned_at: now,
            promised: Ballot::default(),
            accepted: None,
            proposal: None,
            round: 0,
            sends: VecDeque::new(),
        }
    }

    /// The newest plan that holds, as far as is known here.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Since when it is known to hold.
    pub fn learned_at(&self) -> Time {
        self.learned_at
    }

    /// Whether a next plan was accepted here: then no lease under this one is vouched for any more.
    pub fn is_changing(&self) -> bool {
        self.accepted.is_some()
    }

    /// Whether this node proposes something.
    pub fn is_proposing(&self) -> bool {
        self.proposal.is_some()
    }

    /// Proposes the next plan. Its number is set here.
    pub fn propose(&mut self, now: Time, mut plan: Plan) {
        if !self.is_member(self.me) {
            return;
        }
        plan.version = self.plan.version + 1;
        self.round = self.round.max(self.promised.round) + 1;
        let ballot = Ballot { round: self.round, node: self.me.number() };
        self.proposal = Some(Proposal {
            ballot,
            plan,
            promises: BTreeMap::new(),
            accepts: BTreeSet::new(),
            is_prepared: false,
            said_at: now,
            since: now,
        });
        self.say();
    }

    /// Takes in a message of another node; true if another plan holds from now on. `may_accept` judges a plan.
    pub fn handle(&mut self, now: Time, from: NodeId, message: &ToNode, may_accept: &dyn Fn(&Plan) -> bool) -> bool {
        let next = self.plan.version + 1;
        let is_member = self.is_member(from) && self.is_member(self.me);
        match message {
            ToNode::Committed(plan) => return self.learn(now, plan),
            ToNode::Prepare { slot, ballot } if *slot == next && is_member && ballot.node == from.number() => {
                if *ballot >= self.promised {
                    self.promised = *ballot;
                    let accepted = self.accepted.as_ref().map(|(ballot, plan, _)| (*ballot, plan.clone()));
                    self.sends.push_back((from, ToNode::Promise { slot: next, ballot: *ballot, accepted }));
                } else {
                    // It has to try with a higher ballot.
                    let promise = ToNode::Promise { slot: next, ballot: self.promised, accepted: None };
                    self.sends.push_back((from, promise));
                }
            }
            ToNode::Promise { slot, ballot, accepted } if *slot == next && is_member => {
                self.round = self.round.max(ballot.round);
                if let Some(proposal) = self.proposal.as_mut().filter(|proposal| proposal.ballot == *ballot) {
                    proposal.promises.insert(from, accepted.clone());
                    self.proceed(now);
                }
            }
            ToNode::Accept { ballot, plan } if plan.version == next && is_member && ballot.node == from.number() => {
                let is_known = self.accepted.as_ref().is_some_and(|(known, _, _)| known == ballot);
                if *ballot >= self.promised && (is_known || may_accept(plan)) {
                    self.promised = *ballot;
                    if !is_known {
                        self.accepted = Some((*ballot, plan.clone(), now));
                    }
                    self.sends.push_back((from, ToNode::Accepted { slot: next, ballot: *ballot }));
                }
            }
            ToNode::Accepted { slot, ballot } if *slot == next && is_member => {
                if let Some(proposal) = self.proposal.as_mut().filter(|proposal| proposal.ballot == *ballot) {
                    proposal.accepts.insert(from);
                    return self.conclude(now);
                }
            }
            ToNode::Prepare { slot, .. } if *slot < next => {
                self.sends.push_back((from, ToNode::Committed(self.plan.clone())));
            }
            ToNode::Accept { plan, .. } if plan.version < next => {
                self.sends.push_back((from, ToNode::Committed(self.plan.clone())));
            }
            _ => {}
        }
        false
    }

    /// Repeats what was not answered, and continues what other proposers left unfinished. Messages to itself arrive at
    /// once.
    pub fn wake(&mut self, now: Time) {
        if let Some(proposal) = &mut self.proposal {
            if now - proposal.since > 4 * STUCK_US {
                // Another node may have a better proposal by now.
                self.proposal = None;
            } else if now - proposal.said_at >= AGAIN_US {
                proposal.said_at = now;
                self.say();
            }
        } else if let Some((_, plan, since)) = &self.accepted {
            // Not all at once: of several that wait, the lowest number is first.
            let rank = self.plan.members.iter().take_while(|member| member.node < self.me.number()).count() as i64;
            if now - *since > STUCK_US + rank * 2 * AGAIN_US {
                let plan = plan.clone();
                self.accepted.as_mut().expect("it was just looked at").2 = now;
                self.propose(now, plan);
            }
        }
    }

    /// The next message, also to itself.
    pub fn poll(&mut self) -> Option<(NodeId, ToNode)> {
        self.sends.pop_front()
    }

    fn is_member(&self, node: NodeId) -> bool {
        self.plan.members.iter().any(|member| member.node == node.number())
    }

    fn majority(&self) -> usize {
        self.plan.members.len() / 2 + 1
    }

    fn say(&mut self) {
        let Some(proposal) = &self.proposal else { return };
        let message = if proposal.is_prepared {
            ToNode::Accept { ballot: proposal.ballot, plan: proposal.plan.clone() }
        } else {
            ToNode::Prepare { slot: proposal.plan.version, ballot: proposal.ballot }
        };
        for member in &self.plan.members {
            let node = NodeId::new(member.node);
            let has_answered = if proposal.is_prepared {
                proposal.accepts.contains(&node)
            } else {
                proposal.promises.contains_key(&node)
            };
            if !has_answered {
                self.sends.push_back((node, message.clone()));
            }
        }
    }

    /// With a majority's promises, proposes what was accepted already, or else its own plan.
    fn proceed(&mut self, now: Time) {
        let majority = self.majority();
        let Some(proposal) = &mut self.proposal else { return };
        if proposal.is_prepared || proposal.promises.len() < majority {
            return;
        }
        proposal.is_prepared = true;
        proposal.said_at = now;
        if let Some((_, plan)) = proposal.promises.values().flatten().max_by_key(|(ballot, _)| *ballot) {
            proposal.plan = plan.clone();
        }
        self.say();
    }

    fn conclude(&mut self, now: Time) -> bool {
        let majority = self.majority();
        let Some(proposal) = self.proposal.take_if(|proposal| proposal.accepts.len() >= majority) else { return false };
        let mut all: BTreeSet<u64> = self.plan.members.iter().map(|member| member.node).collect();
        all.extend(proposal.plan.members.iter().map(|member| member.node));
        all.remove(&self.me.number());
        for node in all {
            self.sends.push_back((NodeId::new(node), ToNode::Committed(proposal.plan.clone())));
        }
        self.learn(now, &proposal.plan)
    }

    fn learn(&mut self, now: Time, plan: &Plan) -> bool {
        if plan.version <= self.plan.version {
            return false;
        }
        self.plan = plan.clone();
        self.learned_at = now;
        self.promised = Ballot::default();
        self.accepted = None;
        self.proposal = None;
        self.round = 0;
        true
    }
}

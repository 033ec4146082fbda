//! Plans: which nodes are taken for dead, what is proposed next, and what changes when another plan holds.

use std::collections::BTreeMap;

use space::{NodeId, Time};
use wire::ToNode;
use wire::cluster::{Beat, Member, NODES_MAX, Plan};
use world::World;

use super::balance::{self, MemberLoad};
use super::lease::WAIT_US;
use super::part_of_world::Keep;
use super::territory::{Territory, holders};
use super::{Cluster, Status};

/// A node that was not heard of for this long is not the one that proposes.
const QUIET_US: i64 = 700_000;
/// A node that asked to join this long ago has given up.
const CANDIDATE_US: i64 = 3_000_000;
/// Load is shared when the plan has held for this long.
const STEADY_US: i64 = 3_000_000;

impl Cluster {
    pub(super) fn agree(&mut self, now: Time, from: NodeId, message: &ToNode, world: &mut World) {
        let plan = self.agreement.plan().clone();
        let left_out = |next: &Plan| {
            let stays = |node: u64| next.members.iter().any(|member| member.node == node);
            let all: Vec<NodeId> = plan.members.iter().map(|member| NodeId::new(member.node)).collect();
            all.into_iter().filter(|node| !stays(node.number())).collect::<Vec<NodeId>>()
        };
        if let ToNode::Accept { plan: next, .. } = message
            && next.version == plan.version + 1
            && self.is_member(from)
        {
            // Sooner or later all members have to be able to accept what is proposed.
            left_out(next).into_iter().for_each(|node| self.lease.renounce(node));
        }
        let (lease, learned) = (&self.lease, self.agreement.learned_at());
        let has_passed = |node: &NodeId| lease.has_passed(*node, learned, now);
        let may_accept = |next: &Plan| left_out(next).iter().all(has_passed);
        let changed = self.agreement.handle(now, from, message, &may_accept);
        if changed {
            self.activate(now, world);
        }
        self.agree_with_itself(now, world);
    }

    /// Carries the messages of agreement: to others, and to itself at once.
    pub(super) fn agree_with_itself(&mut self, now: Time, world: &mut World) {
        while let Some((to, message)) = self.agreement.poll() {
            if to == self.settings.node {
                self.agree(now, to, &message, world);
            } else {
                self.say(to, message);
            }
        }
    }

    /// Acts by the plan that holds now.
    pub(super) fn activate(&mut self, now: Time, world: &mut World) {
        let me = self.settings.node;
        if !self.is_member(me) {
            if self.status == Status::Member {
                self.status = Status::LeftOut;
                self.lease.give_up();
            }
            return;
        }
        self.status = Status::Member;
        self.lease.activate();
        self.candidates.retain(|node, _| !self.agreement.plan().members.iter().any(|m| m.node == node.number()));
        self.heard.retain(|node, _| self.agreement.plan().members.iter().any(|m| m.node == node.number()));
        self.declared.clear();
        self.gathered.clear();
        self.telling.clear();
        self.declared_at.clear();
        self.answers.clear();
        let nodes = holders(self.plan());
        let territory = Territory::of(self.plan(), self.grid);
        self.part.activate(territory, &nodes);
        let version = self.plan().version;
        let mut keep = Keep { world, part: &mut self.part, now };
        if !self.settings.is_witness {
            self.custody.activate(version, &nodes, &mut keep, now);
        }
        self.part.look(world, &self.custody);
        for other in self.others() {
            self.declare(now, other);
        }
        self.complete();
        self.beat_at = None;
    }

    /// When all have declared, this node decides about space that is new to it.
    pub(super) fn complete(&mut self) {
        if self.others().iter().all(|node| self.declared.contains(node)) {
            self.part.complete();
        }
    }

    /// Members whose lease has passed, as far as this node knows. A node that was suspended has not listened, and names
    /// none.
    pub(super) fn suspects(&self, now: Time) -> Vec<u64> {
        if now - self.awake_since < WAIT_US {
            return Vec::new();
        }
        let learned = self.agreement.learned_at();
        self.members().into_iter().filter(|&node| self.lease.has_passed(NodeId::new(node), learned, now)).collect()
    }

    /// How many members say, under the present plan, that a node's lease has passed.
    pub(super) fn suspected_by(&self, node: NodeId) -> usize {
        let version = self.plan().version;
        let suspects = |(_, beat): &&(Time, Beat)| beat.version == version && beat.suspects.contains(&node.number());
        self.heard.values().filter(suspects).count()
    }

    /// Proposes the next plan, if this node is the one to do so.
    pub(super) fn plan_ahead(&mut self, now: Time) {
        let me = self.settings.node;
        if self.status != Status::Member || self.agreement.is_proposing() || self.agreement.is_changing() {
            return;
        }
        // The lowest number that is heard of and is not about to be left out.
        let is_dead = |node: NodeId| self.suspected_by(node) > self.plan().members.len() / 2;
        let is_heard = |node: NodeId| self.heard.get(&node).is_some_and(|(at, _)| now - *at < QUIET_US);
        let members: Vec<NodeId> = self.members().into_iter().map(NodeId::new).collect();
        if members.iter().copied().find(|&node| is_heard(node) && !is_dead(node)) != Some(me) {
            return;
        }
        let dead: Vec<NodeId> = members.into_iter().filter(|&node| is_dead(node)).collect();
        let plan = self.plan().clone();
        let learned = self.agreement.learned_at();
        let loads: BTreeMap<NodeId, MemberLoad> = self
            .heard
            .iter()
            .map(|(&node, (_, beat))| (node, MemberLoad { objects: beat.load, half: beat.half }))
            .collect();
        if !dead.is_empty() {
            if let Some(next) = balance::without(&plan, self.grid, &dead, &loads) {
                self.agreement.propose(now, next);
            }
            return;
        }
        let is_settled = |member: &Member| {
            self.heard.get(&NodeId::new(member.node)).is_some_and(|(at, beat)| {
                let is_fresh = now - *at < QUIET_US && beat.version == plan.version;
                is_fresh && beat.awaiting.is_empty() && beat.adopting.is_empty()
            })
        };
        if !plan.members.iter().all(is_settled) || now - learned < WAIT_US / 2 {
            return;
        }
        self.candidates.retain(|_, (_, at)| now - *at < CANDIDATE_US);
        // If there are as many members as can be, a new one waits until another leaves.
        let has_room = plan.members.len() < NODES_MAX;
        if let Some((member, _)) = self.candidates.values().next().filter(|_| has_room) {
            self.agreement.propose(now, balance::with(&plan, self.grid, member.clone(), &loads));
        } else if now - learned > STEADY_US
            && let Some(next) = balance::shared(&plan, self.grid, &loads)
        {
            self.agreement.propose(now, next);
        }
    }
}

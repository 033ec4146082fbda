//! From the last tick's cover to this one's: groups with an ended pair shrink, and uncovered pairs are covered again.

use space::{Pair, Slot};

use super::GroupCover;
use super::signature::Signature;
use super::table::is_within;
use crate::Graph;

impl GroupCover {
    /// Splits every group that holds both objects of a pair that ended: one of the two leaves. Notes the pairs that are
    /// no longer covered.
    pub(super) fn part(&mut self, graph: &Graph) {
        self.uncovered.clear();
        for pair in graph.ended() {
            let mut shared = std::mem::take(&mut self.shared);
            shared.clear();
            shared.extend(common(self.table.groups_of(pair.a()), self.table.groups_of(pair.b())));
            for &group in &shared {
                // The one with fewer pairs that no other group covers leaves.
                let [of_a, of_b] = [pair.a(), pair.b()].map(|slot| (slot, self.company_beside(slot, group)));
                let need = |(slot, company)| self.need(slot, company, group);
                let (leaver, company) = if need(of_a) < need(of_b) { of_a } else { of_b };
                self.table.leave(group, leaver);
                self.note_uncovered(leaver, company, group, graph);
                if let [last] = *self.table.members(group) {
                    self.table.leave(group, last);
                }
            }
            self.shared = shared;
        }
        self.uncovered.gather(graph.rows(), graph.began());
    }

    /// The signature of all objects with which an object shares groups other than `group`.
    pub(super) fn company_beside(&self, slot: Slot, group: u32) -> Signature {
        let others = self.table.groups_of(slot).iter().filter(|&&other| other != group);
        others.fold(Signature::default(), |company, &other| company | self.table.signature(other))
    }

    /// Whether two objects share a group other than `group`. `company` is that of the first beside the group.
    pub(super) fn meet_elsewhere(&self, slot: Slot, company: Signature, other: Slot, group: u32) -> bool {
        company.may_hold(other)
            && common(self.table.groups_of(slot), self.table.groups_of(other)).any(|shared| shared != group)
    }

    /// The number of a group's members with which an object shares no other group.
    fn need(&self, slot: Slot, company: Signature, group: u32) -> usize {
        let members = self.table.members(group).iter();
        members.filter(|&&member| !self.meet_elsewhere(slot, company, member, group)).count()
    }

    /// Notes the pairs of an object with members of the group it left, where no other group covers them.
    fn note_uncovered(&mut self, leaver: Slot, company: Signature, group: u32, graph: &Graph) {
        for &member in self.table.members(group) {
            if !self.meet_elsewhere(leaver, company, member, group) && graph.contains(leaver, member) {
                self.uncovered.note(Pair::new(leaver, member));
            }
        }
    }

    /// Puts every uncovered pair into a group: one that holds one of the two and that the other fits, or else
    /// a new one.
    pub(super) fn cover(&mut self, graph: &Graph) {
        for index in 0..self.uncovered.owners().len() {
            let slot = self.uncovered.owners()[index];
            if self.uncovered.of(slot).is_empty() {
                continue;
            }
            let mut has_joined = false;
            while let Some(group) = self.best_group(slot, graph) {
                self.join(group, slot);
                has_joined = true;
            }
            while let Some(&other) = self.uncovered.of(slot).first() {
                if let Some(group) = self.group_to_invite_to(slot, other, graph) {
                    self.join(group, other);
                } else {
                    let members = self.uncovered.grow(slot, other, graph);
                    self.table.open(members);
                    has_joined = true;
                }
            }
            if has_joined {
                self.prune(slot);
            }
        }
    }

    /// Adds an object to a group, which covers its pairs with the members.
    fn join(&mut self, group: u32, slot: Slot) {
        self.table.join(group, slot);
        self.uncovered.cover(slot, self.table.members(group));
    }

    /// The group that covers most of an object's uncovered pairs, among those whose members are all its neighbours.
    fn best_group(&mut self, slot: Slot, graph: &Graph) -> Option<u32> {
        let GroupCover { table, uncovered, .. } = self;
        if uncovered.of(slot).is_empty() {
            return None;
        }
        let neighbours = graph.neighbours(slot);
        let reach = Signature::of_all(neighbours);
        table.start_count();
        uncovered.of(slot).iter().for_each(|&other| table.count_groups_of(other, reach, None));
        table.best_candidate(neighbours, 0).map(|(_, group)| group)
    }

    /// The group of an object that another one fits and that covers most of the other's uncovered pairs; of
    /// equals the lowest.
    fn group_to_invite_to(&self, slot: Slot, other: Slot, graph: &Graph) -> Option<u32> {
        let neighbours = graph.neighbours(other);
        let reach = Signature::of_all(neighbours);
        let wanted = self.uncovered.of(other);
        let mut best = None;
        for &group in self.table.groups_of(slot) {
            let members = self.table.members(group);
            if self.table.signature(group).may_lie_within(reach) && is_within(members, neighbours) {
                let gain = wanted.iter().filter(|wanted| members.binary_search(wanted).is_ok()).count();
                if best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, group));
                }
            }
        }
        best.map(|(_, group)| group)
    }

    /// Takes an object out of groups in which other groups cover all its pairs, smallest first.
    fn prune(&mut self, slot: Slot) {
        // A group is redundant only if each of its members is in two of the object's groups.
        let (mut once, mut twice) = (Signature::default(), Signature::of(slot));
        for &group in self.table.groups_of(slot) {
            let signature = self.table.signature(group);
            twice = twice | once & signature;
            once = once | signature;
        }
        let mut ranking = std::mem::take(&mut self.ranking);
        ranking.clear();
        let groups = self.table.groups_of(slot).iter();
        let groups = groups.filter(|&&group| self.table.signature(group).may_lie_within(twice));
        ranking.extend(groups.map(|&group| (self.table.members(group).len() as u32, group)));
        ranking.sort_unstable();
        for &(_, group) in &ranking {
            let is_elsewhere = |member| self.meet_elsewhere(slot, once, member, group);
            if self.table.members(group).iter().all(|&member| member == slot || is_elsewhere(member)) {
                self.table.leave_to_others(group, slot);
            }
        }
        self.ranking = ranking;
    }
}

/// The entries that two ascending lists have in common.
fn common<'a>(one: &'a [u32], other: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        while let (Some(&a), Some(&b)) = (one.get(i), other.get(j)) {
            i += usize::from(a <= b);
            j += usize::from(b <= a);
            if a == b {
                return Some(a);
            }
        }
        None
    })
}

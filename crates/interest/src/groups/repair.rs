//! From the last tick's cover to this one's: who parts, and how what is uncovered is covered again.

use space::{Pair, Slot};

use super::Groups;
use crate::Graph;

impl Groups {
    /// Whoever is in a group with somebody it no longer overlaps leaves it. Notes what is no longer covered.
    pub(super) fn part(&mut self, graph: &Graph) {
        self.uncovered.clear();
        self.parting.clear();
        for pair in graph.ended() {
            self.shared.clear();
            common(self.memberships.get(pair.a().row()), self.memberships.get(pair.b().row()), &mut self.shared);
            for index in 0..self.shared.len() {
                let group = self.shared[index];
                let leaver =
                    if self.needs(group, pair.a()) < self.needs(group, pair.b()) { pair.a() } else { pair.b() };
                self.leave(group, leaver);
                self.parting.push(leaver);
                if let [last] = *self.members.get(group as usize) {
                    self.leave(group, last);
                }
            }
        }
        self.parting.sort_unstable();
        self.parting.dedup();
        for index in 0..self.parting.len() {
            let slot = self.parting[index];
            self.mark_company(slot);
            for &neighbour in graph.neighbours(slot).iter().filter(|&&neighbour| !self.marks.has(neighbour)) {
                self.uncovered.note(Pair::new(slot, neighbour));
            }
        }
        for &pair in graph.began() {
            self.uncovered.note(pair);
        }
        self.uncovered.sort(graph.rows());
    }

    /// How many pairs of an object are covered by one group alone.
    fn needs(&mut self, group: u32, slot: Slot) -> usize {
        self.marks.start();
        for &other in self.memberships.get(slot.row()).iter().filter(|&&other| other != group) {
            self.members.get(other as usize).iter().for_each(|&member| self.marks.set(member));
        }
        self.members.get(group as usize).iter().filter(|&&member| !self.marks.has(member)).count()
    }

    /// Puts every uncovered pair into a group: one that holds one of the two and that the other fits, or else a new one.
    pub(super) fn cover(&mut self, graph: &Graph) {
        for index in 0..self.uncovered.owners().len() {
            let slot = self.uncovered.owners()[index];
            if self.uncovered.of(slot).is_empty() {
                continue;
            }
            self.marks.start();
            graph.neighbours(slot).iter().for_each(|&neighbour| self.marks.set(neighbour));
            let mut has_joined = false;
            while let Some(group) = self.best_group(slot) {
                self.join(group, slot);
                has_joined = true;
                let members = self.members.get(group as usize);
                self.uncovered.cover(slot, |other| members.binary_search(&other).is_ok());
            }
            while let Some(&other) = self.uncovered.of(slot).first() {
                if self.invite(slot, other, graph) {
                    continue;
                }
                let mut list = std::mem::take(&mut self.list);
                list.clear();
                list.extend_from_slice(self.uncovered.grow(slot, other, graph));
                self.open(&list);
                self.list = list;
                has_joined = true;
            }
            if has_joined {
                self.prune(slot);
            }
        }
    }

    /// Of the groups that an object fits, that which covers most of its uncovered pairs. Its neighbours are marked.
    fn best_group(&mut self, slot: Slot) -> Option<u32> {
        self.numbers.clear();
        for other in self.uncovered.of(slot) {
            self.numbers.extend_from_slice(self.memberships.get(other.row()));
        }
        // How many of the uncovered pairs each group would cover.
        self.numbers.sort_unstable();
        self.ranking.clear();
        for same in self.numbers.chunk_by(|one, other| one == other) {
            self.ranking.push((u32::MAX - same.len() as u32, same[0]));
        }
        self.ranking.sort_unstable();
        let fits = |group: u32| self.members.get(group as usize).iter().all(|&member| self.marks.has(member));
        self.ranking.iter().map(|&(_, group)| group).find(|&group| fits(group))
    }

    /// Lets another object join the group of an object that it fits and that covers most of its uncovered pairs.
    fn invite(&mut self, slot: Slot, other: Slot, graph: &Graph) -> bool {
        self.marks.start();
        graph.neighbours(other).iter().for_each(|&neighbour| self.marks.set(neighbour));
        let wanted = self.uncovered.of(other);
        let mut best = None;
        for &group in self.memberships.get(slot.row()) {
            let members = self.members.get(group as usize);
            if members.iter().all(|&member| self.marks.has(member)) {
                let gain = members.iter().filter(|member| wanted.contains(member)).count();
                if best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, group));
                }
            }
        }
        let Some((_, group)) = best else { return false };
        self.join(group, other);
        let members = self.members.get(group as usize);
        self.uncovered.cover(other, |member| members.binary_search(&member).is_ok());
        true
    }

    /// Takes an object out of groups in which all its pairs are covered by others.
    fn prune(&mut self, slot: Slot) {
        // How many groups it shares with each other object.
        self.marks.start();
        for &group in self.memberships.get(slot.row()) {
            self.members.get(group as usize).iter().for_each(|&member| self.marks.add(member));
        }
        self.ranking.clear();
        for &group in self.memberships.get(slot.row()) {
            self.ranking.push((self.members.len(group as usize) as u32, group));
        }
        self.ranking.sort_unstable();
        for index in 0..self.ranking.len() {
            let group = self.ranking[index].1;
            let members = self.members.get(group as usize);
            if members.iter().all(|&member| member == slot || self.marks.count(member) > 1) {
                members.iter().for_each(|&member| self.marks.take(member));
                self.leave(group, slot);
                if let [last] = *self.members.get(group as usize) {
                    self.leave(group, last);
                }
            }
        }
    }

    /// Marks everybody with whom an object shares a group.
    fn mark_company(&mut self, slot: Slot) {
        self.marks.start();
        for &group in self.memberships.get(slot.row()) {
            self.members.get(group as usize).iter().for_each(|&member| self.marks.set(member));
        }
    }
}

/// Adds to `found` what two ascending lists have in common.
fn common(one: &[u32], other: &[u32], found: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < one.len() && j < other.len() {
        let (a, b) = (one[i], other[j]);
        if a == b {
            found.push(a);
        }
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
}

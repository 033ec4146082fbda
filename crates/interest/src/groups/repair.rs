//! From the last tick's cover to this one's: who parts, and how what is uncovered is covered again.

use space::{Pair, Slot};

use super::ledger::Ledger;
use super::shadow::Shadow;
use super::{Groups, is_within};
use crate::Graph;

impl Groups {
    /// Whoever is in a group with somebody it no longer overlaps leaves it. Notes what is no longer covered.
    pub(super) fn part(&mut self, began: &[Pair], ended: &[Pair], graph: &Graph) {
        self.uncovered.clear();
        for pair in ended {
            self.shared.clear();
            common(
                self.rolls.memberships.get(pair.a().row()),
                self.rolls.memberships.get(pair.b().row()),
                &mut self.shared,
            );
            for index in 0..self.shared.len() {
                let group = self.shared[index];
                let [others_of_a, others_of_b] = [pair.a(), pair.b()].map(|slot| self.company_beside(slot, group));
                // Whoever needs the group less, for the pairs that no other covers.
                let (need_of_a, need_of_b) =
                    (self.need(pair.a(), others_of_a, group), self.need(pair.b(), others_of_b, group));
                let (leaver, others) =
                    if need_of_a < need_of_b { (pair.a(), others_of_a) } else { (pair.b(), others_of_b) };
                self.leave(group, leaver);
                self.note_uncovered(leaver, others, group, graph);
                if let [last] = *self.rolls.members.get(group as usize) {
                    self.leave(group, last);
                }
            }
        }
        self.uncovered.gather(graph.rows(), began);
    }

    /// With how many of a group's members an object shares no other group. `others` is the shadow of its other company.
    fn need(&self, slot: Slot, others: Shadow, group: u32) -> usize {
        let own = self.rolls.memberships.get(slot.row());
        let is_elsewhere =
            |member: Slot| others.may_hold(member) && meet(own, self.rolls.memberships.get(member.row()), group);
        self.rolls.members.get(group as usize).iter().filter(|&&member| !is_elsewhere(member)).count()
    }

    /// The shadow of everybody with whom an object shares groups, one group apart.
    pub(super) fn company_beside(&self, slot: Slot, group: u32) -> Shadow {
        let others = self.rolls.memberships.get(slot.row()).iter().filter(|&&other| other != group);
        others.fold(Shadow::default(), |shadow, &other| shadow | self.ledger.looks[other as usize].shadow)
    }

    /// Notes the pairs of an object with members of the group it left that no other group covers. `others` is the shadow
    /// of its remaining company.
    fn note_uncovered(&mut self, leaver: Slot, others: Shadow, group: u32, graph: &Graph) {
        let own = self.rolls.memberships.get(leaver.row());
        for &member in self.rolls.members.get(group as usize) {
            let is_covered = others.may_hold(member) && meet(own, self.rolls.memberships.get(member.row()), group);
            if !is_covered && graph.contains(leaver, member) {
                self.uncovered.note(Pair::new(leaver, member));
            }
        }
    }

    /// Puts every uncovered pair into a group: one that holds one of the two and that the other fits, or else a new one.
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
                let members = self.rolls.members.get(group as usize);
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

    /// Of the groups that an object fits, that which covers most of its uncovered pairs.
    fn best_group(&mut self, slot: Slot, graph: &Graph) -> Option<u32> {
        if self.uncovered.of(slot).is_empty() {
            return None;
        }
        self.start_counting();
        let reach = Shadow::of_all(graph.neighbours(slot));
        let Groups { ledger: Ledger { looks, .. }, rolls, uncovered, candidates, round, .. } = self;
        for other in uncovered.of(slot) {
            for &group in rolls.memberships.get(other.row()) {
                looks[group as usize].count(group, reach, *round, candidates);
            }
        }
        self.best_candidate(graph.neighbours(slot), 0).map(|(_, group)| group)
    }

    /// Of the candidates that have been counted more than so often, that which was counted most and lies within an
    /// ascending list of neighbours; of equals the lowest.
    pub(super) fn best_candidate(&mut self, neighbours: &[Slot], more_than: u32) -> Option<(u32, u32)> {
        let looks = &self.ledger.looks;
        self.candidates.retain(|&group| looks[group as usize].gain > more_than);
        loop {
            let rank = |&index: &usize| {
                let group = self.candidates[index];
                (self.ledger.looks[group as usize].gain, std::cmp::Reverse(group))
            };
            let best = (0..self.candidates.len()).max_by_key(rank)?;
            let group = self.candidates.swap_remove(best);
            if is_within(self.rolls.members.get(group as usize), neighbours) {
                return Some((self.ledger.looks[group as usize].gain, group));
            }
        }
    }

    /// Lets another object join the group of an object that it fits and that covers most of its uncovered pairs.
    fn invite(&mut self, slot: Slot, other: Slot, graph: &Graph) -> bool {
        let neighbours = graph.neighbours(other);
        let reach = Shadow::of_all(neighbours);
        let wanted = self.uncovered.of(other);
        let mut best = None;
        for &group in self.rolls.memberships.get(slot.row()) {
            let members = self.rolls.members.get(group as usize);
            if self.ledger.looks[group as usize].shadow.may_lie_within(reach) && is_within(members, neighbours) {
                let gain = wanted.iter().filter(|wanted| members.binary_search(wanted).is_ok()).count();
                if best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, group));
                }
            }
        }
        let Some((_, group)) = best else { return false };
        self.join(group, other);
        let members = self.rolls.members.get(group as usize);
        self.uncovered.cover(other, |member| members.binary_search(&member).is_ok());
        true
    }

    /// Takes an object out of groups in which all its pairs are covered by others.
    fn prune(&mut self, slot: Slot) {
        let (mut once, mut twice) = (Shadow::default(), Shadow::of(slot));
        for &group in self.rolls.memberships.get(slot.row()) {
            let shadow = self.ledger.looks[group as usize].shadow;
            twice |= once & shadow;
            once |= shadow;
        }
        let may_go = |group: &&u32| self.ledger.looks[**group as usize].shadow.may_lie_within(twice);
        if !self.rolls.memberships.get(slot.row()).iter().any(|group| may_go(&group)) {
            return;
        }
        self.ranking.clear();
        for &group in self.rolls.memberships.get(slot.row()).iter().filter(may_go) {
            self.ranking.push((self.rolls.members.len(group as usize) as u32, group));
        }
        self.ranking.sort_unstable();
        for index in 0..self.ranking.len() {
            let group = self.ranking[index].1;
            let own = self.rolls.memberships.get(slot.row());
            let is_elsewhere = |member: Slot| meet(own, self.rolls.memberships.get(member.row()), group);
            if self.rolls.members.get(group as usize).iter().all(|&member| member == slot || is_elsewhere(member)) {
                self.leave(group, slot);
                if let [last] = *self.rolls.members.get(group as usize) {
                    self.leave(group, last);
                }
            }
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

/// Whether two ascending lists have anything in common, one number apart.
pub(super) fn meet(one: &[u32], other: &[u32], apart: u32) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < one.len() && j < other.len() {
        let (a, b) = (one[i], other[j]);
        if a == b && a != apart {
            return true;
        }
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    false
}

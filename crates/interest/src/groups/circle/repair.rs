//! Parting and covering within a circle: what [`Groups`](super::Groups) does with lists, done with words.

use std::cmp::Reverse;

use super::{Circle, Desk, Set};

impl<const WORDS: usize> Circle<WORDS> {
    /// Whoever is in a group with somebody it no longer overlaps leaves it. Notes what is no longer covered.
    pub fn part(&mut self) {
        for one in 0..self.slots.len() {
            for other in self.desk.ended[one].tags() {
                self.part_pair(one, other);
            }
        }
    }

    fn part_pair(&mut self, one: usize, other: usize) {
        let Circle { of, masks, places, desk: Desk { shared, .. }, .. } = self;
        shared.clear();
        shared.extend(of.get(one).iter().map(|&group| usize::from(group)).filter(|&group| masks[group].has(other)));
        if shared.len() > 1 {
            shared.sort_unstable_by_key(|&group| places[group]);
        }
        for index in 0..self.desk.shared.len() {
            let group = self.desk.shared[index];
            let others_of_one = self.company_beside(one, group);
            let others_of_other = self.company_beside(other, group);
            let need = |others: Set<WORDS>| self.masks[group].without(others).len();
            // Whoever needs the group less, for the pairs that no other covers.
            let (leaver, others) = if need(others_of_one) < need(others_of_other) {
                (one, others_of_one)
            } else {
                (other, others_of_other)
            };
            let lost = self.masks[group].without(others) & self.reaches[leaver];
            self.desk.uncovered[leaver] |= lost;
            lost.tags().for_each(|tag| self.desk.uncovered[tag].insert(leaver));
            self.leave_to_others(group, leaver);
        }
    }

    /// Puts every uncovered pair into a group: one that holds one of the two and that the other fits, or else a new one.
    pub fn cover(&mut self, take_near: &mut dyn FnMut(Option<u32>) -> (u32, u32)) {
        for tag in 0..self.slots.len() {
            if self.desk.uncovered[tag].is_empty() {
                continue;
            }
            let mut has_joined = false;
            while let Some(group) = self.best_group(tag) {
                self.join_and_cover(group, tag);
                has_joined = true;
            }
            while let Some(other) = self.desk.uncovered[tag].tags().next() {
                if let Some(group) = self.best_invitation(tag, other) {
                    self.join_and_cover(group, other);
                } else {
                    let members = self.grow(tag, other);
                    self.open(members, take_near);
                    has_joined = true;
                }
            }
            if has_joined {
                self.prune(tag);
            }
        }
    }

    /// Of the groups that a member fits, that which covers most of its uncovered pairs; of equals the lowest.
    fn best_group(&self, tag: usize) -> Option<usize> {
        let (uncovered, reach) = (self.desk.uncovered[tag], self.reaches[tag]);
        let mut best = None;
        let mut most = (0, Reverse(u32::MAX));
        for other in uncovered.tags() {
            for group in self.groups_of(other) {
                let mask = self.masks[group];
                if mask.is_within(reach) {
                    let rank = ((mask & uncovered).len(), Reverse(self.places[group]));
                    if rank > most {
                        (most, best) = (rank, Some(group));
                    }
                }
            }
        }
        best
    }

    /// Of the groups of a member that another one fits, that which covers most of the other's uncovered pairs.
    fn best_invitation(&self, tag: usize, other: usize) -> Option<usize> {
        let (wanted, reach) = (self.desk.uncovered[other], self.reaches[other]);
        let fitting = self.groups_of(tag).filter(|&group| self.masks[group].is_within(reach));
        fitting.max_by_key(|&group| ((self.masks[group] & wanted).len(), Reverse(self.places[group])))
    }

    fn join_and_cover(&mut self, group: usize, tag: usize) {
        let covered = self.desk.uncovered[tag] & self.masks[group];
        self.desk.uncovered[tag] = self.desk.uncovered[tag].without(covered);
        covered.tags().for_each(|other| self.desk.uncovered[other].remove(tag));
        self.join(group, tag);
    }

    /// The clique that begins with an uncovered pair and grows by whoever covers the most uncovered pairs, of equals the
    /// lowest, until nobody covers any. Its pairs are covered afterwards.
    fn grow(&mut self, one: usize, other: usize) -> Set<WORDS> {
        let mut members = Set::of(one) | Set::of(other);
        let mut fitting = self.reaches[one] & self.reaches[other];
        let mut wanted = self.desk.uncovered[one] | self.desk.uncovered[other];
        loop {
            let mut best = None;
            let mut most = 0;
            for tag in (fitting & wanted).tags() {
                let gain = (self.desk.uncovered[tag] & members).len();
                if gain > most {
                    (most, best) = (gain, Some(tag));
                }
            }
            let Some(next) = best else { break };
            members.insert(next);
            fitting = fitting & self.reaches[next];
            wanted |= self.desk.uncovered[next];
        }
        for tag in members.tags() {
            self.desk.uncovered[tag] = self.desk.uncovered[tag].without(members);
        }
        members
    }

    /// Takes a member out of groups in which all its pairs are covered by others.
    fn prune(&mut self, tag: usize) {
        let mut twice = self.company_twice(tag);
        let mut ranking = std::mem::take(&mut self.desk.ranking);
        ranking.clear();
        for group in self.groups_of(tag) {
            if self.masks[group].is_within(twice) {
                ranking.push((self.masks[group].len(), self.places[group], group));
            }
        }
        ranking.sort_unstable();
        for &(_, _, group) in &ranking {
            if self.masks[group].is_within(twice) {
                self.leave_to_others(group, tag);
                twice = self.company_twice(tag);
            }
        }
        self.desk.ranking = ranking;
    }

    /// A member, and everybody with whom it shares several groups.
    fn company_twice(&self, tag: usize) -> Set<WORDS> {
        let (mut once, mut twice) = (Set::EMPTY, Set::of(tag));
        for group in self.groups_of(tag) {
            twice |= once & self.masks[group];
            once |= self.masks[group];
        }
        twice
    }
}

//! Parting and covering within a circle: what [`Groups`](super::Groups) does with lists, done with words.

use super::rank::Rank;
use super::{Circle, Set};

impl<const WORDS: usize> Circle<WORDS> {
    /// Whoever is in a group with somebody it no longer overlaps leaves it. Notes what is no longer covered.
    pub fn part(&mut self) {
        for one in self.desk.parting.tags() {
            for other in self.desk.ended[one].tags() {
                self.part_pair(one, other);
            }
        }
    }

    fn part_pair(&mut self, one: usize, other: usize) {
        let mut shared = std::mem::take(&mut self.desk.shared);
        shared.clear();
        shared.add_those(self.of.get(one), |group| self.masks[group].has(other));
        if shared.get().len() > 1 {
            shared.get_mut().sort_unstable_by_key(|&group| self.places[usize::from(group)]);
        }
        for group in shared.get().iter().map(|&group| usize::from(group)) {
            // As long as nobody is in the group, their company is whom they meet in others.
            let members = std::mem::replace(&mut self.masks[group], Set::EMPTY);
            let alone = [members.without(self.company(one)), members.without(self.company(other))];
            self.masks[group] = members;
            // Whoever needs the group less, for the pairs that no other covers.
            let (leaver, alone) = if alone[0].len() < alone[1].len() { (one, alone[0]) } else { (other, alone[1]) };
            let lost = alone & self.reaches[leaver];
            self.desk.uncovered[leaver] |= lost;
            self.desk.wanting |= lost | Set::of(leaver).only_if(!lost.is_empty());
            lost.tags().for_each(|tag| self.desk.uncovered[tag].insert(leaver));
            self.leave_to_others(group, leaver);
        }
        self.desk.shared = shared;
    }

    /// Puts every uncovered pair into a group: one that holds one of the two and that the other fits, or else a new one.
    pub fn cover(&mut self, take_near: &mut dyn FnMut(Option<u32>) -> (u32, u32)) {
        for tag in self.desk.wanting.tags() {
            if self.desk.uncovered[tag].is_empty() {
                continue;
            }
            let mut has_joined = self.join_best_groups(tag);
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

    /// Lets a member join, of the groups that it fits, that which covers most of its uncovered pairs, of equals the lowest,
    /// and so on. Says whether there was any.
    fn join_best_groups(&mut self, tag: usize) -> bool {
        if let Some(other) = self.desk.uncovered[tag].single() {
            let Some(group) = self.lowest_fitting(other, tag) else { return false };
            self.join_and_cover(group, tag);
            return true;
        }
        self.desk.fitting.clear();
        self.find_fitting(tag, self.desk.uncovered[tag]);
        let fitting = std::mem::take(&mut self.desk.fitting);
        let mut has_joined = false;
        // Whom a group has is covered once it is joined, so that none is joined twice.
        while !self.desk.uncovered[tag].is_empty()
            && let Some(group) =
                self.best_of(fitting.get().iter().map(|&group| usize::from(group)), self.desk.uncovered[tag])
        {
            self.join_and_cover(group, tag);
            has_joined = true;
        }
        self.desk.fitting = fitting;
        has_joined
    }

    /// Adds to the desk the groups of some members that another one fits, some of them more than once.
    #[inline]
    pub(super) fn find_fitting(&mut self, tag: usize, others: Set<WORDS>) {
        let reach = self.reaches[tag];
        for other in others.tags() {
            self.desk.fitting.add_those(self.of.get(other), |group| self.masks[group].is_within(reach));
        }
    }

    /// Of the groups of a member that another one fits, the lowest: the best if this is the only pair to cover.
    #[inline]
    fn lowest_fitting(&self, tag: usize, other: usize) -> Option<usize> {
        let reach = self.reaches[other];
        let ranks = self.groups_of(tag).map(|group| {
            let fits = self.masks[group].is_within(reach);
            Rank::new(u32::from(fits), self.places[group], group)
        });
        Rank::highest(ranks, 0).map(Rank::group)
    }

    /// Of some groups that which has the most of some members, of equals the lowest, unless none has any.
    #[inline]
    fn best_of(&self, groups: impl Iterator<Item = usize>, wanted: Set<WORDS>) -> Option<usize> {
        Rank::highest(groups.map(|group| self.rank(group, wanted)), 0).map(Rank::group)
    }

    /// How good a group is for whoever wants some members.
    #[inline]
    fn rank(&self, group: usize, wanted: Set<WORDS>) -> Rank {
        Rank::new((self.masks[group] & wanted).len(), self.places[group], group)
    }

    /// Of the groups of a member that another one fits, that which covers most of the other's uncovered pairs.
    fn best_invitation(&self, tag: usize, other: usize) -> Option<usize> {
        if self.desk.uncovered[other].is_single() {
            return self.lowest_fitting(tag, other);
        }
        let reach = self.reaches[other];
        let fitting = self.groups_of(tag).filter(|&group| self.masks[group].is_within(reach));
        self.best_of(fitting, self.desk.uncovered[other])
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
        let twice = self.company_twice(tag);
        let mut idle = std::mem::take(&mut self.desk.shared);
        idle.clear();
        idle.add_those(self.of.get(tag), |group| self.masks[group].is_within(twice));
        if idle.get().len() > 1 {
            idle.get_mut().sort_unstable_by_key(|&group| {
                let group = usize::from(group);
                (self.masks[group].len(), self.places[group])
            });
        }
        for (index, group) in idle.get().iter().map(|&group| usize::from(group)).enumerate() {
            // The first one may go; the next ones only if what it covered was covered thrice.
            if index == 0 || self.masks[group].is_within(self.company_twice(tag)) {
                self.leave_to_others(group, tag);
            }
        }
        self.desk.shared = idle;
    }

    /// A member, and everybody with whom it shares several groups.
    #[inline]
    fn company_twice(&self, tag: usize) -> Set<WORDS> {
        let (mut once, mut twice) = (Set::EMPTY, Set::of(tag));
        for group in self.groups_of(tag) {
            let mask = self.masks[group];
            twice |= once & mask;
            once |= mask;
        }
        twice
    }
}

//! Tidying within a circle: what [`Groups`](super::Groups) does with lists, done with words.

use std::cmp::Reverse;

use super::super::tidy::{TIDY_MAX, Tidying};
use super::{Circle, Set};

/// A small group that may be dissolved, and how.
struct Dissolution<const WORDS: usize> {
    group: usize,
    members: Set<WORDS>,
    /// For each member, in order, with whom of the others it shares no other group.
    alone: [Set<WORDS>; TIDY_MAX],
    /// Which member would join which group.
    joins: [(usize, usize); TIDY_MAX / 2],
    planned: usize,
}

impl<const WORDS: usize> Circle<WORDS> {
    /// Dissolves small groups whose pairs others can take.
    pub fn tidy(&mut self, tidying: &Tidying) {
        let mut ranking = std::mem::take(&mut self.desk.ranking);
        ranking.clear();
        for (group, &place) in self.places.iter().enumerate() {
            if let Some(turn) = tidying.turn(place) {
                ranking.push((turn, place, group));
            }
        }
        ranking.sort_unstable();
        for &(_, _, group) in &ranking {
            if tidying.is_small(self.masks[group].len() as usize) {
                self.dissolve(group);
            }
        }
        self.desk.ranking = ranking;
    }

    /// Takes a group apart if others can take the pairs that it alone covers, at no more than a join per two members.
    fn dissolve(&mut self, group: usize) {
        let mut dissolution = self.consider(group);
        let size = dissolution.members.len() as usize;
        while dissolution.alone[..size].iter().any(|pairs| !pairs.is_empty()) {
            if dissolution.planned >= size.div_ceil(2) {
                return;
            }
            let Some((into, joining)) = self.best_join(&dissolution) else { return };
            self.plan(&mut dissolution, into, joining);
        }
        for &(into, joining) in &dissolution.joins[..dissolution.planned] {
            self.join(into, joining);
        }
        dissolution.members.tags().for_each(|tag| self.leave(group, tag));
    }

    /// Finds the pairs of a group that no other covers.
    fn consider(&self, group: usize) -> Dissolution<WORDS> {
        let members = self.masks[group];
        let mut alone = [Set::EMPTY; TIDY_MAX];
        for (alone, tag) in alone.iter_mut().zip(members.tags()) {
            *alone = members.without(self.company_beside(tag, group) | Set::of(tag));
        }
        Dissolution { group, members, alone, joins: [(0, 0); TIDY_MAX / 2], planned: 0 }
    }

    /// The join that takes over the most pairs: into which group, and which member.
    fn best_join(&self, dissolution: &Dissolution<WORDS>) -> Option<(usize, usize)> {
        let Dissolution { group, members, alone, joins, planned } = dissolution;
        let joins = &joins[..*planned];
        let mut best = None;
        let mut most = 0;
        for (tag, &alone) in members.tags().zip(alone) {
            if alone.len() <= most {
                continue;
            }
            let reach = self.reaches[tag];
            let mut rank = (most, Reverse(0));
            let theirs = alone.tags().flat_map(|other| self.groups_of(other)).filter(|into| into != group);
            let candidates = theirs.chain(joins.iter().map(|&(into, _)| into));
            for into in candidates.filter(|&into| self.masks[into].is_within(reach)) {
                let joining = joins.iter().filter(|(other, _)| *other == into);
                let then = joining.fold(self.masks[into], |mask, (_, joining)| mask | Set::of(*joining));
                let its_rank = ((then & alone).len(), Reverse(self.places[into]));
                if its_rank > rank {
                    (rank, best) = (its_rank, Some((into, tag)));
                }
            }
            most = rank.0;
        }
        best
    }

    /// Plans a join, which takes over the pairs with those who are in the other group or will be.
    fn plan(&self, dissolution: &mut Dissolution<WORDS>, into: usize, joining: usize) {
        let Dissolution { members, alone, joins, planned, .. } = dissolution;
        let will_be = joins[..*planned].iter().filter(|(other, _)| *other == into);
        let company = will_be.fold(self.masks[into], |mask, (_, joining)| mask | Set::of(*joining));
        for (alone, tag) in alone.iter_mut().zip(members.tags()) {
            if tag == joining {
                *alone = alone.without(company);
            } else if company.has(tag) {
                alone.remove(joining);
            }
        }
        joins[*planned] = (into, joining);
        *planned += 1;
    }
}

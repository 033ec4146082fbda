//! Tidying within a circle: what [`Groups`](super::Groups) does with lists, done with words.

use std::cmp::Reverse;

use super::super::tidy::{TIDY_MAX, Tidying};
use super::{Circle, Desk, Set};

/// A small group that may be dissolved, and how.
struct Dissolution<const WORDS: usize> {
    group: usize,
    members: Set<WORDS>,
    /// For each member, in order, with whom of the others it shares no other group.
    alone: [Set<WORDS>; TIDY_MAX],
    /// For each member, in order, where the groups that it fits end on the desk.
    fitting: [usize; TIDY_MAX],
    /// Which member would join which group.
    joins: [(usize, usize); TIDY_MAX / 2],
    planned: usize,
}

impl<const WORDS: usize> Circle<WORDS> {
    /// Dissolves small groups whose pairs others can take.
    pub fn tidy(&mut self, tidying: &Tidying) {
        let mut ranking = std::mem::take(&mut self.desk.ranking);
        ranking.clear();
        // One that is too large remains so, as dissolving others adds members alone.
        for (group, &place) in self.places.iter().enumerate() {
            if let Some(turn) = tidying.turn(place)
                && tidying.is_small(self.masks[group].len() as usize)
            {
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
        self.find_fitting(&mut dissolution);
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
        Dissolution { group, members, alone, fitting: [0; TIDY_MAX], joins: [(0, 0); TIDY_MAX / 2], planned: 0 }
    }

    /// Finds the groups that members fit and that would take over pairs of them, some of them more than once.
    fn find_fitting(&mut self, dissolution: &mut Dissolution<WORDS>) {
        let Circle { reaches, masks, of, desk: Desk { fitting, .. }, .. } = self;
        let Dissolution { group, members, alone, fitting: ends, .. } = dissolution;
        fitting.clear();
        for ((tag, alone), end) in members.tags().zip(alone).zip(ends) {
            let reach = reaches[tag];
            for other in alone.tags() {
                for into in of.get(other).iter().map(|&into| usize::from(into)) {
                    if masks[into].is_within(reach) && into != *group {
                        fitting.push(into);
                    }
                }
            }
            *end = fitting.len();
        }
    }

    /// The join that takes over the most pairs: into which group, and which member.
    fn best_join(&self, dissolution: &Dissolution<WORDS>) -> Option<(usize, usize)> {
        let Dissolution { members, alone, fitting, joins, planned, .. } = dissolution;
        let joins = &joins[..*planned];
        let mut best = None;
        let (mut most, mut start) = (0, 0);
        for ((tag, alone), &end) in members.tags().zip(alone).zip(fitting) {
            let fitting = &self.desk.fitting[std::mem::replace(&mut start, end)..end];
            if alone.len() <= most {
                continue;
            }
            let mut rank = (most, Reverse(0));
            let joined = joins.iter().map(|(into, _)| into);
            let joined = joined.filter(|&&into| self.masks[into].is_within(self.reaches[tag]));
            for &into in fitting.iter().chain(joined) {
                let joining = joins.iter().filter(|(other, _)| *other == into);
                let then = joining.fold(self.masks[into], |mask, (_, joining)| mask | Set::of(*joining));
                let its_rank = ((then & *alone).len(), Reverse(self.places[into]));
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

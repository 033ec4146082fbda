//! Tidying within a circle: what [`Groups`](super::Groups) does with lists, done with words.

use super::super::tidy::{TIDY_MAX, Tidying};
use super::rank::Rank;
use super::{Circle, Set};

/// A small group that may be dissolved, and how.
struct Dissolution<const WORDS: usize> {
    members: Set<WORDS>,
    /// For each member, in order, with whom of the others it shares no other group.
    alone: [Set<WORDS>; TIDY_MAX],
    /// For each member, in order, where the groups that it fits begin and end on the desk, once they were needed.
    fitting: [Option<(usize, usize)>; TIDY_MAX],
    /// Which member would join which group.
    joins: [(usize, usize); TIDY_MAX / 2],
    planned: usize,
}

impl<const WORDS: usize> Dissolution<WORDS> {
    /// How many pairs nobody else would cover as planned.
    fn pairs(&self) -> u32 {
        self.alone.iter().take(self.members.len() as usize).map(|alone| alone.len()).sum::<u32>() / 2
    }
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
        self.desk.fitting.clear();
        let size = dissolution.members.len() as usize;
        let joins_max = size.div_ceil(2);
        while dissolution.alone[..size].iter().any(|pairs| !pairs.is_empty()) {
            let joins_left = joins_max - dissolution.planned;
            let more_than = match joins_left {
                0 => return,
                // The last join has to take over all that is left: most are ruled out by how many pairs they have.
                1 => dissolution.pairs() - 1,
                _ => 0,
            };
            let Some((into, joining)) = self.best_join(&mut dissolution, more_than) else { return };
            self.plan(&mut dissolution, into, joining);
        }
        for &(into, joining) in &dissolution.joins[..dissolution.planned] {
            self.join(into, joining);
        }
        self.touch(group);
        self.masks[group] = Set::EMPTY;
        dissolution.members.tags().for_each(|tag| self.of.remove(tag, group));
    }

    /// Finds the pairs of a group that no other covers.
    fn consider(&mut self, group: usize) -> Dissolution<WORDS> {
        // As long as nobody is in the group, the company of its members is whom they meet in others.
        let members = std::mem::replace(&mut self.masks[group], Set::EMPTY);
        let mut alone = [Set::EMPTY; TIDY_MAX];
        for (alone, tag) in alone.iter_mut().zip(members.tags()) {
            *alone = members.without(self.company(tag) | Set::of(tag));
        }
        self.masks[group] = members;
        Dissolution { members, alone, fitting: [None; TIDY_MAX], joins: [(0, 0); TIDY_MAX / 2], planned: 0 }
    }

    /// The join that takes over the most pairs, and more than so many: into which group, and which member.
    fn best_join(&mut self, dissolution: &mut Dissolution<WORDS>, more_than: u32) -> Option<(usize, usize)> {
        let Dissolution { members, alone, fitting, joins, planned, .. } = dissolution;
        let joins = &joins[..*planned];
        let mut best = None;
        let mut most = more_than;
        for ((tag, alone), fitting) in members.tags().zip(alone).zip(fitting) {
            if alone.len() <= most {
                continue;
            }
            let (start, end) = *fitting.get_or_insert_with(|| {
                let start = self.desk.fitting.get().len();
                self.find_fitting(tag, *alone);
                (start, self.desk.fitting.get().len())
            });
            let rank = |mask: Set<WORDS>, into| Rank::new((mask & *alone).len(), self.places[into], into);
            let fitting = self.desk.fitting.get()[start..end].iter().map(|&into| usize::from(into));
            let fitting = fitting.map(|into| rank(self.masks[into], into));
            // A group that others will have joined ranks higher with them.
            let joined = joins.iter().filter(|(into, _)| self.masks[*into].is_within(self.reaches[tag]));
            let joined = joined.map(|&(into, _)| rank(self.company_then(into, joins), into));
            if let Some(rank) = Rank::highest(fitting.chain(joined), most) {
                (most, best) = (rank.gain(), Some((rank.group(), tag)));
            }
        }
        best
    }

    /// The members of a group once some have joined it.
    fn company_then(&self, group: usize, joins: &[(usize, usize)]) -> Set<WORDS> {
        let joining = joins.iter().filter(|(into, _)| *into == group);
        joining.fold(self.masks[group], |members, &(_, joining)| members | Set::of(joining))
    }

    /// Plans a join, which takes over the pairs with those who are in the other group or will be.
    fn plan(&self, dissolution: &mut Dissolution<WORDS>, into: usize, joining: usize) {
        let Dissolution { members, alone, joins, planned, .. } = dissolution;
        let company = self.company_then(into, &joins[..*planned]);
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

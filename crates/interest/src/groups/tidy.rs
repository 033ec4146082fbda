//! Keeping the cover small: groups shrink as members leave, and what is left of them can often go elsewhere.

use space::Slot;

use super::Groups;
use super::homes::NOWHERE;
use super::ledger::Ledger;
use super::repair::meet;
use super::shadow::Shadow;
use crate::Graph;

/// Larger groups are left alone: to look for others that take their pairs takes too long.
pub(super) const TIDY_MAX: usize = 16;

/// Which groups a tick tidies: a run of places, and no groups above the typical size.
#[derive(Clone, Copy, Debug)]
pub struct Tidying {
    /// The first place, how many follow it, and how many places there are, after the last of which comes the first.
    start: u32,
    looks: u32,
    places: u32,
    size_max: usize,
}

impl Tidying {
    /// When it is the turn of a place, if at all.
    #[inline]
    pub fn turn(&self, place: u32) -> Option<u32> {
        let ahead = if place >= self.start { 0 } else { self.places };
        let turn = place + ahead - self.start;
        (place < self.places && turn < self.looks).then_some(turn)
    }

    /// Whether a group is there and small enough.
    #[inline]
    pub fn is_small(&self, size: usize) -> bool {
        size > 0 && size <= self.size_max
    }
}

/// A small group that may be dissolved, and how.
struct Dissolution {
    group: u32,
    members: [Slot; TIDY_MAX],
    size: usize,
    /// For each member with whom of the others it shares no other group: a bit each.
    alone: [u32; TIDY_MAX],
    /// Which member would join which group.
    joins: [(u32, usize); TIDY_MAX / 2],
    planned: usize,
}

impl Groups {
    /// Goes on to the groups that this tick tidies.
    pub(super) fn next_tidying(&mut self) -> Tidying {
        let places = self.ledger.places.len();
        let typical = self.ledger.joined / self.ledger.groups.max(1);
        let looks = places.checked_div(self.tidying).map_or(0, |looks| (looks + 4).min(places));
        let start = self.next_tidied;
        self.next_tidied = (start + looks as u32) % places.max(1) as u32;
        let size_max = typical.clamp(2, TIDY_MAX);
        Tidying { start, looks: looks as u32, places: places as u32, size_max }
    }

    /// Dissolves small groups whose pairs others can take, but for those of circles that have been tidied.
    pub(super) fn tidy(&mut self, tidying: &Tidying, graph: &mut Graph) {
        for turn in 0..tidying.looks {
            let group = (tidying.start + turn) % tidying.places;
            let home = self.ledger.places[group as usize].home;
            if home != NOWHERE {
                if !self.homes.is_mended(home, self.seats.tick()) {
                    self.mend_home(home, tidying, graph);
                }
                continue;
            }
            let is_done = |member: &Slot| self.seats.is_in_circle(*member);
            if !self.rolls.members.get(group as usize).first().is_some_and(is_done) {
                self.tidy_group(group, tidying, graph);
            }
        }
    }

    /// Dissolves a group if it is small and others can take its pairs.
    pub(super) fn tidy_group(&mut self, group: u32, tidying: &Tidying, graph: &Graph) {
        if tidying.is_small(self.rolls.members.len(group as usize)) {
            self.dissolve(group, graph);
        }
    }

    /// Takes a group apart if others can take the pairs that it alone covers, at no more than a join per two members.
    fn dissolve(&mut self, group: u32, graph: &Graph) {
        let mut dissolution = self.consider(group);
        while dissolution.alone[..dissolution.size].iter().any(|&pairs| pairs != 0) {
            if dissolution.planned >= dissolution.size.div_ceil(2) {
                return;
            }
            let Some((into, joining)) = self.best_join(&dissolution, graph) else { return };
            self.plan(&mut dissolution, into, joining);
        }
        let Dissolution { members, size, joins, planned, .. } = dissolution;
        for &(into, joining) in &joins[..planned] {
            self.join(into, members[joining]);
        }
        for &member in &members[..size] {
            self.leave(group, member);
        }
    }

    /// Finds the pairs of a group that no other covers.
    fn consider(&self, group: u32) -> Dissolution {
        let list = self.rolls.members.get(group as usize);
        let mut members = [Slot::new(0); TIDY_MAX];
        members[..list.len()].copy_from_slice(list);
        let mut alone = [0; TIDY_MAX];
        for (i, &member) in list.iter().enumerate() {
            let company = self.company_beside(member, group);
            let own = self.rolls.memberships.get(member.row());
            for (j, other) in list.iter().enumerate().skip(i + 1) {
                if !company.may_hold(*other) || !meet(own, self.rolls.memberships.get(other.row()), group) {
                    alone[i] |= 1 << j;
                    alone[j] |= 1 << i;
                }
            }
        }
        Dissolution { group, members, size: list.len(), alone, joins: [(0, 0); TIDY_MAX / 2], planned: 0 }
    }

    /// The join that takes over the most pairs: into which group, and which member.
    fn best_join(&mut self, dissolution: &Dissolution, graph: &Graph) -> Option<(u32, usize)> {
        let Dissolution { group, members, size, alone, joins, planned } = dissolution;
        let mut best: Option<(u32, u32, usize)> = None;
        for i in 0..*size {
            let most = best.map_or(0, |(most, ..)| most);
            if alone[i].count_ones() <= most {
                continue;
            }
            self.start_counting();
            let reach = Shadow::of_all(graph.neighbours(members[i]));
            let Groups { ledger: Ledger { looks, .. }, rolls, candidates, round, .. } = self;
            for (j, other) in members[..*size].iter().enumerate().filter(|(j, _)| alone[i] >> j & 1 == 1) {
                let theirs = rolls.memberships.get(other.row()).iter().filter(|&other| other != group);
                let joined = joins[..*planned].iter().filter(|(_, joining)| *joining == j).map(|(into, _)| into);
                for &into in theirs.chain(joined) {
                    looks[into as usize].count(into, reach, *round, candidates);
                }
            }
            if let Some((gain, into)) = self.best_candidate(graph.neighbours(members[i]), most) {
                best = Some((gain, into, i));
            }
        }
        best.map(|(_, into, joining)| (into, joining))
    }

    /// Plans a join, which takes over the pairs with those who are in the other group or will be.
    fn plan(&self, dissolution: &mut Dissolution, into: u32, joining: usize) {
        let Dissolution { members, size, alone, joins, planned, .. } = dissolution;
        for j in (0..*size).filter(|&j| j != joining) {
            let is_in = self.rolls.members.get(into as usize).binary_search(&members[j]).is_ok();
            if is_in || joins[..*planned].contains(&(into, j)) {
                alone[joining] &= !(1 << j);
                alone[j] &= !(1 << joining);
            }
        }
        joins[*planned] = (into, joining);
        *planned += 1;
    }
}

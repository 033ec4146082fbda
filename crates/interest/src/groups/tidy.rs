//! Keeping the cover small: groups shrink as members leave, and other groups can often take their last pairs.

use space::Slot;

use super::GroupCover;
use super::signature::Signature;
use crate::Graph;

/// Larger groups are left alone: to find other groups for their pairs takes too long.
const TIDY_MAX: usize = 16;

/// A small group that may be dissolved, and how.
struct Dissolution {
    group: u32,
    members: [Slot; TIDY_MAX],
    size: usize,
    /// For each member, a bit for each other member with which it shares no other group.
    alone: [u32; TIDY_MAX],
    /// The groups to join, each with the member that joins it, by index.
    joins: [(u32, usize); TIDY_MAX / 2],
    planned: usize,
}

impl GroupCover {
    /// Looks at a run of places, and dissolves groups of at most typical size whose pairs other groups can take.
    pub(super) fn tidy(&mut self, graph: &Graph) {
        let places = self.table.places();
        let typical = self.table.memberships() / self.table.len().max(1);
        let size_max = typical.clamp(2, TIDY_MAX);
        let looks = places.checked_div(self.tidy_one_in).map_or(0, |looks| (looks + 4).min(places));
        for _ in 0..looks {
            let group = self.next_tidied % places as u32;
            self.next_tidied = (group + 1) % places as u32;
            if (1..=size_max).contains(&self.table.members(group).len()) {
                self.dissolve(group, graph);
            }
        }
    }

    /// Dissolves a group if other groups can take the pairs that it alone covers, with at most one join
    /// per two members.
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
        joins[..planned].iter().for_each(|&(into, joining)| self.table.join(into, members[joining]));
        members[..size].iter().for_each(|&member| self.table.leave(group, member));
    }

    /// Finds the pairs of a group that no other group covers.
    fn consider(&self, group: u32) -> Dissolution {
        let list = self.table.members(group);
        let mut members = [Slot::new(0); TIDY_MAX];
        members[..list.len()].copy_from_slice(list);
        let mut alone = [0; TIDY_MAX];
        for (i, &member) in list.iter().enumerate() {
            let company = self.company_beside(member, group);
            for (j, &other) in list.iter().enumerate().skip(i + 1) {
                if !self.meet_elsewhere(member, company, other, group) {
                    alone[i] |= 1 << j;
                    alone[j] |= 1 << i;
                }
            }
        }
        Dissolution { group, members, size: list.len(), alone, joins: [(0, 0); TIDY_MAX / 2], planned: 0 }
    }

    /// The join that covers the most of the group's own pairs: the group to join, and the index of the member.
    fn best_join(&mut self, dissolution: &Dissolution, graph: &Graph) -> Option<(u32, usize)> {
        let Dissolution { group, members, size, alone, joins, planned } = dissolution;
        let mut best = None;
        let mut most = 0;
        for i in 0..*size {
            if alone[i].count_ones() <= most {
                continue;
            }
            let neighbours = graph.neighbours(members[i]);
            let reach = Signature::of_all(neighbours);
            self.table.start_count();
            for (j, &other) in members[..*size].iter().enumerate().filter(|(j, _)| alone[i] >> j & 1 == 1) {
                self.table.count_groups_of(other, reach, Some(*group));
                let joined = joins[..*planned].iter().filter(|(_, joining)| *joining == j);
                joined.for_each(|&(into, _)| self.table.count(into, reach));
            }
            if let Some((gain, into)) = self.table.best_candidate(neighbours, most) {
                (most, best) = (gain, Some((into, i)));
            }
        }
        best
    }

    /// Plans a join, which covers the pairs with the other group's present and planned members.
    fn plan(&self, dissolution: &mut Dissolution, into: u32, joining: usize) {
        let Dissolution { members, size, alone, joins, planned, .. } = dissolution;
        for j in (0..*size).filter(|&j| j != joining) {
            let is_in = self.table.members(into).binary_search(&members[j]).is_ok();
            if is_in || joins[..*planned].contains(&(into, j)) {
                alone[joining] &= !(1 << j);
                alone[j] &= !(1 << joining);
            }
        }
        joins[*planned] = (into, joining);
        *planned += 1;
    }
}

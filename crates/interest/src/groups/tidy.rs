//! Keeping the cover small: groups shrink as members leave, and what is left of them can often go elsewhere.

use space::Slot;

use super::Groups;
use crate::Graph;

/// Larger groups are left alone: to look for others that take their pairs takes too long.
const TIDY_MAX: usize = 16;

/// A join that would take pairs over: how many, into which group, and which member.
type Step = (u32, u32, usize);

impl Groups {
    /// Dissolves small groups whose pairs others can take.
    pub(super) fn tidy(&mut self, graph: &Graph) {
        let places = self.generations.len();
        if self.tidying == 0 || self.groups == 0 {
            return;
        }
        let typical = self.joined / self.groups;
        let looks = (places / self.tidying + 4).min(places);
        for _ in 0..looks {
            self.next_tidied = (self.next_tidied + 1) % places as u32;
            let group = self.next_tidied;
            let size = self.members.len(group as usize);
            if size > 0 && size <= typical.max(2) && size <= TIDY_MAX {
                self.dissolve(group, graph);
            }
        }
    }

    /// Takes a group apart if others can take the pairs that it alone covers, at no more than a join per two members.
    fn dissolve(&mut self, group: u32, graph: &Graph) {
        let members: Vec<Slot> = self.members.get(group as usize).to_vec();
        let size = members.len();
        // The pairs that no other group covers.
        let mut alone = [0u32; TIDY_MAX];
        for (i, &member) in members.iter().enumerate() {
            self.marks.start();
            for &other in self.memberships.get(member.row()).iter().filter(|&&other| other != group) {
                self.members.get(other as usize).iter().for_each(|&member| self.marks.set(member));
            }
            for (j, &other) in members.iter().enumerate() {
                if i != j && !self.marks.has(other) {
                    alone[i] |= 1 << j;
                }
            }
        }
        let mut plan: Vec<(u32, usize)> = Vec::new();
        while alone[..size].iter().any(|&pairs| pairs != 0) {
            if plan.len() >= size.div_ceil(2) {
                return;
            }
            let mut best: Option<Step> = None;
            for i in 0..size {
                if alone[i] == 0 {
                    continue;
                }
                self.numbers.clear();
                for (j, other) in members.iter().enumerate() {
                    if alone[i] >> j & 1 == 1 {
                        self.numbers.extend(self.memberships.get(other.row()).iter().filter(|&&other| other != group));
                        self.numbers.extend(plan.iter().filter(|(_, joining)| *joining == j).map(|(into, _)| into));
                    }
                }
                self.numbers.sort_unstable();
                self.marks.start();
                graph.neighbours(members[i]).iter().for_each(|&neighbour| self.marks.set(neighbour));
                for same in self.numbers.chunk_by(|one, other| one == other) {
                    let gain = same.len() as u32;
                    if best.is_none_or(|(most, ..)| gain > most)
                        && self.members.get(same[0] as usize).iter().all(|&member| self.marks.has(member))
                    {
                        best = Some((gain, same[0], i));
                    }
                }
            }
            let Some((_, into, i)) = best else { return };
            plan.push((into, i));
            for j in 0..size {
                let is_in = self.members.get(into as usize).binary_search(&members[j]).is_ok()
                    || plan.iter().any(|&(group, joining)| group == into && joining == j);
                if is_in && j != i {
                    alone[i] &= !(1 << j);
                    alone[j] &= !(1 << i);
                }
            }
        }
        for (into, i) in plan {
            self.join(into, members[i]);
        }
        for member in members {
            self.leave(group, member);
        }
    }
}

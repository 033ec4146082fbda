//! The groups of each member of a circle: short lists in one piece of memory, in no order.
//!
//! A bit per group would take less room; but to walk through bits is a guess at every word whether there is another, and
//! a wrong guess takes as long as several groups.

use super::fetch_all;

/// Lists of groups, one per member.
#[derive(Clone, Debug, Default)]
pub struct Of {
    /// Behind the groups of each there is [`NONE`].
    groups: Vec<u16>,
    lens: Vec<u16>,
    /// There is room for so many groups of each.
    room: usize,
}

/// Room for so many groups is made at once.
const ROOM: usize = 8;
/// No group.
const NONE: u16 = u16::MAX;

impl Of {
    /// Some members without groups.
    pub fn start(&mut self, members: usize) {
        self.lens.clear();
        self.lens.resize(members, 0);
        self.room = self.room.max(2 * ROOM);
        self.groups.clear();
        self.groups.resize(members * self.room, NONE);
    }

    /// The groups of a member.
    #[inline]
    pub fn get(&self, tag: usize) -> &[u16] {
        &self.groups[tag * self.room..][..usize::from(self.lens[tag])]
    }

    /// Adds a group that is not in.
    #[inline]
    pub fn insert(&mut self, tag: usize, group: usize) {
        let len = usize::from(self.lens[tag]);
        if len == self.room {
            self.widen();
        }
        self.groups[tag * self.room + len] = group as u16;
        self.lens[tag] += 1;
    }

    /// Takes out a group, which is in.
    #[inline]
    pub fn remove(&mut self, tag: usize, group: usize) {
        let own = &mut self.groups[tag * self.room..][..self.room];
        // Looked for in the whole room, which takes the same steps every time: to stop at a place that nobody can guess
        // takes longer. As many at once as room is made for: the compiler takes wide registers then.
        let group = group as u16;
        let mut found = [0; ROOM];
        let mut places: [u16; ROOM] = std::array::from_fn(|place| place as u16);
        for some in own.as_chunks::<ROOM>().0 {
            for ((found, place), &other) in found.iter_mut().zip(&mut places).zip(some) {
                *found |= if other == group { *place } else { 0 };
                *place += ROOM as u16;
            }
        }
        let place = usize::from(found.into_iter().fold(0, |place, found| place | found));
        let last = usize::from(self.lens[tag]) - 1;
        debug_assert_eq!(own[place], group, "a member is in its groups");
        own[place] = own[last];
        own[last] = NONE;
        self.lens[tag] -= 1;
    }

    /// Begins to fetch all lists.
    pub fn fetch(&self) {
        fetch_all(&self.groups);
        fetch_all(&self.lens);
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        2 * (self.groups.capacity() + self.lens.capacity())
    }

    #[cold]
    fn widen(&mut self) {
        let wider = self.room + ROOM;
        let mut groups = vec![NONE; self.lens.len() * wider];
        for (new, old) in groups.chunks_exact_mut(wider).zip(self.groups.chunks_exact(self.room)) {
            new[..self.room].copy_from_slice(old);
        }
        (self.groups, self.room) = (groups, wider);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_leaves_all_others_whatever_room_they_have() {
        let mut of = Of::default();
        of.start(3);
        for group in 0..40 {
            (0..3).for_each(|tag| of.insert(tag, group * (tag + 1)));
        }
        for group in (0..40).step_by(2) {
            of.remove(1, group * 2);
        }
        let sorted = |tag: usize| {
            let mut groups = of.get(tag).to_vec();
            groups.sort_unstable();
            groups
        };
        assert_eq!(sorted(1), (0..40).filter(|group| group % 2 == 1).map(|group| group * 2).collect::<Vec<u16>>());
        for tag in [0, 2] {
            assert_eq!(sorted(tag), (0..40).map(|group| group * (tag as u16 + 1)).collect::<Vec<u16>>());
        }
    }
}

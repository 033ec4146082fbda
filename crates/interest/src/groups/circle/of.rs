//! The groups of each member of a circle: short lists in one piece of memory, in no order.
//!
//! A bit per group would take less room; but to walk through bits is a guess at every word whether there is another, and
//! a wrong guess takes as long as several groups.

use super::fetch_all;

/// Lists of groups, one per member.
#[derive(Clone, Debug, Default)]
pub struct Of {
    groups: Vec<u16>,
    lens: Vec<u16>,
    /// There is room for so many groups of each.
    room: usize,
}

/// Room for so many groups is made at once.
const ROOM: usize = 8;

impl Of {
    /// Some members without groups.
    pub fn start(&mut self, members: usize) {
        self.lens.clear();
        self.lens.resize(members, 0);
        self.room = self.room.max(2 * ROOM);
        self.groups.clear();
        self.groups.resize(members * self.room, 0);
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
        let len = usize::from(self.lens[tag]);
        let own = &mut self.groups[tag * self.room..][..len];
        let place = own.iter().position(|&other| usize::from(other) == group).expect("a member is in its groups");
        own[place] = own[len - 1];
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
        let mut groups = vec![0; self.lens.len() * wider];
        for (new, old) in groups.chunks_exact_mut(wider).zip(self.groups.chunks_exact(self.room)) {
            new[..self.room].copy_from_slice(old);
        }
        (self.groups, self.room) = (groups, wider);
    }
}

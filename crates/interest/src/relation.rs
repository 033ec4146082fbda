//! Collision relations: who overlaps everybody of a set, and the question that every finder answers.

use space::{Slot, Spheres};

/// Finds the collision relations of a world: the sets of objects that overlap pairwise and to which no further object can
/// be added. In the words of graphs, the maximal cliques of the intersection graph; whoever overlaps nobody is a
/// relation of its own.
///
/// Every finder gives the same relations, each once and in an order of its own, whatever it remembers. That three auras
/// overlap pairwise does not mean that they share a point: they may touch in a ring, and are a relation still.
pub trait RelationFinder: Send {
    /// Replaces the contents of `relations` by the relations of these auras, and says what it took to find them.
    fn relations(&mut self, auras: &Spheres, relations: &mut Relations) -> Comparisons;
}

/// How many tests of two spheres it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparisons {
    /// Every test of an object with a relation's sphere or with a member.
    pub raw: u64,
    /// The same, with an object's tests of one member counted once, in how many relations that member may be.
    pub distinct: u64,
}

/// Relations, one after the other in a few pieces of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Those of one member.
    alone: Vec<Slot>,
    /// All others, one after the other, and where each ends.
    members: Vec<Slot>,
    ends: Vec<u32>,
    crowds: Vec<Crowd>,
}

/// Objects that hang together and have more relations than may be counted: one by one they would fill the memory, as a
/// crowd of `n` can have as many as the `n/3`-th power of 3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crowd {
    /// Who is in it, ascending.
    pub members: Vec<Slot>,
}

impl Relations {
    /// No relations.
    pub fn new() -> Relations {
        Relations::default()
    }

    /// How many there are, without those of crowds, which nobody knows.
    pub fn len(&self) -> usize {
        self.alone.len() + self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members of each, ascending.
    pub fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.alone.chunks(1).chain((0..self.ends.len()).map(|index| self.get(index)))
    }

    /// How many objects are in how many relations, counted together.
    pub fn memberships(&self) -> usize {
        self.alone.len() + self.members.len()
    }

    /// Components that had too many relations to be listed.
    pub fn crowds(&self) -> &[Crowd] {
        &self.crowds
    }

    /// The relations in an order that depends on nothing but themselves.
    pub fn sorted(&self) -> Vec<Vec<Slot>> {
        let mut all: Vec<Vec<Slot>> = self.iter().map(<[Slot]>::to_vec).collect();
        all.sort_unstable();
        all
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        (self.alone.capacity() + self.members.capacity() + self.ends.capacity()) * 4
            + self.crowds.iter().map(|crowd| crowd.members.capacity() * 4 + size_of::<Crowd>()).sum::<usize>()
    }

    pub(crate) fn clear(&mut self) {
        self.alone.clear();
        self.members.clear();
        self.ends.clear();
        self.crowds.clear();
    }

    pub(crate) fn push(&mut self, members: &[Slot]) {
        self.members.extend_from_slice(members);
        self.ends.push(self.members.len() as u32);
    }

    /// Adds relations that lie one after the other, each of which begins with the same member.
    #[inline]
    pub(crate) fn push_all(&mut self, first: Slot, list: &[Slot]) {
        // Written everywhere and kept where a relation ends: nobody can foretell where that is, least of all a processor.
        let mut end = self.members.len() as u32;
        self.members.extend_from_slice(list);
        let mut count = self.ends.len();
        self.ends.resize(count + list.len(), 0);
        for &member in list.iter().skip(1) {
            end += 1;
            self.ends[count] = end;
            count += usize::from(member == first);
        }
        self.ends.truncate(count);
        self.ends.push(self.members.len() as u32);
    }

    /// Adds a relation of rows in any order.
    pub(crate) fn push_rows(&mut self, rows: &[u32]) {
        let start = self.members.len();
        self.members.extend(rows.iter().map(|&row| Slot::new(row)));
        self.members[start..].sort_unstable();
        self.ends.push(self.members.len() as u32);
    }

    /// Adds relations of one member: the slots whose bits are set, counted from `first`.
    pub(crate) fn push_alone(&mut self, first: u32, mut bits: u64) {
        while bits != 0 {
            self.alone.push(Slot::new(first + bits.trailing_zeros()));
            bits &= bits - 1;
        }
    }

    pub(crate) fn push_crowd(&mut self, members: &[Slot]) {
        self.crowds.push(Crowd { members: members.to_vec() });
    }

    fn get(&self, index: usize) -> &[Slot] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.members[start..self.ends[index] as usize]
    }
}

/// Relations from lists of members, in any order.
impl<L: AsRef<[Slot]>> FromIterator<L> for Relations {
    fn from_iter<I: IntoIterator<Item = L>>(lists: I) -> Relations {
        let mut relations = Relations::new();
        for list in lists {
            let start = relations.members.len();
            relations.push(list.as_ref());
            relations.members[start..].sort_unstable();
        }
        relations
    }
}

impl std::ops::AddAssign for Comparisons {
    fn add_assign(&mut self, other: Comparisons) {
        self.raw += other.raw;
        self.distinct += other.distinct;
    }
}

//! Collision relations, the maximal cliques of the intersection graph: the algorithms of papers 000 and 004, and one
//! for a million objects.
//!
//! The papers send updates to relations. [`Audience`](crate::Audience) and [`GroupCover`](crate::GroupCover) send
//! fewer, and nothing here is used by the server; the experiments of `lab relations` and `lab groups` compare them all.
//!
//! - [`ExpandingSphere`], [`OrderedRelations`] and [`OrderedAxis`] are the papers' own, with their comparisons counted.
//! - [`Cliques`] follows a [`Graph`](crate::Graph) and searches only where pairs changed; [`CliqueFinder`] brings its
//!   own broad phase. A component that exceeds its [`Budget`] is reported as a crowd.
//!
//! Every [`RelationFinder`] finds the same relations.

mod cliques;
mod expanding_sphere;
mod ordered_axis;
mod ordered_relations;

use space::{Slot, Spheres};

pub use cliques::{Budget, CliqueFinder, Cliques};
pub use expanding_sphere::ExpandingSphere;
pub use ordered_axis::OrderedAxis;
pub use ordered_relations::OrderedRelations;

/// Finds the collision relations of a world: the sets of objects that overlap pairwise and to which no further object
/// can be added. An object that overlaps no other is a relation of its own.
///
/// Every finder gives the same relations, each once and in an order of its own, whatever it remembers. Auras of a
/// relation need not share a point: three may touch in a ring.
pub trait RelationFinder: Send {
    /// Replaces the contents of `relations` with the relations of these auras, and returns the number of tests.
    fn relations(&mut self, auras: &Spheres, relations: &mut Relations) -> Comparisons;
}

/// The number of tests of two spheres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparisons {
    /// All tests of an object with a relation's sphere or with a member.
    pub raw: u64,
    /// The same, with an object's tests of one member counted once, even if that member is in several relations.
    pub distinct: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Relations of one member.
    alone: Vec<Slot>,
    /// The members of all others, one relation after the other, and where each ends.
    members: Vec<Slot>,
    ends: Vec<u32>,
    crowds: Vec<Vec<Slot>>,
}

impl Relations {
    pub fn new() -> Relations {
        Relations::default()
    }

    /// Their number, without those of crowded components.
    pub fn len(&self) -> usize {
        self.alone.len() + self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members of each, ascending.
    pub fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.alone.chunks(1).chain((0..self.ends.len()).map(|index| self.get(index)))
    }

    /// The sum of all relations' sizes.
    pub fn memberships(&self) -> usize {
        self.alone.len() + self.members.len()
    }

    /// Connected components whose relations exceed the budget, each with its objects, ascending. A component of `n`
    /// objects can have as many as 3^(n/3) relations.
    pub fn crowds(&self) -> &[Vec<Slot>] {
        &self.crowds
    }

    /// The relations in ascending order.
    pub fn sorted(&self) -> Vec<Vec<Slot>> {
        let mut all: Vec<Vec<Slot>> = self.iter().map(<[Slot]>::to_vec).collect();
        all.sort_unstable();
        all
    }

    fn clear(&mut self) {
        self.alone.clear();
        self.members.clear();
        self.ends.clear();
        self.crowds.clear();
    }

    fn push(&mut self, members: &[Slot]) {
        self.members.extend_from_slice(members);
        self.ends.push(self.members.len() as u32);
    }

    /// Adds a relation of rows in any order.
    fn push_rows(&mut self, rows: &[u32]) {
        let start = self.members.len();
        self.members.extend(rows.iter().map(|&row| Slot::new(row)));
        self.members[start..].sort_unstable();
        self.ends.push(self.members.len() as u32);
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

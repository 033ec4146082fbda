//! Expanding sphere with ordered relations, of paper 000, section 3.2.
//!
//! The larger the relations that are found early, the fewer comparisons are needed. Objects move little from tick to
//! tick, so they are considered in the order of the last tick's relations, the largest first.

use space::Spheres;

use super::expanding_sphere::SphereSearch;
use super::{Comparisons, RelationFinder, Relations};

/// Expanding sphere that considers the members of the last tick's largest relations first.
#[derive(Clone, Debug, Default)]
pub struct OrderedRelations {
    search: SphereSearch,
    order: RelationOrder,
}

/// The order in which objects are considered: `SU*` in the paper.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelationOrder {
    /// All objects by the last tick's relations; empty before the first tick.
    rows: Vec<u32>,
    is_listed: Vec<bool>,
    /// Scratch: the relations by size.
    sorted: Vec<u32>,
    has_sorted: bool,
}

impl OrderedRelations {
    /// A finder without an order for its first tick.
    pub fn new() -> OrderedRelations {
        OrderedRelations::default()
    }
}

impl RelationFinder for OrderedRelations {
    fn relations(&mut self, auras: &Spheres, relations: &mut Relations) -> Comparisons {
        let columns = auras.columns();
        self.search.start(auras.rows());
        self.order.complete(auras);
        for &row in &self.order.rows {
            self.search.consider_all(row, &columns);
        }
        self.order.follow(&self.search, auras.rows());
        self.search.write(relations);
        self.search.comparisons
    }
}

impl RelationOrder {
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Removes objects that are gone and appends new ones.
    pub fn complete(&mut self, auras: &Spheres) {
        self.is_listed.clear();
        self.is_listed.resize(auras.rows(), false);
        let is_listed = &mut self.is_listed;
        self.rows.retain(|&row| {
            let is_alive = auras.alive().contains(row as usize);
            if is_alive {
                is_listed[row as usize] = true;
            }
            is_alive
        });
        self.rows.extend(auras.alive().iter().filter(|&row| !is_listed[row]).map(|row| row as u32));
    }

    /// Computes the order for the next tick.
    pub fn follow(&mut self, search: &SphereSearch, rows: usize) {
        let found = &search.found;
        let size = |index: u32| found[index as usize].members.len();
        self.sorted.clear();
        self.sorted.extend(0..found.len() as u32);
        if self.has_sorted {
            // They were found nearly in order.
            insertion_sort(&mut self.sorted, |one, other| size(one) < size(other));
        } else {
            self.sorted.sort_by_key(|&index| std::cmp::Reverse(size(index)));
            self.has_sorted = true;
        }
        self.is_listed.clear();
        self.is_listed.resize(rows, false);
        self.rows.clear();
        for &index in &self.sorted {
            for &row in &found[index as usize].members {
                if !std::mem::replace(&mut self.is_listed[row as usize], true) {
                    self.rows.push(row);
                }
            }
        }
    }
}

/// Insertion sort, for lists that are nearly sorted. `belongs_behind(one, other)`: whether `one` comes after `other`.
pub(crate) fn insertion_sort<T: Copy>(list: &mut [T], belongs_behind: impl Fn(T, T) -> bool) {
    for index in 1..list.len() {
        let item = list[index];
        let mut place = index;
        while place > 0 && belongs_behind(list[place - 1], item) {
            list[place] = list[place - 1];
            place -= 1;
        }
        list[place] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertion_sort_sorts_and_keeps_equals_in_order() {
        let mut list = [(3, 'a'), (1, 'b'), (2, 'c'), (3, 'd'), (1, 'e')];
        insertion_sort(&mut list, |one, other| one.0 > other.0);
        assert_eq!(list, [(1, 'b'), (1, 'e'), (2, 'c'), (3, 'a'), (3, 'd')]);
    }
}

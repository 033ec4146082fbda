//! Expanding sphere with ordered relations, of paper 000, section 3.2.
//!
//! The larger the relations that are found early, the more comparisons they spare. Objects move little from tick to
//! tick, so objects are considered in the order of the last tick's relations, the largest first.

use space::Spheres;

use super::expanding_sphere::SphereSearch;
use super::{Comparisons, RelationFinder, Relations};

/// Expanding sphere, with the last tick's largest relations first.
#[derive(Clone, Debug, Default)]
pub struct OrderedRelations {
    search: SphereSearch,
    order: RelationOrder,
}

/// In which order objects are considered: `SU*`, in the paper's words.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelationOrder {
    /// Objects by the last tick's relations, each once; empty before the first tick.
    rows: Vec<u32>,
    is_listed: Vec<bool>,
    /// Scratch: the relations by size.
    sorted: Vec<u32>,
    has_sorted: bool,
}

impl OrderedRelations {
    /// A finder that has seen nothing yet: its first tick has no order.
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
    /// The objects in their order.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Drops who is gone, and puts who is new at the end.
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

    /// The order for the next tick, from this one's relations.
    pub fn follow(&mut self, search: &SphereSearch, rows: usize) {
        let found = &search.found;
        let size = |index: u32| found[index as usize].members.len();
        self.sorted.clear();
        self.sorted.extend(0..found.len() as u32);
        if self.has_sorted {
            // They were found in the last tick's order, which is nearly right still.
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

/// Quick where little is out of place. `belongs_behind(one, other)`: whether `one` must stand behind `other`.
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

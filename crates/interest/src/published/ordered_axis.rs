//! Ordered axis, of paper 000, section 3.3: only objects whose intervals on the x axis overlap are compared.
//!
//! ```text
//! a ├────────┤
//! b     ├────────┤            overlap relations: {a, b}, {b, c}: each is complete at the
//! c            ├─────┤        first end after a beginning
//! ```
//!
//! The ends of all intervals are kept sorted from tick to tick and swept. Each overlap relation, a maximal set of
//! objects whose intervals overlap, is searched by expanding sphere. An object is considered once per tick, and
//! compared only with relations that have a member with an open interval.
//!
//! Invariant, during a sweep: `active[relation]` is the number of a relation's members with an open interval, and
//! `near` holds every relation for which that is not zero.

use space::Spheres;

use super::expanding_sphere::SphereSearch;
use super::ordered_relations::{RelationOrder, insertion_sort};
use super::{Comparisons, RelationFinder, Relations};

/// Expanding sphere within overlap relations.
#[derive(Clone, Debug, Default)]
pub struct OrderedAxis {
    /// If there is one, the objects of an overlap relation are considered in the order of the last tick's relations.
    order: Option<RelationOrder>,
    /// The place of each row in that order.
    ranks: Vec<u32>,
    ends: Vec<End>,
    /// Whether a row's ends are in `ends`.
    known: Vec<bool>,
    search: SphereSearch,
    relations_of: Vec<Vec<u32>>,
    active: Vec<u32>,
    near: Vec<u32>,
    /// The objects whose intervals began since the last overlap relation.
    fresh: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    place: f64,
    row: u32,
    begins: bool,
}

impl OrderedAxis {
    /// The algorithm of the paper.
    pub fn new() -> OrderedAxis {
        OrderedAxis::default()
    }

    /// The same with ordered relations: objects of the last tick's largest relations are considered first.
    pub fn with_ordered_relations() -> OrderedAxis {
        OrderedAxis { order: Some(RelationOrder::default()), ..OrderedAxis::default() }
    }

    /// Updates and sorts the ends.
    fn sort(&mut self, auras: &Spheres) {
        let columns = auras.columns();
        let end = |row: u32, begins: bool| {
            let radius = f64::from(columns.radius[row as usize]) * (1.0 + 1e-6);
            f64::from(columns.x[row as usize]) + if begins { -radius } else { radius }
        };
        self.known.clear();
        self.known.resize(auras.rows(), false);
        let known = &mut self.known;
        self.ends.retain_mut(|point| {
            let is_alive = auras.alive().contains(point.row as usize);
            if is_alive {
                point.place = end(point.row, point.begins);
                known[point.row as usize] = true;
            }
            is_alive
        });
        let kept = self.ends.len();
        for row in auras.alive().iter().filter(|&row| !known[row]).map(|row| row as u32) {
            self.ends.extend([true, false].map(|begins| End { place: end(row, begins), row, begins }));
        }
        if self.ends.len() > 2 * kept {
            self.ends.sort_by(|one, other| one.place.total_cmp(&other.place));
        } else {
            insertion_sort(&mut self.ends, |one, other| one.place > other.place);
        }
    }

    fn sweep(&mut self, auras: &Spheres) {
        let columns = auras.columns();
        self.search.start(auras.rows());
        self.relations_of.iter_mut().for_each(Vec::clear);
        self.relations_of.resize(auras.rows(), Vec::new());
        self.active.clear();
        self.near.clear();
        self.fresh.clear();
        for index in 0..self.ends.len() {
            let End { row, begins, .. } = self.ends[index];
            if begins {
                self.fresh.push(row);
                continue;
            }
            // The first end after a beginning completes an overlap relation.
            if !self.fresh.is_empty() {
                if self.order.is_some() {
                    self.fresh.sort_unstable_by_key(|&row| self.ranks[row as usize]);
                }
                let active = &self.active;
                self.near.retain(|&relation| active[relation as usize] > 0);
                for place in 0..self.fresh.len() {
                    self.search.consider(self.fresh[place], &columns, &self.near);
                    self.note(self.fresh[place]);
                }
                self.fresh.clear();
            }
            for &relation in &self.relations_of[row as usize] {
                self.active[relation as usize] -= 1;
            }
        }
    }

    /// Notes the relations of the considered object, and the members of new relations.
    fn note(&mut self, row: u32) {
        for &relation in &self.search.grown {
            self.relations_of[row as usize].push(relation);
            self.active[relation as usize] += 1;
        }
        for relation in self.active.len()..self.search.found.len() {
            let members = &self.search.found[relation].members;
            members.iter().for_each(|&member| self.relations_of[member as usize].push(relation as u32));
            // All members overlap the object, so their intervals are open.
            self.active.push(members.len() as u32);
            self.near.push(relation as u32);
        }
    }
}

impl RelationFinder for OrderedAxis {
    fn relations(&mut self, auras: &Spheres, relations: &mut Relations) -> Comparisons {
        self.sort(auras);
        if let Some(order) = &mut self.order {
            order.complete(auras);
            self.ranks.clear();
            self.ranks.resize(auras.rows(), 0);
            for (rank, &row) in order.rows().iter().enumerate() {
                self.ranks[row as usize] = rank as u32;
            }
        }
        self.sweep(auras);
        if let Some(order) = &mut self.order {
            order.follow(&self.search, auras.rows());
        }
        self.search.write(relations);
        self.search.comparisons
    }
}

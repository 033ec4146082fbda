//! All relations of a world at today's scale: from the broad phase's pairs, component by component, only where pairs
//! changed.
//!
//! A relation lies within one connected component of the intersection graph, so a component whose pairs did not change
//! keeps its relations. The others are gathered anew ([`components`]) and enumerated by Bron and Kerbosch's method over
//! bitsets, large ones vertex by vertex in degeneracy order ([`search`]). A component can have exponentially many
//! relations; past its budget it is a [`Crowd`](crate::Crowd).
//!
//! Invariants, after an update:
//! - Whoever has a neighbour has a `place` with its component's *head*, the lowest slot; whoever has none has none.
//! - The list of a head holds its component's relations, each as its length and its members; that of a crowd holds a zero
//!   and all members. No other list holds anything.

mod components;
mod quotient;
mod search;

use rayon::prelude::*;
use space::bits::Bits;
use space::{BroadPhase, Kinesphere, Pair, Slot, Spheres};

use self::components::Components;
use self::search::{Outcome, Search, ones};
use crate::lists::Lists;
use crate::{Comparisons, Graph, RelationFinder, Relations};

/// So many words of 64 rows are written at once: what they need of the lists fits into the cache.
const BLOCK: usize = 64;

/// So many neighbours of each object are fetched ahead. Where there are more of them, they are mostly the same ones: to
/// fetch them all, for each pair that changed, would take longer than what it is for.
const FETCHED: usize = 2;

/// How much a component may take, for each of its members, before it is a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Words of bitsets looked at: a thousand or two per microsecond.
    pub work: u64,
    /// Members of relations listed: four bytes each.
    pub memberships: u64,
}

/// The relations of a world, kept up to date.
///
/// ```
/// use interest::{Cliques, Graph};
/// use space::{Pair, Slot};
///
/// let mut graph = Graph::new();
/// graph.update(&[Pair::of_rows(0, 1), Pair::of_rows(0, 2), Pair::of_rows(1, 2), Pair::of_rows(2, 3)], &[]);
/// let mut cliques = Cliques::new();
/// cliques.update(&graph);
/// let relations: Vec<Vec<u32>> = cliques.iter().map(|relation| relation.iter().map(|slot| slot.number()).collect()).collect();
/// assert_eq!(relations, [vec![0, 1, 2], vec![2, 3]]);
/// ```
#[derive(Debug)]
pub struct Cliques {
    budget: Budget,
    threads: usize,
    components: Components,
    lists: Lists<Slot>,
    /// Relations of more than one member, and the components that are crowds.
    relations: usize,
    crowds: usize,
    /// How many components the last update had to look at.
    renewed: usize,
    searches: Vec<Search>,
    /// Scratch: of the components that changed.
    heads: Vec<Slot>,
}

/// [`Cliques`] with their own broad phase: the finder to use when relations are all one wants.
#[derive(Debug)]
pub struct CliqueFinder {
    broad_phase: Kinesphere,
    pairs: Vec<Pair>,
    graph: Graph,
    cliques: Cliques,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { work: 1 << 14, memberships: 1 << 10 }
    }
}

impl Cliques {
    /// Of a world without pairs, with the default budget, for one thread.
    pub fn new() -> Cliques {
        Cliques::with(Budget::default(), 1)
    }

    /// With a budget, and so many threads of the current rayon pool. The result is the same for any number of threads.
    pub fn with(budget: Budget, threads: usize) -> Cliques {
        Cliques {
            budget,
            threads: threads.max(1),
            components: Components::default(),
            lists: Lists::new(),
            relations: 0,
            crowds: 0,
            renewed: 0,
            searches: Vec::new(),
            heads: Vec::new(),
        }
    }

    /// Follows the graph's last update. Every update of the graph must be followed by one of these, or
    /// [`restart`](Cliques::restart) called.
    pub fn update(&mut self, graph: &Graph) {
        let touched = || graph.ended().iter().chain(graph.began()).flat_map(|pair| [pair.a(), pair.b()]);
        let mut heads = std::mem::take(&mut self.heads);
        heads.clear();
        self.components.fetch(touched());
        heads.extend(touched().filter_map(|slot| self.components.forget(slot)));
        self.lists.fetch(heads.iter().map(|head| head.row()));
        heads.iter().for_each(|&head| self.drop_list(head));
        self.heads = heads;
        graph.fetch(touched());
        self.components.fetch(touched().flat_map(|slot| graph.neighbours(slot).iter().take(FETCHED).copied()));
        self.components.gather(graph, touched());
        self.renew(graph);
    }

    /// Begins anew with a graph whose changes were not followed.
    pub fn restart(&mut self, graph: &Graph) {
        *self = Cliques::with(self.budget, self.threads);
        self.components.gather(graph, (0..graph.rows() as u32).map(Slot::new));
        self.renew(graph);
    }

    /// The relations of two members and more, by their component's lowest slot. Whoever has no neighbour is a relation of
    /// its own and not in here.
    pub fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        (0..self.lists.rows()).flat_map(|head| Listed { rest: self.lists.get(head) }).filter_map(|entry| match entry {
            Entry::Relation(members) => Some(members),
            Entry::Crowd(_) => None,
        })
    }

    /// The members of components that had too many relations to be listed, ascending.
    pub fn crowds(&self) -> impl Iterator<Item = &[Slot]> {
        (0..self.lists.rows()).flat_map(|head| Listed { rest: self.lists.get(head) }).filter_map(|entry| match entry {
            Entry::Relation(_) => None,
            Entry::Crowd(members) => Some(members),
        })
    }

    /// How many relations of two members and more there are.
    pub fn len(&self) -> usize {
        self.relations
    }

    /// Whether nobody overlaps anybody, crowds apart.
    pub fn is_empty(&self) -> bool {
        self.relations == 0
    }

    /// How many components are crowds.
    pub fn crowds_len(&self) -> usize {
        self.crowds
    }

    /// How many components the last update had to look at: all others kept their relations.
    pub fn renewed(&self) -> usize {
        self.renewed
    }

    /// Writes all relations of a world, those of one member too.
    pub fn write(&self, auras: &Spheres, relations: &mut Relations) {
        relations.clear();
        let word = |bits: &Bits, index: usize| bits.words().get(index).copied().unwrap_or(0);
        let (connected, leading) = (self.components.connected(), self.components.leading());
        for (index, &alive) in auras.alive().words().iter().enumerate() {
            relations.push_alone(index as u32 * 64, alive & !word(connected, index));
        }
        for start in (0..leading.words().len()).step_by(BLOCK) {
            let end = leading.words().len().min(start + BLOCK);
            let heads = (start..end).flat_map(|index| ones(word(leading, index)).map(move |bit| index * 64 + bit));
            self.lists.fetch(heads.clone());
            for entry in heads.flat_map(|head| Listed { rest: self.lists.get(head) }) {
                match entry {
                    Entry::Relation(members) => relations.push(members),
                    Entry::Crowd(members) => relations.push_crowd(members),
                }
            }
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        4 * self.heads.capacity()
            + self.components.bytes()
            + self.lists.bytes()
            + self.searches.iter().map(Search::bytes).sum::<usize>()
    }

    fn drop_list(&mut self, head: Slot) {
        let list = self.lists.get(head.row());
        for entry in (Listed { rest: list }) {
            match entry {
                Entry::Relation(_) => self.relations -= 1,
                Entry::Crowd(_) => self.crowds -= 1,
            }
        }
        if !list.is_empty() {
            self.lists.replace(head.row(), &[]);
        }
    }

    /// Enumerates the components that were gathered.
    fn renew(&mut self, graph: &Graph) {
        let Cliques { components, lists, searches, budget, threads, .. } = self;
        let all = components.gathered();
        self.renewed = all.len();
        let shares = if all.len() < 64 { 1 } else { *threads };
        searches.resize_with(shares, Search::default);
        let share = all.len().div_ceil(shares).max(1);
        let components = &*components;
        let work = |(search, mine): (&mut Search, &[components::Range])| {
            search.start();
            for &range in mine {
                search.enumerate(components.members(range), components, graph, *budget);
            }
        };
        if shares == 1 {
            work((&mut searches[0], all));
        } else {
            searches.par_iter_mut().zip(all.par_chunks(share)).for_each(work);
        }
        for (search, mine) in searches.iter().zip(all.chunks(share)) {
            for (&range, (outcome, list)) in mine.iter().zip(search.outcomes()) {
                match outcome {
                    Outcome::Listed { relations } => self.relations += relations,
                    Outcome::Crowd => self.crowds += 1,
                }
                lists.replace(components.members(range)[0].row(), list);
            }
        }
        searches.iter_mut().for_each(Search::release);
    }
}

impl Default for Cliques {
    fn default() -> Cliques {
        Cliques::new()
    }
}

impl CliqueFinder {
    /// A finder that has seen nothing yet, with the default budget, for one thread.
    pub fn new() -> CliqueFinder {
        CliqueFinder::with(Budget::default(), 1)
    }

    /// With a budget, and so many threads of the current rayon pool.
    pub fn with(budget: Budget, threads: usize) -> CliqueFinder {
        CliqueFinder {
            broad_phase: Kinesphere::with_threads(threads.max(1)).tracking_changes(),
            pairs: Vec::new(),
            graph: Graph::new(),
            cliques: Cliques::with(budget, threads),
        }
    }

    /// The pairs of the last tick.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The relations of the last tick, where they are kept.
    pub fn cliques(&self) -> &Cliques {
        &self.cliques
    }
}

impl Default for CliqueFinder {
    fn default() -> CliqueFinder {
        CliqueFinder::new()
    }
}

impl RelationFinder for CliqueFinder {
    fn relations(&mut self, auras: &Spheres, relations: &mut Relations) -> Comparisons {
        let work = self.broad_phase.pairs(auras, &mut self.pairs);
        self.graph.update(self.broad_phase.began(), self.broad_phase.ended());
        self.cliques.update(&self.graph);
        self.cliques.write(auras, relations);
        Comparisons { raw: work.sphere_tests, distinct: work.sphere_tests }
    }
}

/// What a list holds.
enum Entry<'a> {
    Relation(&'a [Slot]),
    Crowd(&'a [Slot]),
}

/// Walks through a list.
struct Listed<'a> {
    rest: &'a [Slot],
}

impl<'a> Iterator for Listed<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        let (len, rest) = self.rest.split_first()?;
        if len.number() == 0 {
            self.rest = &[];
            return Some(Entry::Crowd(rest));
        }
        let (members, rest) = rest.split_at(len.row());
        self.rest = rest;
        Some(Entry::Relation(members))
    }
}

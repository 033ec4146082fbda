//! All relations of a world at today's scale: from the broad phase's pairs, object by object, only where pairs changed.
//!
//! A relation is found at its lowest member, among that member's neighbours ([`search`]). So a pair that begins or ends
//! concerns its two ends and those who overlap both; everybody else keeps what was found ([`touched`]). However large a
//! component is, it is mended where it changed. An object can have exponentially many relations; a component whose members
//! exceed their budget is a [`Crowd`](crate::Crowd) ([`crowds`]).
//!
//! Invariants, after an update:
//! - The list of a slot holds the relations of which it is the lowest member, one after the other, each ascending. So a
//!   relation begins wherever the slot itself is. Members of a crowd have no lists.
//! - `leading` has those whose list is not empty, `connected` those who have a neighbour.

mod allowance;
mod crowds;
mod narrow;
mod search;
mod touched;
mod twins;
mod wide;

use rayon::prelude::*;
use space::bits::Bits;
use space::{BroadPhase, Kinesphere, Pair, Slot, Spheres};

use self::allowance::Allowance;
use self::crowds::Crowds;
use self::narrow::ones;
use self::search::Search;
use self::touched::Touched;
use crate::lists::Lists;
use crate::{Comparisons, Graph, RelationFinder, Relations};

/// So many words of 64 rows are written at once: what they need of the lists fits into the cache.
const BLOCK: usize = 64;

/// Fewer objects than this are searched by one thread.
const SHARED_MIN: usize = 256;

/// So many who exceed their own share look like a crowd: the rest is searched one by one, until it is one.
const HEAVY_MANY: usize = 8;

/// How much a component may take, for each of its members, before it is a crowd.
///
/// Whoever takes no more than that is not counted; all others together may take what all members have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Words of bitsets looked at: a thousand per microsecond, or a hundred where somebody has hundreds of neighbours.
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
    /// The update of the graph that was followed last.
    followed: u64,
    connected: Bits,
    leading: Bits,
    lists: Lists<Slot>,
    /// Relations of more than one member.
    relations: usize,
    crowds: Crowds,
    touched: Touched,
    searches: Vec<Search>,
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
            followed: 0,
            connected: Bits::new(),
            leading: Bits::new(),
            lists: Lists::new(),
            relations: 0,
            crowds: Crowds::default(),
            touched: Touched::default(),
            searches: Vec::new(),
        }
    }

    /// Follows the graph's last update; who missed one begins anew. It is the same graph every time: for another one,
    /// [`restart`](Cliques::restart).
    pub fn update(&mut self, graph: &Graph) {
        if !(self.followed..=self.followed + 1).contains(&graph.updates()) {
            return self.restart(graph);
        }
        self.followed = graph.updates();
        let ends = || graph.ended().iter().chain(graph.began()).flat_map(|pair| [pair.a(), pair.b()]);
        graph.fetch(ends());
        self.touched.follow(graph);
        for end in ends() {
            if graph.neighbours(end).is_empty() {
                self.connected.remove(end.row());
            } else {
                self.connected.insert(end.row());
            }
        }
        if !self.crowds.is_empty() {
            ends().for_each(|end| self.dissolve(end));
        }
        self.renew(graph);
    }

    /// Begins anew with a graph whose changes were not followed.
    pub fn restart(&mut self, graph: &Graph) {
        *self = Cliques { followed: graph.updates(), ..Cliques::with(self.budget, self.threads) };
        self.touched.begin_anew(graph);
        self.touched.slots().iter().for_each(|slot| self.connected.insert(slot.row()));
        self.renew(graph);
    }

    /// The relations of two members and more, by their lowest members. Whoever has no neighbour is a relation of its own
    /// and not in here.
    pub fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.leading.iter().flat_map(|row| relations_of(row, self.lists.get(row)))
    }

    /// The members of components that had too many relations to be listed, ascending.
    pub fn crowds(&self) -> impl Iterator<Item = &[Slot]> {
        self.crowds.iter()
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
        self.crowds.len()
    }

    /// How many objects the last update had to look at: all others kept their relations.
    pub fn renewed(&self) -> usize {
        self.touched.slots().len() + self.touched.slots_put_off().len()
    }

    /// Writes all relations of a world, those of one member too.
    pub fn write(&self, auras: &Spheres, relations: &mut Relations) {
        relations.clear();
        let word = |bits: &Bits, index: usize| bits.words().get(index).copied().unwrap_or(0);
        for (index, &alive) in auras.alive().words().iter().enumerate() {
            relations.push_alone(index as u32 * 64, alive & !word(&self.connected, index));
        }
        let mut rows = Vec::with_capacity(BLOCK * 64);
        for (block, words) in self.leading.words().chunks(BLOCK).enumerate() {
            rows.clear();
            for (index, &word) in words.iter().enumerate() {
                rows.extend(ones(word).map(|bit| (block * BLOCK + index) * 64 + bit));
            }
            self.lists.fetch(rows.iter().copied());
            rows.iter().for_each(|&row| relations.push_all(Slot::new(row as u32), self.lists.get(row)));
        }
        self.crowds.iter().for_each(|members| relations.push_crowd(members));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.connected.bytes()
            + self.leading.bytes()
            + self.lists.bytes()
            + self.crowds.bytes()
            + self.touched.bytes()
            + self.searches.iter().map(Search::bytes).sum::<usize>()
    }

    /// Takes apart the component of a slot, if somebody heavy is in it: it has changed.
    fn dissolve(&mut self, slot: Slot) {
        if let Some(component) = self.crowds.remove(slot) {
            if component.is_crowd {
                // It may well be one again, and that is seen soonest where they are searched one by one.
                component.members.iter().for_each(|&member| self.touched.put_off(member));
            } else {
                component.heavy.iter().for_each(|&member| self.touched.add(member));
            }
        }
    }

    /// Finds the relations of those who were touched.
    fn renew(&mut self, graph: &Graph) {
        let Cliques { touched, lists, searches, budget, threads, .. } = self;
        lists.fetch(touched.slots().iter().map(|slot| slot.row()));
        touched.leave_out(|slot| lists.get(slot.row()).is_empty());
        let all = touched.slots();
        let shares = if all.len() < SHARED_MIN { 1 } else { *threads };
        searches.resize_with(*threads, Search::default);
        searches.iter_mut().for_each(Search::forget);
        let share = all.len().div_ceil(shares).max(1);
        let work = |(search, mine): (&mut Search, &[Slot])| {
            search.start(graph);
            for &slot in mine {
                if search.exhausted().len() == HEAVY_MANY {
                    break;
                }
                search.search(slot, graph, &mut Allowance::alone(*budget));
            }
        };
        if shares == 1 {
            work((&mut searches[0], all));
        } else {
            searches.par_iter_mut().zip(all.par_chunks(share)).for_each(work);
        }
        let mut searches = std::mem::take(&mut self.searches);
        let mut unsearched = Vec::new();
        for (search, first) in searches.iter().zip((0..).step_by(share)).take(shares) {
            let mine = first..(first + share).min(self.touched.slots().len());
            for (index, (list, witness)) in mine.clone().zip(search.found()) {
                let slot = self.touched.slots()[index];
                self.touched.set_witness(slot, witness);
                self.replace(slot, list);
            }
            unsearched.extend_from_slice(&self.touched.slots()[mine][search.found().count()..]);
        }
        let heavy: Vec<Slot> = searches.iter().flat_map(Search::exhausted).copied().collect();
        heavy.into_iter().for_each(|slot| self.settle(slot, &mut searches[0], graph));
        unsearched.extend_from_slice(self.touched.slots_put_off());
        unsearched.into_iter().for_each(|slot| self.search_cautiously(slot, &mut searches[0], graph));
        searches.iter_mut().for_each(Search::release);
        self.searches = searches;
    }

    /// Finds the relations of somebody who may be in a crowd.
    fn search_cautiously(&mut self, slot: Slot, search: &mut Search, graph: &Graph) {
        if self.crowds.contains(slot) {
            return;
        }
        search.forget();
        search.search(slot, graph, &mut Allowance::alone(self.budget));
        if search.exhausted().is_empty() {
            for (list, witness) in search.found() {
                self.touched.set_witness(slot, witness);
                self.replace(slot, list);
            }
        } else {
            self.settle(slot, search, graph);
        }
    }

    /// Finds the relations of somebody heavy, or makes its component a crowd.
    fn settle(&mut self, slot: Slot, search: &mut Search, graph: &Graph) {
        let component = self.crowds.of(slot, graph, self.budget);
        if component.is_crowd {
            return;
        }
        search.forget();
        search.search(slot, graph, &mut component.allowance);
        component.is_crowd = !search.exhausted().is_empty();
        if component.is_crowd {
            let members = component.members.clone();
            self.crowds.count();
            members.into_iter().for_each(|member| self.replace(member, &[]));
        } else {
            component.heavy.push(slot);
            search.found().for_each(|(list, _)| self.replace(slot, list));
        }
    }

    /// Gives an object other relations.
    fn replace(&mut self, slot: Slot, list: &[Slot]) {
        let old = self.lists.get(slot.row());
        if old == list {
            return;
        }
        let count = |list: &[Slot]| list.iter().filter(|&&member| member == slot).count();
        self.relations = self.relations + count(list) - count(old);
        self.lists.replace(slot.row(), list);
        if list.is_empty() {
            self.leading.remove(slot.row());
        } else {
            self.leading.insert(slot.row());
        }
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

/// The relations in the list of a row: each begins with the row's own slot.
fn relations_of(row: usize, list: &[Slot]) -> impl Iterator<Item = &[Slot]> {
    list.chunk_by(move |_, member| member.row() != row)
}

//! The relations of a world of a million objects, from the broad phase's pairs, updated only where pairs changed.
//!
//! ```text
//! changed pairs ─▶ touched objects ─▶ search: the relations of which each is the lowest member
//!                                        └─ over its quota: its component shares one, or is a crowd
//! ```
//!
//! A relation is found at its lowest member, among that member's neighbours ([`search`]). So a changed
//! pair touches its two ends and their common neighbours only ([`touched`]), however large the
//! component is. An object can have exponentially many relations; a component that exceeds its budget
//! is a crowd ([`crowds`]).
//!
//! Invariants, after an update:
//! - The list of a slot holds the relations of which it is the lowest member, one after the other, each ascending. So
//!   each begins at an entry of the slot itself. Members of a crowd have no lists.
//! - `leading` holds the slots with a list, `connected` those with a neighbour.

mod crowds;
mod narrow;
mod quota;
mod search;
mod touched;
mod twins;
mod wide;

use space::bits::Bits;
use space::{BroadPhase, Kinesphere, Pair, Slot, Spheres};

use self::crowds::Crowds;
use self::quota::Quota;
use self::search::CliqueSearch;
use self::touched::Touched;
use super::{Comparisons, RelationFinder, Relations};
use crate::Graph;
use crate::lists::Lists;

/// Once this many objects exceed their quota, there is probably a crowd, and the rest is searched one by one.
const HEAVY_MANY: usize = 8;

/// The work and memory that a component may take per member before it is a crowd. Members within their own share are
/// not counted; the others share that of all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// In words of bitsets: about a thousand per microsecond, or a hundred if objects have hundreds of neighbours.
    pub work: u64,
    /// In members of relations, of four bytes each.
    pub memberships: u64,
}

/// The relations of a world, kept up to date.
///
/// ```
/// use kinesphere_interest::Graph;
/// use kinesphere_interest::published::Cliques;
/// use space::{Pair, Slot};
///
/// let mut graph = Graph::new();
/// graph.update(&[Pair::of_rows(0, 1), Pair::of_rows(0, 2), Pair::of_rows(1, 2), Pair::of_rows(2, 3)], &[]);
/// let mut cliques = Cliques::new();
/// cliques.update(&graph);
/// let rows = |relation: &[Slot]| relation.iter().map(|slot| slot.number()).collect::<Vec<u32>>();
/// assert_eq!(cliques.iter().map(rows).collect::<Vec<_>>(), [vec![0, 1, 2], vec![2, 3]]);
/// ```
#[derive(Debug, Default)]
pub struct Cliques {
    budget: Budget,
    /// The number of the graph's update that was followed last.
    followed: u64,
    connected: Bits,
    leading: Bits,
    lists: Lists<Slot>,
    /// The number of relations of more than one member.
    relations: usize,
    crowds: Crowds,
    touched: Touched,
    search: CliqueSearch,
}

/// [`Cliques`] with a broad phase of their own.
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
    /// For a world without pairs, with the default budget.
    pub fn new() -> Cliques {
        Cliques::default()
    }

    /// For a world without pairs.
    pub fn with(budget: Budget) -> Cliques {
        Cliques { budget, ..Cliques::default() }
    }

    /// Follows the graph's last update, or begins anew if an update was missed. It must always be the same graph; for
    /// another one, call [`restart`](Cliques::restart).
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
        *self = Cliques { followed: graph.updates(), ..Cliques::with(self.budget) };
        self.touched.begin_anew(graph);
        self.touched.slots().iter().for_each(|slot| self.connected.insert(slot.row()));
        self.renew(graph);
    }

    /// The relations of two or more members, by lowest member.
    pub fn iter(&self) -> impl Iterator<Item = &[Slot]> {
        self.leading.iter().flat_map(|row| relations_of(row, self.lists.get(row)))
    }

    /// The members of each crowd, ascending.
    pub fn crowds(&self) -> impl Iterator<Item = &[Slot]> {
        self.crowds.iter()
    }

    /// The number of relations of two or more members.
    pub fn len(&self) -> usize {
        self.relations
    }

    pub fn is_empty(&self) -> bool {
        self.relations == 0
    }

    pub fn crowds_len(&self) -> usize {
        self.crowds.len()
    }

    /// The number of objects that the last update searched.
    pub fn renewed(&self) -> usize {
        self.touched.slots().len() + self.touched.slots_put_off().len()
    }

    /// Writes all relations of a world, including those of one member.
    pub fn write(&self, auras: &Spheres, relations: &mut Relations) {
        relations.clear();
        let alone = auras.slots().filter(|slot| !self.connected.contains(slot.row()));
        relations.alone.extend(alone);
        self.iter().for_each(|relation| relations.push(relation));
        relations.crowds.extend(self.crowds.iter().map(<[Slot]>::to_vec));
    }

    /// Forgets the component of a slot whose pairs changed, if it has heavy objects.
    fn dissolve(&mut self, slot: Slot) {
        if let Some(component) = self.crowds.remove(slot) {
            if component.is_crowd {
                // It may be a crowd again: searched one by one, its members show that soonest.
                component.members.iter().for_each(|&member| self.touched.put_off(member));
            } else {
                component.heavy.iter().for_each(|&member| self.touched.add(member));
            }
        }
    }

    /// Searches the relations of all touched objects.
    fn renew(&mut self, graph: &Graph) {
        let Cliques { touched, lists, budget, .. } = self;
        lists.fetch(touched.slots().iter().map(|slot| slot.row()));
        touched.leave_out(|slot| lists.get(slot.row()).is_empty());
        let mut search = std::mem::take(&mut self.search);
        search.start(graph);
        for &slot in touched.slots() {
            if search.exhausted().len() == HEAVY_MANY {
                break;
            }
            search.search(slot, graph, &mut Quota::alone(*budget));
        }
        let mut unsearched = self.touched.slots()[search.found().count()..].to_vec();
        for (index, (list, witness)) in search.found().enumerate() {
            let slot = self.touched.slots()[index];
            self.touched.set_witness(slot, witness);
            self.replace(slot, list);
        }
        let heavy = search.exhausted().to_vec();
        heavy.into_iter().for_each(|slot| self.settle(slot, &mut search, graph));
        unsearched.extend_from_slice(self.touched.slots_put_off());
        unsearched.into_iter().for_each(|slot| self.search_cautiously(slot, &mut search, graph));
        search.release();
        self.search = search;
    }

    /// Searches the relations of an object that may be in a crowd.
    fn search_cautiously(&mut self, slot: Slot, search: &mut CliqueSearch, graph: &Graph) {
        if self.crowds.contains(slot) {
            return;
        }
        search.forget();
        search.search(slot, graph, &mut Quota::alone(self.budget));
        if search.exhausted().is_empty() {
            for (list, witness) in search.found() {
                self.touched.set_witness(slot, witness);
                self.replace(slot, list);
            }
        } else {
            self.settle(slot, search, graph);
        }
    }

    /// Searches the relations of a heavy object, or makes its component a crowd.
    fn settle(&mut self, slot: Slot, search: &mut CliqueSearch, graph: &Graph) {
        let component = self.crowds.of(slot, graph, self.budget);
        if component.is_crowd {
            return;
        }
        search.forget();
        search.search(slot, graph, &mut component.quota);
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

    /// Replaces the relations of an object.
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

impl CliqueFinder {
    /// A finder with the default budget.
    pub fn new() -> CliqueFinder {
        CliqueFinder::with(Budget::default())
    }

    pub fn with(budget: Budget) -> CliqueFinder {
        CliqueFinder {
            broad_phase: Kinesphere::new().tracking_changes(),
            pairs: Vec::new(),
            graph: Graph::new(),
            cliques: Cliques::with(budget),
        }
    }

    /// The pairs of the last tick.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
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

//! Maximal cliques of one component: Bron and Kerbosch's method with a pivot, over bitsets.
//!
//! Twins, who overlap each other and exactly the same others, are in the same relations: those who stand at one point are
//! one vertex ([`quotient`](super::quotient)). Up to 64 vertices, a component is one word per vertex. A larger one is taken
//! apart: its vertices in degeneracy order, in which each has few that come later, and for each of them the cliques whose
//! earliest member it is, among its neighbours alone. Where it has more than 64 neighbours, bitsets are of several words,
//! and the search keeps its own stack: a clique of thousands is as many levels deep.

use space::Slot;

use super::Budget;
use super::components::Components;
use super::quotient::Quotient;
use crate::Graph;

/// The search for relations, and what was found in one component after the other.
#[derive(Debug, Default)]
pub struct Search {
    /// Each component's relations as their length and members; of a crowd, a zero and all members.
    lists: Vec<Slot>,
    outcomes: Vec<(Outcome, u32)>,
    allowance: Allowance,
    relations: usize,
    /// Neighbours of each vertex, as bits.
    rows: Vec<u64>,
    /// The levels of a deep search, one after the other.
    stack: Vec<u64>,
    chosen: Vec<u32>,
    quotient: Quotient,
    order: Degeneracy,
    /// For each vertex of the component its number among the neighbours of the vertex at hand, and the bit of that number
    /// where there are few; none where it is no neighbour.
    numbers: Vec<u32>,
    bits: Vec<u64>,
}

/// How the search in a component ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All relations were found.
    Listed {
        /// How many.
        relations: usize,
    },
    /// There are too many.
    Crowd,
}

/// What is left of a budget.
#[derive(Clone, Copy, Debug, Default)]
struct Allowance {
    work: u64,
    memberships: u64,
}

/// Where a search takes place.
struct Around<'a> {
    quotient: &'a Quotient,
    /// The vertex among whose neighbours it is, which are numbered by their place in its list; or all are.
    first: Option<u32>,
}

/// The budget is used up.
struct Exhausted;

/// No budget allows a component more memberships than this: its list has to be one that can be kept.
const LISTED_MAX: u64 = 1 << 26;

/// So much memory is kept from tick to tick: a crowd of thousands takes more, and is gone some day.
const KEPT_BYTES: usize = 16 << 20;

/// Not a neighbour.
const NONE: u32 = u32::MAX;

impl Search {
    /// Forgets what was found.
    pub fn start(&mut self) {
        self.lists.clear();
        self.outcomes.clear();
    }

    /// Gives back what an upheaval took.
    pub fn release(&mut self) {
        if self.bytes() > KEPT_BYTES {
            *self = Search::default();
        }
    }

    /// What was found in each component since the start, in order.
    pub fn outcomes(&self) -> impl Iterator<Item = (Outcome, &[Slot])> {
        let mut start = 0;
        self.outcomes.iter().map(move |&(outcome, end)| {
            let list = &self.lists[start..end as usize];
            start = end as usize;
            (outcome, list)
        })
    }

    /// Finds the relations of a component of two members and more.
    pub fn enumerate(&mut self, members: &[Slot], components: &Components, graph: &Graph, budget: Budget) {
        let start = self.lists.len();
        let count = members.len() as u64;
        self.allowance = Allowance {
            work: budget.work.saturating_mul(count),
            memberships: budget.memberships.saturating_mul(count).min(LISTED_MAX),
        };
        self.relations = 0;
        let result = match *members {
            [_, _] => self.list(members),
            _ if is_complete(members, graph) => self.list(members),
            _ => self.search(members, components, graph),
        };
        let outcome = match result {
            Ok(()) => Outcome::Listed { relations: self.relations },
            Err(Exhausted) => {
                self.lists.truncate(start);
                self.lists.push(Slot::new(0));
                self.lists.extend_from_slice(members);
                Outcome::Crowd
            }
        };
        self.outcomes.push((outcome, self.lists.len() as u32));
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.lists.capacity() * 4
            + self.outcomes.capacity() * size_of::<(Outcome, u32)>()
            + (self.rows.capacity() + self.stack.capacity() + self.bits.capacity()) * 8
            + (self.chosen.capacity() + self.numbers.capacity()) * 4
            + self.order.bytes()
            + self.quotient.bytes()
    }

    /// Adds a relation, its members ascending.
    fn list(&mut self, members: &[Slot]) -> Result<(), Exhausted> {
        self.lists.push(Slot::new(members.len() as u32));
        self.lists.extend_from_slice(members);
        self.relations += 1;
        self.allowance.memberships = self.allowance.memberships.checked_sub(members.len() as u64).ok_or(Exhausted)?;
        Ok(())
    }

    /// Adds the relation of these vertices, in any order.
    fn list_vertices(&mut self, quotient: &Quotient, vertices: impl Iterator<Item = u32>) -> Result<(), Exhausted> {
        let head = self.lists.len();
        self.lists.push(Slot::new(0));
        vertices.for_each(|vertex| self.lists.extend_from_slice(quotient.twins(vertex)));
        let len = self.lists.len() - head - 1;
        self.lists[head] = Slot::new(len as u32);
        self.lists[head + 1..].sort_unstable();
        self.relations += 1;
        self.allowance.memberships = self.allowance.memberships.checked_sub(len as u64).ok_or(Exhausted)?;
        Ok(())
    }

    fn spend(&mut self, work: usize) -> Result<(), Exhausted> {
        self.allowance.work = self.allowance.work.checked_sub(work as u64).ok_or(Exhausted)?;
        Ok(())
    }

    fn search(&mut self, members: &[Slot], components: &Components, graph: &Graph) -> Result<(), Exhausted> {
        let mut quotient = std::mem::take(&mut self.quotient);
        quotient.make(members, components, graph);
        let result = if quotient.len() <= 64 { self.search_small(&quotient) } else { self.search_large(&quotient) };
        self.quotient = quotient;
        result
    }

    fn search_small(&mut self, quotient: &Quotient) -> Result<(), Exhausted> {
        let mut rows = [0u64; 64];
        for (vertex, row) in rows.iter_mut().enumerate().take(quotient.len()) {
            quotient.near(vertex as u32).iter().for_each(|neighbour| *row |= 1 << neighbour);
        }
        let all = !0 >> (64 - quotient.len());
        self.extend_small(&rows, 0, all, 0, &Around { quotient, first: None })
    }

    /// Lists the maximal cliques that hold all of `chosen`, some of `candidates` and none of `excluded`. Candidates have
    /// rows.
    fn extend_small(
        &mut self,
        rows: &[u64; 64],
        chosen: u64,
        mut candidates: u64,
        mut excluded: u64,
        around: &Around<'_>,
    ) -> Result<(), Exhausted> {
        if candidates == 0 {
            if excluded == 0 {
                return self.list_bits(&[chosen], around);
            }
            return Ok(());
        }
        // The pivot: whatever is maximal holds somebody who is not its neighbour, or the pivot itself. Whoever is excluded
        // needs no row: if all candidates overlap one of them, nothing here is maximal.
        let (count, mut most, mut pivot, mut seen) = (candidates.count_ones(), 0, 0, 0);
        let mut overlapped = excluded;
        for vertex in ones(candidates) {
            let own = rows[vertex];
            let shared = (candidates & own).count_ones() + 1;
            seen += 1;
            overlapped &= own;
            if shared > most {
                (most, pivot) = (shared, own);
                // There is no better one: a single vertex is left to try.
                if shared == count {
                    overlapped = 0;
                    break;
                }
            }
        }
        self.spend(seen)?;
        if overlapped != 0 {
            return Ok(());
        }
        for vertex in ones(candidates & !pivot) {
            let bit = 1 << vertex;
            let own = rows[vertex];
            self.extend_small(rows, chosen | bit, candidates & own, excluded & own, around)?;
            candidates &= !bit;
            excluded |= bit;
        }
        Ok(())
    }

    fn list_bits(&mut self, chosen: &[u64], around: &Around<'_>) -> Result<(), Exhausted> {
        let numbers = chosen.iter().enumerate().flat_map(|(word, &bits)| ones(bits).map(move |bit| word * 64 + bit));
        match around.first {
            None => self.list_vertices(around.quotient, numbers.map(|number| number as u32)),
            Some(first) => {
                let near = around.quotient.near(first);
                self.list_vertices(around.quotient, numbers.map(|number| near[number]).chain([first]))
            }
        }
    }

    fn search_large(&mut self, quotient: &Quotient) -> Result<(), Exhausted> {
        let mut order = std::mem::take(&mut self.order);
        order.find(quotient);
        self.numbers.clear();
        self.numbers.resize(quotient.len(), NONE);
        self.bits.clear();
        self.bits.resize(quotient.len(), 0);
        let mut result = Ok(());
        for (rank, &vertex) in order.order.iter().enumerate() {
            result = self.search_around(vertex, rank as u32, &order.ranks, quotient);
            if result.is_err() {
                break;
            }
        }
        self.order = order;
        result
    }

    /// Lists the relations of which `vertex` is the earliest member.
    fn search_around(&mut self, vertex: u32, rank: u32, ranks: &[u32], quotient: &Quotient) -> Result<(), Exhausted> {
        let near = quotient.near(vertex);
        let is_later = |other: u32| ranks[other as usize] > rank;
        if near.len() <= 64 {
            self.search_among_few(vertex, near, is_later, quotient)
        } else {
            self.search_among_many(vertex, near, is_later, quotient)
        }
    }

    /// The same among up to 64 neighbours.
    fn search_among_few(
        &mut self,
        vertex: u32,
        near: &[u32],
        is_later: impl Fn(u32) -> bool,
        quotient: &Quotient,
    ) -> Result<(), Exhausted> {
        let (mut candidates, mut excluded) = (0, 0);
        for (number, &neighbour) in near.iter().enumerate() {
            let bit = 1 << number;
            self.bits[neighbour as usize] = bit;
            let set = if is_later(neighbour) { &mut candidates } else { &mut excluded };
            *set |= bit;
        }
        let mut rows = [0; 64];
        let (mut work, mut overlapped) = (near.len(), excluded);
        for number in ones(candidates) {
            let theirs = quotient.near(near[number]);
            let row = theirs.iter().fold(0, |row, &other| row | self.bits[other as usize]);
            rows[number] = row;
            overlapped &= row;
            work += theirs.len() / 4;
        }
        near.iter().for_each(|&neighbour| self.bits[neighbour as usize] = 0);
        self.spend(work)?;
        if overlapped != 0 {
            return Ok(());
        }
        self.extend_small(&rows, 0, candidates, excluded, &Around { quotient, first: Some(vertex) })
    }

    /// The same among more.
    fn search_among_many(
        &mut self,
        vertex: u32,
        near: &[u32],
        is_later: impl Fn(u32) -> bool,
        quotient: &Quotient,
    ) -> Result<(), Exhausted> {
        let words = near.len().div_ceil(64);
        for (number, &neighbour) in near.iter().enumerate() {
            self.numbers[neighbour as usize] = number as u32;
        }
        self.rows.clear();
        self.rows.resize(near.len() * words, 0);
        let (mut candidates, mut excluded) = (vec![0; words], vec![0; words]);
        let mut work = 0;
        for (number, &neighbour) in near.iter().enumerate() {
            let set = if is_later(neighbour) { &mut candidates } else { &mut excluded };
            set[number / 64] |= 1 << (number % 64);
            let row = &mut self.rows[number * words..][..words];
            let theirs = quotient.near(neighbour);
            work += theirs.len() / 4;
            for &other in theirs {
                let place = self.numbers[other as usize];
                if place != NONE {
                    row[place as usize / 64] |= 1 << (place % 64);
                }
            }
        }
        near.iter().for_each(|&neighbour| self.numbers[neighbour as usize] = NONE);
        self.spend(work)?;
        self.extend_large(words, &candidates, &excluded, &Around { quotient, first: Some(vertex) })
    }

    /// As [`Search::extend_small`], over several words and with a stack of its own.
    ///
    /// A level of the stack is three bitsets: who may be added, who may not, and who of the former is still to be tried.
    fn extend_large(
        &mut self,
        words: usize,
        candidates: &[u64],
        excluded: &[u64],
        around: &Around<'_>,
    ) -> Result<(), Exhausted> {
        let rows = std::mem::take(&mut self.rows);
        let mut stack = std::mem::take(&mut self.stack);
        let mut path = std::mem::take(&mut self.chosen);
        stack.clear();
        path.clear();
        stack.extend_from_slice(candidates);
        stack.extend_from_slice(excluded);
        let mut result = self.descend(words, &rows, &mut stack, &path, around);
        while result.is_ok() && !stack.is_empty() {
            let level = stack.len() - 3 * words;
            let (candidates, rest) = stack[level..].split_at_mut(words);
            let (excluded, untried) = rest.split_at_mut(words);
            let Some(word) = untried.iter().position(|&bits| bits != 0) else {
                stack.truncate(level);
                path.pop();
                continue;
            };
            let bit = untried[word] & untried[word].wrapping_neg();
            let vertex = word * 64 + bit.trailing_zeros() as usize;
            untried[word] ^= bit;
            let own = &rows[vertex * words..][..words];
            candidates[word] &= !bit;
            excluded[word] |= bit;
            stack.extend_from_within(level..level + 2 * words);
            let below = level + 3 * words;
            for (index, &bits) in own.iter().enumerate() {
                stack[below + index] &= bits;
                stack[below + words + index] &= bits;
            }
            path.push(vertex as u32);
            result = self.descend(words, &rows, &mut stack, &path, around);
            if stack.len() == below {
                path.pop();
            }
        }
        (self.rows, self.stack, self.chosen) = (rows, stack, path);
        result
    }

    /// Takes a level whose first two bitsets are on the stack: lists a clique that cannot grow, or adds who is to be tried.
    /// A level with nothing to try is gone afterwards.
    fn descend(
        &mut self,
        words: usize,
        rows: &[u64],
        stack: &mut Vec<u64>,
        path: &[u32],
        around: &Around<'_>,
    ) -> Result<(), Exhausted> {
        let level = stack.len() - 2 * words;
        let (candidates, excluded) = stack[level..].split_at(words);
        if candidates.iter().all(|&bits| bits == 0) {
            if excluded.iter().all(|&bits| bits == 0) {
                let mut chosen = vec![0u64; words];
                path.iter().for_each(|&vertex| chosen[vertex as usize / 64] |= 1 << (vertex % 64));
                self.list_bits(&chosen, around)?;
            }
            stack.truncate(level);
            return Ok(());
        }
        let count = candidates.iter().map(|bits| bits.count_ones()).sum::<u32>();
        let (mut most, mut pivot, mut seen) = (0, 0, 0);
        'pivots: for word in 0..words {
            for bit in ones(candidates[word] | excluded[word]) {
                let vertex = word * 64 + bit;
                let own = &rows[vertex * words..][..words];
                let shared = own.iter().zip(candidates).map(|(own, bits)| (own & bits).count_ones()).sum::<u32>() + 1;
                seen += words;
                if shared > most {
                    (most, pivot) = (shared, vertex);
                    if shared + (candidates[word] >> bit & 1) as u32 > count {
                        break 'pivots;
                    }
                }
            }
        }
        self.spend(seen)?;
        let pivot = &rows[pivot * words..][..words];
        for word in 0..words {
            let untried = stack[level + word] & !pivot[word];
            stack.push(untried);
        }
        Ok(())
    }
}

fn is_complete(members: &[Slot], graph: &Graph) -> bool {
    members.iter().all(|&member| graph.neighbours(member).len() + 1 == members.len())
}

/// The numbers of the bits that are set, ascending.
pub fn ones(mut bits: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let bit = bits.trailing_zeros() as usize;
        bits &= bits - 1;
        Some(bit)
    })
}

/// An order of a component's vertices in which each has as few later neighbours as can be: whoever has the fewest left
/// is taken next (Matula and Beck).
#[derive(Debug, Default)]
struct Degeneracy {
    order: Vec<u32>,
    /// The place of each vertex in the order.
    ranks: Vec<u32>,
    degrees: Vec<u32>,
    /// Vertices by the number of neighbours left. An entry whose vertex has fewer by now is out of date.
    buckets: Vec<Vec<u32>>,
}

impl Degeneracy {
    fn find(&mut self, quotient: &Quotient) {
        let count = quotient.len();
        self.order.clear();
        self.ranks.clear();
        self.ranks.resize(count, NONE);
        self.degrees.clear();
        self.degrees.extend((0..count as u32).map(|vertex| quotient.near(vertex).len() as u32));
        let most = self.degrees.iter().copied().max().unwrap_or(0) as usize;
        if self.buckets.len() <= most {
            self.buckets.resize_with(most + 1, Vec::new);
        }
        for (vertex, &degree) in self.degrees.iter().enumerate() {
            self.buckets[degree as usize].push(vertex as u32);
        }
        let mut least = 0;
        while self.order.len() < count {
            let Some(vertex) = self.buckets[least].pop() else {
                least += 1;
                continue;
            };
            if self.ranks[vertex as usize] != NONE || self.degrees[vertex as usize] as usize != least {
                continue;
            }
            self.ranks[vertex as usize] = self.order.len() as u32;
            self.order.push(vertex);
            for &neighbour in quotient.near(vertex) {
                if self.ranks[neighbour as usize] == NONE {
                    let degree = &mut self.degrees[neighbour as usize];
                    *degree -= 1;
                    self.buckets[*degree as usize].push(neighbour);
                }
            }
            least = least.saturating_sub(1);
        }
        self.buckets.iter_mut().for_each(Vec::clear);
    }

    fn bytes(&self) -> usize {
        let buckets = self.buckets.iter().map(Vec::capacity).sum::<usize>();
        4 * (self.order.capacity() + self.ranks.capacity() + self.degrees.capacity() + buckets)
    }
}

//! The relations of one object: the maximal cliques of which it is the lowest member.
//!
//! They consist of the object and some of its neighbours. Later neighbours are candidates. Earlier ones are excluded: a
//! clique to which one of them could be added is found at that one, or is not maximal. The search is that of Bron and
//! Kerbosch with a pivot:
//!
//! ```text
//! up to 64 neighbours    one word per candidate                 narrow
//! more                   twins are one vertex, several words    twins, wide
//! ```
//!
//! The result and the work depend on the pairs among up to 64 neighbours; among more, on all pairs that these are in,
//! as twins have the same neighbours. [`touched`](super::touched) relies on this.

use space::Slot;

use super::narrow::{self, Adjacency, WORD, ones};
use super::quota::{Exhausted, Quota};
use super::twins::{Families, Twins};
use super::wide::Wide;
use crate::Graph;

/// The search, and the relations found for one object after the other.
#[derive(Debug)]
pub struct CliqueSearch {
    /// The relations of one object after the other. Each begins with the object itself and ascends.
    lists: Vec<Slot>,
    /// For each object, the end of its relations in `lists`, and its witness.
    ends: Vec<(usize, Option<Slot>)>,
    /// The objects whose search exceeded its quota.
    exhausted: Vec<Slot>,
    rows: Adjacency,
    /// For each row, its bit among the neighbours of the object that is searched, or 0.
    bits: Vec<u64>,
    /// For each row, its number among the deputies of many neighbours, or `NONE`.
    numbers: Vec<u32>,
    families: Families,
    twins: Twins,
    wide: Wide,
}

/// The most memory that is kept from tick to tick.
const KEPT_BYTES: usize = 16 << 20;

/// A list that is longer than another by this factor is searched for its entries, rather than merged.
const MUCH_LONGER: usize = 16;

/// The work of a row of one word. It does not depend on excluded objects: see [`touched`](super::touched).
const ROW_WORK: usize = 8;

const NONE: u32 = u32::MAX;

impl CliqueSearch {
    /// Begins with another graph.
    pub fn start(&mut self, graph: &Graph) {
        self.forget();
        self.twins.start();
        if self.bits.len() < graph.rows() {
            self.bits.resize(graph.rows(), 0);
        }
    }

    pub fn forget(&mut self) {
        self.lists.clear();
        self.ends.clear();
        self.exhausted.clear();
    }

    /// Releases memory beyond `KEPT_BYTES`.
    pub fn release(&mut self) {
        if self.wide.capacity() * 8 + self.lists.capacity() * 4 > KEPT_BYTES {
            self.wide = Wide::default();
            self.lists = Vec::new();
        }
    }

    /// The relations and the witness of each object since the start, in order; none for exhausted ones.
    pub fn found(&self) -> impl Iterator<Item = (&[Slot], Option<Slot>)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, witness)| {
            let list = &self.lists[start..end];
            start = end;
            (list, witness)
        })
    }

    /// The objects since the start whose search exceeded its quota.
    pub fn exhausted(&self) -> &[Slot] {
        &self.exhausted
    }

    /// Finds the relations of an object.
    #[inline]
    pub fn search(&mut self, slot: Slot, graph: &Graph, quota: &mut Quota) {
        let start = self.lists.len();
        let near = graph.neighbours(slot);
        let result = match *near {
            [] => Ok(None),
            _ if near.len() > WORD => self.search_many(slot, near, graph, quota).map(|()| None),
            [first, .., last] | [first @ last] if last < slot => Ok(Some(first)),
            [only] => {
                self.lists.extend_from_slice(&[slot, only]);
                quota.list(2).map(|()| None)
            }
            _ => self.search_few(slot, near, graph, quota),
        };
        if result == Err(Exhausted) {
            self.lists.truncate(start);
            self.exhausted.push(slot);
        }
        self.ends.push((self.lists.len(), result.unwrap_or(None)));
    }

    fn search_few(
        &mut self,
        slot: Slot,
        near: &[Slot],
        graph: &Graph,
        quota: &mut Quota,
    ) -> Result<Option<Slot>, Exhausted> {
        let mut earlier = 0;
        for (number, &neighbour) in near.iter().enumerate() {
            self.bits[neighbour.row()] = 1 << number;
            earlier += usize::from(neighbour < slot);
        }
        let all = !0 >> (WORD - near.len());
        let candidates = all & (!0 << earlier);
        let excluded = all ^ candidates;
        let witness = self.fill_rows(near, candidates, excluded, graph);
        near.iter().for_each(|neighbour| self.bits[neighbour.row()] = 0);
        if witness.is_some() {
            return Ok(witness);
        }
        quota.spend((near.len() - earlier) * ROW_WORK)?;
        let CliqueSearch { rows, lists, .. } = self;
        narrow::extend(rows, 0, candidates, excluded, quota, &mut |bits| {
            let start = lists.len();
            lists.push(slot);
            lists.extend(ones(bits).map(|number| near[number]));
            lists.len() - start
        })?;
        Ok(None)
    }

    /// Fills the rows of all candidates. Or returns a witness that there are no relations: an excluded object that
    /// overlaps all candidates.
    ///
    /// In a crowd most objects have a witness. It is found quickly: it overlaps the candidate with the fewest
    /// neighbours, and then each candidate that an earlier rival does not overlap.
    fn fill_rows(&mut self, near: &[Slot], candidates: u64, excluded: u64, graph: &Graph) -> Option<Slot> {
        let mut unfilled = candidates;
        let (mut rivals, mut next) = (excluded, 0);
        if rivals != 0 {
            next = { ones(candidates) }.min_by_key(|&number| graph.neighbours(near[number]).len()).unwrap_or(0);
        }
        while rivals != 0 {
            self.rows[next] = self.row(near, next, graph);
            unfilled ^= 1 << next;
            rivals &= self.rows[next];
            if rivals != 0 {
                let rival = rivals.trailing_zeros() as usize;
                let missed = candidates & !self.row(near, rival, graph);
                if missed == 0 {
                    return Some(near[rival]);
                }
                next = missed.trailing_zeros() as usize;
            }
        }
        for number in ones(unfilled) {
            self.rows[number] = self.row(near, number, graph);
        }
        None
    }

    /// The row of one of a few neighbours, whose bits are set: those that overlap it, and itself.
    #[inline]
    fn row(&self, near: &[Slot], number: usize, graph: &Graph) -> u64 {
        let theirs = graph.neighbours(near[number]);
        if theirs.len() <= MUCH_LONGER * near.len() {
            return theirs.iter().fold(1 << number, |row, &other| row | self.bits[other.row()]);
        }
        let is_theirs = |other: &Slot| u64::from(theirs.binary_search(other).is_ok());
        near.iter().enumerate().fold(1 << number, |row, (number, other)| row | is_theirs(other) << number)
    }

    /// The search among more than 64 neighbours, of which only deputies are vertices. An object whose deputy is an
    /// earlier one has no relations: the deputy could be added to each.
    fn search_many(&mut self, slot: Slot, near: &[Slot], graph: &Graph, quota: &mut Quota) -> Result<(), Exhausted> {
        if self.twins.deputy(slot, graph) != slot {
            return Ok(());
        }
        quota.spend(near.len() / 4)?;
        if self.numbers.len() < graph.rows() {
            self.numbers.resize(graph.rows(), NONE);
        }
        let mut families = std::mem::take(&mut self.families);
        families.gather(slot, near, graph, &mut self.twins);
        let mut wide = std::mem::take(&mut self.wide);
        let mut result = self.fill_wide(&mut wide, slot, families.deputies(), graph, quota);
        if result.is_ok() {
            let lists = &mut self.lists;
            result = wide.search(quota, &mut |chosen| {
                let start = lists.len();
                lists.push(slot);
                lists.extend_from_slice(families.own());
                for (word, &bits) in chosen.iter().enumerate() {
                    ones(bits).for_each(|bit| lists.extend_from_slice(families.members(word * WORD + bit)));
                }
                lists[start..].sort_unstable();
                lists.len() - start
            });
        }
        families.deputies().iter().for_each(|deputy| self.numbers[deputy.row()] = NONE);
        self.wide = wide;
        self.families = families;
        result
    }

    fn fill_wide(
        &mut self,
        wide: &mut Wide,
        slot: Slot,
        deputies: &[Slot],
        graph: &Graph,
        quota: &mut Quota,
    ) -> Result<(), Exhausted> {
        for (number, &deputy) in deputies.iter().enumerate() {
            self.numbers[deputy.row()] = number as u32;
        }
        quota.spend(deputies.len() * deputies.len().div_ceil(WORD))?;
        wide.start(deputies.len());
        for (number, &deputy) in deputies.iter().enumerate() {
            if deputy > slot {
                wide.admit(number);
            }
            let theirs = graph.neighbours(deputy);
            quota.spend(theirs.len() / 4)?;
            for &other in theirs {
                let place = self.numbers[other.row()];
                if place != NONE {
                    wide.join(number, place as usize);
                }
            }
        }
        Ok(())
    }
}

impl Default for CliqueSearch {
    fn default() -> CliqueSearch {
        CliqueSearch {
            lists: Vec::new(),
            ends: Vec::new(),
            exhausted: Vec::new(),
            rows: [0; WORD],
            bits: Vec::new(),
            numbers: Vec::new(),
            families: Families::default(),
            twins: Twins::default(),
            wide: Wide::default(),
        }
    }
}

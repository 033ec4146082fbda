//! Expanding sphere, of papers 000 (section 3.1, figure 3) and 004 (section 2, figure 2).
//!
//! ```text
//! for each object u:
//!     for each relation found so far:  if u is within its sphere, compare u with its members
//!     members that u overlaps are candidates for new relations with u; a whole relation grows
//! ```
//!
//! The sphere of a relation is around its first member and grows to cover all members. This follows the papers as
//! closely as possible, as the lab measures it. It lists any number of relations, so a server must not run it on
//! objects that users place; [`Cliques`](crate::published::Cliques) has a bound.

use space::{Columns, Spheres};

use super::{Comparisons, RelationFinder, Relations};

/// The papers' algorithm, in the order of the slots.
#[derive(Clone, Debug, Default)]
pub struct ExpandingSphere {
    search: SphereSearch,
}

impl ExpandingSphere {
    pub fn new() -> ExpandingSphere {
        ExpandingSphere::default()
    }
}

impl RelationFinder for ExpandingSphere {
    fn relations(&mut self, auras: &Spheres, relations: &mut Relations) -> Comparisons {
        let columns = auras.columns();
        self.search.start(auras.rows());
        for row in auras.alive().iter() {
            self.search.consider_all(row as u32, &columns);
        }
        self.search.write(relations);
        self.search.comparisons
    }
}

/// The relations found so far: `SC` in the papers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SphereSearch {
    pub found: Vec<GrowingRelation>,
    pub comparisons: Comparisons,
    /// The relations that grew in this turn. New ones are the last of `found`.
    pub grown: Vec<u32>,
    turn: u32,
    /// For each row, the turn in which it was tested, and its place in `hits` or `MISSED`.
    tested: Vec<(u32, u32)>,
    /// The rows that the considered object overlaps.
    hits: Vec<u32>,
    /// The parts of relations that it overlaps, one after the other, as places in `hits`.
    parts: Vec<u32>,
    candidates: Vec<Candidate>,
    /// For each hit, a bit for each accepted candidate that it is in.
    within: Vec<u64>,
    common: Vec<u64>,
    /// Free lists of members.
    spare: Vec<Vec<u32>>,
    every: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct GrowingRelation {
    pub members: Vec<u32>,
    center: [f64; 3],
    radius: f64,
}

/// The part of one relation that the considered object overlaps.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// A range of `parts`.
    begin: u32,
    end: u32,
    /// Whether it is the whole relation, which grows.
    is_whole: bool,
}

const MISSED: u32 = u32::MAX;
/// Spheres are rounded outward by more than the test of two spheres can round.
const OUTWARD: f64 = 1.0 + 1e-6;

impl SphereSearch {
    /// Begins a tick without relations.
    pub fn start(&mut self, rows: usize) {
        self.spare.extend(self.found.drain(..).map(|found| found.members));
        self.comparisons = Comparisons::default();
        self.tested.clear();
        self.tested.resize(rows, (0, MISSED));
        self.turn = 0;
        self.every.clear();
    }

    /// Considers an object, among all relations.
    pub fn consider_all(&mut self, row: u32, columns: &Columns<'_>) {
        let mut every = std::mem::take(&mut self.every);
        every.extend(every.len() as u32..self.found.len() as u32);
        self.consider(row, columns, &every);
        self.every = every;
    }

    /// Considers an object, among some of the relations.
    pub fn consider(&mut self, row: u32, columns: &Columns<'_>, among: &[u32]) {
        self.turn += 1;
        self.hits.clear();
        self.parts.clear();
        self.candidates.clear();
        self.grown.clear();
        let sphere = columns.sphere(row as usize);
        let center = sphere.center.as_dvec3().to_array();
        let reach = f64::from(sphere.radius) * OUTWARD;
        for &index in among {
            self.comparisons.raw += 1;
            self.comparisons.distinct += 1;
            let found = &self.found[index as usize];
            let limit = found.radius + reach;
            if distance_squared(center, found.center) >= limit * limit {
                continue;
            }
            let begin = self.parts.len();
            self.comparisons.raw += found.members.len() as u64;
            for &member in &found.members {
                // Every test is made, as in the papers; repeated ones are only counted.
                let is_hit = sphere.overlaps(columns.sphere(member as usize));
                let tested = &mut self.tested[member as usize];
                if tested.0 != self.turn {
                    self.comparisons.distinct += 1;
                    *tested = (self.turn, if is_hit { self.hits.len() as u32 } else { MISSED });
                    if is_hit {
                        self.hits.push(member);
                    }
                }
                if is_hit {
                    self.parts.push(tested.1);
                }
            }
            let is_whole = self.parts.len() - begin == found.members.len();
            if is_whole {
                self.grown.push(index);
            }
            if self.parts.len() > begin {
                self.candidates.push(Candidate { begin: begin as u32, end: self.parts.len() as u32, is_whole });
            }
        }
        self.keep_largest();
        for &index in &self.grown {
            self.found[index as usize].add(row, center, f64::from(sphere.radius));
        }
        for candidate in self.candidates.iter().filter(|candidate| !candidate.is_whole) {
            let mut members = self.spare.pop().unwrap_or_default();
            members.clear();
            members.extend(candidate.of(&self.parts).iter().map(|&place| self.hits[place as usize]));
            let mut found = GrowingRelation::of(&members, columns);
            found.members = members;
            found.add(row, center, f64::from(sphere.radius));
            self.found.push(found);
        }
        if self.hits.is_empty() {
            let mut members = self.spare.pop().unwrap_or_default();
            members.clear();
            let mut found = GrowingRelation { members, center, radius: 0.0 };
            found.add(row, center, f64::from(sphere.radius));
            self.found.push(found);
        }
    }

    /// `addCR`: keeps the candidates that are not part of another. Whole relations are never part of another.
    fn keep_largest(&mut self) {
        let SphereSearch { candidates, parts, hits, within, common, .. } = self;
        if candidates.len() == self.grown.len() {
            return;
        }
        // Only a larger candidate can contain one, so they are accepted by size, each with a bit.
        let words = candidates.len().div_ceil(64);
        within.clear();
        within.resize(hits.len() * words, 0);
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.end - candidate.begin));
        let mut accepted = 0;
        candidates.retain(|candidate| {
            let part = candidate.of(parts);
            common.clear();
            common.resize(words, !0);
            for &place in part {
                let own = &within[place as usize * words..][..words];
                common.iter_mut().zip(own).for_each(|(common, own)| *common &= own);
            }
            let is_part = common.iter().any(|&word| word != 0);
            if !is_part {
                for &place in part {
                    within[place as usize * words + accepted / 64] |= 1 << (accepted % 64);
                }
                accepted += 1;
            }
            !is_part
        });
    }

    pub fn write(&self, relations: &mut Relations) {
        relations.clear();
        for found in &self.found {
            relations.push_rows(&found.members);
        }
    }
}

impl Candidate {
    fn of(self, parts: &[u32]) -> &[u32] {
        &parts[self.begin as usize..self.end as usize]
    }
}

impl GrowingRelation {
    /// A relation's sphere around some members.
    fn of(members: &[u32], columns: &Columns<'_>) -> GrowingRelation {
        let mut found = GrowingRelation::default();
        for (index, &member) in members.iter().enumerate() {
            let sphere = columns.sphere(member as usize);
            let center = sphere.center.as_dvec3().to_array();
            if index == 0 {
                found.center = center;
            }
            found.cover(center, f64::from(sphere.radius));
        }
        found
    }

    fn add(&mut self, row: u32, center: [f64; 3], radius: f64) {
        self.members.push(row);
        self.cover(center, radius);
    }

    fn cover(&mut self, center: [f64; 3], radius: f64) {
        let distance = distance_squared(center, self.center).sqrt();
        self.radius = self.radius.max((distance + radius) * OUTWARD);
    }
}

fn distance_squared(one: [f64; 3], other: [f64; 3]) -> f64 {
    let [x, y, z] = [one[0] - other[0], one[1] - other[1], one[2] - other[2]];
    x * x + y * y + z * z
}

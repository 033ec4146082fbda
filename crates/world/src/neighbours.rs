//! The broad phase of a tick: pairs of objects whose reaches meet and of which one may move, by row.
//!
//! It is a uniform grid on the ground. A reach is a box, and most are about as wide as a person, so the square cells
//! are as wide as most reaches. A counting sort puts each box into the cell of its low corner; a box meets those in the
//! same cell or in the next ones, and they are close in memory. The few boxes that are wider than a cell are compared
//! with those in all cells that they reach into.
//!
//! The grid covers the bodies and not the bounds: a part of a larger world has its bodies on a part of the ground, and
//! cells over the whole of it would be too wide.
//!
//! A sphere around an upright capsule is three times as wide as the capsule; boxes leave a sixth of its pairs. The
//! pairs do not depend on the cells; `neighbours_equal_brute_force` checks them.

use space::Buckets;

use crate::objects::{Collider, MOVABLE, SOLID};
use crate::solid::GridBox;

/// The cells into which a tick sorted the objects, for the inspector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroundCells {
    /// The low corner of the grid, x and z, in grid steps.
    pub low: [i32; 2],
    /// The width of a cell, in grid steps.
    pub edge: u32,
    /// The numbers of cells along x and along z; zero before the first tick.
    pub counts: [u32; 2],
    /// Occupied cells by rising numbers, which count along x first, and the number of boxes in each. A box that is
    /// wider than a cell is in none.
    pub occupied: Vec<(u32, u32)>,
}

/// For each row, the rows that it may meet.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    lattice: Lattice,
    /// The cell of each row.
    cell: Vec<u32>,
    /// Boxes that fit into a cell, cell by cell, and the end of each cell.
    entries: Vec<Entry>,
    ends: Vec<u32>,
    /// Boxes that are wider than a cell.
    large: Vec<Entry>,
    pairs: Vec<(u32, u32)>,
    by_row: Buckets<u32>,
}

/// The reach of an object.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The low sides x and z, and the negated high sides. Two boxes meet, seen from above, if the low sides of each
    /// plus the negated high sides of the other are at most zero.
    sides: [i32; 4],
    /// The low and the high end.
    heights: [i32; 2],
    row: u32,
    /// Two objects of which none may move form no pair.
    may_move: bool,
}

/// The cells of the ground.
#[derive(Clone, Copy, Debug, Default)]
struct Lattice {
    /// The bounds of the low corners of all reaches when it was made.
    low: [i32; 2],
    high: [i32; 2],
    /// The binary logarithm of a cell's edge in steps.
    shift: u32,
    counts: [i32; 2],
    age: u32,
}

/// Numbers of cells for pass-through objects, and for boxes wider than a cell.
const NOWHERE: u32 = u32::MAX;
const LARGE: u32 = u32::MAX - 1;
/// At this age the width of a cell is chosen anew, in ticks.
const AGE_MAX: u32 = 1 << 10;

impl Neighbours {
    /// Sorts the objects into cells of the ground. `is_mover` says by row which want to move.
    pub fn sort(&mut self, body: &[Collider], is_mover: &[bool]) {
        self.lattice.age += 1;
        if self.lattice.counts[0] == 0 || self.lattice.age > AGE_MAX {
            self.lattice = Lattice::suiting(body);
        }
        let strays = self.count(body);
        if self.large.len().max(strays) > strays_max(body.len()) {
            self.lattice = Lattice::suiting(body);
            self.count(body);
        }
        let mut end = 0;
        for count in &mut self.ends {
            // Counts become the begins of lists, which move to their ends as the lists are filled.
            (*count, end) = (end, end + *count);
        }
        self.entries.clear();
        self.entries.resize(end as usize, Entry::default());
        self.large.clear();
        for (row, (&cell, body)) in self.cell.iter().zip(body).enumerate() {
            if cell == NOWHERE {
                continue;
            }
            let may_move = is_mover[row] | body.is(MOVABLE);
            if cell == LARGE {
                self.large.push(Entry::new(&body.reach, row as u32, may_move));
            } else {
                let end = &mut self.ends[cell as usize];
                self.entries[*end as usize] = Entry::new(&body.reach, row as u32, may_move);
                *end += 1;
            }
        }
    }

    /// Finds the pairs of the objects that were sorted, and returns their number.
    pub fn pair_up(&mut self, rows: usize) -> u64 {
        let Neighbours { lattice, entries, ends, large, pairs, by_row, .. } = self;
        pairs.clear();
        let [width, depth] = lattice.counts.map(|count| count as usize);
        let begin = |cell: usize| if cell == 0 { 0 } else { ends[cell - 1] as usize };
        let end = |cell: usize| ends[cell] as usize;
        for (number, one) in entries.iter().enumerate() {
            let [x, z] = lattice.place(one.low()).map(|along| along as usize);
            let cell = z * width + x;
            // The cells of a line follow each other: this one and the next, then three of the next line.
            let (left, right) = (usize::from(x > 0), usize::from(x + 1 < width));
            one.meet(&entries[number + 1..end(cell + right)], pairs);
            if z + 1 < depth {
                one.meet(&entries[begin(cell + width - left)..end(cell + width + right)], pairs);
            }
        }
        for (number, one) in large.iter().enumerate() {
            one.meet(&large[number + 1..], pairs);
            let (from, to) = (lattice.place_before(one.low()), lattice.place(one.high()));
            for z in from[1]..=to[1] {
                let row = z as usize * width;
                one.meet(&entries[begin(row + from[0] as usize)..end(row + to[0] as usize)], pairs);
            }
        }
        let both = pairs.iter().flat_map(|&(a, b)| [(a as usize, b), (b as usize, a)]);
        by_row.fill(rows, both);
        pairs.len() as u64
    }

    /// The cells of the last sort.
    pub fn cells(&self) -> GroundCells {
        let Lattice { low, shift, counts, .. } = self.lattice;
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let inside = (0..).zip(begins.zip(&self.ends).map(|(begin, end)| end - begin));
        GroundCells {
            low,
            edge: 1 << shift,
            counts: counts.map(|count| count as u32),
            occupied: inside.filter(|&(_, inside)| inside > 0).collect(),
        }
    }

    /// The rows that `row` may meet, in no particular order.
    pub fn of(&self, row: u32) -> &[u32] {
        self.by_row.get(row as usize)
    }

    /// Finds the cell of each object, and counts the objects in each; returns the number outside of the grid.
    fn count(&mut self, body: &[Collider]) -> usize {
        let Neighbours { lattice, cell, ends, large, .. } = self;
        let mut strays = 0;
        ends.clear();
        ends.resize((lattice.counts[0] * lattice.counts[1]) as usize, 0);
        cell.clear();
        large.clear();
        cell.extend(body.iter().map(|body| {
            if !body.is(SOLID) {
                return NOWHERE;
            }
            if width(&body.reach) > 1 << lattice.shift {
                large.push(Entry::default());
                return LARGE;
            }
            let corner = [body.reach.low[0], body.reach.low[2]];
            strays += usize::from(lattice.is_beyond(corner));
            let [x, z] = lattice.place(corner);
            let cell = (z * lattice.counts[0] + x) as u32;
            ends[cell as usize] += 1;
            cell
        }));
        strays
    }
}

impl Entry {
    #[inline(always)]
    fn new(reach: &GridBox, row: u32, may_move: bool) -> Entry {
        let GridBox { low, high } = reach;
        let sides = [low[0], low[2], high[0].wrapping_neg(), high[2].wrapping_neg()];
        Entry { sides, heights: [low[1], high[1]], row, may_move }
    }

    fn low(&self) -> [i32; 2] {
        [self.sides[0], self.sides[1]]
    }

    fn high(&self) -> [i32; 2] {
        [self.sides[2].wrapping_neg(), self.sides[3].wrapping_neg()]
    }

    /// Appends the pairs with these others.
    #[inline]
    fn meet(&self, others: &[Entry], pairs: &mut Vec<(u32, u32)>) {
        for other in others {
            if self.is_beside(other) & self.is_level_with(other) & (self.may_move | other.may_move) {
                pairs.push((self.row, other.row));
            }
        }
    }

    /// Whether the two meet, seen from above: four sums at once, as most pairs fail here.
    #[inline]
    fn is_beside(&self, other: &Entry) -> bool {
        let [a, b, c, d] = other.sides;
        let sums: [i32; 4] = std::array::from_fn(|side| self.sides[side].wrapping_add([c, d, a, b][side]));
        sums.iter().fold(0, |most, &sum| most | -i32::from(sum > 0)) == 0
    }

    fn is_level_with(&self, other: &Entry) -> bool {
        (self.heights[0] <= other.heights[1]) & (other.heights[0] <= self.heights[1])
    }
}

impl Lattice {
    /// Cells that are wider than nearly all reaches, and not many more cells than bodies.
    fn suiting(body: &[Collider]) -> Lattice {
        let mut wider = [0; 33];
        let (mut low, mut high) = ([i32::MAX; 2], [i32::MIN; 2]);
        for body in body.iter().filter(|body| body.is(SOLID)) {
            wider[(width(&body.reach).max(1) as u32 - 1).checked_ilog2().map_or(0, |log| log as usize + 1)] += 1;
            let corner = [body.reach.low[0], body.reach.low[2]];
            low = std::array::from_fn(|axis| low[axis].min(corner[axis]));
            high = std::array::from_fn(|axis| high[axis].max(corner[axis]));
        }
        if low > high {
            (low, high) = ([0; 2], [0; 2]);
        }
        let (mut shift, mut left) = (30, 0);
        while shift > 8 && left + wider[shift as usize] <= strays_max(body.len()) {
            left += wider[shift as usize];
            shift -= 1;
        }
        let count = |axis: usize, shift: u32| ((i64::from(high[axis]) - i64::from(low[axis])).max(0) >> shift) + 1;
        while count(0, shift) * count(1, shift) > 2 * body.len() as i64 + 1024 {
            shift += 1;
        }
        Lattice { low, high, shift, counts: [count(0, shift) as i32, count(1, shift) as i32], age: 0 }
    }

    /// Whether a corner is outside of the grid.
    #[inline]
    fn is_beyond(&self, corner: [i32; 2]) -> bool {
        let is_beyond = |axis: usize| (corner[axis] < self.low[axis]) | (corner[axis] > self.high[axis]);
        is_beyond(0) | is_beyond(1)
    }

    /// The cell of a corner. A corner outside of the grid is in a cell at its edge; clamping never separates
    /// neighbours.
    #[inline]
    fn place(&self, corner: [i32; 2]) -> [i32; 2] {
        let along = |axis: usize| corner[axis].saturating_sub(self.low[axis]) >> self.shift;
        [along(0).clamp(0, self.counts[0] - 1), along(1).clamp(0, self.counts[1] - 1)]
    }

    /// The cell before that of a corner: a box that begins there may reach across.
    fn place_before(&self, corner: [i32; 2]) -> [i32; 2] {
        self.place(corner).map(|cell| (cell - 1).max(0))
    }
}

/// The most boxes that may be wider than a cell, as each is compared with all others of them, and the most outside of
/// the grid, as they crowd the cells at its edge.
fn strays_max(bodies: usize) -> usize {
    32 + bodies.isqrt()
}

fn width(block: &GridBox) -> i32 {
    (block.high[0].saturating_sub(block.low[0])).max(block.high[2].saturating_sub(block.low[2]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solid::RoundedBox;
    use space::GridPoint;
    use space::workload::Random;

    fn brute_force(body: &[Collider], is_mover: &[bool]) -> Vec<Vec<u32>> {
        let may_meet = |a: usize, b: usize| {
            let may_move = is_mover[a] || is_mover[b] || (body[a].flags | body[b].flags) & MOVABLE != 0;
            a != b && may_move && body[a].flags & body[b].flags & SOLID != 0 && body[a].reach.meets(&body[b].reach)
        };
        let rows = 0..body.len();
        rows.clone().map(|a| rows.clone().filter(|&b| may_meet(a, b)).map(|b| b as u32).collect()).collect()
    }

    #[test]
    fn neighbours_equal_brute_force() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            // Kept from tick to tick, while what is in the world changes.
            let (mut neighbours, mut met) = (Neighbours::default(), 0);
            for tick in 0..20 {
                let count = random.whole(0, 300);
                let wide = random.unit() * random.unit();
                // Now and then all, or some of them, are far from where they were.
                let mut away = || if random.unit() < 0.2 { random.whole(0, 4_000_000) as i32 - 2_000_000 } else { 0 };
                let (away, share) = ([away(), away()], random.unit());
                let body: Vec<Collider> = (0..count)
                    .map(|_| {
                        let mut place = |from: i32, to: i32| from + random.whole(0, (to - from) as u32) as i32;
                        let mut at = GridPoint::new(place(-24_000, 34_000), place(0, 4_000), place(-12_000, 43_000));
                        let flags = [SOLID, SOLID | MOVABLE, SOLID, 0][place(0, 4) as usize];
                        if random.unit() < share {
                            at = GridPoint::new(at.x + away[0], at.y, at.z + away[1]);
                        }
                        let most = if random.unit() < wide { 40_000 } else { 900 };
                        let solid = RoundedBox {
                            core: [random.whole(1, most) as i32, 100, random.whole(1, most) as i32],
                            radius: random.whole(0, 300) as i32,
                        };
                        Collider::new(at, solid, flags)
                    })
                    .collect();
                let is_mover: Vec<bool> = body.iter().map(|_| random.unit() < 0.5).collect();
                neighbours.sort(&body, &is_mover);
                let pairs = neighbours.pair_up(body.len());
                let cells = neighbours.cells();
                let fits = |body: &&Collider| body.is(SOLID) && width(&body.reach) <= cells.edge as i32;
                let mut inside = std::collections::BTreeMap::new();
                for body in body.iter().filter(fits) {
                    let along = |axis: usize, at: i32| {
                        (i64::from(at) - i64::from(cells.low[axis]))
                            .div_euclid(i64::from(cells.edge))
                            .clamp(0, i64::from(cells.counts[axis]) - 1) as u32
                    };
                    let cell = along(1, body.reach.low[2]) * cells.counts[0] + along(0, body.reach.low[0]);
                    *inside.entry(cell).or_insert(0) += 1;
                }
                assert_eq!(cells.occupied, inside.into_iter().collect::<Vec<_>>(), "seed {seed}, tick {tick}");
                let expected = brute_force(&body, &is_mover);
                assert_eq!(
                    2 * pairs as usize,
                    expected.iter().map(Vec::len).sum::<usize>(),
                    "seed {seed}, tick {tick}"
                );
                met += pairs;
                for (row, expected) in expected.iter().enumerate() {
                    let mut found = neighbours.of(row as u32).to_vec();
                    found.sort_unstable();
                    assert_eq!(&found, expected, "seed {seed}, tick {tick}, row {row}");
                }
            }
            assert!(met > 100, "seed {seed}: nobody met anybody");
        }
    }
}

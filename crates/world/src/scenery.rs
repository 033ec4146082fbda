//! The fixed objects, found by place: a grid of square columns on the ground, each with a list of objects.

use space::{Buckets, GridPoint, ObjectId, Turn};

use crate::objects::Collider;
use crate::overlap::Shaped;
use crate::solid::GridBox;

/// Objects in more columns than this are listed apart, and tested by every query.
const COLUMNS_MAX: i64 = 4096;
/// The largest clearance that is measured, in steps.
const CLEAR: i32 = 2 << 10;
/// The most columns.
const COLUMNS_TOTAL: i64 = 1 << 20;

/// The fixed objects of a world.
#[derive(Debug, Default)]
pub(crate) struct Scenery {
    pub body: Vec<Collider>,
    pub id: Vec<ObjectId>,
    pub turn: Vec<Turn>,
    pub shape: Vec<u32>,
    pub name: Vec<Box<str>>,
    blocks: Vec<GridBox>,
    large: Vec<u32>,
    columns: ColumnGrid,
}

/// A grid of square columns, and a list of numbers in each.
#[derive(Debug, Default)]
pub(crate) struct ColumnGrid {
    low: [i32; 2],
    /// The binary logarithm of a column's edge in steps.
    shift: u32,
    counts: [i32; 2],
    listed: Buckets<u32>,
}

impl ColumnGrid {
    /// Empty columns over the ground, in a number that suits `expected` objects.
    pub fn over(low: GridPoint, high: GridPoint, expected: usize) -> ColumnGrid {
        let (width, depth) = (i64::from(high.x - low.x), i64::from(high.z - low.z));
        let count = |size: i64, shift: u32| (size >> shift) + 1;
        let total = (4 * expected as i64).clamp(1024, COLUMNS_TOTAL);
        let mut shift = 12;
        while count(width, shift) * count(depth, shift) > total {
            shift += 1;
        }
        let counts = [count(width, shift) as i32, count(depth, shift) as i32];
        ColumnGrid { low: [low.x, low.z], shift, counts, listed: Buckets::default() }
    }

    /// Lists each number in all columns that its box reaches into, in the order given.
    pub fn fill(&mut self, blocks: &[(u32, GridBox)]) {
        let mut listed = std::mem::take(&mut self.listed);
        let width = self.counts[0];
        let columns = |block: &GridBox| {
            let (from, to) = self.range(block);
            (from[1]..=to[1]).flat_map(move |z| (from[0]..=to[0]).map(move |x| (z * width + x) as usize))
        };
        let items = blocks.iter().flat_map(|(number, block)| columns(block).map(|column| (column, *number)));
        listed.fill((width * self.counts[1]) as usize, items);
        self.listed = listed;
    }

    /// Calls `visit` once for each number whose box meets `block`.
    #[inline]
    pub fn visit(&self, block: &GridBox, block_of: impl Fn(u32) -> GridBox, mut visit: impl FnMut(u32)) {
        if self.listed.is_empty() {
            return;
        }
        let (from, to) = self.range(block);
        for z in from[1]..=to[1] {
            for x in from[0]..=to[0] {
                let column = (z * self.counts[0] + x) as usize;
                for &number in self.listed.get(column) {
                    let other = block_of(number);
                    if !other.meets(block) {
                        continue;
                    }
                    // A box in several columns counts in the first one that both boxes reach into.
                    let first = self.place(other.low[0], other.low[2]);
                    if first[0].max(from[0]) == x && first[1].max(from[1]) == z {
                        visit(number);
                    }
                }
            }
        }
    }

    fn range(&self, block: &GridBox) -> ([i32; 2], [i32; 2]) {
        (self.place(block.low[0], block.low[2]), self.place(block.high[0], block.high[2]))
    }

    fn place(&self, x: i32, z: i32) -> [i32; 2] {
        let column = |place: i32, axis: usize| ((place - self.low[axis]) >> self.shift).clamp(0, self.counts[axis] - 1);
        [column(x, 0), column(z, 1)]
    }

    fn reached(&self, block: &GridBox) -> i64 {
        let (from, to) = self.range(block);
        i64::from(to[0] - from[0] + 1) * i64::from(to[1] - from[1] + 1)
    }
}

impl Scenery {
    pub fn push(&mut self, body: Collider, id: ObjectId, turn: Turn, shape: u32, name: Box<str>) {
        self.body.push(body);
        self.id.push(id);
        self.turn.push(turn);
        self.shape.push(shape);
        self.name.push(name);
        self.blocks.push(body.block());
    }

    /// Sorts the objects into columns. Call it once, after the last `push`.
    pub fn arrange(&mut self, low: GridPoint, high: GridPoint) {
        self.columns = ColumnGrid::over(low, high, self.blocks.len());
        let (large, listed): (Vec<_>, Vec<_>) = self
            .blocks
            .iter()
            .enumerate()
            .map(|(index, &block)| (index as u32, block))
            .partition(|(_, block)| self.columns.reached(block) > COLUMNS_MAX);
        self.large = large.into_iter().map(|(index, _)| index).collect();
        self.columns.fill(&listed);
    }

    /// A body with its shape and turn, for tests of overlap.
    pub fn shaped(&self, index: usize) -> Shaped<'_> {
        (&self.body[index], self.shape[index], self.turn[index])
    }

    /// The distance that a box may move along any axis before it meets a fixed object, at most [`CLEAR`].
    pub fn clearance(&self, block: &GridBox) -> i32 {
        let mut clearance = CLEAR;
        self.near(&block.grown(CLEAR), |index| clearance = clearance.min(self.blocks[index as usize].gap(block)));
        clearance
    }

    /// Calls `visit` once for each object whose box meets `block`.
    pub fn near(&self, block: &GridBox, mut visit: impl FnMut(u32)) {
        for &index in &self.large {
            if self.blocks[index as usize].meets(block) {
                visit(index);
            }
        }
        self.columns.visit(block, |index| self.blocks[index as usize], visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solid::RoundedBox;
    use space::workload::Random;

    #[test]
    fn columns_equal_brute_force() {
        let mut random = Random::new(5);
        let mut place = |size: u32| random.whole(0, size) as i32;
        let mut scenery = Scenery::default();
        for number in 1..200 {
            let solid = RoundedBox { core: [place(9_000), place(500), place(9_000)], radius: place(900) };
            let at = GridPoint::new(place(60_000), place(3_000), place(60_000));
            let id = ObjectId::new(number).unwrap();
            scenery.push(Collider::new(at, solid, 1), id, Turn::IDENTITY, 0, "".into());
        }
        scenery.arrange(GridPoint::new(2_000, 0, 2_000), GridPoint::new(50_000, 9_000, 50_000));
        for _ in 0..500 {
            let at = GridPoint::new(place(60_000), place(3_000), place(60_000));
            let block = GridBox::around(at, [place(9_000), place(900), place(9_000)]);
            let mut found = Vec::new();
            scenery.near(&block, |index| found.push(index));
            found.sort_unstable();
            let expected: Vec<u32> =
                (0..scenery.body.len() as u32).filter(|&i| scenery.body[i as usize].block().meets(&block)).collect();
            assert_eq!(found, expected);
            let clearance = scenery.clearance(&block);
            let gap = scenery.blocks.iter().map(|other| other.gap(&block)).min().unwrap();
            assert_eq!(clearance, gap.min(CLEAR));
            if clearance > 0 {
                assert!(!scenery.blocks.iter().any(|other| other.meets(&block.grown(clearance - 1))));
            }
        }
    }
}

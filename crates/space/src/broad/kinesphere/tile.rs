//! A tile: the objects of one block of cells, sorted by cell.
//!
//! Every object of a tile is entered where its flight plan is at the tile's *middle*, the tick halfway through the
//! tile's life. When the tile is renewed its objects are entered anew by a counting sort. In between, an object that
//! leaves makes a *hole*, and an object that comes takes the nearest hole behind its cell, the rows between moving up
//! by one.
//!
//! Invariants, except between [`Tile::push`] and [`Tile::sort`]:
//! - A row is an object's, or a hole: NaN, so that no test ever finds it.
//! - `starts` is ascending, begins with 0 and ends with the number of rows; an object's row is between its cell's start
//!   and the next one's.
//! - There are [`PADDING`] more rows than are in use, since wide loops read beyond the end.

use std::ops::Range;

use super::tile_map::TileKey;
use crate::Vec3;
use crate::simd::sweep::{PADDING, Row};

/// The id of a hole.
const NO_ID: u32 = u32::MAX;
const HOLE: Row = Row { place: [f32::NAN; 3], radius: 0.0, velocity: [0.0; 3], id: NO_ID };

/// A tick that never comes: tiles of standing objects expire then.
pub const NEVER: u64 = u64::MAX;

/// One cell in `GAP` ends with a hole where cells are well filled, so that none is far.
const GAP: usize = 8;

/// A tile without objects keeps memory for 100 rows at most.
const SPARE_ROWS: usize = 100;

#[derive(Debug, Default)]
pub struct Tile {
    pub key: TileKey,
    pub layer: u32,
    /// The tick at which its objects are where they are entered.
    pub middle: u64,
    /// The tick at which it is renewed next.
    pub expires: u64,
    /// The tick at which it was renewed last, and how often it was.
    pub renewed: u64,
    pub lives: u32,
    rows: Vec<Row>,
    holes: usize,
    /// The lowest occupied cell, and the number of cells of the occupied box along each axis.
    origin: [i32; 3],
    size: [i32; 3],
    /// The first row of each cell of that box, and the number of rows.
    starts: Vec<u32>,
    low: Vec3,
    high: Vec3,
}

/// How a layer divides space: into cubic cells, and those into tiles.
#[derive(Clone, Copy, Debug)]
pub struct CellGrid {
    edge: f64,
    per_metre: f64,
    /// A tile has two to these powers of cells along each axis.
    tile_bits: [u32; 3],
}

/// A box of cells, from the lowest to the highest of each axis, both included.
#[derive(Clone, Copy, Debug)]
pub struct CellBox {
    pub low: [i32; 3],
    pub high: [i32; 3],
}

/// Rows that wait to be sorted into a tile, each with its cell.
pub type Unsorted = Vec<(Row, [i32; 3])>;

impl CellGrid {
    pub fn new(edge: f64, tile_bits: [u32; 3]) -> CellGrid {
        CellGrid { edge, per_metre: 1.0 / edge, tile_bits }
    }

    /// The cell of a coordinate. In `f64`, so that two coordinates less than an edge apart are in the same cell or in
    /// neighbouring ones wherever they are: layers add the little that rounding can take.
    #[inline]
    fn cell(&self, coordinate: f32) -> i32 {
        let scaled = f64::from(coordinate) * self.per_metre;
        let cell = scaled as i32;
        // `floor` without a call: the conversion rounds towards zero, and stops at the ends of `i32`.
        cell.saturating_sub(i32::from(f64::from(cell) > scaled))
    }

    #[inline]
    pub fn cell_at(&self, place: Vec3) -> [i32; 3] {
        [self.cell(place.x), self.cell(place.y), self.cell(place.z)]
    }

    /// All cells that meet a box.
    pub fn cells_of(&self, low: Vec3, high: Vec3) -> CellBox {
        CellBox { low: self.cell_at(low), high: self.cell_at(high) }
    }

    /// The tile of a cell.
    #[inline]
    pub fn key(&self, cell: [i32; 3]) -> TileKey {
        std::array::from_fn(|axis| cell[axis] >> self.tile_bits[axis])
    }

    /// The cells of a tile.
    pub fn cells_of_tile(&self, key: TileKey) -> CellBox {
        let low: [i32; 3] = std::array::from_fn(|axis| key[axis] << self.tile_bits[axis]);
        CellBox { low, high: std::array::from_fn(|axis| low[axis] + ((1 << self.tile_bits[axis]) - 1)) }
    }

    /// The corners of a box of cells.
    pub fn corners(&self, cells: CellBox) -> (Vec3, Vec3) {
        let corner = |cell: i32| (f64::from(cell) * self.edge) as f32;
        let next = |cell: i32| ((f64::from(cell) + 1.0) * self.edge) as f32;
        (Vec3::from(cells.low.map(corner)), Vec3::from(cells.high.map(next)))
    }

    /// Whether a cell is in the tile at `key` or touches it from outside.
    #[inline]
    pub fn is_at(&self, key: TileKey, cell: [i32; 3]) -> bool {
        let CellBox { low, high } = self.cells_of_tile(key).grown();
        (0..3).all(|axis| (low[axis]..=high[axis]).contains(&cell[axis]))
    }
}

impl CellBox {
    /// With all cells around it.
    pub fn grown(self) -> CellBox {
        CellBox { low: self.low.map(|cell| cell.saturating_sub(1)), high: self.high.map(|cell| cell.saturating_add(1)) }
    }

    /// The cells that both have; none where a `low` is above its `high`.
    pub fn common(self, other: CellBox) -> CellBox {
        CellBox {
            low: std::array::from_fn(|axis| self.low[axis].max(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].min(other.high[axis])),
        }
    }

    pub fn is_empty(self) -> bool {
        (0..3).any(|axis| self.low[axis] > self.high[axis])
    }

    /// Its lines of cells along x, each by its `y` and `z`.
    pub fn lines(self) -> impl Iterator<Item = (i32, i32)> {
        let CellBox { low, high } = self;
        let slices = (low[2]..=high[2]).filter(move |_| low[0] <= high[0]);
        slices.flat_map(move |z| (low[1]..=high[1]).map(move |y| (y, z)))
    }
}

impl Tile {
    /// Empties the tile, which belongs to no layer then. It keeps its memory if that is little: a caravan would leave
    /// memory all along its way.
    pub fn clear(&mut self) {
        if self.rows.capacity().max(self.starts.capacity() / 4) > SPARE_ROWS {
            *self = Tile::default();
        }
        (self.expires, self.renewed) = (NEVER, NEVER);
        self.rows.clear();
        self.rows.resize(PADDING, HOLE);
        self.holes = 0;
        (self.origin, self.size) = ([0; 3], [0; 3]);
        (self.low, self.high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.starts.clear();
    }

    pub fn len(&self) -> usize {
        self.count() - self.holes
    }

    /// How many rows there are, holes included.
    pub fn count(&self) -> usize {
        self.rows.len().saturating_sub(PADDING)
    }

    #[inline]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds an object at the end, where it need not belong: [`Tile::sort`] must follow.
    pub fn push(&mut self, row: Row) {
        if self.rows.len() == self.rows.capacity() {
            self.rows.reserve_exact(roomy(self.rows.len()) - self.rows.len());
        }
        let last = self.count();
        self.rows.push(HOLE);
        self.rows[last] = row;
        self.widen_bounds(row);
    }

    /// Adds an object where it belongs.
    pub fn insert(&mut self, row: Row, grid: &CellGrid, unsorted: &mut Unsorted) {
        let Some(cell) = self.cell_index(grid.cell_at(row.place.into())) else {
            self.push(row);
            self.sort(grid, unsorted);
            return;
        };
        let (start, end) = (self.starts[cell] as usize, self.starts[cell + 1] as usize);
        let count = self.count();
        let hole = match self.rows[start..count].iter().position(|row| row.id == NO_ID) {
            Some(ahead) => {
                self.holes -= 1;
                start + ahead
            }
            None => {
                self.push(row);
                count
            }
        };
        if hole < end {
            self.rows[hole] = row;
        } else {
            // The rows from the cell's end up to the hole move up by one, and so do the cells that begin there.
            self.rows.copy_within(end..hole, end + 1);
            self.rows[end] = row;
            let moved = self.starts[cell + 1..].iter_mut().take_while(|start| **start as usize <= hole);
            moved.for_each(|start| *start += 1);
        }
        self.widen_bounds(row);
    }

    /// The row of the object `id`, which is probably in this cell.
    pub fn find(&self, id: u32, cell: [i32; 3]) -> Option<usize> {
        let is_it = |row: &Row| row.id == id;
        if let Some(cell) = self.cell_index(cell) {
            let (start, end) = (self.starts[cell] as usize, self.starts[cell + 1] as usize);
            if let Some(ahead) = self.rows[start..end].iter().position(is_it) {
                return Some(start + ahead);
            }
        }
        // Rounding may have put it in a neighbouring cell.
        self.rows.iter().position(is_it)
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<Row> {
        let row = self.rows[row];
        (row.id != NO_ID).then_some(row)
    }

    pub fn objects(&self) -> impl Iterator<Item = Row> + '_ {
        self.rows[..self.count()].iter().copied().filter(|row| row.id != NO_ID)
    }

    pub fn dig(&mut self, row: usize) {
        self.rows[row] = HOLE;
        self.holes += 1;
    }

    /// Whether there are enough holes for sorting to pay, for a tile that never expires.
    pub fn is_sparse(&self) -> bool {
        self.holes > 16 + self.count() / 4
    }

    /// Sorts all rows by cell and closes the holes.
    pub fn sort(&mut self, grid: &CellGrid, unsorted: &mut Unsorted) {
        unsorted.clear();
        for row in self.objects() {
            unsorted.push((row, grid.cell_at(row.place.into())));
        }
        self.replace(unsorted);
    }

    /// Forgets its rows and takes others, by a counting sort.
    pub fn replace(&mut self, rows: &[(Row, [i32; 3])]) {
        self.enclose(rows);
        let [width, height, depth] = self.size;
        let boxes = (width * height * depth) as usize;
        // Counted two ahead: once summed up, the number one ahead is where a cell begins, and placing its rows moves
        // that to where the next one begins.
        self.starts.clear();
        if self.starts.capacity() < boxes + 2 {
            self.starts.reserve_exact(roomy(boxes + 2));
        }
        self.starts.resize(boxes + 2, 0);
        let origin = self.origin;
        let index_of = |cell: &[i32; 3]| {
            let [x, y, z] = [0, 1, 2].map(|axis| cell[axis] - origin[axis]);
            ((z * height + y) * width + x) as usize
        };
        for (_, cell) in rows {
            self.starts[index_of(cell) + 2] += 1;
        }
        let has_gaps = rows.len() > 2 * boxes;
        self.holes = if has_gaps { boxes / GAP } else { 0 };
        for cell in 2..boxes + 2 {
            let gap = has_gaps && (cell - 1).is_multiple_of(GAP);
            self.starts[cell] += self.starts[cell - 1] + u32::from(gap);
        }
        let count = rows.len() + self.holes;
        self.rows.clear();
        if self.rows.capacity() < count + PADDING {
            self.rows.reserve_exact(roomy(count + PADDING));
        }
        self.rows.resize(count + PADDING, HOLE);
        for (row, cell) in rows {
            let place = &mut self.starts[index_of(cell) + 1];
            self.rows[*place as usize] = *row;
            *place += 1;
        }
        // Where a cell ends with a hole, the next one's start was counted but not moved past it.
        self.starts.truncate(boxes + 1);
        if has_gaps {
            for cell in (GAP..=boxes).step_by(GAP) {
                self.starts[cell] += 1;
            }
        }
    }

    /// The rows of the cells from `first` to `last` of the line at `y` and `z`, all of which must be in the box.
    #[inline]
    pub fn line(&self, y: i32, z: i32, first: i32, last: i32) -> Range<u32> {
        let [width, height, _] = self.size;
        let line = ((z - self.origin[2]) * height + (y - self.origin[1])) * width - self.origin[0];
        self.starts[(line + first) as usize]..self.starts[(line + last + 1) as usize]
    }

    pub fn lines(&self) -> u32 {
        (self.size[1] * self.size[2]) as u32
    }

    /// Where a line of cells is: its `y` and its `z`.
    pub fn line_at(&self, line: u32) -> (i32, i32) {
        let height = self.size[1];
        (self.origin[1] + line as i32 % height, self.origin[2] + line as i32 / height)
    }

    /// The rows of a line of cells, holes included.
    pub fn rows_of_line(&self, line: u32) -> Range<u32> {
        let width = self.size[0] as usize;
        let first = line as usize * width;
        self.starts[first]..self.starts[first + width]
    }

    /// The box of all cells that objects are in.
    #[inline]
    pub fn cells(&self) -> CellBox {
        let high = std::array::from_fn(|axis| self.origin[axis] + self.size[axis] - 1);
        CellBox { low: self.origin, high }
    }

    /// Whether an object may be entered in this part of space.
    #[inline]
    pub fn touches(&self, low: Vec3, high: Vec3) -> bool {
        // One comparison of all, without a branch for each.
        (self.low.x <= high.x)
            & (self.low.y <= high.y)
            & (self.low.z <= high.z)
            & (self.high.x >= low.x)
            & (self.high.y >= low.y)
            & (self.high.z >= low.z)
    }

    pub fn bounds(&self) -> (Vec3, Vec3) {
        (self.low, self.high)
    }

    /// The number of a cell, if it is in the box: along x first, then y, then z.
    #[inline]
    fn cell_index(&self, cell: [i32; 3]) -> Option<usize> {
        let [x, y, z]: [i32; 3] = std::array::from_fn(|axis| cell[axis].wrapping_sub(self.origin[axis]));
        let [width, height, depth] = self.size;
        let is_in = (0..width).contains(&x) && (0..height).contains(&y) && (0..depth).contains(&z);
        is_in.then(|| ((z * height + y) * width + x) as usize)
    }

    fn widen_bounds(&mut self, row: Row) {
        self.low = self.low.min(row.place.into());
        self.high = self.high.max(row.place.into());
    }

    /// Finds the box of some rows, and the box of their cells.
    fn enclose(&mut self, rows: &[(Row, [i32; 3])]) {
        (self.low, self.high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        rows.iter().for_each(|(row, _)| self.widen_bounds(*row));
        (self.origin, self.size) = ([0; 3], [0; 3]);
        if let Some(&(_, first)) = rows.first() {
            let (mut low, mut high) = (first, first);
            for (_, cell) in rows {
                low = std::array::from_fn(|axis| low[axis].min(cell[axis]));
                high = std::array::from_fn(|axis| high[axis].max(cell[axis]));
            }
            (self.origin, self.size) = (low, std::array::from_fn(|axis| high[axis] - low[axis] + 1));
        }
    }
}

/// Room for a count that varies by chance, as a number of independent events does: by its root. Eight times that much
/// more than usual hardly ever comes.
pub fn roomy(usual: usize) -> usize {
    usual + 8 * usual.isqrt() + 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    /// Objects come and go, in a tile and a cell outside it: every object is in the rows of its cell, and only
    /// there.
    #[test]
    fn every_object_is_among_the_rows_of_its_cell() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let grid = CellGrid::new(2.0, [3, 1, 1]);
            let key = [-1, 0, 2];
            let CellBox { low, high } = grid.cells_of_tile(key).grown();
            let mut tile = Tile::default();
            tile.clear();
            (tile.key, tile.expires) = (key, 9);
            let mut twin: Vec<Row> = Vec::new();
            for step in 0..300u32 {
                if random.unit() < 0.3 && !twin.is_empty() {
                    let gone = twin.swap_remove(random.whole(0, twin.len() as u32) as usize);
                    let row = tile.find(gone.id, grid.cell_at(gone.place.into())).expect("it is there");
                    tile.dig(row);
                } else if random.unit() < 0.02 {
                    tile.sort(&grid, &mut Unsorted::default());
                } else {
                    // At first near one corner, then everywhere.
                    let share = if step < 30 { 0.3 } else { 1.0 };
                    let place = [0, 1, 2].map(|axis| {
                        let wide = (high[axis] - low[axis] + 1) as f32 * share;
                        (low[axis] as f32 + 0.01 + random.unit() * (wide - 0.02)) * 2.0
                    });
                    let row = Row { place, radius: 1.0, velocity: [0.1; 3], id: step };
                    twin.push(row);
                    tile.insert(row, &grid, &mut Unsorted::default());
                }
                let context = format!("seed {seed}, step {step}");
                assert_eq!(tile.len(), twin.len(), "{context}");
                let mut found: Vec<u32> = Vec::new();
                let CellBox { low, high } = tile.cells();
                for (y, z) in tile.cells().lines() {
                    for x in low[0]..=high[0] {
                        for row in tile.line(y, z, x, x).filter_map(|row| tile.get(row as usize)) {
                            assert_eq!(grid.cell_at(row.place.into()), [x, y, z], "{context}");
                            found.push(row.id);
                        }
                    }
                }
                found.sort_unstable();
                let mut expected: Vec<u32> = twin.iter().map(|row| row.id).collect();
                expected.sort_unstable();
                assert_eq!(found, expected, "{context}");
            }
        }
    }
}

//! A tile: the objects of one block of cells, in the order of the cells.
//!
//! Every object of a tile is entered where its course is at the tile's *middle*, the moment halfway through the tile's
//! life. When the tile falls due its objects are entered anew and sorted; in between, single ones come and go: who
//! leaves makes a *hole*, and who comes takes the nearest hole, the rows between moving up by one.
//!
//! Invariants, except between [`Tile::push`] and [`Tile::sort`]:
//! - A row is a live object's, or a hole: NaN, so that no test ever finds it.
//! - `starts` is ascending, begins with 0 and ends with the number of rows; an object's row is between its cell's start
//!   and the next one's. Holes may be anywhere.
//! - The columns have [`PADDING`] more rows than are in use: wide loops may read beyond the end.

use std::ops::Range;

use crate::Vec3;

use super::room::{make_room, roomy, stock_up, stock_up_alike, twice_if_few};
use super::tile_map::Key;
use crate::simd::sweep::{PADDING, Row};

/// The id of a hole.
const NOBODY: u32 = u32::MAX;

/// A tick that never comes: tiles of standing objects are due then.
pub const NEVER: u64 = u64::MAX;

/// The objects of one block of cells.
#[derive(Debug, Default)]
pub struct Tile {
    /// Where it is in its layer.
    pub key: Key,
    /// The layer it belongs to.
    pub layer: u32,
    /// Which of the tiles it is that the layer has there.
    pub ply: u32,
    /// The tick at which its objects are where they are entered.
    pub middle: u64,
    /// The tick at which it is sorted and examined anew.
    pub due: u64,
    /// The tick at which that happened last.
    pub renewed: u64,
    /// How often, so far.
    pub lives: u32,
    /// How long it took, in nanoseconds of some machine.
    pub work: u32,
    /// With [`PADDING`] more at the end.
    rows: Vec<Row>,
    holes: usize,
    /// The lowest occupied cell, and how many cells the occupied box has along each axis.
    origin: [i32; 3],
    size: [i32; 3],
    /// The first row of each cell of that box, and the number of rows.
    starts: Vec<u32>,
    /// The box of all places.
    low: Vec3,
    high: Vec3,
}

/// How a layer divides space: into cubic cells, and those into tiles.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// The edge of a cell.
    pub edge: f64,
    per_metre: f64,
    /// A tile has two to these powers of cells along each axis.
    tile_bits: [u32; 3],
}

/// A box of cells, from the lowest to the highest of each axis, both included.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The lowest cell.
    pub low: [i32; 3],
    /// The highest cell.
    pub high: [i32; 3],
}

/// One of a tile's cells, or of those that touch it from outside: its steps from the lowest of them along each axis. The
/// fourth number is nothing: four bytes are one piece for the processor.
pub type Spot = [u8; 4];

/// Where rows wait to be arranged in their tiles, each with its spot. Kept, so that a steady tick allocates nothing.
#[derive(Debug, Default)]
pub struct Workbench {
    rows: Vec<Row>,
    spots: Vec<Spot>,
}

/// Some of the rows on a bench.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    rows: &'a [Row],
    spots: &'a [Spot],
}

impl Workbench {
    /// Clears the bench.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.spots.clear();
    }

    /// Puts an object on it.
    #[inline]
    pub fn put(&mut self, row: Row, spot: Spot) {
        self.rows.push(row);
        self.spots.push(spot);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Some of them.
    pub fn sheet(&self, range: Range<usize>) -> Sheet<'_> {
        Sheet { rows: &self.rows[range.clone()], spots: &self.spots[range] }
    }

    /// Takes memory for a few more than so many, or twice as many where that is little.
    pub fn make_room(&mut self, rows: usize) {
        make_room(&mut self.rows, twice_if_few(rows));
        make_room(&mut self.spots, twice_if_few(rows));
    }

    /// Takes more memory than any of these owners' benches ever needed, for all of them.
    pub fn stock_up<S>(owners: &mut [S], bench: impl Fn(&mut S) -> &mut Workbench) {
        stock_up_alike(owners, |owner| &mut bench(owner).rows);
        stock_up_alike(owners, |owner| &mut bench(owner).spots);
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>() + self.spots.capacity() * size_of::<Spot>()
    }
}

/// What a tile is to have room for at least, whatever is in it now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Supply {
    pub rows: usize,
    pub cells: usize,
}

/// By how many cells a tile may get longer, wider and thicker before more memory has to be taken.
const MARGIN: [i32; 3] = [4, 2, 2];

/// One cell in so many ends with a hole.
const GAP: usize = 8;

const HOLE: Row = Row { place: [f32::NAN; 3], radius: 0.0, velocity: [0.0; 3], id: NOBODY };

impl Cells {
    /// Cells of this edge, in tiles of two to the power of `tile_bits` cells along each axis.
    pub fn new(edge: f64, tile_bits: [u32; 3]) -> Cells {
        assert!(tile_bits.iter().all(|&bits| bits < u8::BITS), "a spot has a byte for each axis");
        Cells { edge, per_metre: 1.0 / edge, tile_bits }
    }

    /// The cell of a coordinate. In `f64`, so that two coordinates less than an edge apart are in the same cell or in
    /// neighbouring ones wherever they are: [`Lattice::add_layer`](super::lattice::Lattice::add_layer) adds the
    /// little that rounding can take.
    #[inline]
    pub fn cell(&self, coordinate: f32) -> i32 {
        let scaled = f64::from(coordinate) * self.per_metre;
        let cell = scaled as i32;
        // `floor` without a call: the conversion rounds towards zero, and stops at the ends of `i32`.
        cell.saturating_sub(i32::from(f64::from(cell) > scaled))
    }

    /// The cell of a place.
    #[inline]
    pub fn cells(&self, place: Vec3) -> [i32; 3] {
        [self.cell(place.x), self.cell(place.y), self.cell(place.z)]
    }

    /// All cells that meet a box.
    pub fn block(&self, low: Vec3, high: Vec3) -> Block {
        Block { low: self.cells(low), high: self.cells(high) }
    }

    /// The tile of a cell.
    #[inline]
    pub fn key(&self, cell: [i32; 3]) -> Key {
        std::array::from_fn(|axis| cell[axis] >> self.tile_bits[axis])
    }

    /// The cells of a tile.
    pub fn block_of(&self, key: Key) -> Block {
        let low: [i32; 3] = std::array::from_fn(|axis| key[axis] << self.tile_bits[axis]);
        Block { low, high: std::array::from_fn(|axis| low[axis] + ((1 << self.tile_bits[axis]) - 1)) }
    }

    /// The corners of a block of cells.
    pub fn corners(&self, block: Block) -> (Vec3, Vec3) {
        let corner = |cell: i32| (f64::from(cell) * self.edge) as f32;
        let next = |cell: i32| ((f64::from(cell) + 1.0) * self.edge) as f32;
        (Vec3::from(block.low.map(corner)), Vec3::from(block.high.map(next)))
    }

    /// How many cells a tile has along each axis, with those that touch it from outside.
    fn most(&self) -> [i32; 3] {
        self.tile_bits.map(|bits| (1 << bits) + 2)
    }

    /// How many cells a block of this size may have before long: some more along each axis, as far as a tile can ever have
    /// them.
    pub fn around(&self, size: [i32; 3]) -> usize {
        let most = self.most();
        (0..3).map(|axis| (size[axis] + MARGIN[axis]).min(most[axis]).max(size[axis]) as usize).product()
    }

    /// Where a cell is in the tile at `key`, if it is there or touches it from outside.
    #[inline]
    pub fn spot(&self, key: Key, cell: [i32; 3]) -> Option<Spot> {
        let Block { low, high } = self.block_of(key).grown();
        let is_at = (0..3).all(|axis| (low[axis]..=high[axis]).contains(&cell[axis]));
        let steps = |axis: usize| (cell[axis].wrapping_sub(low[axis])) as u8;
        is_at.then(|| [steps(0), steps(1), steps(2), 0])
    }
}

impl Block {
    /// The block and all cells around it.
    pub fn grown(self) -> Block {
        Block { low: self.low.map(|cell| cell.saturating_sub(1)), high: self.high.map(|cell| cell.saturating_add(1)) }
    }

    /// The smallest block that has another cell, too.
    pub fn with(self, cell: [i32; 3]) -> Block {
        Block {
            low: std::array::from_fn(|axis| self.low[axis].min(cell[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(cell[axis])),
        }
    }

    /// The cells that both have; none where a `low` is above its `high`.
    pub fn common(self, other: Block) -> Block {
        Block {
            low: std::array::from_fn(|axis| self.low[axis].max(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].min(other.high[axis])),
        }
    }

    /// Whether there is no cell in it.
    pub fn is_empty(self) -> bool {
        (0..3).any(|axis| self.low[axis] > self.high[axis])
    }

    /// Its lines of cells along x, each by its `y` and `z`; none if there is no cell in it.
    pub fn lines(self) -> impl Iterator<Item = (i32, i32)> {
        let Block { low, high } = self;
        let layers = (low[2]..=high[2]).filter(move |_| low[0] <= high[0]);
        layers.flat_map(move |z| (low[1]..=high[1]).map(move |y| (y, z)))
    }
}

impl Tile {
    /// A tile of no layer, without memory.
    pub fn spare() -> Tile {
        Tile { due: NEVER, ..Tile::default() }
    }

    /// Makes the tile empty, and nobody's. It keeps its memory.
    pub fn clear(&mut self) {
        self.due = NEVER;
        self.work = 0;
        self.rows.clear();
        self.rows.resize(PADDING, HOLE);
        self.holes = 0;
        (self.origin, self.size) = ([0; 3], [0; 3]);
        (self.low, self.high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.starts.clear();
    }

    /// Whether it is some layer's tile. If not it is spare: who stands gives an empty tile up, and all others fall due.
    pub fn is_used(&self) -> bool {
        self.len() > 0 || self.due != NEVER
    }

    /// Whether its rows are in the order of the cells: not after [`Tile::push`], until it is sorted for the first time.
    pub fn is_sorted(&self) -> bool {
        !self.starts.is_empty()
    }

    /// How many objects it holds.
    pub fn len(&self) -> usize {
        self.count() - self.holes
    }

    /// How many rows there are, holes included.
    pub fn count(&self) -> usize {
        self.rows.len().saturating_sub(PADDING)
    }

    /// The rows, and [`PADDING`] more.
    #[inline]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds an object at the end, where it need not belong: [`Tile::sort`] must follow.
    pub fn push(&mut self, row: Row) {
        if self.rows.len() == self.rows.capacity() {
            stock_up(&mut self.rows);
        }
        let last = self.count();
        self.rows.push(HOLE);
        self.rows[last] = row;
        self.widen_bounds(row);
    }

    /// Adds an object where it belongs.
    pub fn insert(&mut self, row: Row, cells: &Cells) {
        let place = cells.cells(row.place.into());
        let cell = self.cell_index(place).unwrap_or_else(|| {
            self.widen_block(place, cells);
            self.cell_index(place).expect("the block was widened for it")
        });
        let (start, end) = (self.starts[cell] as usize, self.starts[cell + 1] as usize);
        let count = self.count();
        let hole = match self.rows[start..count].iter().position(|row| row.id == NOBODY) {
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

    /// The object in `row`, or `None` for a hole.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Row> {
        let row = self.rows[row];
        (row.id != NOBODY).then_some(row)
    }

    /// Makes a row a hole.
    pub fn dig(&mut self, row: usize) {
        self.rows[row] = HOLE;
        self.holes += 1;
    }

    /// Whether there are so many holes that sorting pays, for a tile that does not fall due.
    pub fn is_sparse(&self) -> bool {
        self.holes > 16 + self.count() / 4
    }

    /// Takes memory for as many rows as there may be where there are usually as many as now, or as many as are supplied; and
    /// for cells.
    pub fn stock_up(&mut self, Supply { rows, cells }: Supply) {
        let usual = self.rows.len().max(rows);
        make_room(&mut self.rows, usual);
        if self.starts.capacity() < cells + 2 {
            self.starts.reserve_exact(cells + 2 - self.starts.len());
        }
    }

    /// How many cells the block has along each axis.
    pub fn size(&self) -> [i32; 3] {
        self.size
    }

    /// How many cells the block has that objects are in.
    pub fn cells(&self) -> usize {
        self.size.iter().map(|&cells| cells as usize).product()
    }

    /// Sorts all rows by cell and closes the holes.
    pub fn sort(&mut self, cells: &Cells, bench: &mut Workbench) {
        bench.clear();
        for row in self.rows[..self.count()].iter().filter(|row| row.id != NOBODY) {
            let spot = cells.spot(self.key, cells.cells(row.place.into()));
            bench.put(*row, spot.expect("an object is at most a cell outside its tile"));
        }
        self.arrange(cells, std::iter::once(bench.sheet(0..bench.len())));
    }

    /// Forgets its rows and holds those on some sheets instead, sorted by cell.
    pub fn arrange<'a>(&mut self, cells: &Cells, sheets: impl Iterator<Item = Sheet<'a>> + Clone) {
        let lowest = self.enclose(cells, sheets.clone());
        let rows: usize = sheets.clone().map(|sheet| sheet.rows.len()).sum();
        let [width, height, depth] = self.size;
        let boxes = (width * height * depth) as usize;
        // Counted two ahead: once summed up, the number one ahead is where a cell begins, and placing its rows moves
        // that to where the next one begins.
        self.starts.clear();
        self.make_room_for_cells(cells);
        self.starts.resize(boxes + 2, 0);
        let index_of = |spot: &Spot| {
            let [x, y, z] = [0, 1, 2].map(|axis| usize::from(spot[axis] - lowest[axis]));
            (z * height as usize + y) * width as usize + x
        };
        for spot in sheets.clone().flat_map(|sheet| sheet.spots) {
            self.starts[index_of(spot) + 2] += 1;
        }
        // Where cells are well filled, every eighth ends with a hole: who comes later has it not far.
        let has_gaps = rows > 2 * boxes;
        self.holes = if has_gaps { boxes / GAP } else { 0 };
        for cell in 2..boxes + 2 {
            let gap = has_gaps && (cell - 1).is_multiple_of(GAP);
            self.starts[cell] += self.starts[cell - 1] + u32::from(gap);
        }
        let count = rows + self.holes;
        self.rows.clear();
        if self.rows.capacity() < count + PADDING {
            self.rows.reserve_exact(roomy(count + PADDING));
        }
        self.rows.resize(count + PADDING, HOLE);
        for Sheet { rows, spots } in sheets {
            for (row, spot) in rows.iter().zip(spots) {
                let place = &mut self.starts[index_of(spot) + 1];
                self.rows[*place as usize] = *row;
                *place += 1;
            }
        }
        // Where a cell ends with a hole, the next one's start was counted but not moved past it.
        self.starts.truncate(boxes + 1);
        if has_gaps {
            for cell in (GAP..=boxes).step_by(GAP) {
                self.starts[cell] += 1;
            }
        }
    }

    /// The rows of the cells from `first` to `last` of the line at `y` and `z`, all of which must be in the block.
    #[inline]
    pub fn line(&self, y: i32, z: i32, first: i32, last: i32) -> Range<u32> {
        let [width, height, _] = self.size;
        let line = ((z - self.origin[2]) * height + (y - self.origin[1])) * width - self.origin[0];
        self.starts[(line + first) as usize]..self.starts[(line + last + 1) as usize]
    }

    /// How many lines of cells there are.
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

    /// The block of all cells that objects are in.
    #[inline]
    pub fn block(&self) -> Block {
        let high = std::array::from_fn(|axis| self.origin[axis] + self.size[axis] - 1);
        Block { low: self.origin, high }
    }

    /// Whether anybody may be entered in the box.
    #[inline]
    pub fn touches(&self, low: Vec3, high: Vec3) -> bool {
        // One comparison of all, without a branch for each.
        (self.low.cmple(high) & self.high.cmpge(low)).bitmask() == 0b111
    }

    /// The box of all places.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        (self.low, self.high)
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>() + self.starts.capacity() * 4
    }

    /// The number of a cell, if it is in the block.
    #[inline]
    fn cell_index(&self, cell: [i32; 3]) -> Option<usize> {
        number_in(self.origin, self.size, cell)
    }

    /// Makes the block large enough for another cell. Rows stay where they are: all cells that come with it are empty.
    fn widen_block(&mut self, cell: [i32; 3], cells: &Cells) {
        let (old, old_size) = (self.block(), self.size);
        let rows = self.starts.last().copied().unwrap_or(0);
        let Block { low, high } = if old.is_empty() { Block { low: cell, high: cell } } else { old.with(cell) };
        (self.origin, self.size) = (low, std::array::from_fn(|axis| high[axis] - low[axis] + 1));
        self.make_room_for_cells(cells);
        let mut number = self.cells();
        self.starts.resize(number + 1, rows);
        // From the end: every cell's number becomes larger or stays, so what was not looked at is not overwritten. An empty
        // cell starts where the next one does.
        let mut start = rows;
        for z in (low[2]..=high[2]).rev() {
            for y in (low[1]..=high[1]).rev() {
                for x in (low[0]..=high[0]).rev() {
                    if let Some(old) = number_in(old.low, old_size, [x, y, z]) {
                        start = self.starts[old];
                    }
                    number -= 1;
                    self.starts[number] = start;
                }
            }
        }
    }

    /// Takes memory for the cells of the block, and for some around.
    fn make_room_for_cells(&mut self, cells: &Cells) {
        if self.starts.capacity() < self.cells() + 2 {
            self.starts.reserve_exact(cells.around(self.size) + 2 - self.starts.len());
        }
    }

    fn widen_bounds(&mut self, row: Row) {
        self.low = self.low.min(row.place.into());
        self.high = self.high.max(row.place.into());
    }

    /// Finds the box of all rows on some sheets, and the cells that it takes. Returns the lowest of those.
    fn enclose<'a>(&mut self, cells: &Cells, sheets: impl Iterator<Item = Sheet<'a>>) -> Spot {
        (self.low, self.high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (mut lowest, mut highest) = ([u8::MAX; 4], [0; 4]);
        for Sheet { rows, spots } in sheets {
            rows.iter().for_each(|row| self.widen_bounds(*row));
            for spot in spots {
                lowest = std::array::from_fn(|axis| lowest[axis].min(spot[axis]));
                highest = std::array::from_fn(|axis| highest[axis].max(spot[axis]));
            }
        }
        (self.origin, self.size) = ([0; 3], [0; 3]);
        if lowest <= highest {
            let corner = cells.block_of(self.key).grown().low;
            self.origin = std::array::from_fn(|axis| corner[axis] + i32::from(lowest[axis]));
            self.size = std::array::from_fn(|axis| i32::from(highest[axis] - lowest[axis]) + 1);
        }
        lowest
    }
}

/// The number of a cell in a block of this size, if it is there: along x first, then y, then z.
#[inline]
fn number_in(origin: [i32; 3], [width, height, depth]: [i32; 3], cell: [i32; 3]) -> Option<usize> {
    let [x, y, z]: [i32; 3] = std::array::from_fn(|axis| cell[axis].wrapping_sub(origin[axis]));
    let is_in = (0..width).contains(&x) && (0..height).contains(&y) && (0..depth).contains(&z);
    is_in.then(|| ((z * height + y) * width + x) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    /// Whoever comes and goes, in a tile or a cell outside it: everybody is in the rows of its cell, and only there.
    #[test]
    fn everybody_is_among_the_rows_of_its_cell() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let cells = Cells::new(2.0, [3, 1, 1]);
            let key = [-1, 0, 2];
            let Block { low, high } = cells.block_of(key).grown();
            let mut tile = Tile::default();
            tile.clear();
            (tile.key, tile.due) = (key, 9);
            let mut twin: Vec<Row> = Vec::new();
            for step in 0..300u32 {
                if random.unit() < 0.3 && !twin.is_empty() {
                    let gone = twin.swap_remove(random.whole(0, twin.len() as u32) as usize);
                    let row = tile.find(gone.id, cells.cells(gone.place.into())).expect("it is there");
                    tile.dig(row);
                } else if random.unit() < 0.02 {
                    tile.sort(&cells, &mut Workbench::default());
                } else {
                    // At first near one corner, then everywhere.
                    let share = if step < 30 { 0.3 } else { 1.0 };
                    let place = [0, 1, 2].map(|axis| {
                        let wide = (high[axis] - low[axis] + 1) as f32 * share;
                        (low[axis] as f32 + 0.01 + random.unit() * (wide - 0.02)) * 2.0
                    });
                    let row = Row { place, radius: 1.0, velocity: [0.1; 3], id: step };
                    twin.push(row);
                    tile.insert(row, &cells);
                }
                let context = format!("seed {seed}, step {step}");
                assert_eq!(tile.len(), twin.len(), "{context}");
                let mut found: Vec<u32> = Vec::new();
                let Block { low, high } = tile.block();
                for (z, y) in (low[2]..=high[2]).flat_map(|z| (low[1]..=high[1]).map(move |y| (z, y))) {
                    for x in low[0]..=high[0] {
                        for row in tile.line(y, z, x, x).filter_map(|row| tile.get(row as usize)) {
                            assert_eq!(cells.cells(row.place.into()), [x, y, z], "{context}");
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

//! The honest baseline: every tick all objects are sorted into a grid afresh, and neighbours are tested eight at a time.
//!
//! There is no memory of earlier ticks and nothing to tune. What a method gains by being clever is measured against
//! this one.
//!
//! Invariants, from `update` to `find`:
//! - A cell's edge is at least two of the largest radii, and more by what rounding may take: objects that overlap are
//!   in the same cell or in neighbouring ones.
//! - Cells are numbered along x, then y, then z, and `sorted` has the objects in the order of their cells: the three
//!   cells around a place in a row of cells are one run of rows.
//! - Each row of cells ends with an empty cell, each layer with an empty row, and the grid with an empty layer: a
//!   neighbour beyond the border is an empty cell, not a special case.
//! - Dead rows come last, in a cell behind the grid, and a block of rows after them: a wide test may read past a run.

use super::{BroadPhase, Work};
use crate::{Columns, Pair, Spheres, simd};

/// A counting-sort grid, made anew each tick.
#[derive(Clone, Debug, Default)]
pub struct PlainGrid {
    layout: Layout,
    live: usize,
    /// The cell of each row of the caller's columns.
    cell_of_row: Vec<u32>,
    /// The objects in the order of their bunches of cells.
    bunched: Vec<Row>,
    /// Where each bunch begins in `bunched`; the next one's beginning is its end.
    bunch_starts: Vec<u32>,
    sorted: Sorted,
    /// Where each cell begins in `sorted`; the next one's beginning is its end.
    starts: Vec<u32>,
}

/// Where the cells are.
#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    low: [f32; 3],
    inverse_edge: f32,
    /// The last cell along each axis that can hold an object.
    last: [u32; 3],
    /// From a cell to its neighbour in the next row of cells, and in the next layer.
    row: u32,
    layer: u32,
    /// How many cells there are, empty ones at the border included. Dead rows are in the cell of this number.
    cells: u32,
}

/// An object on its way to its place: one piece of memory to write rather than six.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    x: f32,
    y: f32,
    z: f32,
    radius: f32,
    slot: u32,
    cell: u32,
}

/// The objects in the order of their cells, column by column.
#[derive(Clone, Debug, Default)]
struct Sorted {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    radius: Vec<f32>,
    slot: Vec<u32>,
    cell: Vec<u32>,
}

impl BroadPhase for PlainGrid {
    fn update(&mut self, spheres: &Spheres) -> Work {
        self.live = spheres.len();
        self.layout = Layout::around(spheres.columns(), self.live);
        self.sort_into_bunches(spheres.columns());
        self.sort_bunches_into_cells();
        Work::default()
    }

    fn find(&mut self, _spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        pairs.clear();
        let Layout { row, layer, .. } = self.layout;
        let cells = simd::Cells {
            columns: self.sorted.columns(),
            cell: &self.sorted.cell,
            starts: &self.starts,
            ahead: [row, layer.saturating_sub(row), layer, layer + row],
        };
        let slots = &self.sorted.slot[..];
        let sphere_tests = simd::overlaps_in_cells(cells, self.live, |one, other| {
            pairs.push(Pair::of_rows(slots[one], slots[other]));
        });
        let cells = &self.sorted.cell[..self.live];
        let others = cells.windows(2).filter(|cells| cells[0] != cells[1]).count();
        Work { sphere_tests, cells: (others + cells.len().min(1)) as u64, ..Work::default() }
    }

    fn bytes(&self) -> usize {
        let numbers = self.cell_of_row.capacity() + self.bunch_starts.capacity() + self.starts.capacity();
        numbers * size_of::<u32>() + self.bunched.capacity() * size_of::<Row>() + self.sorted.bytes()
    }
}

impl PlainGrid {
    /// Cells per bunch, as a power of two: the objects of a bunch fit into the second-level cache.
    const BUNCH_BITS: u32 = 12;
    /// Bunches, as a power of two: not too many to write to all of them at once.
    const BUNCHES_MAX_BITS: u32 = 8;

    /// The first of two steps of the sort. With a million objects in random order, writing each straight to its place
    /// misses the cache every time and takes four times as long as the two steps together.
    fn sort_into_bunches(&mut self, columns: Columns<'_>) {
        let layout = self.layout;
        let bits = layout.bunch_bits();
        let rows = columns.x.len();
        let (x, y, z, radius) = (&columns.x[..rows], &columns.y[..rows], &columns.z[..rows], &columns.radius[..rows]);
        self.cell_of_row.clear();
        self.cell_of_row.extend((0..rows).map(|row| layout.cell([x[row], y[row], z[row]])));

        // Counted two bunches ahead: once summed up, the number one ahead is where a bunch begins, and copying the
        // bunch moves it to where the next begins.
        self.bunch_starts.clear();
        self.bunch_starts.resize((layout.cells >> bits) as usize + 3, 0);
        for &cell in &self.cell_of_row {
            self.bunch_starts[(cell >> bits) as usize + 2] += 1;
        }
        accumulate(&mut self.bunch_starts, 0);
        self.bunched.resize(rows, Row::default());
        for (row, &cell) in self.cell_of_row.iter().enumerate() {
            let place = &mut self.bunch_starts[(cell >> bits) as usize + 1];
            self.bunched[*place as usize] =
                Row { x: x[row], y: y[row], z: z[row], radius: radius[row], slot: row as u32, cell };
            *place += 1;
        }
    }

    /// The second step, the same for each bunch.
    fn sort_bunches_into_cells(&mut self) {
        let bits = self.layout.bunch_bits();
        let cells = self.layout.cells as usize + 1;
        self.sorted.resize(self.bunched.len() + Spheres::BLOCK);
        self.starts.clear();
        self.starts.resize(cells + 2, 0);
        for (bunch, first_cell) in (0..cells).step_by(1 << bits).enumerate() {
            let (from, to) = (self.bunch_starts[bunch], self.bunch_starts[bunch + 1]);
            let rows = &self.bunched[from as usize..to as usize];
            let end_cell = cells.min(first_cell + (1 << bits));
            let starts = &mut self.starts[first_cell..end_cell + 2];
            for row in rows {
                starts[row.cell as usize - first_cell + 2] += 1;
            }
            // Counted by the bunch before as its end, and by this one as its beginning.
            starts[1] = 0;
            accumulate(&mut starts[1..], from);
            for row in rows {
                let place = &mut starts[row.cell as usize - first_cell + 1];
                self.sorted.write(*place as usize, row);
                *place += 1;
            }
        }
    }
}

impl Layout {
    /// Objects per cell where the smallest possible cells would hold fewer. Three cells in a row then hardly ever hold
    /// more than one wide test takes, and there are about as many cells as objects.
    const OBJECTS_PER_CELL: f64 = 0.8;
    /// A world of few objects may have this many cells.
    const FEW_CELLS: f64 = 64.0;

    /// Cells for these objects: as small as the largest of them allows, but not so small that most are empty.
    fn around(columns: Columns<'_>, live: usize) -> Layout {
        let axes = [bounds(columns.x), bounds(columns.y), bounds(columns.z)];
        let (_, radius_max) = bounds(columns.radius);
        // Without objects the bounds are the wrong way round.
        let extents = axes.map(|(low, high)| (high - low).max(0.0));
        let longest = extents[0].max(extents[1]).max(extents[2]);

        // Two that overlap are less than two radii apart on each axis, exactly: see `Aabb`. Counted in edges from the
        // low side, a place is off by at most 2^-23 of the count, hence a part of the extent on top. The tiny rest
        // keeps the inverse finite when all are points at one point.
        let edge_min = radius_max.max(0.0) * 2.000_01 + longest * 1e-6 + 1e-30;
        let cells_max = (live as f64 / Self::OBJECTS_PER_CELL).max(Self::FEW_CELLS);
        let mut edge = f64::from(edge_min).max(f64::from(longest) / cells_max);
        let last = |edge: f64| extents.map(|extent| (f64::from(extent) / edge) as u32);
        // A cell more for each axis, for its border. At most a few hundred rounds: one axis alone already fits.
        while last(edge).iter().map(|&last| f64::from(last) + 2.0).product::<f64>() > cells_max {
            edge *= 1.03;
        }
        let last = last(edge);
        let row = last[0] + 2;
        let layer = row * (last[1] + 2);
        let cells = layer * (last[2] + 2);
        Layout { low: axes.map(|(low, _)| low), inverse_edge: (1.0 / edge) as f32, last, row, layer, cells }
    }

    /// The cell of a place, or of a dead row.
    #[inline]
    fn cell(&self, place: [f32; 3]) -> u32 {
        let step = |axis: usize| {
            let edges = (place[axis] - self.low[axis]) * self.inverse_edge;
            (edges as i32).min(self.last[axis] as i32) as u32
        };
        let cell = step(0) + step(1) * self.row + step(2) * self.layer;
        if place[0].is_nan() { self.cells } else { cell }
    }

    fn bunch_bits(&self) -> u32 {
        let bits = u32::BITS - self.cells.leading_zeros();
        PlainGrid::BUNCH_BITS.max(bits.saturating_sub(PlainGrid::BUNCHES_MAX_BITS))
    }
}

impl Sorted {
    fn resize(&mut self, rows: usize) {
        for column in [&mut self.x, &mut self.y, &mut self.z, &mut self.radius] {
            column.resize(rows, f32::NAN);
        }
        for column in [&mut self.slot, &mut self.cell] {
            column.resize(rows, 0);
        }
    }

    #[inline]
    fn write(&mut self, place: usize, row: &Row) {
        self.x[place] = row.x;
        self.y[place] = row.y;
        self.z[place] = row.z;
        self.radius[place] = row.radius;
        self.slot[place] = row.slot;
        self.cell[place] = row.cell;
    }

    fn columns(&self) -> Columns<'_> {
        Columns { x: &self.x, y: &self.y, z: &self.z, radius: &self.radius }
    }

    fn bytes(&self) -> usize {
        let places = self.x.capacity() + self.y.capacity() + self.z.capacity() + self.radius.capacity();
        4 * (places + self.slot.capacity() + self.cell.capacity())
    }
}

/// Turns counts into sums that begin with `sum`.
fn accumulate(counts: &mut [u32], mut sum: u32) {
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// The lowest and the highest number of a column whose length is a multiple of a block; dead rows do not count.
fn bounds(column: &[f32]) -> (f32, f32) {
    const LANES: usize = Spheres::BLOCK;
    let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    for block in column.chunks_exact(LANES) {
        for lane in 0..LANES {
            // Written so that NaN loses.
            low[lane] = if block[lane] < low[lane] { block[lane] } else { low[lane] };
            high[lane] = if block[lane] > high[lane] { block[lane] } else { high[lane] };
        }
    }
    (low.into_iter().fold(f32::INFINITY, f32::min), high.into_iter().fold(f32::NEG_INFINITY, f32::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::BruteForce;
    use crate::{Sphere, Vec3};
    use proptest::prelude::*;

    fn world(rows: impl IntoIterator<Item = (Vec3, f32)>) -> Spheres {
        let mut spheres = Spheres::new();
        for (center, radius) in rows {
            spheres.insert(Sphere::new(center, radius)).unwrap();
        }
        spheres
    }

    fn sorted_pairs(broad_phase: &mut dyn BroadPhase, spheres: &Spheres) -> Vec<Pair> {
        let mut pairs = Vec::new();
        broad_phase.pairs(spheres, &mut pairs);
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn a_huge_world_has_few_cells() {
        let far = world([-1e9f32, 1e9].map(|place| (Vec3::splat(place), 0.0)));
        let mut grid = PlainGrid::default();
        assert_eq!(sorted_pairs(&mut grid, &far), []);
        assert!(grid.layout.cells <= 64 && grid.bytes() < 2_000, "{} bytes", grid.bytes());

        let line = world((0..10_000).map(|index| (Vec3::new(0.0, index as f32 * 1e5 - 1e9, 0.0), 7e4)));
        assert_eq!(sorted_pairs(&mut grid, &line).len(), 9_999);
        assert!(grid.layout.cells <= 12_500, "{} cells", grid.layout.cells);
    }

    #[test]
    fn more_bunches_than_one_are_put_together() {
        let mut grid = PlainGrid::default();
        let spheres = world((0..20_000u32).map(|index| {
            let [x, y, z] = [index * 7_919 % 211, index * 104_729 % 197, index * 15_485 % 61].map(|place| place as f32);
            (Vec3::new(x, y, z), 2.5)
        }));
        assert_eq!(sorted_pairs(&mut grid, &spheres), sorted_pairs(&mut BruteForce, &spheres));
        assert!(grid.bunch_starts.len() > 4);
        assert!(grid.sorted.cell[..grid.live].is_sorted());
        for (cell, run) in grid.starts[..=grid.layout.cells as usize].windows(2).enumerate() {
            let rows = &grid.sorted.cell[run[0] as usize..run[1] as usize];
            assert!(rows.iter().all(|&of_row| of_row == cell as u32));
        }
    }

    /// The margin of a cell's edge is there for these: they overlap by the last bit, beside the border of two cells.
    /// In the middle of the line places are finer than their distances from its end can be.
    #[test]
    fn who_barely_overlaps_across_a_cell_is_in_neighbouring_ones() {
        for low in [0f32, -3e3, -2_999.9, -4e3, 1e5] {
            let radius = 0.7f32;
            let spheres = world((0..20_000).map(|index| (Vec3::new(low + index as f32 * 0.3, low, low), radius)));
            let layout = Layout::around(spheres.columns(), spheres.len());
            assert!(layout.last[0] > 4_000, "cells should be as small as they may be, there are {}", layout.last[0]);
            let cell = |x: f32| layout.cell([x, low, low]);
            for border in 1..layout.last[0] - 1 {
                let border = low + (f64::from(border) / f64::from(layout.inverse_edge)) as f32;
                for step in -16i8..16 {
                    let x = border + f32::from(step) * 6e3 / (1 << 26) as f32;
                    let at = |x| Sphere::new(Vec3::new(x, low, low), radius);
                    let mut other = x + 2.0 * radius;
                    while !at(x).overlaps(at(other)) {
                        other = other.next_down();
                    }
                    assert!(cell(other) - cell(x) <= 1, "{x} is in {}, {other} in {}", cell(x), cell(other));
                }
            }
        }
    }

    proptest! {
        /// The law that exactness rests on: however large, small or far away, who overlaps is in neighbouring cells.
        #[test]
        fn who_overlaps_is_in_neighbouring_cells(
            exponent in -20i32..29,
            offset in prop_oneof![Just(0f32), -1e9f32..1e9],
            rows in prop::collection::vec((-1f32..1.0, -1f32..1.0, -1f32..1.0, 0f32..0.3), 2..40),
        ) {
            let scale = 2f32.powi(exponent);
            let spheres = world(rows.iter().map(|&(x, y, z, radius)| {
                let center = (Vec3::new(x, y, z) * scale + offset).clamp(Vec3::splat(-1e9), Vec3::splat(1e9));
                (center, radius * scale)
            }));
            let layout = Layout::around(spheres.columns(), spheres.len());
            let place = |row: usize| {
                let cell = layout.cell(spheres.columns().sphere(row).center.to_array());
                [cell % layout.row, cell % layout.layer / layout.row, cell / layout.layer]
            };
            for pair in sorted_pairs(&mut BruteForce, &spheres) {
                let (one, other) = (place(pair.a().row()), place(pair.b().row()));
                prop_assert!((0..3).all(|axis| one[axis].abs_diff(other[axis]) <= 1), "{:?} {:?}", one, other);
            }
            prop_assert_eq!(sorted_pairs(&mut PlainGrid::default(), &spheres), sorted_pairs(&mut BruteForce, &spheres));
        }
    }
}

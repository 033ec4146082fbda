//! The baseline: a uniform grid by counting sort, built anew each tick, with neighbours tested eight at a time.
//!
//! It remembers nothing of earlier ticks and has nothing to tune. Other methods are measured against it.
//!
//! Cells are as thin as the largest object allows along x and z, and long along y. Then two lines of cells, its own and
//! the one in the next layer, hold almost all objects that an object may overlap; the three other lines ahead are
//! searched only if it is near their border.
//!
//! Invariants, from `update` to `find`:
//! - A cell's edge is at least two of the largest radii, and more by what rounding may take: objects that overlap are
//!   in the same cell or in neighbouring ones; and so is the margin within which one looks beyond a border along y.
//! - Cells are numbered along x, then y, then z, and `sorted` has the objects in the order of their cells: the three
//!   cells around a place in a line of cells, a *strip*, are one run of rows.
//! - Each strip ends with an empty cell, each layer, a *slab*, with an empty strip, and the grid with an empty slab: a
//!   neighbour beyond the border is an empty cell, not a special case.
//! - Dead rows come last, in a cell behind the grid, and a block of rows after them: a wide test may read past a run.

use super::{BroadPhase, Work, take_in_if_new};
use crate::simd::grid::{Cells, Cut, Strips, bounds, overlaps_in_cells};
use crate::{Columns, Edition, Pair, Spheres};

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
    /// Scratch: the rows of one bunch, in the order of their cells.
    order: Vec<u32>,
    sorted: Sorted,
    /// Where each cell begins in `sorted`; the next one's beginning is its end.
    starts: Vec<u32>,
    /// The world at the last update.
    seen: Option<Edition>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    cut: Cut,
    /// How close to a border along y, as a share of a cell, one has to look beyond it.
    margin: f32,
    /// How many cells there are, empty ones at the border included. Dead rows are in the cell of this number.
    cells: u32,
}

/// An object during the sort: one write instead of six.
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
        self.seen = Some(spheres.edition());
        let columns = spheres.columns();
        self.lay_out(columns, spheres.len());
        if self.live <= Self::AT_ONCE_MAX {
            self.sort_into_cells(columns);
        } else {
            self.sort_into_bunches(columns);
            self.sort_bunches_into_cells();
        }
        Work::default()
    }

    fn find(&mut self, spheres: &Spheres, pairs: &mut Vec<Pair>) -> Work {
        let work = take_in_if_new(self, self.seen, spheres);
        let sphere_tests = self.find_overlaps(pairs);
        let cells = &self.sorted.cell[..self.live];
        let others = cells.windows(2).filter(|cells| cells[0] != cells[1]).count();
        work + Work { sphere_tests, cells: (others + cells.len().min(1)) as u64, ..Work::default() }
    }
}

impl PlainGrid {
    /// Worlds of at most this many objects are sorted in one step, as their columns stay in the caches.
    const AT_ONCE_MAX: usize = 250_000;
    /// Cells per bunch, as a power of two: the objects of a bunch fit into the second-level cache.
    const BUNCH_BITS: u32 = 11;
    /// Bunches, as a power of two: not too many to write to all of them at once.
    const BUNCHES_MAX_BITS: u32 = 8;

    /// Makes `pairs` those that overlap, and returns how many tests that took.
    ///
    /// Not inlined: the default method contains this grid and is compared with it, so both must run the same code.
    #[inline(never)]
    fn find_overlaps(&self, pairs: &mut Vec<Pair>) -> u64 {
        pairs.clear();
        let Layout { cut: Cut { low, per_metre, step, .. }, margin, .. } = self.layout;
        let cells = Cells {
            columns: self.sorted.columns(),
            cell: &self.sorted.cell,
            starts: &self.starts,
            strip: step[1],
            slab: step[2],
            y: Strips { low: low[1], per_metre: per_metre[1], margin },
        };
        let slots = &self.sorted.slot[..];
        overlaps_in_cells(cells, self.live, |one, other| {
            pairs.push(Pair::of_rows(slots[one], slots[other]));
        })
    }

    /// Finds the cell of each object and allocates for the sort.
    fn lay_out(&mut self, columns: Columns<'_>, live: usize) {
        self.live = live;
        self.layout = Layout::around(columns, live);
        self.cell_of_row.resize(columns.x.len(), 0);
        self.layout.cut.cells(columns, &mut self.cell_of_row);
        self.sorted.resize(columns.x.len() + Spheres::BLOCK);
        self.starts.clear();
        self.starts.resize(self.layout.cells as usize + 3, 0);
    }

    /// Sorts the rows' numbers, and then copies what they stand for.
    fn sort_into_cells(&mut self, columns: Columns<'_>) {
        count_and_accumulate(&mut self.starts, self.cell_of_row.iter().copied(), 0);
        for (row, &cell) in (0..).zip(&self.cell_of_row) {
            let place = &mut self.starts[cell as usize + 1];
            self.sorted.slot[*place as usize] = row;
            *place += 1;
        }
        self.sorted.fetch(columns, &self.cell_of_row);
    }

    /// The first of two steps of the sort of many. With a million objects in random order, writing each straight to its
    /// place misses the cache every time, and so does fetching it.
    fn sort_into_bunches(&mut self, columns: Columns<'_>) {
        let bits = self.layout.bunch_bits();
        let rows = columns.x.len();
        let (x, y, z, radius) = (&columns.x[..rows], &columns.y[..rows], &columns.z[..rows], &columns.radius[..rows]);
        self.bunch_starts.clear();
        self.bunch_starts.resize((self.layout.cells >> bits) as usize + 3, 0);
        count_and_accumulate(&mut self.bunch_starts, self.cell_of_row.iter().map(|cell| cell >> bits), 0);
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
        for (bunch, first_cell) in (0..cells).step_by(1 << bits).enumerate() {
            let (from, to) = (self.bunch_starts[bunch], self.bunch_starts[bunch + 1]);
            let rows = &self.bunched[from as usize..to as usize];
            let end_cell = cells.min(first_cell + (1 << bits));
            let starts = &mut self.starts[first_cell..end_cell + 2];
            let cell = |row: &Row| row.cell - first_cell as u32;
            // Counted by the bunch before as its end, and by this one as its beginning.
            starts[1] = 0;
            count_and_accumulate(starts, rows.iter().map(cell), from);
            self.order.resize(rows.len(), 0);
            for (index, row) in (0..).zip(rows) {
                let place = &mut starts[cell(row) as usize + 1];
                self.order[(*place - from) as usize] = index;
                *place += 1;
            }
            self.sorted.write(from as usize, self.order.iter().map(|&index| &rows[index as usize]));
        }
    }
}

impl Layout {
    /// Objects per cell where the smallest possible cells would hold fewer. Three cells in a row then hardly ever hold
    /// more than one wide test takes, and there are about as many cells as objects.
    const OBJECTS_PER_CELL: f64 = 0.8;
    /// A world of few objects may have this many cells.
    const FEW_CELLS: f64 = 64.0;
    /// How many times as long as thin cells are, at least and at most. Long ones have few objects near their borders;
    /// but where objects cluster, they hold many that are not near each other.
    const LENGTHS: (f64, f64) = (4.0, 16.0);

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
        let narrowest = f64::from(radius_max.max(0.0) * 2.000_01 + longest * 1e-6 + 1e-30);
        let cells_max = (live as f64 / Self::OBJECTS_PER_CELL).max(Self::FEW_CELLS);
        let (mut length, length_max) = Self::LENGTHS;
        let mut thin = narrowest.max(f64::from(longest) / cells_max);
        let last = |thin: f64, length: f64| {
            let edges = [thin, thin * length, thin];
            (edges, [0, 1, 2].map(|axis| (f64::from(extents[axis]) / edges[axis]) as u32))
        };
        // A cell more for each axis, for its border. At most a few hundred rounds: one axis alone already fits.
        while last(thin, length).1.iter().map(|&last| f64::from(last) + 2.0).product::<f64>() > cells_max {
            if length < length_max {
                length *= 1.03
            } else {
                thin *= 1.03
            };
        }
        let (edges, last) = last(thin, length);
        let strip = last[0] + 2;
        let slab = strip * (last[1] + 2);
        let cells = slab * (last[2] + 2);
        let cut = Cut {
            low: axes.map(|(low, _)| low),
            per_metre: edges.map(|edge| (1.0 / edge) as f32),
            last: last.map(|last| last as f32),
            step: [1, strip, slab],
            nowhere: cells,
        };
        Layout { cut, margin: (narrowest / edges[1]) as f32, cells }
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

    /// Writes the rows whose slots are already here.
    fn fetch(&mut self, columns: Columns<'_>, cell_of_row: &[u32]) {
        let rows = cell_of_row.len();
        let (from_x, from_y, from_z) = (&columns.x[..rows], &columns.y[..rows], &columns.z[..rows]);
        let from_radius = &columns.radius[..rows];
        let (x, y, z, radius) =
            (&mut self.x[..rows], &mut self.y[..rows], &mut self.z[..rows], &mut self.radius[..rows]);
        let (slot, cell) = (&self.slot[..rows], &mut self.cell[..rows]);
        for place in 0..rows {
            let row = slot[place] as usize;
            (x[place], y[place], z[place]) = (from_x[row], from_y[row], from_z[row]);
            (radius[place], cell[place]) = (from_radius[row], cell_of_row[row]);
        }
    }

    /// Writes rows in this order, from a place on.
    fn write<'a>(&mut self, from: usize, rows: impl ExactSizeIterator<Item = &'a Row>) {
        let places = from..from + rows.len();
        let (x, y, z) = (&mut self.x[places.clone()], &mut self.y[places.clone()], &mut self.z[places.clone()]);
        let radius = &mut self.radius[places.clone()];
        let (slot, cell) = (&mut self.slot[places.clone()], &mut self.cell[places]);
        for (place, row) in rows.enumerate() {
            (x[place], y[place], z[place], radius[place]) = (row.x, row.y, row.z, row.radius);
            (slot[place], cell[place]) = (row.slot, row.cell);
        }
    }

    fn columns(&self) -> Columns<'_> {
        Columns { x: &self.x, y: &self.y, z: &self.z, radius: &self.radius }
    }
}

/// Counts each cell two places ahead, and turns the counts into sums that begin with `first`. Then the number one place
/// ahead is where a cell begins, and writing its rows moves that to where the next one begins.
fn count_and_accumulate(starts: &mut [u32], cells: impl Iterator<Item = u32>, first: u32) {
    for cell in cells {
        starts[cell as usize + 2] += 1;
    }
    let mut sum = first;
    for start in &mut starts[1..] {
        sum += *start;
        *start = sum;
    }
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
        assert!(grid.layout.cells <= 64, "{} cells", grid.layout.cells);

        let line = world((0..10_000).map(|index| (Vec3::new(0.0, index as f32 * 1e5 - 1e9, 0.0), 7e4)));
        assert_eq!(sorted_pairs(&mut grid, &line).len(), 9_999);
        assert!(grid.layout.cells <= 12_500, "{} cells", grid.layout.cells);
    }

    #[test]
    fn sorting_by_bunches_is_sorting() {
        let mut grid = PlainGrid::default();
        let spheres = world((0..20_000u32).map(|index| {
            let [x, y, z] = [index * 7_919 % 211, index * 104_729 % 197, index * 15_485 % 61].map(|place| place as f32);
            (Vec3::new(x, y, z), 2.5)
        }));
        assert_eq!(sorted_pairs(&mut grid, &spheres), sorted_pairs(&mut BruteForce, &spheres));
        let at_once = grid.clone();
        grid.lay_out(spheres.columns(), spheres.len());
        grid.sort_into_bunches(spheres.columns());
        grid.sort_bunches_into_cells();
        assert!(grid.bunch_starts.len() > 4);
        assert_eq!((&grid.starts, &grid.sorted.slot), (&at_once.starts, &at_once.sorted.slot));
        assert_eq!(grid.sorted.z[..grid.live], at_once.sorted.z[..grid.live]);
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
            assert!(
                layout.cut.last[0] > 4_000.0,
                "cells should be as small as they may be, there are {}",
                layout.cut.last[0]
            );
            let cell = |x: f32| layout.cut.cell([x, low, low]);
            for border in 1..layout.cut.last[0] as u32 - 1 {
                let border = low + (f64::from(border) / f64::from(layout.cut.per_metre[0])) as f32;
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
            let [_, strip, slab] = layout.cut.step;
            let place = |row: usize| {
                let cell = layout.cut.cell(spheres.columns().sphere(row).center.to_array());
                [cell % strip, cell % slab / strip, cell / slab]
            };
            for pair in sorted_pairs(&mut BruteForce, &spheres) {
                let (one, other) = (place(pair.a().row()), place(pair.b().row()));
                prop_assert!((0..3).all(|axis| one[axis].abs_diff(other[axis]) <= 1), "{:?} {:?}", one, other);
            }
            prop_assert_eq!(sorted_pairs(&mut PlainGrid::default(), &spheres), sorted_pairs(&mut BruteForce, &spheres));
        }
    }
}

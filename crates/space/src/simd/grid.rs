//! What a grid of the moment does with all objects at once: where they are, in which cells, and who overlaps whom.

#[cfg(target_arch = "x86_64")]
use super::Wide;
use super::overlaps_plain;
use crate::Columns;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// How a box is cut into cells, which are numbered along x, then y, then z.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cut {
    pub low: [f32; 3],
    pub per_metre: [f32; 3],
    /// The last cell along each axis: what is farther out is in it, too.
    pub last: [f32; 3],
    /// From a cell to its neighbour along each axis.
    pub step: [u32; 3],
    /// The cell of those who are nowhere.
    pub nowhere: u32,
}

impl Cut {
    /// The cell of a place that is not below the low corner, or nowhere.
    #[inline]
    pub fn cell(&self, place: [f32; 3]) -> u32 {
        let cell = |axis: usize| {
            let cells = (place[axis] - self.low[axis]) * self.per_metre[axis];
            (if cells < self.last[axis] { cells } else { self.last[axis] }) as u32 * self.step[axis]
        };
        if place[0].is_nan() { self.nowhere } else { cell(0) + cell(1) + cell(2) }
    }

    /// The cells of all rows.
    ///
    /// # Panics
    /// If the columns are not equally long, or not as long as `cells`.
    pub fn cells(&self, columns: Columns<'_>, cells: &mut [u32]) {
        let Columns { x, y, z, .. } = columns;
        assert!([x.len(), y.len(), z.len()] == [cells.len(); 3], "one place per cell");
        #[cfg(target_arch = "x86_64")]
        if super::is_wide() {
            let wide = cells.len() / 8 * 8;
            // SAFETY: AVX2 is there, `is_wide` says.
            unsafe { self.cells_wide(columns, &mut cells[..wide]) };
            self.cells_plain(columns, wide, cells);
            return;
        }
        self.cells_plain(columns, 0, cells);
    }

    fn cells_plain(&self, columns: Columns<'_>, from: usize, cells: &mut [u32]) {
        for (row, cell) in cells.iter_mut().enumerate().skip(from) {
            *cell = self.cell([columns.x[row], columns.y[row], columns.z[row]]);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn cells_wide(&self, columns: Columns<'_>, cells: &mut [u32]) {
        let all = |axis: usize| {
            (_mm256_set1_ps(self.low[axis]), _mm256_set1_ps(self.per_metre[axis]), _mm256_set1_ps(self.last[axis]))
        };
        let cell = |place: &[f32; 8], (low, per_metre, last), step: u32| {
            // SAFETY: an array of eight.
            let place = unsafe { _mm256_loadu_ps(place.as_ptr()) };
            // Returns the second operand when the first is NaN.
            let cells = _mm256_min_ps(_mm256_mul_ps(_mm256_sub_ps(place, low), per_metre), last);
            (place, _mm256_mullo_epi32(_mm256_cvttps_epi32(cells), _mm256_set1_epi32(step as i32)))
        };
        let axes = [all(0), all(1), all(2)];
        let nowhere = _mm256_castsi256_ps(_mm256_set1_epi32(self.nowhere as i32));
        let (x, y, z) = (columns.x.as_chunks().0, columns.y.as_chunks().0, columns.z.as_chunks().0);
        for (((cells, x), y), z) in cells.as_chunks_mut::<8>().0.iter_mut().zip(x).zip(y).zip(z) {
            let ((place, x), (_, y), (_, z)) =
                (cell(x, axes[0], self.step[0]), cell(y, axes[1], self.step[1]), cell(z, axes[2], self.step[2]));
            let sum = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_add_epi32(x, y), z));
            let is_nowhere = _mm256_cmp_ps::<_CMP_UNORD_Q>(place, place);
            let sum = _mm256_castps_si256(_mm256_blendv_ps(sum, nowhere, is_nowhere));
            // SAFETY: an array of eight.
            unsafe { _mm256_storeu_si256(cells.as_mut_ptr().cast(), sum) };
        }
    }
}

/// The lowest and the highest number of a column; NaN does not count.
pub fn bounds(column: &[f32]) -> (f32, f32) {
    let (eights, rest) = column.as_chunks::<8>();
    #[cfg(target_arch = "x86_64")]
    let (low, high) = if super::is_wide() {
        // SAFETY: AVX2 is there, `is_wide` says.
        unsafe { bounds_wide(eights) }
    } else {
        bounds_plain(eights)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let (low, high) = bounds_plain(eights);
    let (low, high) = (low.iter().chain(rest), high.iter().chain(rest));
    (low.copied().fold(f32::INFINITY, f32::min), high.copied().fold(f32::NEG_INFINITY, f32::max))
}

fn bounds_plain(eights: &[[f32; 8]]) -> ([f32; 8], [f32; 8]) {
    let (mut low, mut high) = ([f32::INFINITY; 8], [f32::NEG_INFINITY; 8]);
    for eight in eights {
        for lane in 0..8 {
            // Written so that NaN loses.
            low[lane] = if eight[lane] < low[lane] { eight[lane] } else { low[lane] };
            high[lane] = if eight[lane] > high[lane] { eight[lane] } else { high[lane] };
        }
    }
    (low, high)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn bounds_wide(eights: &[[f32; 8]]) -> ([f32; 8], [f32; 8]) {
    let (mut low, mut high) = (_mm256_set1_ps(f32::INFINITY), _mm256_set1_ps(f32::NEG_INFINITY));
    for eight in eights {
        // SAFETY: an array of eight.
        let eight = unsafe { _mm256_loadu_ps(eight.as_ptr()) };
        // Both return their second operand when the first is NaN.
        (low, high) = (_mm256_min_ps(eight, low), _mm256_max_ps(eight, high));
    }
    let (mut lows, mut highs) = ([0.0; 8], [0.0; 8]);
    // SAFETY: arrays of eight.
    unsafe {
        _mm256_storeu_ps(lows.as_mut_ptr(), low);
        _mm256_storeu_ps(highs.as_mut_ptr(), high);
    }
    (lows, highs)
}

/// Rows in the order of their cells, which are numbered along x, then y, then z. Cells that touch along x or z may hold
/// rows that overlap; along y, where cells are long, only rows near the border have to look beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// The rows, and eight more.
    pub columns: Columns<'a>,
    pub cell: &'a [u32],
    pub starts: &'a [u32],
    /// From a cell to its neighbour along y, and along z.
    pub strip: u32,
    pub slab: u32,
    pub y: Strips,
}

/// How one axis is cut into long cells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strips {
    /// Where the first begins.
    pub low: f32,
    /// How many there are per metre.
    pub per_metre: f32,
    /// How close to a border, as a share of a cell, one has to look beyond it.
    pub margin: f32,
}

impl Strips {
    /// Whether a place is so close to the borders below and above it that rows beyond may be met.
    #[inline]
    fn is_near(&self, y: f32) -> (bool, bool) {
        let strips = (y - self.low) * self.per_metre;
        let into = strips - strips.trunc();
        (into < self.margin, into + self.margin >= 1.0)
    }
}

impl Cells<'_> {
    /// The three cells along x around the cell `ahead` cells further on.
    #[inline]
    fn around(&self, cell: u32, ahead: u32) -> (usize, usize) {
        let middle = (cell + ahead) as usize;
        (self.starts[middle - 1] as usize, self.starts[middle + 2] as usize)
    }

    /// The rows that `row` may overlap and that come after it: the rest of its own cell and the next, and three cells
    /// in each line of cells ahead that is near.
    fn runs(&self, row: usize) -> [(usize, usize); 5] {
        let cell = self.cell[row];
        let (is_near_below, is_near_above) = self.y.is_near(self.columns.y[row]);
        let around = |ahead: u32, is_near: bool| if is_near { self.around(cell, ahead) } else { (0, 0) };
        [
            (row + 1, self.starts[cell as usize + 2] as usize),
            around(self.slab, true),
            around(self.slab - self.strip, is_near_below),
            around(self.strip, is_near_above),
            around(self.slab + self.strip, is_near_above),
        ]
    }
}

/// Calls `hit` with each two of the first `count` rows that overlap and are in neighbouring cells, and returns how many
/// were tested.
#[inline]
pub fn overlaps_in_cells(cells: Cells<'_>, count: usize, hit: impl FnMut(usize, usize)) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if super::is_wide() {
        // SAFETY: AVX2 is there, `is_wide` says.
        return unsafe { overlaps_in_cells_wide(cells, count, hit) };
    }
    overlaps_in_cells_plain(cells, count, hit)
}

/// The meaning of [`overlaps_in_cells`], but for the order of the hits.
pub fn overlaps_in_cells_plain(cells: Cells<'_>, count: usize, mut hit: impl FnMut(usize, usize)) -> u64 {
    let mut tests = 0;
    for row in 0..count {
        let sphere = cells.columns.sphere(row);
        for (from, to) in cells.runs(row) {
            tests += to.saturating_sub(from) as u64;
            overlaps_plain(sphere, cells.columns, from, to, |other| hit(row, other));
        }
    }
    tests
}

/// A mispredicted branch costs more than a test. So for each row the first eight of its own run and of the one in the
/// next slab are tested whatever their lengths; rows with an overlap or with more to test are only noted, and handled
/// later in batches.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn overlaps_in_cells_wide(cells: Cells<'_>, count: usize, mut hit: impl FnMut(usize, usize)) -> u64 {
    const ROWS: usize = 256;
    let Cells { columns, cell, starts, strip, slab, y } = cells;
    let rows = columns.x.len().min(columns.y.len()).min(columns.z.len()).min(columns.radius.len());
    assert!(count + 8 <= rows, "each row has its numbers, and eight come after");
    assert!(0 < strip && strip < slab, "each cell has neighbours ahead");
    let columns = Columns {
        x: &columns.x[..rows],
        y: &columns.y[..rows],
        z: &columns.z[..rows],
        radius: &columns.radius[..rows],
    };
    let cell = &cell[..count];
    let farthest = (slab + strip) as usize + 2;
    let around = |cell: u32, ahead: u32| {
        let middle = (cell + ahead) as usize;
        (starts[middle - 1], starts[middle + 2])
    };
    let (mut found, mut long, mut below, mut above) = ([(0u32, 0u32); ROWS], [0; ROWS], [0; ROWS], [0; ROWS]);
    let mut tests = 0;
    for first in (0..count).step_by(ROWS) {
        let (mut founds, mut longs, mut belows, mut aboves) = (0, 0, 0, 0);
        for row in first..count.min(first + ROWS) {
            let sphere = columns.sphere(row);
            let wide = Wide::of(sphere);
            let middle = (cell[row] + slab) as usize;
            assert!(middle - slab as usize + farthest < starts.len(), "each cell has neighbours ahead");
            // SAFETY: that is just what was asserted.
            let start = |cell: usize| unsafe { *starts.get_unchecked(cell) };
            let (from, own, next) = (start(middle - 1), start(middle - slab as usize + 2), start(middle + 2));
            let own = own.saturating_sub(row as u32 + 1);
            let next = next.saturating_sub(from);
            tests += u64::from(own + next);
            assert!(from as usize <= count, "cells hold rows");
            // SAFETY: the first row is at most `count`, and eight come after.
            let test = |from: usize, length| unsafe { wide.overlaps(columns, from) } & lowest(length);
            let masks = test(row + 1, own) | test(from as usize, next) << 8;
            let (is_near_below, is_near_above) = y.is_near(sphere.center.y);
            found[founds % ROWS] = (row as u32, masks);
            founds += usize::from(masks != 0);
            long[longs % ROWS] = row;
            longs += usize::from(own.max(next) > 8);
            below[belows % ROWS] = row;
            belows += usize::from(is_near_below);
            above[aboves % ROWS] = row;
            aboves += usize::from(is_near_above);
        }
        for &(row, masks) in &found[..founds] {
            let mut masks = masks;
            let (from, _) = around(cell[row as usize], slab);
            while masks != 0 {
                let bit = masks.trailing_zeros();
                hit(row as usize, if bit < 8 { row + 1 + bit } else { from + bit - 8 } as usize);
                masks &= masks - 1;
            }
        }
        let mut look = |row: usize, from: u32, to: u32| {
            let (mut from, to) = (from as usize, to as usize);
            assert!(to <= count, "cells hold rows");
            let wide = Wide::of(columns.sphere(row));
            while from < to {
                // SAFETY: `from` is less than `count`, and eight rows come after.
                let mut mask = unsafe { wide.overlaps(columns, from) } & lowest((to - from) as u32);
                while mask != 0 {
                    hit(row, from + mask.trailing_zeros() as usize);
                    mask &= mask - 1;
                }
                from += 8;
            }
        };
        for &row in &long[..longs] {
            look(row, row as u32 + 9, starts[cell[row] as usize + 2]);
            let (from, to) = around(cell[row], slab);
            look(row, from + 8, to);
        }
        let mut look_around = |row: usize, ahead: u32| {
            let (from, to) = around(cell[row], ahead);
            tests += u64::from(to.saturating_sub(from));
            look(row, from, to);
        };
        for &row in &below[..belows] {
            look_around(row, slab - strip);
        }
        for &row in &above[..aboves] {
            look_around(row, strip);
            look_around(row, slab + strip);
        }
    }
    tests
}

/// So many bits, at most eight.
#[cfg(target_arch = "x86_64")]
#[inline]
fn lowest(count: u32) -> u32 {
    (1 << count.min(8)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_cells_and_bounds_equal_plain_ones(
            rows in prop::collection::vec((0f32..9.0, 0f32..9.0, 0f32..9.0, 0u8..5), 0..70),
            per_metre in [0.1f32..3.0, 0.1f32..3.0, 0.1f32..3.0],
        ) {
            let x: Vec<f32> = rows.iter().map(|row| if row.3 == 0 { f32::NAN } else { row.0 - 1.5 }).collect();
            let (y, z): (Vec<f32>, Vec<f32>) = rows.iter().map(|row| (row.1 - 1.5, row.2 - 1.5)).collect();
            let columns = Columns { x: &x, y: &y, z: &z, radius: &x };
            let cut = Cut { low: [-1.5; 3], per_metre, last: [6.0, 7.0, 3.0], step: [1, 9, 88], nowhere: 999 };
            let (mut wide, mut plain) = (vec![1; x.len()], vec![2; x.len()]);
            cut.cells(columns, &mut wide);
            cut.cells_plain(columns, 0, &mut plain);
            prop_assert_eq!(wide, plain);
            let numbers = || x.iter().copied().filter(|number| !number.is_nan());
            let meant = (numbers().fold(f32::INFINITY, f32::min), numbers().fold(f32::NEG_INFINITY, f32::max));
            prop_assert_eq!(bounds(&x), meant);
        }

        #[test]
        fn wide_overlaps_in_cells_equal_plain_ones(
            rows in prop::collection::vec((-3f32..3.0, -3f32..3.0, -3f32..3.0, 0f32..2.0), 0..150),
            cells in prop::collection::vec(0u32..12, 150),
            (strip, slab) in (2u32..5, 5u32..9),
            margin in 0f32..1.0,
        ) {
            let count = rows.len();
            let mut cell = cells[..count].to_vec();
            cell.sort_unstable();
            let starts: Vec<u32> = (0..28).map(|first| cell.partition_point(|&cell| cell < first) as u32).collect();
            let column = |field: fn(&(f32, f32, f32, f32)) -> f32| {
                rows.iter().map(field).chain(std::iter::repeat_n(f32::NAN, 8)).collect::<Vec<_>>()
            };
            let (x, y, z, radius) = (column(|r| r.0), column(|r| r.1), column(|r| r.2), column(|r| r.3));
            let columns = Columns { x: &x, y: &y, z: &z, radius: &radius };
            let strips = Strips { low: -3.0, per_metre: 0.7, margin };
            let cells = Cells { columns, cell: &cell, starts: &starts, strip, slab, y: strips };
            let (mut wide, mut plain) = (Vec::new(), Vec::new());
            let wide_tests = overlaps_in_cells(cells, count, |row, other| wide.push((row, other)));
            let plain_tests = overlaps_in_cells_plain(cells, count, |row, other| plain.push((row, other)));
            wide.sort_unstable();
            plain.sort_unstable();
            prop_assert_eq!((wide, wide_tests), (plain, plain_tests));
        }
    }
}

//! The only `unsafe` of the project: eight tests at a time, each beside the plain loop that it must equal bit for bit.
//!
//! The wide versions need AVX2, which is looked for once, at run time. Both versions do the same operations in the
//! same order, without fused multiply-add.
#![allow(unsafe_code)]

pub mod stray;
pub mod sweep;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::Range;

use crate::{Columns, Sphere};

/// Calls `hit` with each row of `from..to` whose sphere overlaps `sphere`, ascending.
#[inline]
pub fn overlaps(sphere: Sphere, others: Columns<'_>, from: usize, to: usize, hit: impl FnMut(usize)) {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: AVX2 is there, `is_wide` says.
        unsafe { overlaps_wide(sphere, others, from, to, hit) };
        return;
    }
    overlaps_plain(sphere, others, from, to, hit);
}

/// The meaning of [`overlaps`].
pub fn overlaps_plain(sphere: Sphere, others: Columns<'_>, from: usize, to: usize, mut hit: impl FnMut(usize)) {
    for row in from..to {
        if sphere.overlaps(others.sphere(row)) {
            hit(row);
        }
    }
}

/// Rows in the order of their cells, which are numbered along x, then y, then z.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// The rows.
    pub columns: Columns<'a>,
    /// The cell of each row.
    pub cell: &'a [u32],
    /// The first row of each cell.
    pub starts: &'a [u32],
    /// From a cell to the middle of each three neighbours in a row whose turn comes later than its own.
    pub ahead: [u32; 4],
}

impl Cells<'_> {
    /// The rows that `row` may overlap and that come after it: the rest of its own cell and the next, and three cells
    /// in each row of cells ahead.
    fn runs(&self, row: usize) -> [Range<u32>; 5] {
        let cell = self.cell[row] as usize;
        let own = row as u32 + 1..self.starts[cell + 2];
        let ahead = self.ahead.map(|ahead| {
            let middle = cell + ahead as usize;
            self.starts[middle - 1]..self.starts[middle + 2]
        });
        let [one, two, three, four] = ahead;
        [own, one, two, three, four]
    }
}

/// Calls `hit` with each two of the first `count` rows that overlap and are in neighbouring cells, and returns how many
/// were tested.
#[inline]
pub fn overlaps_in_cells(cells: Cells<'_>, count: usize, hit: impl FnMut(usize, usize)) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: AVX2 is there, `is_wide` says.
        return unsafe { overlaps_in_cells_wide(cells, count, hit) };
    }
    overlaps_in_cells_plain(cells, count, hit)
}

/// The meaning of [`overlaps_in_cells`].
pub fn overlaps_in_cells_plain(cells: Cells<'_>, count: usize, mut hit: impl FnMut(usize, usize)) -> u64 {
    let mut tests = 0;
    for row in 0..count {
        let sphere = cells.columns.sphere(row);
        for run in cells.runs(row) {
            tests += u64::from(run.end.saturating_sub(run.start));
            overlaps_plain(sphere, cells.columns, run.start as usize, run.end as usize, |other| hit(row, other));
        }
    }
    tests
}

/// Whether this machine has the vectors that the wide versions need.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn is_wide() -> bool {
    // The standard library caches the answer: a load and a test.
    is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn overlaps_wide(sphere: Sphere, others: Columns<'_>, from: usize, to: usize, mut hit: impl FnMut(usize)) {
    // The tail, and any range that the columns do not cover, is left to the plain loop and its checks.
    let wide_to = if to <= others.x.len().min(others.y.len()).min(others.z.len()).min(others.radius.len()) {
        from + to.saturating_sub(from) / 8 * 8
    } else {
        from
    };
    let wide = Wide::of(sphere);
    let mut row = from;
    while row < wide_to {
        // SAFETY: `row + 8 <= wide_to <= to`, which is within all four columns.
        let mut mask = unsafe { wide.overlaps(others, row) };
        while mask != 0 {
            hit(row + mask.trailing_zeros() as usize);
            mask &= mask - 1;
        }
        row += 8;
    }
    overlaps_plain(sphere, others, wide_to, to, hit);
}

/// A sphere against eight others: its four numbers, each in all lanes.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Wide {
    x: __m256,
    y: __m256,
    z: __m256,
    radius: __m256,
}

#[cfg(target_arch = "x86_64")]
impl Wide {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(sphere: Sphere) -> Wide {
        Wide {
            x: _mm256_set1_ps(sphere.center.x),
            y: _mm256_set1_ps(sphere.center.y),
            z: _mm256_set1_ps(sphere.center.z),
            radius: _mm256_set1_ps(sphere.radius),
        }
    }

    /// Which of the eight rows from `row` on overlap it, one bit each.
    ///
    /// # Safety
    /// All four columns have the eight rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn overlaps(self, others: Columns<'_>, row: usize) -> u32 {
        // SAFETY: the caller's promise.
        let (x, y, z, radius) = unsafe {
            (
                _mm256_loadu_ps(others.x.as_ptr().add(row)),
                _mm256_loadu_ps(others.y.as_ptr().add(row)),
                _mm256_loadu_ps(others.z.as_ptr().add(row)),
                _mm256_loadu_ps(others.radius.as_ptr().add(row)),
            )
        };
        let (dx, dy, dz) = (_mm256_sub_ps(self.x, x), _mm256_sub_ps(self.y, y), _mm256_sub_ps(self.z, z));
        let reach = _mm256_add_ps(self.radius, radius);
        let distance2 =
            _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
        let overlapping = _mm256_cmp_ps::<_CMP_LT_OQ>(distance2, _mm256_mul_ps(reach, reach));
        _mm256_movemask_ps(overlapping) as u32
    }
}

/// Runs are short: the first eight of each are tested without asking how many there are, and the answers of all five
/// are looked at once. A branch that cannot be foreseen costs more than a test.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn overlaps_in_cells_wide(cells: Cells<'_>, count: usize, mut hit: impl FnMut(usize, usize)) -> u64 {
    let Cells { columns, cell, starts, ahead } = cells;
    let rows = columns.x.len().min(columns.y.len()).min(columns.z.len()).min(columns.radius.len());
    assert!(count <= rows && count <= cell.len(), "each row has its numbers and its cell");
    let farthest = ahead.into_iter().max().unwrap_or(0) as usize + 2;
    let is_ahead = ahead.iter().all(|&ahead| ahead > 0);
    let mut tests = 0;
    for row in 0..count {
        let sphere = columns.sphere(row);
        let wide = Wide::of(sphere);
        let cell = cell[row] as usize;
        assert!(is_ahead && cell + farthest < starts.len(), "each cell has neighbours ahead, empty ones at the border");
        // SAFETY: that is just what was asserted.
        let start = |cell: usize| unsafe { *starts.get_unchecked(cell) as usize };
        let around = |ahead: u32| (start(cell + ahead as usize - 1), start(cell + ahead as usize + 2));
        let runs = [(row + 1, start(cell + 2)), around(ahead[0]), around(ahead[1]), around(ahead[2]), around(ahead[3])];
        let (mut lengths, mut longest, mut latest) = ([0; 5], 0, 0);
        for (length, (from, to)) in lengths.iter_mut().zip(runs) {
            *length = to.saturating_sub(from);
            longest = longest.max(*length);
            latest = latest.max(from);
            tests += *length as u64;
        }
        if longest > 8 || latest + 8 > rows {
            for (from, to) in runs {
                overlaps_wide(sphere, columns, from, to, |other| hit(row, other));
            }
            continue;
        }
        let first = |run: usize| {
            // SAFETY: `latest + 8 <= rows`, which is within all four columns.
            let mask = u64::from(unsafe { wide.overlaps(columns, runs[run].0) });
            (mask & ((1 << lengths[run]) - 1)) << (8 * run)
        };
        let mut masks = first(0) | first(1) | first(2) | first(3) | first(4);
        while masks != 0 {
            let bit = masks.trailing_zeros() as usize;
            hit(row, runs[bit / 8].0 + bit % 8);
            masks &= masks - 1;
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_overlaps_equal_plain_ones(
            rows in prop::collection::vec((-3f32..3.0, -3f32..3.0, -3f32..3.0, 0f32..2.0), 0..70),
            from in 0usize..70,
            to in 0usize..70,
        ) {
            let column = |field: fn(&(f32, f32, f32, f32)) -> f32| rows.iter().map(field).collect::<Vec<_>>();
            let (x, y, z, radius) = (column(|r| r.0), column(|r| r.1), column(|r| r.2), column(|r| r.3));
            let columns = Columns { x: &x, y: &y, z: &z, radius: &radius };
            let to = to.min(rows.len());
            let sphere = Sphere::new(Vec3::new(0.5, -0.25, 1.0), 0.75);
            let (mut wide, mut plain) = (Vec::new(), Vec::new());
            overlaps(sphere, columns, from, to, |row| wide.push(row));
            overlaps_plain(sphere, columns, from, to, |row| plain.push(row));
            prop_assert_eq!(wide, plain);
        }

        #[test]
        fn wide_overlaps_in_cells_equal_plain_ones(
            rows in prop::collection::vec((-3f32..3.0, -3f32..3.0, -3f32..3.0, 0f32..2.0), 0..150),
            cells in prop::collection::vec(0u32..12, 150),
            ahead in [2u32..9, 2u32..9, 2u32..9, 2u32..9],
            padding in 0usize..10,
        ) {
            let count = rows.len();
            let mut cell = cells[..count].to_vec();
            cell.sort_unstable();
            let starts: Vec<u32> = (0..24).map(|first| cell.partition_point(|&cell| cell < first) as u32).collect();
            let column = |field: fn(&(f32, f32, f32, f32)) -> f32| {
                rows.iter().map(field).chain(std::iter::repeat_n(f32::NAN, padding)).collect::<Vec<_>>()
            };
            let (x, y, z, radius) = (column(|r| r.0), column(|r| r.1), column(|r| r.2), column(|r| r.3));
            let columns = Columns { x: &x, y: &y, z: &z, radius: &radius };
            let cells = Cells { columns, cell: &cell, starts: &starts, ahead };
            let (mut wide, mut plain) = (Vec::new(), Vec::new());
            let wide_tests = overlaps_in_cells(cells, count, |row, other| wide.push((row, other)));
            let plain_tests = overlaps_in_cells_plain(cells, count, |row, other| plain.push((row, other)));
            prop_assert_eq!((wide, wide_tests), (plain, plain_tests));
        }
    }
}

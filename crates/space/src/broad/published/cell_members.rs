//! Some objects side by side, so that a list of rows can be tested eight at a time.

use crate::{Columns, simd};

/// Scratch columns for the objects of one cell or leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct CellMembers {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    radius: Vec<f32>,
}

/// A whole number of wide tests from any row on reaches this far beyond the last.
const PADDING: usize = 7;

impl CellMembers {
    /// Tests each of `rows` against each other, calls `hit` with those that overlap, and returns how many tests it
    /// took.
    pub fn brute_force(&mut self, columns: Columns<'_>, rows: &[u32], mut hit: impl FnMut(u32, u32)) -> u64 {
        let count = rows.len();
        gather(&mut self.x, columns.x, rows);
        gather(&mut self.y, columns.y, rows);
        gather(&mut self.z, columns.z, rows);
        gather(&mut self.radius, columns.radius, rows);
        let here = Columns { x: &self.x, y: &self.y, z: &self.z, radius: &self.radius };
        for one in 0..count {
            let to = one + 1 + (count - one - 1).next_multiple_of(8);
            simd::overlaps(here.sphere(one), here, one + 1, to, |other| hit(rows[one], rows[other]));
        }
        (count * count.saturating_sub(1) / 2) as u64
    }
}

fn gather(to: &mut Vec<f32>, from: &[f32], rows: &[u32]) {
    to.clear();
    to.extend(rows.iter().map(|&row| from[row as usize]));
    to.extend([f32::NAN; PADDING]);
}

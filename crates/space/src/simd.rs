//! The only `unsafe` of the project: eight tests at a time, each beside the plain loop that it must equal bit for bit.
//!
//! The wide versions need AVX2, which is looked for once, at run time. Both versions do the same operations in the
//! same order, without fused multiply-add.
#![allow(unsafe_code)]

pub mod apart;
pub mod grid;
pub mod mentions;
pub mod stray;
pub mod sweep;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

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

/// Begins to fetch something that will be needed soon, and does not wait for it.
#[inline]
pub fn fetch_ahead<T>(wanted: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed, and changes nothing that can be seen.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(wanted).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = wanted;
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
        let (distance2, reach) = unsafe { self.distance2_and_reach(others, row) };
        let overlapping = _mm256_cmp_ps::<_CMP_LT_OQ>(distance2, _mm256_mul_ps(reach, reach));
        _mm256_movemask_ps(overlapping) as u32
    }

    /// # Safety
    /// All four columns have the eight rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn distance2_and_reach(self, others: Columns<'_>, row: usize) -> (__m256, __m256) {
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
        let distance2 =
            _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
        (distance2, _mm256_add_ps(self.radius, radius))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
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
    }
}

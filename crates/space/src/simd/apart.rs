//! The pairs of a list whose spheres do not overlap.

use crate::{Pair, Sphere, Vec3};

/// Calls `found` with each of the pairs whose spheres do not overlap, in order. A sphere is stored as one piece: its
/// centre and its radius.
///
/// # Panics
/// If there is no sphere for a pair.
#[inline]
pub fn apart(spheres: &[[f32; 4]], pairs: &[Pair], mut found: impl FnMut(Pair)) {
    #[cfg(target_arch = "x86_64")]
    if super::is_wide() {
        let (eights, rest) = pairs.as_chunks();
        for eight in eights {
            // SAFETY: AVX2 is there, `is_wide` says.
            let mut mask = unsafe { apart_wide(spheres, eight) };
            while mask != 0 {
                found(eight[mask.trailing_zeros() as usize]);
                mask &= mask - 1;
            }
        }
        apart_plain(spheres, rest, found);
        return;
    }
    apart_plain(spheres, pairs, found);
}

/// The meaning of [`apart`].
fn apart_plain(spheres: &[[f32; 4]], pairs: &[Pair], found: impl FnMut(Pair)) {
    let sphere = |row: usize| {
        let [x, y, z, radius] = spheres[row];
        Sphere::new(Vec3::new(x, y, z), radius)
    };
    pairs.iter().copied().filter(|pair| !sphere(pair.a().row()).overlaps(sphere(pair.b().row()))).for_each(found);
}

/// A bit for each of eight pairs.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn apart_wide(spheres: &[[f32; 4]], pairs: &[Pair; 8]) -> u32 {
    use std::arch::x86_64::*;
    // The differences of two pairs' centres, and the sums of their radii.
    let two = |index: usize| {
        let load = |row: usize| {
            let sphere = &spheres[row];
            // SAFETY: an array of four.
            unsafe { _mm_loadu_ps(sphere.as_ptr()) }
        };
        let (low, high) = (pairs[index], pairs[index + 4]);
        let a = _mm256_set_m128(load(high.a().row()), load(low.a().row()));
        let b = _mm256_set_m128(load(high.b().row()), load(low.b().row()));
        _mm256_blend_ps::<0b1000_1000>(_mm256_sub_ps(a, b), _mm256_add_ps(a, b))
    };
    // Four rows of two times four numbers become four columns.
    let rows = [two(0), two(1), two(2), two(3)];
    let (low_01, high_01) = (_mm256_unpacklo_ps(rows[0], rows[1]), _mm256_unpackhi_ps(rows[0], rows[1]));
    let (low_23, high_23) = (_mm256_unpacklo_ps(rows[2], rows[3]), _mm256_unpackhi_ps(rows[2], rows[3]));
    let x = _mm256_shuffle_ps::<0b01_00_01_00>(low_01, low_23);
    let y = _mm256_shuffle_ps::<0b11_10_11_10>(low_01, low_23);
    let z = _mm256_shuffle_ps::<0b01_00_01_00>(high_01, high_23);
    let reach = _mm256_shuffle_ps::<0b11_10_11_10>(high_01, high_23);
    let square = |number| _mm256_mul_ps(number, number);
    let distance2 = _mm256_add_ps(_mm256_add_ps(square(x), square(y)), square(z));
    // "Not less than" is true for NaN, which overlaps nothing.
    _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NLT_UQ>(distance2, square(reach))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_pairs_apart_equal_plain_ones(
            spheres in prop::collection::vec([-2f32..2.0, -2f32..2.0, -2f32..2.0, 0f32..2.0], 2..30),
            dead in prop::collection::vec(any::<bool>(), 30),
            pairs in prop::collection::vec((0usize..30, 1usize..30), 0..60),
        ) {
            let mut spheres = spheres;
            spheres.iter_mut().zip(dead).filter(|(_, dead)| *dead).for_each(|(sphere, _)| *sphere = [f32::NAN; 4]);
            let rows = spheres.len();
            let pairs: Vec<Pair> = pairs.into_iter().map(|(one, ahead)| {
                let (one, ahead) = (one % rows, 1 + ahead % (rows - 1));
                Pair::of_rows(one as u32, ((one + ahead) % rows) as u32)
            }).collect();
            let (mut wide, mut plain) = (Vec::new(), Vec::new());
            apart(&spheres, &pairs, |pair| wide.push(pair));
            apart_plain(&spheres, &pairs, |pair| plain.push(pair));
            prop_assert_eq!(wide, plain);
        }
    }
}

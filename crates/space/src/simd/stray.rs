//! Which of eight objects have strayed from their predicted straight lines.

/// Eight predictions: at `t` ticks after its reference, object `i` is expected at `x[i] + vx[i] * t` and so on, give or
/// take the square root of `slack2[i]`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Lines {
    /// Where they are at the reference tick.
    pub x: [f32; 8],
    /// Second coordinate.
    pub y: [f32; 8],
    /// Third coordinate.
    pub z: [f32; 8],
    /// Movement per tick.
    pub vx: [f32; 8],
    /// Second coordinate.
    pub vy: [f32; 8],
    /// Third coordinate.
    pub vz: [f32; 8],
    /// Square of the distance that an object may be off.
    pub slack2: [f32; 8],
}

/// A bit for each of the eight places that is farther from its line than the slack allows. NaN places never are.
#[inline]
pub fn strayed(lines: &Lines, time: f32, x: &[f32; 8], y: &[f32; 8], z: &[f32; 8]) -> u8 {
    #[cfg(target_arch = "x86_64")]
    if super::is_wide() {
        // SAFETY: AVX2 is there, `is_wide` says.
        return unsafe { strayed_wide(lines, time, x, y, z) };
    }
    strayed_plain(lines, time, x, y, z)
}

/// The meaning of [`strayed`].
pub fn strayed_plain(lines: &Lines, time: f32, x: &[f32; 8], y: &[f32; 8], z: &[f32; 8]) -> u8 {
    let mut mask = 0;
    for i in 0..8 {
        let dx = x[i] - (lines.x[i] + lines.vx[i] * time);
        let dy = y[i] - (lines.y[i] + lines.vy[i] * time);
        let dz = z[i] - (lines.z[i] + lines.vz[i] * time);
        mask |= u8::from(dx * dx + dy * dy + dz * dz > lines.slack2[i]) << i;
    }
    mask
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn strayed_wide(lines: &Lines, time: f32, x: &[f32; 8], y: &[f32; 8], z: &[f32; 8]) -> u8 {
    use std::arch::x86_64::*;
    // SAFETY: every array holds exactly eight numbers.
    let load = |column: &[f32; 8]| unsafe { _mm256_loadu_ps(column.as_ptr()) };
    let time = _mm256_set1_ps(time);
    let off = |place: &[f32; 8], line: &[f32; 8], velocity: &[f32; 8]| {
        _mm256_sub_ps(load(place), _mm256_add_ps(load(line), _mm256_mul_ps(load(velocity), time)))
    };
    let (dx, dy, dz) = (off(x, &lines.x, &lines.vx), off(y, &lines.y, &lines.vy), off(z, &lines.z, &lines.vz));
    let off2 = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
    _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(off2, load(&lines.slack2))) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    #[test]
    fn wide_and_plain_agree_to_the_bit() {
        let mut random = Random::new(3);
        for round in 0..20_000 {
            let mut eight = || std::array::from_fn::<f32, 8, _>(|_| random.between(-2.0, 2.0));
            let lines =
                Lines { x: eight(), y: eight(), z: eight(), vx: eight(), vy: eight(), vz: eight(), slack2: eight() };
            let (mut x, y, z) = (eight(), eight(), eight());
            if round % 5 == 0 {
                x[round % 8] = f32::NAN;
            }
            let time = (round % 256) as f32 * 0.01;
            assert_eq!(strayed(&lines, time, &x, &y, &z), strayed_plain(&lines, time, &x, &y, &z), "round {round}");
        }
    }
}

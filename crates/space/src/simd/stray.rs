//! Which objects have strayed from their predicted straight lines.

/// Eight predictions: at `t` ticks after the reference, object `i` is expected at `x[i] + vx[i] * t` and so on, give or
/// take the square root of `slack2[i]`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Lines {
    /// Where they are at the reference tick.
    pub x: [f32; 8],
    pub y: [f32; 8],
    pub z: [f32; 8],
    /// Movement per tick.
    pub vx: [f32; 8],
    pub vy: [f32; 8],
    pub vz: [f32; 8],
    /// Square of the distance that an object may be off.
    pub slack2: [f32; 8],
}

/// Where the objects of one or more blocks of eight are now.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    pub x: &'a [[f32; 8]],
    pub y: &'a [[f32; 8]],
    pub z: &'a [[f32; 8]],
}

/// For each block, a bit for each place that is farther from its line than the slack allows; NaN places never are.
/// Only blocks with a bit in `eyes` are looked at, `times` ticks after their references. All slices are equally long.
#[inline]
pub fn strayed(lines: &[Lines], times: &[f32], places: Places<'_>, eyes: u64, found: &mut [u8]) {
    let count = lines.len();
    let lengths = [times.len(), places.x.len(), places.y.len(), places.z.len(), found.len()];
    assert!(lengths.iter().all(|&length| length == count), "one of each per block");
    #[cfg(target_arch = "x86_64")]
    if super::is_wide() {
        // SAFETY: AVX2 is there, `is_wide` says.
        unsafe { strayed_wide(lines, times, places, eyes, found) };
        return;
    }
    strayed_plain(lines, times, places, eyes, found);
}

/// The meaning of [`strayed`].
pub fn strayed_plain(lines: &[Lines], times: &[f32], places: Places<'_>, eyes: u64, found: &mut [u8]) {
    for block in 0..lines.len() {
        let eye = (eyes >> (8 * block)) as u8;
        found[block] = 0;
        let (line, time) = (&lines[block], times[block]);
        for i in 0..8 {
            let dx = places.x[block][i] - (line.x[i] + line.vx[i] * time);
            let dy = places.y[block][i] - (line.y[i] + line.vy[i] * time);
            let dz = places.z[block][i] - (line.z[i] + line.vz[i] * time);
            found[block] |= u8::from(dx * dx + dy * dy + dz * dz > line.slack2[i]) << i;
        }
        found[block] &= eye;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn strayed_wide(lines: &[Lines], times: &[f32], places: Places<'_>, eyes: u64, found: &mut [u8]) {
    use std::arch::x86_64::*;
    for block in 0..lines.len() {
        let eye = (eyes >> (8 * block)) as u8;
        found[block] = 0;
        if eye == 0 {
            continue;
        }
        let (line, time) = (&lines[block], _mm256_set1_ps(times[block]));
        // SAFETY: every array holds exactly eight numbers.
        let load = |column: &[f32; 8]| unsafe { _mm256_loadu_ps(column.as_ptr()) };
        let off = |place: &[f32; 8], line: &[f32; 8], velocity: &[f32; 8]| {
            _mm256_sub_ps(load(place), _mm256_add_ps(load(line), _mm256_mul_ps(load(velocity), time)))
        };
        let dx = off(&places.x[block], &line.x, &line.vx);
        let dy = off(&places.y[block], &line.y, &line.vy);
        let dz = off(&places.z[block], &line.z, &line.vz);
        let off2 = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
        found[block] = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(off2, load(&line.slack2))) as u8 & eye;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    #[test]
    fn wide_and_plain_agree_to_the_bit() {
        let mut random = Random::new(3);
        for round in 0..5_000 {
            let mut eight = || std::array::from_fn::<f32, 8, _>(|_| random.between(-2.0, 2.0));
            let mut line =
                || Lines { x: eight(), y: eight(), z: eight(), vx: eight(), vy: eight(), vz: eight(), slack2: eight() };
            let lines = [line(), line(), line()];
            let (mut x, y, z) = ([eight(), eight(), eight()], [eight(), eight(), eight()], [eight(), eight(), eight()]);
            if round % 5 == 0 {
                x[round % 3][round % 8] = f32::NAN;
            }
            let times = [0.0, (round % 256) as f32 * 0.01, 1.0];
            let places = Places { x: &x, y: &y, z: &z };
            let eyes = 0x00FF_5A00_FFFF_u64.rotate_left(round as u32);
            let (mut wide, mut plain) = ([1; 3], [2; 3]);
            strayed(&lines, &times, places, eyes, &mut wide);
            strayed_plain(&lines, &times, places, eyes, &mut plain);
            assert_eq!(wide, plain, "round {round}");
        }
    }
}

//! Which of many moving spheres come close to one moving sphere within a stretch of time.

/// Moving spheres, column by column: where each is at a common moment, how it moves per tick, and how wide it is.
/// Columns end with eight rows of padding, so that the last rows are read eight at a time too.
#[derive(Clone, Copy, Debug)]
pub struct Swept<'a> {
    /// Centres at the common moment.
    pub x: &'a [f32],
    /// Second coordinate.
    pub y: &'a [f32],
    /// Third coordinate.
    pub z: &'a [f32],
    /// Movement per tick. Empty where all stand still, and so are the next two.
    pub vx: &'a [f32],
    /// Second coordinate.
    pub vy: &'a [f32],
    /// Third coordinate.
    pub vz: &'a [f32],
    /// Radii.
    pub radius: &'a [f32],
}

/// One moving sphere, at the same moment, and the stretch of time around it that matters, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    /// Centre at the common moment.
    pub x: f32,
    /// Second coordinate.
    pub y: f32,
    /// Third coordinate.
    pub z: f32,
    /// Movement per tick.
    pub vx: f32,
    /// Second coordinate.
    pub vy: f32,
    /// Third coordinate.
    pub vz: f32,
    /// Radius.
    pub radius: f32,
    /// The stretch begins this many ticks after the common moment; usually before it.
    pub from: f32,
    /// And ends this many ticks after it.
    pub until: f32,
}

/// Calls `hit` with each row of `rows` that comes within the sum of the radii at some time of the stretch, ascending.
/// The arithmetic is rough to about a millionth of the distances involved; radii carry a margin for that.
#[inline]
pub fn meets(mover: &Mover, others: &Swept<'_>, rows: std::ops::Range<usize>, hit: impl FnMut(usize)) {
    #[cfg(target_arch = "x86_64")]
    if super::is_wide() && others.is_padded(rows.end) {
        // SAFETY: AVX2 is there, `is_wide` says.
        unsafe {
            if others.vx.is_empty() {
                meets_wide::<false>(mover, others, rows, hit);
            } else {
                meets_wide::<true>(mover, others, rows, hit);
            }
        }
        return;
    }
    meets_plain(mover, others, rows, hit);
}

/// The meaning of [`meets`].
pub fn meets_plain(mover: &Mover, others: &Swept<'_>, rows: std::ops::Range<usize>, mut hit: impl FnMut(usize)) {
    for row in rows {
        let (dx, dy, dz) = (others.x[row] - mover.x, others.y[row] - mover.y, others.z[row] - mover.z);
        let (vx, vy, vz) = if others.vx.is_empty() {
            (0.0 - mover.vx, 0.0 - mover.vy, 0.0 - mover.vz)
        } else {
            (others.vx[row] - mover.vx, others.vy[row] - mover.vy, others.vz[row] - mover.vz)
        };
        let speed2 = vx * vx + vy * vy + vz * vz;
        let approach = dx * vx + dy * vy + dz * vz;
        // The moment of least distance, kept within the stretch. At rest this is 0/0: any moment will do then, and the
        // comparisons, which NaN fails, choose one.
        let closest = (0.0 - approach) / speed2;
        let closest = if closest < mover.until { closest } else { mover.until };
        let closest = if closest > mover.from { closest } else { mover.from };
        let (x, y, z) = (dx + vx * closest, dy + vy * closest, dz + vz * closest);
        let reach = others.radius[row] + mover.radius;
        if x * x + y * y + z * z < reach * reach {
            hit(row);
        }
    }
}

impl Swept<'_> {
    /// Whether eight rows may be read from anywhere below `end`.
    fn is_padded(&self, end: usize) -> bool {
        let rows = end + 8;
        let still = self.vx.is_empty() && self.vy.is_empty() && self.vz.is_empty();
        self.x.len() >= rows
            && self.y.len() >= rows
            && self.z.len() >= rows
            && self.radius.len() >= rows
            && (still || (self.vx.len() >= rows && self.vy.len() >= rows && self.vz.len() >= rows))
    }
}

/// As [`meets_plain`], eight rows at a time. `MOVING` says whether the others have velocities.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn meets_wide<const MOVING: bool>(
    mover: &Mover,
    others: &Swept<'_>,
    rows: std::ops::Range<usize>,
    mut hit: impl FnMut(usize),
) {
    use std::arch::x86_64::*;
    debug_assert!(others.is_padded(rows.end) && MOVING != others.vx.is_empty());
    let zero = _mm256_setzero_ps();
    let (mx, my, mz) = (_mm256_set1_ps(mover.x), _mm256_set1_ps(mover.y), _mm256_set1_ps(mover.z));
    let (mvx, mvy, mvz) = (_mm256_set1_ps(mover.vx), _mm256_set1_ps(mover.vy), _mm256_set1_ps(mover.vz));
    let radius = _mm256_set1_ps(mover.radius);
    let (from, until) = (_mm256_set1_ps(mover.from), _mm256_set1_ps(mover.until));
    let dot = |ax, ay, az, bx, by, bz| {
        _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(ax, bx), _mm256_mul_ps(ay, by)), _mm256_mul_ps(az, bz))
    };
    let mut row = rows.start;
    while row < rows.end {
        // SAFETY: `row < rows.end`, and `is_padded` found eight more rows than that in every column that is read.
        let load = |column: &[f32]| unsafe { _mm256_loadu_ps(column.as_ptr().add(row)) };
        let (dx, dy, dz) = (
            _mm256_sub_ps(load(others.x), mx),
            _mm256_sub_ps(load(others.y), my),
            _mm256_sub_ps(load(others.z), mz),
        );
        let (vx, vy, vz) = if MOVING {
            (
                _mm256_sub_ps(load(others.vx), mvx),
                _mm256_sub_ps(load(others.vy), mvy),
                _mm256_sub_ps(load(others.vz), mvz),
            )
        } else {
            (_mm256_sub_ps(zero, mvx), _mm256_sub_ps(zero, mvy), _mm256_sub_ps(zero, mvz))
        };
        let speed2 = dot(vx, vy, vz, vx, vy, vz);
        let approach = dot(dx, dy, dz, vx, vy, vz);
        let closest = _mm256_div_ps(_mm256_sub_ps(zero, approach), speed2);
        // Both return their second operand when the first is NaN.
        let closest = _mm256_max_ps(_mm256_min_ps(closest, until), from);
        let (x, y, z) = (
            _mm256_add_ps(dx, _mm256_mul_ps(vx, closest)),
            _mm256_add_ps(dy, _mm256_mul_ps(vy, closest)),
            _mm256_add_ps(dz, _mm256_mul_ps(vz, closest)),
        );
        let reach = _mm256_add_ps(load(others.radius), radius);
        let near = _mm256_cmp_ps::<_CMP_LT_OQ>(dot(x, y, z, x, y, z), _mm256_mul_ps(reach, reach));
        let wanted = 0xFFu32 >> (8 - (rows.end - row).min(8));
        let mut mask = _mm256_movemask_ps(near) as u32 & wanted;
        while mask != 0 {
            hit(row + mask.trailing_zeros() as usize);
            mask &= mask - 1;
        }
        row += 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    #[test]
    fn wide_and_plain_agree_to_the_bit() {
        let mut random = Random::new(4);
        for round in 0..3_000 {
            let count = random.whole(0, 40) as usize;
            let mut column = |spread: f32| -> Vec<f32> {
                (0..count + 8).map(|_| if round % 7 == 0 { 0.0 } else { random.between(-spread, spread) }).collect()
            };
            let (x, y, z, radius) = (column(9.0), column(9.0), column(9.0), column(2.0));
            let (vx, vy, vz) =
                if round % 3 == 0 { Default::default() } else { (column(0.3), column(0.3), column(0.3)) };
            let others = Swept { x: &x, y: &y, z: &z, vx: &vx, vy: &vy, vz: &vz, radius: &radius };
            let mover = Mover {
                x: random.between(-5.0, 5.0),
                y: 0.5,
                z: -1.0,
                vx: if round % 2 == 0 { 0.0 } else { 0.2 },
                vy: 0.0,
                vz: if round % 2 == 0 { 0.0 } else { -0.1 },
                radius: 1.5,
                from: random.between(-20.0, 0.0),
                until: random.between(0.0, 20.0),
            };
            let rows = random.whole(0, count as u32 + 1) as usize..count;
            let (mut wide, mut plain) = (Vec::new(), Vec::new());
            meets(&mover, &others, rows.clone(), |row| wide.push(row));
            meets_plain(&mover, &others, rows, |row| plain.push(row));
            assert_eq!(wide, plain, "round {round}");
        }
    }
}

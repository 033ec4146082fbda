//! Which of many moving spheres come close to one moving sphere within a stretch of time.
//!
//! Candidates are first *gathered* from where they are stored into one piece of memory, as they are now; then each of
//! those who look is tested against all of them, eight at a time, without a gap.

use std::ops::Range;

/// A stored sphere. One piece of memory each: those of a few neighbouring cells are a few cache lines.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Row {
    pub place: [f32; 3],
    pub radius: f32,
    pub velocity: [f32; 3],
    pub id: u32,
}

/// Rows beyond those in use that may be read.
pub const PADDING: usize = 8;

/// Moving spheres as they are now, each with the number of ticks for which that may be believed.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    vx: Vec<f32>,
    vy: Vec<f32>,
    vz: Vec<f32>,
    radius: Vec<f32>,
    ticks: Vec<f32>,
    id: Vec<u32>,
    len: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mover {
    pub id: u32,
    pub place: [f32; 3],
    pub velocity: [f32; 3],
    pub radius: f32,
    /// For how many ticks that holds.
    pub ticks: f32,
}

impl Gathered {
    /// Forgets all and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn get(&self, index: usize) -> Mover {
        Mover {
            id: self.id[index],
            place: [self.x[index], self.y[index], self.z[index]],
            velocity: [self.vx[index], self.vy[index], self.vz[index]],
            radius: self.radius[index],
            ticks: self.ticks[index],
        }
    }

    /// Adds one stored row.
    pub fn add_one(&mut self, row: Row, shift: f32, ticks: f32) {
        let first = self.len;
        if self.id.len() < first + 1 + 2 * PADDING {
            self.widen(2 * first + 8 * PADDING);
        }
        self.len += 1;
        self.add_plain(&[row], 0..1, first, shift, ticks);
    }

    /// Adds stored rows as they are `shift` ticks after the moment that they are stored for.
    ///
    /// # Panics
    /// If there are not that many and [`PADDING`] more.
    #[inline]
    pub fn add(&mut self, stored: &[Row], rows: Range<u32>, shift: f32, ticks: f32) {
        let rows = rows.start as usize..rows.end as usize;
        assert!(rows.end + PADDING <= stored.len(), "stored rows are padded");
        let end = self.len + rows.len();
        if self.id.len() < end + 2 * PADDING {
            self.widen(2 * end + 8 * PADDING);
        }
        let first = self.len;
        self.len = end;
        #[cfg(target_arch = "x86_64")]
        if super::is_wide() {
            // SAFETY: AVX2 is there, `is_wide` says.
            unsafe { self.add_wide(stored, rows, first, shift, ticks) };
            return;
        }
        self.add_plain(stored, rows, first, shift, ticks);
    }

    /// The indices from `from` on whose sphere comes closer to the mover than the sum of the radii at some time from
    /// now until the first of the two is no longer to be believed. They are written to `hits`, which grows as need be.
    ///
    /// The arithmetic is rough to about a millionth of the distances involved; radii carry a margin for that.
    #[inline]
    pub fn meets<'h>(&self, mover: &Mover, from: usize, hits: &'h mut Vec<u32>) -> &'h [u32] {
        let room = self.len.saturating_sub(from) + PADDING;
        if hits.len() < room {
            hits.resize(2 * room, 0);
        }
        #[cfg(target_arch = "x86_64")]
        if super::is_wide() {
            // SAFETY: AVX2 is there, `is_wide` says.
            let count = unsafe { self.meets_wide(mover, from, hits) };
            return &hits[..count];
        }
        let count = self.meets_plain(mover, from, hits);
        &hits[..count]
    }

    fn widen(&mut self, rows: usize) {
        let numbers = [&mut self.x, &mut self.y, &mut self.z, &mut self.vx, &mut self.vy, &mut self.vz];
        for column in numbers.into_iter().chain([&mut self.radius, &mut self.ticks]) {
            column.resize(rows, 0.0);
        }
        self.id.resize(rows, 0);
    }

    /// The meaning of [`Gathered::add`].
    fn add_plain(&mut self, stored: &[Row], rows: Range<usize>, first: usize, shift: f32, ticks: f32) {
        for (to, row) in (first..).zip(&stored[rows]) {
            let [vx, vy, vz] = row.velocity;
            self.x[to] = row.place[0] + vx * shift;
            self.y[to] = row.place[1] + vy * shift;
            self.z[to] = row.place[2] + vz * shift;
            (self.vx[to], self.vy[to], self.vz[to]) = (vx, vy, vz);
            self.radius[to] = row.radius;
            self.ticks[to] = ticks;
            self.id[to] = row.id;
        }
    }

    /// The meaning of [`Gathered::meets`].
    fn meets_plain(&self, mover: &Mover, from: usize, hits: &mut [u32]) -> usize {
        let mut count = 0;
        for index in from..self.len {
            let other = self.get(index);
            let [dx, dy, dz] = std::array::from_fn(|axis| other.place[axis] - mover.place[axis]);
            let [vx, vy, vz] = std::array::from_fn(|axis| other.velocity[axis] - mover.velocity[axis]);
            let speed2 = vx * vx + vy * vy + vz * vz;
            let approach = dx * vx + dy * vy + dz * vz;
            let until = if other.ticks < mover.ticks { other.ticks } else { mover.ticks };
            // The moment of least distance, kept within the stretch. At rest this is 0/0: any moment will do then, and
            // the comparisons, which NaN fails, choose one.
            let closest = (0.0 - approach) / speed2;
            let closest = if closest < until { closest } else { until };
            let closest = if closest > 0.0 { closest } else { 0.0 };
            let (x, y, z) = (dx + vx * closest, dy + vy * closest, dz + vz * closest);
            let reach = other.radius + mover.radius;
            if x * x + y * y + z * z < reach * reach {
                hits[count] = index as u32;
                count += 1;
            }
        }
        count
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_wide(&mut self, stored: &[Row], rows: Range<usize>, first: usize, shift: f32, ticks: f32) {
        use std::arch::x86_64::*;
        let (shift, ticks) = (_mm256_set1_ps(shift), _mm256_set1_ps(ticks));
        let (mut row, mut to) = (rows.start, first);
        while row < rows.end {
            // SAFETY: `add` found the rows and a padding of eight behind them, and twice that in our columns. A row is
            // eight numbers of four bytes, aligned to 32.
            unsafe {
                let from = stored.as_ptr().add(row).cast::<f32>();
                let load = |index: usize| _mm256_load_ps(from.add(8 * index));
                let store = |column: &mut Vec<f32>, eight| _mm256_storeu_ps(column.as_mut_ptr().add(to), eight);
                // Eight rows of eight numbers become eight columns: pairs, then quarters, then halves change places.
                let (a, b, c, d) = (load(0), load(1), load(2), load(3));
                let (e, f, g, h) = (load(4), load(5), load(6), load(7));
                let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                let (ef_low, ef_high) = (_mm256_unpacklo_ps(e, f), _mm256_unpackhi_ps(e, f));
                let (gh_low, gh_high) = (_mm256_unpacklo_ps(g, h), _mm256_unpackhi_ps(g, h));
                let x_vx = _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low);
                let y_vy = _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low);
                let z_vz = _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high);
                let r_id = _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high);
                let x_vx_2 = _mm256_shuffle_ps::<0b01_00_01_00>(ef_low, gh_low);
                let y_vy_2 = _mm256_shuffle_ps::<0b11_10_11_10>(ef_low, gh_low);
                let z_vz_2 = _mm256_shuffle_ps::<0b01_00_01_00>(ef_high, gh_high);
                let r_id_2 = _mm256_shuffle_ps::<0b11_10_11_10>(ef_high, gh_high);
                let (x, vx) =
                    (_mm256_permute2f128_ps::<0x20>(x_vx, x_vx_2), _mm256_permute2f128_ps::<0x31>(x_vx, x_vx_2));
                let (y, vy) =
                    (_mm256_permute2f128_ps::<0x20>(y_vy, y_vy_2), _mm256_permute2f128_ps::<0x31>(y_vy, y_vy_2));
                let (z, vz) =
                    (_mm256_permute2f128_ps::<0x20>(z_vz, z_vz_2), _mm256_permute2f128_ps::<0x31>(z_vz, z_vz_2));
                let (radius, id) =
                    (_mm256_permute2f128_ps::<0x20>(r_id, r_id_2), _mm256_permute2f128_ps::<0x31>(r_id, r_id_2));
                store(&mut self.x, _mm256_add_ps(x, _mm256_mul_ps(vx, shift)));
                store(&mut self.y, _mm256_add_ps(y, _mm256_mul_ps(vy, shift)));
                store(&mut self.z, _mm256_add_ps(z, _mm256_mul_ps(vz, shift)));
                store(&mut self.vx, vx);
                store(&mut self.vy, vy);
                store(&mut self.vz, vz);
                store(&mut self.radius, radius);
                store(&mut self.ticks, ticks);
                _mm256_storeu_si256(self.id.as_mut_ptr().add(to).cast(), _mm256_castps_si256(id));
            }
            row += 8;
            to += 8;
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn meets_wide(&self, mover: &Mover, from: usize, hits: &mut [u32]) -> usize {
        use std::arch::x86_64::*;
        let zero = _mm256_setzero_ps();
        let ([mx, my, mz], [mvx, mvy, mvz]) = (mover.place, mover.velocity);
        let (mx, my, mz) = (_mm256_set1_ps(mx), _mm256_set1_ps(my), _mm256_set1_ps(mz));
        let (mvx, mvy, mvz) = (_mm256_set1_ps(mvx), _mm256_set1_ps(mvy), _mm256_set1_ps(mvz));
        let (radius, ticks) = (_mm256_set1_ps(mover.radius), _mm256_set1_ps(mover.ticks));
        let dot = |ax, ay, az, bx, by, bz| {
            _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(ax, bx), _mm256_mul_ps(ay, by)), _mm256_mul_ps(az, bz))
        };
        let rows = self.len;
        assert!(hits.len() + from >= rows && (rows == 0 || self.id.len() >= rows + PADDING));
        let (mut row, mut count) = (from, 0);
        while row < rows {
            // SAFETY: all columns are as long as `id`, which has a padding of eight rows behind `rows`.
            let load = |column: &Vec<f32>| unsafe { _mm256_loadu_ps(column.as_ptr().add(row)) };
            let (dx, dy, dz) =
                (_mm256_sub_ps(load(&self.x), mx), _mm256_sub_ps(load(&self.y), my), _mm256_sub_ps(load(&self.z), mz));
            let vx = _mm256_sub_ps(load(&self.vx), mvx);
            let vy = _mm256_sub_ps(load(&self.vy), mvy);
            let vz = _mm256_sub_ps(load(&self.vz), mvz);
            let speed2 = dot(vx, vy, vz, vx, vy, vz);
            let approach = dot(dx, dy, dz, vx, vy, vz);
            // All of these return their second operand when the first is NaN.
            let until = _mm256_min_ps(load(&self.ticks), ticks);
            let closest = _mm256_min_ps(_mm256_div_ps(_mm256_sub_ps(zero, approach), speed2), until);
            let closest = _mm256_max_ps(closest, zero);
            let x = _mm256_add_ps(dx, _mm256_mul_ps(vx, closest));
            let y = _mm256_add_ps(dy, _mm256_mul_ps(vy, closest));
            let z = _mm256_add_ps(dz, _mm256_mul_ps(vz, closest));
            let reach = _mm256_add_ps(load(&self.radius), radius);
            let near = _mm256_cmp_ps::<_CMP_LT_OQ>(dot(x, y, z, x, y, z), _mm256_mul_ps(reach, reach));
            let wanted = 0xFFu32 >> (8 - (rows - row).min(8));
            let mut mask = _mm256_movemask_ps(near) as u32 & wanted;
            while mask != 0 {
                hits[count] = row as u32 + mask.trailing_zeros();
                count += 1;
                mask &= mask - 1;
            }
            row += 8;
        }
        count
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
            let (mut wide, mut plain) = (Gathered::default(), Gathered::default());
            for _ in 0..random.whole(0, 5) {
                let count = random.whole(0, 40);
                let mut vector = |spread: f32| {
                    if round % 7 == 0 { [0.0; 3] } else { [(); 3].map(|_| random.between(-spread, spread)) }
                };
                let stored: Vec<Row> = (0..count + PADDING as u32)
                    .map(|id| {
                        let velocity = if round % 3 == 0 { [0.0; 3] } else { vector(0.3) };
                        Row { place: vector(9.0), radius: vector(2.0)[0].abs(), velocity, id: id * 7 + round }
                    })
                    .collect();
                let start = random.whole(0, count + 1);
                let rows = start..random.whole(start, count + 1);
                let (shift, ticks) = (random.between(-20.0, 20.0), random.whole(0, 40) as f32);
                wide.add(&stored, rows.clone(), shift, ticks);
                let first = plain.len;
                plain.len += rows.len();
                plain.widen(plain.len + 2 * PADDING);
                plain.add_plain(&stored, rows.start as usize..rows.end as usize, first, shift, ticks);
            }
            assert_eq!(wide.len(), plain.len());
            for index in 0..wide.len() {
                assert_eq!(wide.get(index), plain.get(index), "round {round}, index {index}");
                let (mut hits, mut meant) = (Vec::new(), vec![0; plain.len()]);
                let found = wide.meets(&wide.get(index), index, &mut hits);
                let count = plain.meets_plain(&plain.get(index), index, &mut meant);
                assert_eq!(found, &meant[..count], "round {round}, index {index}");
            }
        }
    }
}

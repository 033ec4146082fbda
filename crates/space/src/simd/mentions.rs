//! The pairs of a long list that name one of a few rows, four pairs at a time.

use crate::Pair;

/// A set of rows by their last eight bits: a row whose bits are not in it is not in the set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Few {
    words: [u32; 8],
}

impl Few {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words == [0; 8]
    }

    #[inline]
    pub fn insert(&mut self, row: u32) {
        self.words[row as usize / 32 % 8] |= 1 << (row % 32);
    }

    /// Adds to `found` the index of each pair, ascending, of whom one may be of these few.
    pub fn mentioned(&self, pairs: &[Pair], found: &mut Vec<u32>) {
        #[cfg(target_arch = "x86_64")]
        if super::is_wide() {
            // SAFETY: AVX2 is there, `is_wide` says.
            unsafe { self.mentioned_wide(pairs, found) };
            return;
        }
        self.mentioned_plain(pairs, 0, found);
    }

    #[inline]
    fn may_have(&self, row: u32) -> bool {
        self.words[row as usize / 32 % 8] >> (row % 32) & 1 == 1
    }

    /// The meaning of [`Few::mentioned`], from some pair on.
    fn mentioned_plain(&self, pairs: &[Pair], from: usize, found: &mut Vec<u32>) {
        for (index, pair) in pairs.iter().enumerate().skip(from) {
            if self.may_have(pair.a().number()) || self.may_have(pair.b().number()) {
                found.push(index as u32);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn mentioned_wide(&self, pairs: &[Pair], found: &mut Vec<u32>) {
        use std::arch::x86_64::*;
        // Two numbers and nothing between them, in whichever order.
        const { assert!(size_of::<Pair>() == 8) };
        // SAFETY: there are eight words.
        let words = unsafe { _mm256_loadu_si256(self.words.as_ptr().cast()) };
        let last_bits = _mm256_set1_epi32(31);
        let wide_to = pairs.len() / 4 * 4;
        for first in (0..wide_to).step_by(4) {
            // SAFETY: four pairs from here on are within the list.
            let rows = unsafe { _mm256_loadu_si256(pairs.as_ptr().add(first).cast()) };
            // The permutation takes the last three bits of what is left.
            let word = _mm256_permutevar8x32_epi32(words, _mm256_srli_epi32::<5>(rows));
            let bit = _mm256_srlv_epi32(word, _mm256_and_si256(rows, last_bits));
            let rows_hit = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32::<31>(bit))) as u32;
            let mut hit = (rows_hit | rows_hit >> 1) & 0b0101_0101;
            while hit != 0 {
                found.push(first as u32 + hit.trailing_zeros() / 2);
                hit &= hit - 1;
            }
        }
        self.mentioned_plain(pairs, wide_to, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    #[test]
    fn wide_and_plain_mention_the_same() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let rows = [10, 300, 100_000][seed as usize % 3];
            let pair = |random: &mut Random| {
                let one = random.whole(0, rows);
                Pair::of_rows(one, (one + random.whole(1, rows)) % rows)
            };
            let count = random.whole(0, 90);
            let pairs: Vec<Pair> = (0..count).map(|_| pair(&mut random)).collect();
            let mut few = Few::default();
            let mut members = Vec::new();
            for _ in 0..random.whole(0, 6) {
                members.push(random.whole(0, rows));
                few.insert(members[members.len() - 1]);
            }
            assert_eq!(few.is_empty(), members.is_empty(), "seed {seed}");
            let (mut found, mut meant) = (Vec::new(), Vec::new());
            few.mentioned(&pairs, &mut found);
            few.mentioned_plain(&pairs, 0, &mut meant);
            assert_eq!(found, meant, "seed {seed}");
            for (index, pair) in (0..).zip(&pairs) {
                let is_mentioned = [pair.a(), pair.b()].iter().any(|slot| members.contains(&slot.number()));
                assert!(!is_mentioned || found.contains(&index), "seed {seed}: {pair:?} was passed");
            }
        }
    }
}

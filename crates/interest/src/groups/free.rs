//! Places that no group has, and the nearest of them.

/// A set of places, a bit each.
#[derive(Clone, Debug, Default)]
pub struct Free {
    words: Vec<u64>,
    count: usize,
}

/// So many words are looked through for a place that is near.
const NEAR: usize = 32;

impl Free {
    /// Adds a place, which is not in yet.
    pub fn insert(&mut self, place: u32) {
        let word = place as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (place % 64);
        self.count += 1;
    }

    /// Takes out a place near another one. If none is, any place, but only while a quarter of all `places` is free:
    /// otherwise it is better to make another.
    pub fn take_near(&mut self, near: Option<u32>, places: usize) -> Option<u32> {
        let start = near.map_or(0, |near| near as usize / 64).min(self.words.len());
        let reach = if self.count * 4 > places { self.words.len() } else { NEAR };
        let ahead = start..self.words.len().min(start + reach);
        let behind = start.saturating_sub(reach)..start;
        let word = ahead.chain(behind.rev()).find(|&word| self.words[word] != 0)?;
        let bit = self.words[word].trailing_zeros();
        self.words[word] &= self.words[word] - 1;
        self.count -= 1;
        Some(word as u32 * 64 + bit)
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_place_is_taken_and_none_is_lost() {
        let mut free = Free::default();
        for place in [7, 9_000, 9_010, 20_000] {
            free.insert(place);
        }
        assert_eq!(free.take_near(Some(8_999), 30_000), Some(9_000));
        assert_eq!(free.take_near(Some(9_100), 30_000), Some(9_010), "behind, as there is none ahead");
        assert_eq!(free.take_near(Some(14_000), 30_000), None, "too far away");
        assert_eq!(free.take_near(Some(14_000), 7), Some(20_000), "too many are free");
        assert_eq!(free.take_near(None, 30_000), Some(7));
        assert_eq!(free.take_near(Some(u32::MAX), 0), None);
    }
}

//! Which of some groups is best: a number each, so that the best is found without a branch.

/// Is higher for a group that gains more, and of equals for one at a lower place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u64);

/// Below the gain are the place, the other way round, and the group.
const GAIN_SHIFT: u32 = 48;
const PLACE_SHIFT: u32 = 16;

impl Rank {
    /// The rank of a group of a circle at a place.
    #[inline]
    pub fn new(gain: u32, place: u32, group: usize) -> Rank {
        Rank(u64::from(gain) << GAIN_SHIFT | u64::from(!place) << PLACE_SHIFT | group as u64)
    }

    /// The highest of those that gain more than so much.
    #[inline]
    pub fn highest(ranks: impl Iterator<Item = Rank>, more_than: u32) -> Option<Rank> {
        let floor = Rank(u64::from(more_than + 1) << GAIN_SHIFT);
        let highest = ranks.fold(Rank(0), Rank::higher);
        (highest >= floor).then_some(highest)
    }

    /// The higher of two.
    #[inline]
    pub fn higher(self, other: Rank) -> Rank {
        // Which one it is is anybody's guess, and a wrong guess takes longer than a few ranks. A comparison becomes a branch,
        // whatever is written; a difference does not. No rank has the highest bit, so that its sign says whose is lower.
        let more = self.0.wrapping_sub(other.0) as i64;
        Rank(self.0.wrapping_sub((more & more >> 63) as u64))
    }

    #[inline]
    pub fn gain(self) -> u32 {
        (self.0 >> GAIN_SHIFT) as u32
    }

    #[inline]
    pub fn group(self) -> usize {
        usize::from(self.0 as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_gain_ranks_higher_and_of_equals_the_lower_place() {
        let ranks = [Rank::new(1, 0, 7), Rank::new(2, u32::MAX - 1, 65_534), Rank::new(2, 9, 3), Rank::new(0, 0, 0)];
        let highest = |more_than| Rank::highest(ranks.into_iter(), more_than).map(|rank| (rank.gain(), rank.group()));
        assert_eq!(highest(0), Some((2, 3)));
        assert_eq!(highest(1), Some((2, 3)));
        assert_eq!(highest(2), None);
        assert_eq!(Rank::highest(ranks[1..2].iter().copied(), 0).map(Rank::group), Some(65_534));
        assert_eq!(Rank::highest(ranks[3..].iter().copied(), 0), None, "what gains nothing is none");
        for one in ranks {
            assert!(ranks.iter().all(|&other| one.higher(other) == one.max(other)));
        }
    }
}

//! The ends of intervals, sorted: the lists that sweeping methods keep from tick to tick.

/// An interval's end: its place, which end it is, and whose. Ends are compared as these numbers.
///
/// At the same place beginnings come before ends, because intervals that meet in a point count as overlapping.
pub(super) type End = u64;

const IS_HIGH: u64 = 1 << 31;

#[inline]
pub(super) fn low_end(place: f32, row: u32) -> End {
    u64::from(in_order(place)) << 32 | u64::from(row)
}

#[inline]
pub(super) fn high_end(place: f32, row: u32) -> End {
    low_end(place, row) | IS_HIGH
}

#[inline]
pub(super) fn is_high(end: End) -> bool {
    end & IS_HIGH != 0
}

#[inline]
pub(super) fn row(end: End) -> u32 {
    (end & (IS_HIGH - 1)) as u32
}

/// Sorts a list that is almost sorted, and calls `swapped` with each end that moved down and the one that it passed.
/// Gives up after about `swaps_max` swaps; returns how many there were, or `None` when it gave up.
pub(super) fn insertion_sort(ends: &mut [End], swaps_max: u64, mut swapped: impl FnMut(End, End)) -> Option<u64> {
    let mut swaps = 0;
    for index in 1..ends.len() {
        let end = ends[index];
        let mut place = index;
        while place > 0 && ends[place - 1] > end {
            ends[place] = ends[place - 1];
            swapped(end, ends[place]);
            place -= 1;
        }
        ends[place] = end;
        swaps += (index - place) as u64;
        if swaps > swaps_max {
            return None;
        }
    }
    Some(swaps)
}

/// A whole number in the order of the places.
#[inline]
fn in_order(place: f32) -> u32 {
    // Minus zero becomes zero, to which it is equal.
    let bits = (place + 0.0).to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ends_are_in_the_order_of_their_places() {
        let places = [-2e9f32, -1.0, -1e-40, 0.0, 1e-40, 0.5, 2e9];
        for pair in places.windows(2) {
            assert!(high_end(pair[0], u32::MAX >> 1) < low_end(pair[1], 0));
        }
        assert!(low_end(0.0, 9) < high_end(-0.0, 3), "intervals that meet in a point overlap");
        assert_eq!((row(high_end(1.0, 77)), row(low_end(1.0, 77))), (77, 77));
        assert!(is_high(high_end(1.0, 77)) && !is_high(low_end(1.0, 77)));
    }

    proptest! {
        #[test]
        fn every_inversion_is_one_swap(mut ends in prop::collection::vec(0u64..1_000, 0..60)) {
            let (mut expected, mut inversions) = (ends.clone(), Vec::new());
            expected.sort_unstable();
            for (index, &one) in ends.iter().enumerate() {
                inversions.extend(ends[..index].iter().filter(|&&other| other > one).map(|&other| (one, other)));
            }
            let mut swaps = Vec::new();
            let count = insertion_sort(&mut ends, u64::MAX, |one, other| swaps.push((one, other)));
            prop_assert_eq!(count, Some(swaps.len() as u64));
            swaps.sort_unstable();
            inversions.sort_unstable();
            prop_assert_eq!((ends, swaps), (expected, inversions));
        }
    }
}

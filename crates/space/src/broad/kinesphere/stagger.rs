//! When each tile falls due first, so that no tick has much more to do than others.
//!
//! Neighbours fall due soon after each other: what one looks at is in the caches when the next one does. But tiles differ,
//! for the world does not end where a tile does, and a small one beside a large one would be two thirds more than usual. So
//! each tile has its place in the order of space, and falls due at the nearest tick that has room for it.

use std::cmp::Reverse;

/// For each tile, the first of so many ticks that it falls due at; `sizes` are how many objects are in each, in the order of
/// space.
pub fn stagger(sizes: &[usize], ticks: usize) -> Vec<usize> {
    let total: usize = sizes.iter().sum();
    let mut before = 0;
    let mut due: Vec<usize> = Vec::with_capacity(sizes.len());
    for size in sizes {
        due.push((before * ticks / total.max(1)).min(ticks - 1));
        before += size;
    }
    let largest = sizes.iter().max().copied().unwrap_or(0);
    // Somewhat more than the mean: if ticks had to be just alike, hardly any tile would be beside its neighbours.
    let room = largest.max(total * 5 / 4 / ticks);
    let mut loads = vec![0; ticks];
    // Whoever packs begins with what is largest.
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&tile| Reverse(sizes[tile]));
    for tile in order {
        let (size, place) = (sizes[tile], due[tile]);
        let has_room = |&tick: &usize| loads[tick] + size <= room;
        let nearest = (0..ticks).filter(has_room).min_by_key(|tick| tick.abs_diff(place));
        let least = || (0..ticks).min_by_key(|&tick| loads[tick]);
        due[tile] = nearest.or_else(least).unwrap_or(place);
        loads[due[tile]] += size;
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    fn loads(sizes: &[usize], ticks: usize) -> Vec<usize> {
        let mut loads = vec![0; ticks];
        stagger(sizes, ticks).iter().zip(sizes).for_each(|(&tick, size)| loads[tick] += size);
        loads
    }

    #[test]
    fn no_tick_has_much_more_to_do_than_others() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let ticks = random.whole(6, 97) as usize;
            let largest = random.whole(1, 5_000);
            let sizes: Vec<usize> = (0..random.whole(1, 600)).map(|_| random.whole(0, largest + 1) as usize).collect();
            let (most, mean) = (loads(&sizes, ticks).into_iter().max(), sizes.iter().sum::<usize>() / ticks);
            let largest = sizes.iter().max().copied();
            assert!(
                most <= largest.max(Some(mean * 3 / 2 + 1)),
                "seed {seed}: {most:?}, mean {mean}, largest {largest:?}"
            );
        }
    }

    /// A world that is one and a half tiles wide: in the order of space alone, some ticks would have both.
    #[test]
    fn a_small_tile_does_not_join_a_large_one() {
        let sizes: Vec<usize> = (0..70).map(|tile| if tile % 2 == 0 { 1_240 } else { 600 }).collect();
        assert!(loads(&sizes, 64).into_iter().all(|load| load <= 1_240));
    }

    #[test]
    fn neighbours_fall_due_together() {
        let sizes = vec![100; 640];
        let due = stagger(&sizes, 64);
        assert!(due.iter().enumerate().all(|(tile, &tick)| tick == tile / 10));
    }

    #[test]
    fn an_empty_world_has_nothing_to_stagger() {
        assert!(stagger(&[], 8).is_empty());
        assert_eq!(stagger(&[0, 0], 8), [0, 0]);
    }
}

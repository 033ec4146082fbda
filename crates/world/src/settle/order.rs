//! A fair order of settling: over many ticks, each mover comes before each other one about every second time.
//!
//! A rotating start alone would put each mover before its successor in all ticks but one. So the stride changes with
//! every tick, too. To stay in the cache the list is cut into blocks: the blocks are visited in such an order, and so
//! are the movers within each block.

use space::bits::Bits;

/// The number of movers in a block: a word of [`Bits`].
const BLOCK: usize = 64;

/// An order of the numbers below `count`, which changes with every tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnOrder {
    count: usize,
    word: u64,
}

impl TurnOrder {
    pub fn of_tick(tick: u64, count: usize) -> TurnOrder {
        TurnOrder { count, word: scrambled(tick) }
    }

    pub fn iter(self) -> impl Iterator<Item = usize> {
        walk(self.word, self.count.div_ceil(BLOCK)).flat_map(move |block| {
            let first = block * BLOCK;
            walk(self.word_of(block), (self.count - first).min(BLOCK)).map(move |number| first + number)
        })
    }

    /// Calls `visit` in this order for the numbers in `chosen`.
    pub fn visit(self, chosen: &Bits, mut visit: impl FnMut(usize)) {
        let mut numbers = [0; BLOCK];
        for block in walk(self.word, self.count.div_ceil(BLOCK)) {
            let (mut rest, mut count) = (chosen.words().get(block).copied().unwrap_or(0), 0);
            while rest != 0 {
                numbers[count] = block * BLOCK + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                count += 1;
            }
            walk(self.word_of(block), count).for_each(|number| visit(numbers[number]));
        }
    }

    fn word_of(self, block: usize) -> u64 {
        scrambled(self.word ^ block as u64)
    }
}

/// All numbers below `count`, each once; `word` determines the start and the stride.
fn walk(word: u64, count: usize) -> impl Iterator<Item = usize> {
    // An odd stride visits all numbers below a power of two.
    let (size, stride) = (count.next_power_of_two() as u64, scrambled(word) | 1);
    (0..size)
        .map(move |step| (word.wrapping_add(step.wrapping_mul(stride)) & (size - 1)) as usize)
        .filter(move |&number| number < count)
}

fn scrambled(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_before_each_other_equally_often() {
        for count in [0usize, 1, 2, 3, 7, 64, 100, 150] {
            are_treated_alike(count, |tick| TurnOrder::of_tick(tick, count).iter().collect());
        }
    }

    #[test]
    fn every_chosen_number_comes_once_and_before_each_other_equally_often() {
        for count in [0, 1, 2, 30, 70] {
            let mut chosen = Bits::new();
            (0..count).for_each(|number| chosen.insert(number * 7 / 3));
            let order = |tick| {
                let mut order = Vec::new();
                TurnOrder::of_tick(tick, 200).visit(&chosen, |number| order.push((number * 3).div_ceil(7)));
                order
            };
            are_treated_alike(count, order);
        }
    }

    fn are_treated_alike(count: usize, order_of: impl Fn(u64) -> Vec<usize>) {
        let mut earlier = vec![vec![0u32; count]; count];
        let ticks = 4_000;
        for tick in 0..ticks {
            let order = order_of(tick);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count), "tick {tick}: {order:?}");
            for (place, &one) in order.iter().enumerate() {
                order[place + 1..].iter().for_each(|&other| earlier[one][other] += 1);
            }
        }
        for (one, earlier) in earlier.iter().enumerate() {
            for other in (0..count).filter(|&other| other != one) {
                let share = f64::from(earlier[other]) / ticks as f64;
                assert!((0.45..0.55).contains(&share), "{one} is before {other} in {share} of the ticks");
            }
        }
    }
}

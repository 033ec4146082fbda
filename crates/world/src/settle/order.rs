//! Who goes first? Everybody, equally often.
//!
//! A list that is walked from a start that rotates favours each over its successor in all ticks but one. So the walk
//! has a stride of its own in every tick, too: over ticks, any one comes before any other about every second time.
//!
//! A walk all over memory waits for it at every step. So the list is cut into blocks: they come in such an order, and
//! within each everybody does.

use space::bits::Bits;

/// How many follow each other in an order of their own: a word of [`Bits`].
const BLOCK: usize = 64;

/// An order of `count` things, another one in every tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    count: usize,
    word: u64,
}

impl Order {
    pub fn of_tick(tick: u64, count: usize) -> Order {
        Order { count, word: scrambled(tick) }
    }

    /// All numbers below `count`, each once.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        walk(self.word, self.count.div_ceil(BLOCK)).flat_map(move |block| {
            let first = block * BLOCK;
            walk(self.word_of(block), (self.count - first).min(BLOCK)).map(move |number| first + number)
        })
    }

    /// Those of `chosen` that are below `count`, each once: `visit` is called for them in turn.
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

/// All numbers below `count`, each once, from a start and with a stride that `word` chooses.
fn walk(word: u64, count: usize) -> impl Iterator<Item = usize> {
    // An odd stride visits everything below a power of two once.
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
    fn everybody_has_a_turn_and_nobody_is_first_more_often() {
        for count in [0usize, 1, 2, 3, 7, 64, 100, 150] {
            are_treated_alike(count, |tick| Order::of_tick(tick, count).iter().collect());
        }
    }

    #[test]
    fn whoever_is_chosen_has_a_turn_and_nobody_is_first_more_often() {
        for count in [0, 1, 2, 30, 70] {
            let mut chosen = Bits::new();
            (0..count).for_each(|number| chosen.insert(number * 7 / 3));
            let order = |tick| {
                let mut order = Vec::new();
                Order::of_tick(tick, 200).visit(&chosen, |number| order.push((number * 3).div_ceil(7)));
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

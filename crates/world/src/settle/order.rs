//! Who goes first? Everybody, equally often.
//!
//! A list that is walked from a start that rotates favours each over its successor in all ticks but one. So the walk
//! has a stride of its own in every tick, too: over ticks, any one comes before any other about every second time.

/// An order of `count` things, another one in every tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    count: u64,
    /// A power of two, at least `count`.
    size: u64,
    /// Odd, so that the walk visits everything below `size` once.
    stride: u64,
    start: u64,
}

impl Order {
    pub fn of_tick(tick: u64, count: usize) -> Order {
        let size = (count as u64).next_power_of_two();
        let word = scrambled(tick);
        Order { count: count as u64, size, stride: scrambled(word) | 1, start: word }
    }

    /// All numbers below `count`, each once.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mask = self.size - 1;
        (0..self.size)
            .map(move |step| self.start.wrapping_add(step.wrapping_mul(self.stride)) & mask)
            .filter(move |&number| number < self.count)
            .map(|number| number as usize)
    }
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
        for count in [0usize, 1, 2, 3, 7, 64, 100] {
            let mut earlier = vec![vec![0u32; count]; count];
            let ticks = 4_000;
            for tick in 0..ticks {
                let order: Vec<usize> = Order::of_tick(tick, count).iter().collect();
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
}

//! How much memory to take, so that a steady tick takes none.
//!
//! How many objects are in a tile, stray in a tick or are about to meet varies from tick to tick, about as a number of
//! independent events does: by its root. A list that grows whenever it is longer than ever before grows again and again,
//! ever more rarely and never for the last time. So lists get room for eight times that much more, once they have been
//! seen at work: a count that far from the usual one does not come by chance.

/// Lists of at most so many are small.
const SMALL: usize = 512;

/// Lists get more memory by turns, one in each of some ticks: all at once would be the slowest tick of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// That of lists of which there are few.
    First,
    /// That of some of those of which there are many.
    Shared(Part),
    /// That of lists of which there are few, too.
    Last,
}

/// One part in so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    index: usize,
    parts: usize,
}

impl Turn {
    /// The one that it is at `now`, if there are so many, at least three, from the tick `first` on.
    pub fn at(now: u64, first: u64, turns: u64) -> Option<Turn> {
        match now.checked_sub(first)? {
            0 => Some(Turn::First),
            turn if turn + 1 == turns => Some(Turn::Last),
            turn if turn + 1 > turns => None,
            turn => Some(Turn::Shared(Part { index: turn as usize - 1, parts: turns as usize - 2 })),
        }
    }
}

impl Part {
    /// Whether the one with this number is in this part.
    pub fn has(self, number: usize) -> bool {
        number % self.parts == self.index
    }

    /// Those of many who are in this part.
    pub fn of<I: IntoIterator>(self, all: I) -> impl Iterator<Item = I::Item> {
        all.into_iter().skip(self.index).step_by(self.parts)
    }
}

/// So many, and as many more as there may be at times.
pub fn roomy(usual: usize) -> usize {
    usual + 8 * usual.isqrt() + 8
}

/// Takes memory for a list that usually holds as many as it does now.
pub fn stock_up<T>(list: &mut Vec<T>) {
    make_room(list, list.len());
}

/// As [`stock_up`], for a list that is empty between ticks and has grown to what it needed at most; small ones get twice as
/// much. Each time it gets more, so this is not to be called often.
pub fn stock_up_as_used<T>(list: &mut Vec<T>) {
    stock_up_alike(std::slice::from_mut(list), |list| list);
}

/// As [`stock_up_as_used`], for a list that each of many has: what one needed at most, another may need next.
pub fn stock_up_alike<S, T>(owners: &mut [S], list: impl Fn(&mut S) -> &mut Vec<T>) {
    let used = owners.iter_mut().map(|owner| list(owner).capacity()).max().unwrap_or(0);
    for owner in owners {
        make_room(list(owner), twice_if_few(used));
    }
}

/// So many, or twice as many: what is little now may be more before long.
pub fn twice_if_few(used: usize) -> usize {
    used + used.min(SMALL)
}

/// Takes memory for a list that usually holds so many, unless there is most of that room already: what is usual is known
/// from one look, which may have been at an unusual moment.
pub fn make_room<T>(list: &mut Vec<T>, usual: usize) {
    let room = roomy(usual);
    if list.capacity() >= (usual + 3 * room) / 4 {
        return;
    }
    // Not `reserve`: it may copy all of the old memory, however little is in it.
    let mut roomier = Vec::with_capacity(room);
    roomier.append(list);
    *list = roomier;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    /// Of a thousand objects in ten places, at random, over and over: none ever has more than its first look made room for.
    #[test]
    fn there_is_room_for_whatever_chance_brings() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let mut deal = || {
                let mut counts = [0; 10];
                (0..1_000).for_each(|_| counts[random.whole(0, 10) as usize] += 1);
                counts
            };
            let rooms = deal().map(roomy);
            for round in 0..200 {
                let counts = deal();
                assert!(counts.iter().zip(&rooms).all(|(count, room)| count <= room), "seed {seed}, round {round}");
            }
        }
    }

    #[test]
    fn everybody_has_one_turn() {
        for count in 3..40 {
            let (mut turns, mut had) = (Vec::new(), [0; 100]);
            for turn in (0..100).filter_map(|now| Turn::at(now, 20, count)) {
                turns.push(turn);
                if let Turn::Shared(part) = turn {
                    part.of(&mut had).for_each(|turns| *turns += 1);
                }
            }
            assert_eq!(turns.len() as u64, count);
            assert_eq!((turns.first(), turns.last()), (Some(&Turn::First), Some(&Turn::Last)));
            assert_eq!(had, [1; 100]);
        }
    }

    /// Whoever stocks up again and again has no more in the end.
    #[test]
    fn stocking_up_twice_is_stocking_up_once() {
        for usual in [0, 1, 10, 1_000] {
            let mut list = vec![0; usual];
            stock_up(&mut list);
            let room = list.capacity();
            (0..10).for_each(|_| stock_up(&mut list));
            assert_eq!(list.capacity(), room, "{usual}");
        }
    }
}

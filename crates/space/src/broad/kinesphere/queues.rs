//! Many queues in one piece of memory.
//!
//! Each of them is longer at some times than at others, all of them together hardly ever: so none has memory of its own.
//! They are made of blocks, and a block that one queue has used up is the next one's.
//!
//! Invariants:
//! - A block is in exactly one queue, or free.
//! - All blocks of a queue but the last one are full, and none is empty.
//!
//! How many things are in the last block is noted beside the queue, not in the block: whoever puts something there then waits
//! for no memory, for the block itself is only written to.

/// How many things are in a block.
const BLOCK: usize = 31;
/// No block.
const NONE: u32 = u32::MAX;

/// Queues of things, by number.
#[derive(Debug)]
pub struct Queues<T> {
    ends: Vec<Ends>,
    blocks: Vec<Block<T>>,
    /// The first free block; each one names the next.
    free: u32,
}

/// The first block of a queue and the last one, and how many things are in that.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
    filled: u32,
}

#[derive(Clone, Copy, Debug)]
struct Block<T> {
    things: [T; BLOCK],
    next: u32,
}

/// As if its last block were full: the first thing takes another one.
const EMPTY: Ends = Ends { first: NONE, last: NONE, filled: BLOCK as u32 };

impl<T> Default for Queues<T> {
    fn default() -> Queues<T> {
        Queues { ends: Vec::new(), blocks: Vec::new(), free: NONE }
    }
}

impl<T: Copy + Default> Queues<T> {
    /// Makes it so many queues, all of them empty.
    pub fn reset(&mut self, queues: usize) {
        self.ends.clear();
        self.ends.resize(queues, EMPTY);
        self.blocks.clear();
        // Each will have a block before long: to take memory for all of them later would be a slow tick.
        self.blocks.reserve_exact(queues + queues / 8 + 8);
        self.free = NONE;
    }

    /// How many queues there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Puts something at the end of a queue.
    #[inline]
    pub fn push(&mut self, queue: usize, thing: T) {
        if self.ends[queue].filled as usize == BLOCK {
            self.extend(queue);
        }
        let Ends { last, filled, .. } = &mut self.ends[queue];
        self.blocks[*last as usize].things[*filled as usize] = thing;
        *filled += 1;
    }

    /// Empties a queue, from its beginning to its end, block by block.
    pub fn drain(&mut self, queue: usize, mut take: impl FnMut(&[T])) {
        let Ends { first, last, filled } = std::mem::replace(&mut self.ends[queue], EMPTY);
        let mut at = first;
        while at != NONE {
            let Block { things, next } = &self.blocks[at as usize];
            let count = if at == last { filled as usize } else { BLOCK };
            take(&things[..count]);
            at = *next;
        }
        if last != NONE {
            self.blocks[last as usize].next = self.free;
            self.free = first;
        }
    }

    /// Takes more memory than was ever needed.
    pub fn stock_up(&mut self) {
        if self.blocks.capacity() < self.blocks.len() + self.step() {
            self.blocks.reserve_exact(self.step());
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<Ends>() + self.blocks.capacity() * size_of::<Block<T>>()
    }

    /// Adds an empty block to a queue.
    #[inline(never)]
    fn extend(&mut self, queue: usize) {
        let number = self.free_block();
        let Ends { first, last, filled } = &mut self.ends[queue];
        match *last {
            NONE => *first = number,
            last => self.blocks[last as usize].next = number,
        }
        (*last, *filled) = (number, 0);
    }

    /// By how many blocks it grows.
    fn step(&self) -> usize {
        self.blocks.len() / 8 + 8
    }

    fn free_block(&mut self) -> u32 {
        let empty = Block { things: [T::default(); BLOCK], next: NONE };
        if self.free == NONE {
            if self.blocks.len() == self.blocks.capacity() {
                self.blocks.reserve_exact(self.step());
            }
            self.blocks.push(empty);
            return self.blocks.len() as u32 - 1;
        }
        let number = self.free;
        let block = &mut self.blocks[number as usize];
        self.free = block.next;
        block.next = NONE;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    /// The slow twin: a list each.
    #[test]
    fn queues_are_lists() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let (mut queues, mut twin) = (Queues::default(), vec![Vec::new(); 7]);
            queues.reset(7);
            for step in 0..4_000u32 {
                let queue = random.whole(0, 7) as usize;
                if random.unit() < 0.01 {
                    let mut drained = Vec::new();
                    queues.drain(queue, |things| drained.extend_from_slice(things));
                    assert_eq!(drained, std::mem::take(&mut twin[queue]), "seed {seed}, step {step}");
                } else {
                    queues.push(queue, step);
                    twin[queue].push(step);
                }
            }
            let most = twin.iter().map(Vec::len).sum::<usize>();
            assert!(queues.blocks.len() * BLOCK <= 2 * most + 4_000, "seed {seed}: {} blocks", queues.blocks.len());
        }
    }

    #[test]
    fn memory_goes_from_queue_to_queue() {
        let mut queues = Queues::default();
        queues.reset(3);
        for round in 0..100 {
            (0..200).for_each(|thing| queues.push(round % 3, thing));
            let mut count = 0;
            queues.drain(round % 3, |things| count += things.len());
            assert_eq!(count, 200);
            assert!(queues.blocks.len() <= 7, "round {round}: {} blocks", queues.blocks.len());
        }
    }
}

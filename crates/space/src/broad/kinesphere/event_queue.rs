//! The event queue: events by the tick at which they happen, modulo the number of ticks, in one piece of memory.
//!
//! The lists of all ticks together hardly vary in length, each by itself does. So they are chains of blocks, and a
//! block that one list gives back is the next one's.
//!
//! Invariants: a block is in exactly one list, or free; all blocks of a list but the last one are full, and none is
//! empty.

/// Events per block. How many the last block has is noted beside the list, so that adding one only writes to the block.
const BLOCK: usize = 31;
/// No block.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub struct EventQueue<T> {
    ends: Vec<Ends>,
    blocks: Vec<EventBlock<T>>,
    /// The first free block; each one names the next.
    free: u32,
}

/// The first and the last block of a list, and the number of events in the last one.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
    filled: u32,
}

#[derive(Clone, Copy, Debug)]
struct EventBlock<T> {
    events: [T; BLOCK],
    next: u32,
}

/// As if its last block were full: the first event takes another one.
const EMPTY: Ends = Ends { first: NONE, last: NONE, filled: BLOCK as u32 };

impl<T> Default for EventQueue<T> {
    fn default() -> EventQueue<T> {
        EventQueue { ends: Vec::new(), blocks: Vec::new(), free: NONE }
    }
}

impl<T: Copy + Default> EventQueue<T> {
    /// Empties the queue, which takes events of the next `ticks` ticks from then on.
    pub fn reset(&mut self, ticks: usize) {
        self.ends.clear();
        self.ends.resize(ticks, EMPTY);
        self.blocks.clear();
        self.blocks.reserve(ticks + ticks / 8 + 8);
        self.free = NONE;
    }

    /// For how many ticks it takes events.
    pub fn ticks(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub fn push(&mut self, tick: u64, event: T) {
        let list = tick as usize % self.ends.len();
        if self.ends[list].filled as usize == BLOCK {
            self.extend(list);
        }
        let Ends { last, filled, .. } = &mut self.ends[list];
        self.blocks[*last as usize].events[*filled as usize] = event;
        *filled += 1;
    }

    /// Removes the events of a tick, in the order in which they were added, block by block.
    pub fn drain(&mut self, tick: u64, mut take: impl FnMut(&[T])) {
        let list = tick as usize % self.ends.len();
        let Ends { first, last, filled } = std::mem::replace(&mut self.ends[list], EMPTY);
        let mut at = first;
        while at != NONE {
            let EventBlock { events, next } = &self.blocks[at as usize];
            take(&events[..if at == last { filled as usize } else { BLOCK }]);
            at = *next;
        }
        if last != NONE {
            self.blocks[last as usize].next = self.free;
            self.free = first;
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<Ends>() + self.blocks.capacity() * size_of::<EventBlock<T>>()
    }

    #[inline(never)]
    fn extend(&mut self, list: usize) {
        let number = self.free_block();
        let Ends { first, last, filled } = &mut self.ends[list];
        match *last {
            NONE => *first = number,
            last => self.blocks[last as usize].next = number,
        }
        (*last, *filled) = (number, 0);
    }

    fn free_block(&mut self) -> u32 {
        if self.free == NONE {
            if self.blocks.len() == self.blocks.capacity() {
                self.blocks.reserve_exact(self.blocks.len() / 8 + 8);
            }
            self.blocks.push(EventBlock { events: [T::default(); BLOCK], next: NONE });
            return self.blocks.len() as u32 - 1;
        }
        let number = self.free;
        let block = &mut self.blocks[number as usize];
        self.free = std::mem::replace(&mut block.next, NONE);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Random;

    /// The slow twin has a list for each tick. Memory goes from one to the next.
    #[test]
    fn the_queue_is_a_list_for_each_tick() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let (mut queue, mut twin) = (EventQueue::default(), vec![Vec::new(); 7]);
            queue.reset(7);
            let mut most = 0;
            for step in 0..4_000u32 {
                let tick = random.whole(0, 70);
                let list = tick as usize % 7;
                if random.unit() < 0.02 {
                    let mut drained = Vec::new();
                    queue.drain(u64::from(tick), |events| drained.extend_from_slice(events));
                    assert_eq!(drained, std::mem::take(&mut twin[list]), "seed {seed}, step {step}");
                } else {
                    queue.push(u64::from(tick), step);
                    twin[list].push(step);
                }
                most = most.max(twin.iter().map(Vec::len).sum());
            }
            assert!(queue.blocks.len() * BLOCK <= most + 8 * BLOCK, "seed {seed}: {} blocks", queue.blocks.len());
        }
    }
}

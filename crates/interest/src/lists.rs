//! Many short sorted lists in one piece of memory, one per row.
//!
//! A world of a million objects has a million lists of which most are empty, many have an entry or two, and some have
//! thousands. The shortest lie in the table itself: one place of memory to wait for, not two. A longer list lies in a
//! run of the pool whose length is a power of two; runs that are given up wait for the next list of their size. A list
//! that gets shorter by an entry keeps its run for a long time: lists of neighbours that lie side by side stay so, and
//! what is looked at together is together in the cache.
//!
//! Invariants:
//! - A list without a run has up to [`SHORT`] entries, in its head. The run of another begins where its head's first
//!   word says, is as long as its head's class says, and belongs to that list alone.
//! - Every run of the pool belongs to a list or is in `free`, under its class, the logarithm of its length.

use space::{Slot, Spheres};

/// Sorted lists, one per row.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    heads: Vec<Head<T>>,
    pool: Vec<T>,
    free: Vec<Vec<u32>>,
}

/// What lists are of: four bytes, which may as well say where a list begins.
pub(crate) trait Word: Copy {
    fn of(number: u32) -> Self;
    fn number(self) -> u32;
}

/// Lists of up to so many entries need no run.
const SHORT: usize = 3;

/// The class of the shortest runs, and how many times longer than its list a run may be, unless it is the shortest.
const CLASS_MIN: u32 = 3;
const SPARE: usize = 8;

/// A short list, or where a long one is.
#[derive(Clone, Copy, Debug)]
struct Head<T> {
    /// How long the list is, and from this bit on the class of its run, or zero.
    len_and_class: u32,
    words: [T; SHORT],
}

const CLASS_SHIFT: u32 = 27;
const _: () = assert!(Spheres::MAX_OBJECTS < 1 << CLASS_SHIFT, "a list of everybody has to fit");

impl Word for Slot {
    #[inline]
    fn of(number: u32) -> Slot {
        Slot::new(number)
    }

    #[inline]
    fn number(self) -> u32 {
        Slot::number(self)
    }
}

impl Word for u32 {
    #[inline]
    fn of(number: u32) -> u32 {
        number
    }

    #[inline]
    fn number(self) -> u32 {
        self
    }
}

impl<T: Word> Head<T> {
    fn empty() -> Head<T> {
        Head { len_and_class: 0, words: [T::of(0); SHORT] }
    }

    #[inline]
    fn len(&self) -> usize {
        (self.len_and_class & ((1 << CLASS_SHIFT) - 1)) as usize
    }

    #[inline]
    fn class(&self) -> u32 {
        self.len_and_class >> CLASS_SHIFT
    }

    #[inline]
    fn start(&self) -> usize {
        self.words[0].number() as usize
    }
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists { heads: Vec::new(), pool: Vec::new(), free: Vec::new() }
    }
}

impl<T: Word> Lists<T> {
    pub fn new() -> Lists<T> {
        Lists::default()
    }

    /// How many rows have been touched: those beyond have empty lists.
    pub fn rows(&self) -> usize {
        self.heads.len()
    }

    /// The list of a row.
    #[inline]
    pub fn get(&self, row: usize) -> &[T] {
        let Some(head) = self.heads.get(row) else { return &[] };
        let len = head.len();
        if head.class() == 0 { &head.words[..len] } else { &self.pool[head.start()..][..len] }
    }

    /// How long the list of a row is.
    #[inline]
    pub fn len(&self, row: usize) -> usize {
        self.heads.get(row).map_or(0, Head::len)
    }

    /// Fetches the lists of many rows into the cache. One after the other, each would be waited for on its own; here
    /// nothing depends on what is read, so that many are under way at once.
    pub fn fetch(&self, rows: impl Iterator<Item = usize> + Clone) {
        let heads = || rows.clone().filter_map(|row| self.heads.get(row));
        std::hint::black_box(heads().fold(0u32, |sum, head| sum.wrapping_add(head.len_and_class)));
        for head in heads().filter(|head| head.class() > 0) {
            std::hint::black_box(self.pool.get(head.start()).copied());
        }
    }

    /// Gives a row another list. An empty one takes no room.
    pub fn replace(&mut self, row: usize, list: &[T]) {
        self.resize(row, list.len());
        if list.is_empty() {
            self.give_up_run(row);
        }
        self.list(row).copy_from_slice(list);
    }

    /// Puts an entry into the list of a row, before the entry at a place.
    pub fn insert(&mut self, row: usize, place: usize, entry: T) {
        let len = self.len(row);
        self.resize(row, len + 1);
        let list = self.list(row);
        list.copy_within(place..len, place + 1);
        list[place] = entry;
    }

    /// Takes the entry at a place out of the list of a row.
    pub fn remove(&mut self, row: usize, place: usize) {
        let len = self.len(row);
        self.list(row).copy_within(place + 1..len, place);
        self.resize(row, len - 1);
    }

    #[inline]
    fn list(&mut self, row: usize) -> &mut [T] {
        let head = &mut self.heads[row];
        let len = head.len();
        if head.class() == 0 { &mut head.words[..len] } else { &mut self.pool[head.start()..][..len] }
    }

    /// Gives a list another length. Its entries stay, as far as there is room; whatever is new is anything.
    #[inline]
    fn resize(&mut self, row: usize, len: usize) {
        if row >= self.heads.len() {
            self.heads.resize((row + 1).next_multiple_of(Spheres::BLOCK), Head::empty());
        }
        assert!(len < 1 << CLASS_SHIFT, "a list of {len} entries is longer than any world is large");
        let head = &mut self.heads[row];
        let class = head.class();
        let fits = match class {
            0 => len <= SHORT,
            CLASS_MIN => len <= 1 << CLASS_MIN,
            _ => len <= 1 << class && len * SPARE > 1 << class,
        };
        if fits {
            head.len_and_class = len as u32 | class << CLASS_SHIFT;
        } else {
            self.move_list(row, len);
        }
    }

    fn move_list(&mut self, row: usize, len: usize) {
        let old = self.heads[row];
        let kept = old.len().min(len);
        let mut head = Head { len_and_class: len as u32, ..old };
        if len <= SHORT {
            head.words[..kept].copy_from_slice(&self.pool[old.start()..][..kept]);
        } else {
            let class = len.next_power_of_two().trailing_zeros().max(CLASS_MIN);
            let start = self.take(class);
            if old.class() == 0 {
                self.pool[start..start + kept].copy_from_slice(&old.words[..kept]);
            } else {
                self.pool.copy_within(old.start()..old.start() + kept, start);
            }
            head.len_and_class |= class << CLASS_SHIFT;
            head.words[0] = T::of(start as u32);
        }
        self.heads[row] = head;
        self.release(old);
    }

    /// Lets an empty list have no run.
    fn give_up_run(&mut self, row: usize) {
        let old = std::mem::replace(&mut self.heads[row], Head::empty());
        self.release(old);
    }

    fn release(&mut self, head: Head<T>) {
        if head.class() > 0 {
            self.free[head.class() as usize].push(head.start() as u32);
        }
    }

    fn take(&mut self, class: u32) -> usize {
        if self.free.len() <= class as usize {
            self.free.resize_with(class as usize + 1, Vec::new);
        }
        if let Some(start) = self.free[class as usize].pop() {
            return start as usize;
        }
        let start = self.pool.len();
        assert!(start < u32::MAX as usize, "four thousand million entries are beyond any machine");
        self.pool.resize(start + (1 << class), T::of(0));
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_what_was_put_in(puts in prop::collection::vec((0usize..20, 0usize..40, 0u8..3), 0..200)) {
            let mut lists = Lists::new();
            let mut expected = vec![Vec::new(); 20];
            for (count, (row, len, how)) in puts.into_iter().enumerate() {
                let list: &mut Vec<u32> = &mut expected[row];
                let place = len % (list.len() + 1);
                match how {
                    0 => {
                        *list = (0..len).map(|index| (count * 100 + index) as u32).collect();
                        lists.replace(row, list);
                    }
                    1 => {
                        list.insert(place, count as u32);
                        lists.insert(row, place, count as u32);
                    }
                    _ if place < list.len() => {
                        list.remove(place);
                        lists.remove(row, place);
                    }
                    _ => {}
                }
                for (row, list) in expected.iter().enumerate() {
                    prop_assert_eq!(lists.get(row), &list[..]);
                }
            }
            // A handful of sizes of runs, each for at most twenty lists at once.
            prop_assert!(lists.pool.len() <= 21 * (8 + 16 + 32 + 64 + 128 + 256));
        }
    }
}

//! Many short sorted lists in one allocation, one per row.
//!
//! ```text
//! heads  [len 2: a b _] [len 9: start ●] [len 0]      up to SHORT entries are in the head
//! pool                           ╰─▶ [c d e f g h i j k _ _ _ _ _ _ _]   a run of a power of two
//! ```
//!
//! A world of a million objects has a million lists; most are empty or have an entry or two, some have thousands. A
//! short list is one access of memory, not two. A free run is used for the next list of its size. A list that shrinks
//! keeps its run until it is `SPARE` times too long, so neighbouring lists stay together in the cache.
//!
//! Invariants:
//! - A list without a run has at most `SHORT` entries, in its head. The first word of another head is the start of its
//!   run, which belongs to that list alone; its class is the logarithm of the run's length.
//! - Every run of the pool belongs to a list or is in `free`, by class.

use space::{Slot, Spheres};

/// Sorted lists, one per row.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    heads: Vec<Head<T>>,
    pool: Vec<T>,
    free: Vec<Vec<u32>>,
}

/// An entry: four bytes, which a head also uses for the start of a run.
pub(crate) trait Word: Copy {
    fn of(number: u32) -> Self;
    fn number(self) -> u32;
}

/// Lists of up to this many entries are in their heads.
const SHORT: usize = 3;

/// The class of the shortest runs, and the most by which a longer run may exceed its list, as a factor.
const CLASS_MIN: u32 = 3;
const SPARE: usize = 8;

/// A short list, or the start of a run.
#[derive(Clone, Copy, Debug)]
struct Head<T> {
    /// The length, and from bit `CLASS_SHIFT` on the class of the run; zero for none.
    len_and_class: u32,
    words: [T; SHORT],
}

const CLASS_SHIFT: u32 = 27;
const _: () = assert!(Spheres::MAX_OBJECTS < 1 << CLASS_SHIFT, "a list of all objects fits");

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

    /// All later rows have empty lists.
    pub fn rows(&self) -> usize {
        self.heads.len()
    }

    #[inline]
    pub fn get(&self, row: usize) -> &[T] {
        let Some(head) = self.heads.get(row) else { return &[] };
        let len = head.len();
        if head.class() == 0 { &head.words[..len] } else { &self.pool[head.start()..][..len] }
    }

    /// The length of a row's list.
    #[inline]
    pub fn len(&self, row: usize) -> usize {
        self.heads.get(row).map_or(0, Head::len)
    }

    /// Prefetches the lists of some rows: nothing depends on what is read, so the loads overlap.
    pub fn fetch(&self, rows: impl Iterator<Item = usize> + Clone) {
        let heads = || rows.clone().filter_map(|row| self.heads.get(row));
        std::hint::black_box(heads().fold(0u32, |sum, head| sum.wrapping_add(head.len_and_class)));
        for head in heads().filter(|head| head.class() > 0) {
            std::hint::black_box(self.pool.get(head.start()).copied());
        }
    }

    /// Replaces the list of a row. An empty one has no run.
    pub fn replace(&mut self, row: usize, list: &[T]) {
        self.resize(row, list.len());
        if list.is_empty() {
            self.give_up_run(row);
        }
        self.list(row).copy_from_slice(list);
    }

    /// Inserts an entry into the list of a row at a place.
    pub fn insert(&mut self, row: usize, place: usize, entry: T) {
        let len = self.len(row);
        self.resize(row, len + 1);
        let list = self.list(row);
        list.copy_within(place..len, place + 1);
        list[place] = entry;
    }

    /// Removes the entry at a place from the list of a row.
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

    /// Changes the length of a list. New entries are unspecified.
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
            // Six sizes of runs, each for at most twenty lists at once.
            prop_assert!(lists.pool.len() <= 21 * (8 + 16 + 32 + 64 + 128 + 256));
        }
    }
}

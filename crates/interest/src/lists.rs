//! Many short sorted lists in one piece of memory, one per row.
//!
//! A world of a million objects has a million lists of which most are empty, and some have thousands of entries. A list
//! lies in a run of the pool whose length is the next power of two; runs that are given up wait for the next list of
//! their size.
//!
//! Invariants:
//! - The run of a list of `len` entries is `run_of(len)` long, and belongs to that list alone.
//! - Every run of the pool belongs to a list or is in `free`, under the logarithm of its length.

use space::Spheres;

/// Sorted lists, one per row.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    heads: Vec<Head>,
    pool: Vec<T>,
    free: Vec<Vec<u32>>,
}

/// Where a list is.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    start: u32,
    len: u32,
}

impl<T: Copy> Lists<T> {
    pub fn new() -> Lists<T> {
        Lists { heads: Vec::new(), pool: Vec::new(), free: Vec::new() }
    }

    /// How many rows have been touched: those beyond have empty lists.
    pub fn rows(&self) -> usize {
        self.heads.len()
    }

    /// The list of a row.
    #[inline]
    pub fn get(&self, row: usize) -> &[T] {
        self.heads.get(row).map_or(&[], |head| &self.pool[head.start as usize..][..head.len as usize])
    }

    /// How long the list of a row is.
    #[inline]
    pub fn len(&self, row: usize) -> usize {
        self.heads.get(row).map_or(0, |head| head.len as usize)
    }

    /// Fetches the lists of many rows into the cache. One after the other, each would be waited for on its own; here
    /// nothing depends on what is read, so that many are under way at once.
    pub fn fetch(&self, rows: impl Iterator<Item = usize> + Clone) {
        let starts =
            rows.clone().filter_map(|row| self.heads.get(row)).fold(0u32, |sum, head| sum.wrapping_add(head.start));
        std::hint::black_box(starts);
        for head in rows.filter_map(|row| self.heads.get(row)) {
            std::hint::black_box(self.pool.get(head.start as usize).copied());
        }
    }

    /// Gives a row another list.
    pub fn replace(&mut self, row: usize, list: &[T]) {
        if row >= self.heads.len() {
            self.heads.resize((row + 1).next_multiple_of(Spheres::BLOCK), Head::default());
        }
        let old = self.heads[row];
        let run = run_of(list.len());
        let start = if run_of(old.len as usize) == run {
            old.start
        } else {
            self.release(old);
            self.take(run, list.first().copied())
        };
        self.heads[row] = Head { start, len: list.len() as u32 };
        self.pool[start as usize..][..list.len()].copy_from_slice(list);
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.heads.capacity() * size_of::<Head>()
            + self.pool.capacity() * size_of::<T>()
            + self.free.iter().map(Vec::capacity).sum::<usize>() * 4
    }

    fn release(&mut self, head: Head) {
        let run = run_of(head.len as usize);
        if run > 0 {
            let class = run.trailing_zeros() as usize;
            if self.free.len() <= class {
                self.free.resize_with(class + 1, Vec::new);
            }
            self.free[class].push(head.start);
        }
    }

    fn take(&mut self, run: usize, filler: Option<T>) -> u32 {
        let Some(filler) = filler else { return 0 };
        let class = run.trailing_zeros() as usize;
        if let Some(start) = self.free.get_mut(class).and_then(Vec::pop) {
            return start;
        }
        let start = u32::try_from(self.pool.len()).expect("four thousand million entries are beyond any machine");
        self.pool.resize(self.pool.len() + run, filler);
        start
    }
}

fn run_of(len: usize) -> usize {
    if len == 0 { 0 } else { len.next_power_of_two() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_what_was_put_in(puts in prop::collection::vec((0usize..20, 0usize..40), 0..200)) {
            let mut lists = Lists::new();
            let mut expected = vec![Vec::new(); 20];
            for (count, (row, len)) in puts.into_iter().enumerate() {
                expected[row] = (0..len).map(|index| (count * 100 + index) as u32).collect::<Vec<u32>>();
                lists.replace(row, &expected[row]);
                for (row, list) in expected.iter().enumerate() {
                    prop_assert_eq!(lists.get(row), &list[..]);
                }
            }
            // Five sizes of runs, each for at most twenty lists at once.
            prop_assert!(lists.pool.len() <= 20 * (1 + 2 + 4 + 8 + 16 + 32 + 64));
        }
    }
}

//! Maximal cliques among any number of vertices: the algorithm of [`narrow`](super::narrow) on bitsets
//! of several words.
//!
//! The search has a stack of its own, as a clique of thousands is as many levels deep. A level is three bitsets: the
//! candidates, the excluded vertices, and the candidates still to be tried. When the first two fit into one word, the
//! rest is a narrow search.

use super::narrow::{self, WORD, ones};
use super::quota::{Exhausted, Quota};

/// A search over bitsets of several words.
#[derive(Debug, Default)]
pub struct Wide {
    words: usize,
    /// The neighbours of each vertex, as bits.
    rows: Vec<u64>,
    stack: Vec<u64>,
    /// The chosen vertices, one per level, and the same as bits.
    path: Vec<u32>,
    chosen: Vec<u64>,
}

impl Wide {
    /// Begins with a graph of `count` excluded vertices and no pairs.
    pub fn start(&mut self, count: usize) {
        self.words = count.div_ceil(WORD);
        self.rows.clear();
        self.rows.resize(count * self.words, 0);
        self.stack.clear();
        self.stack.resize(2 * self.words, 0);
        (0..count).for_each(|vertex| insert(&mut self.stack[self.words..], vertex));
        self.path.clear();
        self.chosen.clear();
        self.chosen.resize(self.words, 0);
    }

    /// Makes a vertex a candidate.
    pub fn admit(&mut self, vertex: usize) {
        insert(&mut self.stack, vertex);
        remove(&mut self.stack[self.words..], vertex);
    }

    #[inline]
    pub fn join(&mut self, vertex: usize, neighbour: usize) {
        insert(&mut self.rows[vertex * self.words..], neighbour);
    }

    /// Finds the maximal cliques that hold some candidates and no excluded vertex. `found` is called for each and
    /// returns its number of members.
    pub fn search(&mut self, quota: &mut Quota, found: &mut impl FnMut(&[u64]) -> usize) -> Result<(), Exhausted> {
        let words = self.words;
        self.descend(quota, found)?;
        while !self.stack.is_empty() {
            let level = self.stack.len() - 3 * words;
            let untried = &mut self.stack[level + 2 * words..];
            let Some(word) = untried.iter().position(|&bits| bits != 0) else {
                self.stack.truncate(level);
                self.ascend();
                continue;
            };
            let vertex = word * WORD + untried[word].trailing_zeros() as usize;
            remove(untried, vertex);
            remove(&mut self.stack[level..], vertex);
            self.stack.extend_from_within(level..level + 2 * words);
            insert(&mut self.stack[level + words..], vertex);
            let below = level + 3 * words;
            let own = &self.rows[vertex * words..][..words];
            for (index, &bits) in own.iter().enumerate() {
                self.stack[below + index] &= bits;
                self.stack[below + words + index] &= bits;
            }
            self.path.push(vertex as u32);
            insert(&mut self.chosen, vertex);
            self.descend(quota, found)?;
            if self.stack.len() == below {
                self.ascend();
            }
        }
        Ok(())
    }

    /// The memory that it holds, in words.
    pub fn capacity(&self) -> usize {
        self.rows.capacity() + self.stack.capacity()
    }

    /// Removes the last chosen vertex.
    fn ascend(&mut self) {
        if let Some(vertex) = self.path.pop() {
            remove(&mut self.chosen, vertex as usize);
        }
    }

    /// Completes the level whose first two bitsets are on the stack: a narrow search, or the set of candidates to be
    /// tried. A level without any is removed.
    fn descend(&mut self, quota: &mut Quota, found: &mut impl FnMut(&[u64]) -> usize) -> Result<(), Exhausted> {
        let words = self.words;
        let level = self.stack.len() - 2 * words;
        let (candidates, excluded) = self.stack[level..].split_at(words);
        let size = |bits: &[u64]| bits.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        let (count, barred) = (size(candidates), size(excluded));
        quota.spend(words)?;
        if count + barred <= WORD {
            let result = self.narrow(level, quota, found);
            self.stack.truncate(level);
            return result;
        }
        if count == 0 {
            self.stack.truncate(level);
            return Ok(());
        }
        let (mut most, mut pivot, mut seen) = (0, 0, 0);
        'pivots: for word in 0..words {
            for bit in ones(candidates[word] | excluded[word]) {
                let vertex = word * WORD + bit;
                let own = &self.rows[vertex * words..][..words];
                let shared = own.iter().zip(candidates).map(|(own, bits)| (own & bits).count_ones()).sum::<u32>() + 1;
                seen += words;
                if shared > most {
                    (most, pivot) = (shared, vertex);
                    // It is the best possible.
                    if shared as usize + (candidates[word] >> bit & 1) as usize > count {
                        break 'pivots;
                    }
                }
            }
        }
        quota.spend(seen)?;
        for word in 0..words {
            let untried = self.stack[level + word] & !self.rows[pivot * words + word];
            self.stack.push(untried);
        }
        Ok(())
    }

    /// Searches a level whose vertices fit into a word, after renumbering them.
    fn narrow(
        &mut self,
        level: usize,
        quota: &mut Quota,
        found: &mut impl FnMut(&[u64]) -> usize,
    ) -> Result<(), Exhausted> {
        let words = self.words;
        let (candidates, excluded) = self.stack[level..].split_at(words);
        let mut vertices = [0; WORD];
        let mut len = 0;
        for (word, &bits) in candidates.iter().chain(excluded).enumerate() {
            for bit in ones(bits) {
                vertices[len] = word % words * WORD + bit;
                len += 1;
            }
        }
        let count = candidates.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        let mut rows = [0; WORD];
        for (number, &vertex) in vertices[..count].iter().enumerate() {
            let own = &self.rows[vertex * words..][..words];
            let bits = vertices[..len].iter().map(|&other| own[other / WORD] >> (other % WORD) & 1);
            rows[number] = { bits }.enumerate().fold(1 << number, |row, (other, bit)| row | bit << other);
        }
        quota.spend(count * len / 4)?;
        let (candidates, all) = (low(count), low(len));
        let chosen = &mut self.chosen;
        narrow::extend(&rows, 0, candidates, all ^ candidates, quota, &mut |bits| {
            ones(bits).for_each(|number| insert(chosen, vertices[number]));
            let members = found(chosen);
            ones(bits).for_each(|number| remove(chosen, vertices[number]));
            members
        })
    }
}

/// The word with the lowest `count` bits set.
fn low(count: usize) -> u64 {
    if count == 0 { 0 } else { !0 >> (WORD - count) }
}

#[inline]
fn insert(bits: &mut [u64], vertex: usize) {
    bits[vertex / WORD] |= 1 << (vertex % WORD);
}

#[inline]
fn remove(bits: &mut [u64], vertex: usize) {
    bits[vertex / WORD] &= !(1 << (vertex % WORD));
}

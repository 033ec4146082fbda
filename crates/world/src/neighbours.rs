//! Who may meet whom in this tick: the broad phase's pairs, less those whose whole motions stay apart, by row.

use rayon::prelude::*;
use space::Pair;

use crate::objects::{Body, MOVABLE, SOLID};

/// For every row, the rows that it may meet.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    is_near: Vec<bool>,
    start: Vec<u32>,
    list: Vec<u32>,
}

/// From so many pairs on, several threads look at them. Results are written by index: nobody can tell.
const PARALLEL_FROM: usize = 1 << 13;

impl Neighbours {
    /// Takes in a tick's pairs. `is_mover` says who wants to move.
    pub fn update(&mut self, pairs: &[Pair], body: &[Body], is_mover: &[bool]) -> u64 {
        self.is_near.clear();
        self.is_near.resize(pairs.len(), false);
        let is_near = |pair: &Pair| {
            let (a, b) = (pair.a().row(), pair.b().row());
            // Who stands still meets somebody only when one of them is pushed.
            let may_move = is_mover[a] | is_mover[b] | ((body[a].flags | body[b].flags) & MOVABLE != 0);
            may_move && body[a].flags & body[b].flags & SOLID != 0 && body[a].reach.meets(&body[b].reach)
        };
        if pairs.len() < PARALLEL_FROM {
            for (near, pair) in self.is_near.iter_mut().zip(pairs) {
                *near = is_near(pair);
            }
        } else {
            let chunk = PARALLEL_FROM / 4;
            self.is_near.par_chunks_mut(chunk).zip(pairs.par_chunks(chunk)).for_each(|(near, pairs)| {
                for (near, pair) in near.iter_mut().zip(pairs) {
                    *near = is_near(pair);
                }
            });
        }
        self.list_by_row(pairs, body.len())
    }

    /// The rows that `row` may meet, in no particular order.
    pub fn of(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.list[self.start[row] as usize..self.start[row + 1] as usize]
    }

    fn list_by_row(&mut self, pairs: &[Pair], rows: usize) -> u64 {
        self.start.clear();
        self.start.resize(rows + 2, 0);
        let kept = |is_near: &[bool], visit: &mut dyn FnMut(usize, usize)| {
            for (pair, _) in pairs.iter().zip(is_near).filter(|(_, near)| **near) {
                visit(pair.a().row(), pair.b().row());
            }
        };
        let start = &mut self.start;
        kept(&self.is_near, &mut |a, b| {
            start[a + 2] += 1;
            start[b + 2] += 1;
        });
        for index in 2..start.len() {
            start[index] += start[index - 1];
        }
        let count = start[rows + 1];
        self.list.clear();
        self.list.resize(count as usize, 0);
        let list = &mut self.list;
        kept(&self.is_near, &mut |a, b| {
            list[start[a + 1] as usize] = b as u32;
            start[a + 1] += 1;
            list[start[b + 1] as usize] = a as u32;
            start[b + 1] += 1;
        });
        u64::from(count) / 2
    }
}

//! What began and what ended, whether pairs are told by courses or found afresh.
//!
//! Courses say themselves what changed; where pairs are found afresh, the last tick is [compared](super::comparison) with this one.
//! Where one takes over from the other, all that was told is taken back and all that is told now is new: what is in both lists
//! cancels out.

use super::agenda::Turnover;
use super::comparison::Comparison;
use crate::pair::difference;
use crate::{Edition, Pair, Spheres};

/// What began and ended, for those who ask.
#[derive(Debug, Default)]
pub struct Changes {
    /// What courses say has changed; and all pairs that they told, when they are given up.
    pub turnover: Turnover,
    /// The pairs of the last tick, while they are found afresh.
    last: Comparison,
    /// What began and ended in the last tick, ascending.
    pub began: Vec<Pair>,
    pub ended: Vec<Pair>,
    /// The world when pairs were told last.
    told: Option<Edition>,
}

impl Changes {
    /// Without any, ready to note them.
    pub fn wanted() -> Changes {
        Changes { turnover: Turnover { is_wanted: true, ..Turnover::default() }, ..Changes::default() }
    }

    /// Lets courses say what changes from now on: what they knew of the last tick is what was told.
    pub fn trust_courses(&mut self) {
        self.last = Comparison::default();
    }

    /// Notes what changed with these pairs, which are told by courses or found afresh.
    pub fn note(&mut self, spheres: &Spheres, pairs: &[Pair], is_following: bool) {
        let Changes { turnover: Turnover { gained, lost, .. }, last, told, began, ended } = self;
        let told = told.replace(spheres.edition());
        began.clear();
        ended.clear();
        if !is_following && lost.is_empty() {
            // Nor were pairs told by courses in the last tick.
            last.compare(pairs, spheres, told, began, ended);
            return;
        }
        last.hand_over(lost);
        if !is_following {
            gained.extend_from_slice(pairs);
            last.remember(pairs, spheres.columns());
        }
        gained.sort_unstable();
        lost.sort_unstable();
        difference(lost, gained, ended, began);
        if let Some(told) = told.filter(|&told| spheres.has_arrivals_since(told)) {
            // Both lists have these pairs, so they cancelled out; but other objects are behind the slots.
            let is_another = |slot| spheres.was_taken_since(told, slot);
            let of_others = |pair: &&Pair| is_another(pair.a()) || is_another(pair.b());
            for pair in lost.iter().filter(of_others).filter(|pair| gained.binary_search(pair).is_ok()) {
                began.push(*pair);
                ended.push(*pair);
            }
            began.sort_unstable();
            ended.sort_unstable();
        }
        gained.clear();
        lost.clear();
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        let Changes { turnover, last, began, ended, .. } = self;
        (began.capacity() + ended.capacity()) * size_of::<Pair>() + turnover.bytes() + last.bytes()
    }
}

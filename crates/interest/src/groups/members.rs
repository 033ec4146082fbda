//! The members of a group, wherever it is.

use space::Slot;

/// The members of a group, ascending.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    source: Source<'a>,
    len: usize,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    /// A list of them.
    List(std::slice::Iter<'a, Slot>),
    /// Everybody of a circle whose bit is in the words; `rest` is what is left of the word before them, which begins at
    /// a tag.
    Circle { slots: &'a [Slot], words: std::slice::Iter<'a, u64>, rest: u64, tag: usize },
}

impl<'a> Members<'a> {
    /// Those of a list.
    pub(super) fn of_list(list: &'a [Slot]) -> Members<'a> {
        Members { source: Source::List(list.iter()), len: list.len() }
    }

    /// Those of a circle whose bit is set.
    pub(super) fn of_circle(slots: &'a [Slot], mask: &'a [u64]) -> Members<'a> {
        let len = mask.iter().map(|word| word.count_ones() as usize).sum();
        let mut words = mask.iter();
        let rest = words.next().copied().unwrap_or(0);
        Members { source: Source::Circle { slots, words, rest, tag: 0 }, len }
    }
}

impl Iterator for Members<'_> {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        let next = match &mut self.source {
            Source::List(list) => list.next().copied(),
            Source::Circle { slots, words, rest, tag } => {
                while *rest == 0 {
                    *rest = *words.next()?;
                    *tag += 64;
                }
                let bit = rest.trailing_zeros() as usize;
                *rest &= *rest - 1;
                slots.get(*tag + bit).copied()
            }
        };
        self.len -= usize::from(next.is_some());
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl ExactSizeIterator for Members<'_> {}

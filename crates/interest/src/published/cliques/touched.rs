//! Whose relations may have changed.
//!
//! The relations of an object, those of which it is the lowest member, depend on its neighbours and on which of them
//! overlap each other, not counting pairs of two who come before it. A pair that begins or ends therefore touches its
//! two ends and those who overlap both and come before the later one. Whoever overlapped both and no longer does is an
//! end itself, of another pair.
//!
//! Most of those can be spared:
//! - In a crowd, most objects have no relations, as an earlier neighbour overlaps all their later ones. Such a
//!   *witness* is remembered. As long as it testifies, nothing has to be searched, and it does until it parts from the
//!   object or from a later neighbour, or until the object gets a later neighbour that the witness does not overlap.
//! - Between the two ends, and at the later one, a pair that begins only excludes: relations may be lost, and whoever
//!   has none need not be looked at. Nor can it take more work to find them: whether it is within its budget does not
//!   change.
//!
//! A search among more neighbours than fit a word makes use of all pairs that they are in: it is touched by each end
//! near it. An end that is *dense*, with so many neighbours, touches all of them, which saves to look for those in
//! common.

use space::bits::Bits;
use space::{Pair, Slot};

use super::narrow::WORD;
use crate::Graph;

/// The objects that the last changes touch.
#[derive(Debug, Default)]
pub struct Touched {
    /// What was noted about each slot, as the bits below.
    notes: Vec<u8>,
    /// The witness of each slot, or `NOBODY`. Who is dense has none.
    witnesses: Vec<u32>,
    /// Those that may lose or gain relations, and those of them that were put off.
    slots: Vec<Slot>,
    put_off: Vec<Slot>,
    /// Who has more neighbours than fit a word.
    dense: Bits,
    dense_len: usize,
    /// Scratch: the ends of pairs that changed.
    ends: Bits,
}

const MAY_LOSE: u8 = 1;
const MAY_GAIN: u8 = 2;
/// It was put off.
const PUT_OFF: u8 = 4;
/// It is a neighbour of the object at hand.
const NEAR: u8 = 8;

const NOBODY: u32 = u32::MAX;

impl Touched {
    /// Notes whom the last changes of the graph touch.
    pub fn follow(&mut self, graph: &Graph) {
        self.start(graph);
        self.fetch(graph);
        for (changes, has_ended) in [(graph.ended(), true), (graph.began(), false)] {
            for same in changes.chunk_by(|one, other| one.a() == other.a()) {
                self.note_ends(same, has_ended, graph);
            }
        }
        if self.dense_len > 0 {
            self.note_around_dense(graph);
        }
    }

    /// Notes everybody, dense or not, as of a graph that was not followed.
    pub fn begin_anew(&mut self, graph: &Graph) {
        *self = Touched::default();
        self.start(graph);
        for slot in (0..graph.rows() as u32).map(Slot::new) {
            if !graph.neighbours(slot).is_empty() {
                self.count_dense(slot, graph);
                self.note(slot, MAY_GAIN);
            }
        }
    }

    /// Notes one more, who may have any other relations.
    pub fn add(&mut self, slot: Slot) {
        self.note(slot, MAY_GAIN);
    }

    /// Remembers who testifies that a slot has no relations.
    #[inline]
    pub fn set_witness(&mut self, slot: Slot, witness: Option<Slot>) {
        self.witnesses[slot.row()] = witness.map_or(NOBODY, Slot::number);
    }

    /// Notes one more, which is not to be among the others. It may have any relations.
    pub fn put_off(&mut self, slot: Slot) {
        self.note(slot, MAY_GAIN | PUT_OFF);
        self.witnesses[slot.row()] = NOBODY;
    }

    /// Leaves out those that can only lose relations, and have none.
    pub fn leave_out(&mut self, has_none: impl Fn(Slot) -> bool) {
        let Touched { notes, slots, put_off, .. } = self;
        slots.retain(|&slot| {
            let noted = std::mem::take(&mut notes[slot.row()]);
            if noted & PUT_OFF != 0 {
                put_off.push(slot);
                return false;
            }
            noted & MAY_GAIN != 0 || !has_none(slot)
        });
    }

    /// Those that were noted, each once, without those that were put off.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Those that were put off.
    pub fn slots_put_off(&self) -> &[Slot] {
        &self.put_off
    }

    fn start(&mut self, graph: &Graph) {
        self.slots.clear();
        self.put_off.clear();
        if self.notes.len() < graph.rows() {
            self.notes.resize(graph.rows(), 0);
            self.witnesses.resize(graph.rows(), NOBODY);
        }
    }

    /// Fetches what is known about the ends into the cache, all at once rather than one after the other.
    fn fetch(&self, graph: &Graph) {
        let ends = graph.ended().iter().chain(graph.began()).flat_map(|pair| [pair.a(), pair.b()]);
        let known = ends.map(|end| self.witnesses[end.row()].wrapping_add(u32::from(self.notes[end.row()])));
        std::hint::black_box(known.fold(0, u32::wrapping_add));
    }

    #[inline]
    fn note(&mut self, slot: Slot, note: u8) {
        let notes = &mut self.notes[slot.row()];
        if *notes & (MAY_LOSE | MAY_GAIN) == 0 {
            self.slots.push(slot);
        }
        *notes |= note;
    }

    /// Keeps up with whether an end is dense.
    #[inline]
    fn count_dense(&mut self, slot: Slot, graph: &Graph) {
        let is_dense = graph.neighbours(slot).len() > WORD;
        if is_dense != self.dense.contains(slot.row()) {
            self.witnesses[slot.row()] = NOBODY;
            if is_dense {
                self.dense.insert(slot.row());
                self.dense_len += 1;
            } else {
                self.dense.remove(slot.row());
                self.dense_len -= 1;
            }
        }
    }

    /// Notes the ends of pairs that have the first one in common, and who overlaps both of some pair.
    fn note_ends(&mut self, same: &[Pair], has_ended: bool, graph: &Graph) {
        let first = same[0].a();
        self.note_first(first, same, has_ended, graph);
        let near = graph.neighbours(first);
        let near = if near.len() > WORD { &[] } else { near };
        near.iter().for_each(|other| self.notes[other.row()] |= NEAR);
        for second in same.iter().map(|pair| pair.b()) {
            self.count_dense(second, graph);
            self.note_later(second, first, has_ended);
            let theirs = graph.neighbours(second);
            if theirs.len() > WORD {
                continue;
            }
            for &other in theirs.iter().take_while(|&&other| other < second) {
                if self.notes[other.row()] & NEAR != 0 {
                    self.note_later(other, first, has_ended);
                }
            }
        }
        near.iter().for_each(|other| self.notes[other.row()] &= !NEAR);
    }

    /// Notes the first end of some pairs: its later neighbours are others.
    fn note_first(&mut self, first: Slot, pairs: &[Pair], has_ended: bool, graph: &Graph) {
        self.count_dense(first, graph);
        let witness = self.witnesses[first.row()];
        let testifies = witness != NOBODY && {
            let theirs = graph.neighbours(Slot::new(witness));
            has_ended || pairs.iter().all(|pair| theirs.binary_search(&pair.b()).is_ok())
        };
        if !testifies {
            self.note(first, MAY_GAIN);
        }
    }

    /// Notes the second end of a pair, or somebody who overlaps both.
    #[inline]
    fn note_later(&mut self, slot: Slot, first: Slot, has_ended: bool) {
        let witness = self.witnesses[slot.row()];
        if witness == NOBODY {
            self.note(slot, if has_ended || slot < first { MAY_GAIN } else { MAY_LOSE });
        } else if has_ended && witness == first.number() {
            self.note(slot, MAY_GAIN);
        }
    }

    /// Notes everybody near an end that is dense, and everybody dense near an end.
    fn note_around_dense(&mut self, graph: &Graph) {
        let mut ends = std::mem::take(&mut self.ends);
        for pair in graph.ended().iter().chain(graph.began()) {
            ends.insert(pair.a().row());
            ends.insert(pair.b().row());
        }
        for row in ends.iter() {
            let is_dense = self.dense.contains(row);
            for &other in graph.neighbours(Slot::new(row as u32)) {
                if is_dense || self.dense.contains(other.row()) {
                    self.note(other, MAY_GAIN);
                }
            }
        }
        ends.clear();
        self.ends = ends;
    }
}
